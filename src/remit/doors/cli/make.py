"""`remit new`, `migrate` and `compile`: agent files made, brought to the standard, and written for a harness."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from remit.doors.cli import options
from remit.doors.cli.output import get_paint, say, say_json
from remit.doors.render import ACCEPTED, NOT_ACCEPTED, count, render_line, shape_finding

if TYPE_CHECKING:
    from remit.app import CompiledFile, Migrated


@click.command(cls=options.Command, short_help="Make a new agent that lints clean.")
@click.argument("kind", metavar="KIND")
@click.argument("name", metavar="NAME")
@click.option(
    "--profile", default="standard", metavar="PROFILE", help="standard, claude, opencode or codex; else standard."
)
@click.option("--folder", metavar="DIR", help="Where to put it; else where this workspace keeps its agents.")
@options.output_format("full", "json")
def new(kind: str, name: str, *, output_format: str, **asked: Any) -> int:  # noqa: ANN401 - as the app has it
    """Make an agent of a KIND (planning, implementation, research, review or utility) called NAME.

    It is complete and lints clean where it lies; what else it needs is made too.
    """
    from remit import app
    from remit.doors.terminal import escape

    paths = app.new(kind, name, **asked)
    if output_format == "json":
        say_json({"created": paths})
        return ACCEPTED
    for path in paths:
        say(f"{get_paint()('good', '✓')} {escape(path)}")
    say("Fill in what is particular to your agent, then: remit lint")
    return ACCEPTED


@click.command(cls=options.Command, short_help="Bring agent files to the standard.")
@click.argument("paths", nargs=-1, metavar="PATH…", required=True)
@click.option("--kind", metavar="KIND", help="What the agents are for; guessed from their words when left out.")
@click.option("--diff", is_flag=True, help="Show what would change, and change nothing.")
@options.output_format("full", "json")
def migrate(paths: tuple[str, ...], *, output_format: str, diff: bool, kind: str | None) -> int:
    """Bring each agent file to the standard as far as a program can, and list what a person must write.

    Exit code 0: nothing is left to write, 1: something is.
    """
    from remit import app

    done = app.migrate_agents(paths, kind=kind, write=not diff)
    if output_format == "json":
        say_json([_shape_migration(each) for each in done])
    else:
        for each in done:
            _show_migration(each, diff=diff)
    return NOT_ACCEPTED if any(each.migration.left for each in done) else ACCEPTED


def _shape_migration(each: Migrated) -> dict[str, Any]:
    left = [
        {
            "code": rest.code or None,
            "message": rest.message,
            "hint": rest.hint,
            "location": {"row": rest.place.line, "column": rest.place.column} if rest.place else None,
        }
        for rest in each.migration.left
    ]
    return {"filename": each.source.path, "done": list(each.migration.done), "left": left}


def _show_migration(each: Migrated, *, diff: bool) -> None:
    from remit.doors.terminal import escape, quote

    paint = get_paint()
    if diff:
        from remit.doors.cli.output import say_diff

        say_diff(each.source.path, each.before, each.migration.text)
    say(paint("strong", escape(each.source.path)))
    for step in each.migration.done:
        say(f"  {paint('good', '✓')} {quote(step)}")
    for left in each.migration.left:
        say(f"  {paint('warning', 'to write')} (line {left.place.line if left.place else 1}): {quote(left.message)}")


@click.command("compile", cls=options.Command, short_help="Write standard agents as a harness wants them.")
@click.argument("paths", nargs=-1, metavar="[PATH…]")
@click.option("--to", required=True, metavar="HARNESS", help="claude, opencode or codex.")
@click.option("--check", is_flag=True, help="Write nothing; say whether the compiled files are up to date.")
@options.output_format("full", "concise", "json", "github")
def compile_(paths: tuple[str, ...], *, to: str, check: bool, output_format: str) -> int:
    """Write each agent of the standard below PATH, or all of them, as the harness's own file, and name every loss.

    What only Remit reads goes into a sidecar beside it. Exit code 0: done or up to date, 1: something cannot be
    compiled, or with --check is out of date.
    """
    from remit import app

    done = app.compile_agents(paths, to=to, write=not check)
    if output_format == "json":
        say_json([_shape(each) for each in done])
    else:
        for each in done:
            _show(each, output_format, check=check)
        if output_format != "github":
            say(f"{count(len(done), 'agent')}: {_sum_up(done, check=check)}")
    failed = any(each.compiled.refused or (check and not each.current) for each in done)
    return NOT_ACCEPTED if failed else ACCEPTED


def _shape(each: CompiledFile) -> dict[str, Any]:
    return {
        "source": each.source.path,
        "path": each.compiled.path,
        "sidecar": each.compiled.sidecar_path,
        "compiled": not each.compiled.refused,
        "current": each.current,
        "findings": [shape_finding(finding, each.source.path) for finding in each.compiled.findings],
    }


def _show(each: CompiledFile, output_format: str, *, check: bool) -> None:
    from remit.doors.render import render_github
    from remit.doors.terminal import escape

    shown = [finding for finding in each.compiled.findings if not check or finding.severity == "error"]
    for finding in shown:  # what is lost was told when it was written
        say(
            render_github(finding, each.source.path)
            if output_format == "github"
            else render_line(finding, each.source.path)
        )
    if output_format == "full":
        paint = get_paint()
        good = not each.compiled.refused and (each.current or not check)
        word = (
            "cannot be compiled"
            if each.compiled.refused
            else "up to date"
            if each.current
            else "out of date"
            if check
            else "written"
        )
        say(f"{paint('good', '✓') if good else paint('error', '✗')} {escape(each.compiled.path)}: {word}")


def _sum_up(done: list[CompiledFile], *, check: bool) -> str:
    refused = sum(each.compiled.refused for each in done)
    current = sum(each.current and not each.compiled.refused for each in done)
    rest = len(done) - refused - current
    facts = [(rest, "out of date" if check else "written"), (current, "up to date"), (refused, "cannot be compiled")]
    return ", ".join(f"{number} {word}" for number, word in facts if number) or "nothing to compile"
