"""`remit config show` and `trust`: show the settings of a workspace, and trust the programs that they run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from remit.cli import options
from remit.cli.output import get_paint, print_json, print_lines
from remit.errors import UsageError
from remit.terminal import escape, quote
from remit.views.render import ACCEPTED, NOT_ACCEPTED, render_json

if TYPE_CHECKING:
    from remit.runs.workspace_trust import TrustRequest


@click.command(cls=options.Command)
@options.output_format("full", "json")
def show(*, output_format: str) -> int:
    """Show the settings that apply in this workspace, and where each comes from: the default, a file or a variable.

    Secrets are removed. Programs in settings run only if the workspace is trusted: see `remit config trust --show`.

    Exit code 0: shown, 2: could not run.
    """
    from remit.views.settings import DEFAULT, load_effective_settings

    found = load_effective_settings()
    if output_format == "json":
        from remit.views.json_builders import build_list

        print_json({"root": found.root, **build_list(row._asdict() for row in found.settings)})
        return ACCEPTED
    paint = get_paint()
    print_lines(f"{paint('strong', 'Workspace')} {escape(found.root)}")
    width = max(len(escape(row.name)) for row in found.settings)
    for row in found.settings:
        value = "not set" if row.value is None else escape(render_json(row.value))
        style = "frame" if row.source == DEFAULT else "strong"
        print_lines(f"  {escape(row.name):<{width}}  {value}  {paint(style, f'({row.source})')}")
    return ACCEPTED


@click.command(cls=options.Command)
@click.option("--yes", is_flag=True, help="Trust without asking.")
@click.option("--show", is_flag=True, help="Show what would run, and whether it is trusted.")
@click.option("--revoke", is_flag=True, help="Revoke the trust.")
@click.option("--list", "listing", is_flag=True, help="List the trusted workspaces.")
@options.output_format("full", "json")
def trust(*, yes: bool, show: bool, revoke: bool, listing: bool, output_format: str) -> int:
    """Show the settings that run programs, and trust them once. Any change to them asks again.

    On a terminal it asks; elsewhere it only shows them, unless --yes is given. Exit code 0: nothing runs, or it is
    trusted; 1: it is not trusted; 2: could not run.
    """
    if yes + show + revoke + listing > 1:
        raise UsageError("can't combine --yes, --show, --revoke and --list", hint="give one of them")
    as_json = output_format == "json"
    if listing:
        return _list(as_json=as_json)
    if revoke:
        return _revoke(as_json=as_json)
    return _agree(yes=yes, only_show=show or (as_json and not yes), as_json=as_json)


def _list(*, as_json: bool) -> int:
    from remit.storage import trust

    trusted = trust.list_trusted()
    if as_json:
        from remit.views.json_builders import build_list

        print_json(build_list({"root": each.root, "since": each.time} for each in trusted))
    else:
        print_lines("\n".join(f"{each.time}  {escape(each.root)}" for each in trusted) or "no workspace is trusted")
    return ACCEPTED


def _revoke(*, as_json: bool) -> int:
    from remit.runs import workspace_trust

    root, was_trusted = workspace_trust.revoke_trust()
    if as_json:
        print_json({"root": root, "revoked": was_trusted})
    else:
        text = "is no longer trusted" if was_trusted else "was not trusted"
        print_lines(f"{get_paint()('good', '✓')} {escape(root)} {text}")
    return ACCEPTED


def _agree(*, yes: bool, only_show: bool, as_json: bool) -> int:
    from remit.cli.input import ask, can_ask
    from remit.runs import workspace_trust

    found = workspace_trust.get_trust()
    if not as_json:
        _show(found)
    if found.is_needed and not found.is_trusted and not only_show:
        if yes or (can_ask() and ask("\nLet Remit run these?", default=False)):
            workspace_trust.grant_trust(found)
            found = found._replace(reason="")
            if not as_json:
                print_lines(f"{get_paint()('good', '✓')} trusted until one of them changes")
        elif not can_ask() and not as_json:
            print_lines("\nNothing was trusted; to trust these programs, run: remit config trust --yes")
    if as_json:
        commands = [{"setting": name, "command": command} for name, command in found.executing.commands]
        print_json({"root": found.root, "needed": found.is_needed, "trusted": found.is_trusted, "commands": commands})
    return ACCEPTED if found.is_trusted or not found.is_needed else NOT_ACCEPTED


def _show(found: TrustRequest) -> None:
    """Print every command in full, because a cut could hide the dangerous part."""
    paint = get_paint()
    if not found.is_needed:
        print_lines(f"{paint('good', '✓')} {escape(found.root)}: no setting runs a program")
        return
    print_lines(f"{paint('strong', 'Workspace')} {escape(found.root)}")
    width = max(len(name) for name, _ in found.executing.commands)
    for name, command in found.executing.commands:
        print_lines(f"  {escape(name):<{width}}  {escape(command)}")
    print_lines(
        f"{paint('good', '✓')} trusted" if found.is_trusted else f"{paint('warning', '!')} {quote(found.reason)}"
    )
