"""`remit hooks install`, `uninstall` and `check`: manage Remit's hooks in the settings of harnesses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import click

from remit.cli import options
from remit.cli.output import get_paint, print_json, print_lines, report_error
from remit.errors import RemitError, UsageError
from remit.spelling import did_you_mean
from remit.terminal import escape, quote
from remit.views.render import ACCEPTED, COULD_NOT_RUN, NOT_ACCEPTED, count

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from remit.hooks.check import HookCheck
    from remit.hooks.install import InstallationPlan
    from remit.hooks.settings_files import SettingsEdit
    from remit.schemas import HarnessHooksObject, InstalledHooksObject

_MARKS = {"holds": ("good", "✓"), "broken": ("error", "✗"), "unproven": ("warning", "?")}
_HARNESSES = click.argument(
    "harnesses", nargs=-1, metavar="HARNESS…", shell_complete=options.offer("claude", "codex", "opencode")
)
_ACTIONS: dict[tuple[bool, bool], Literal["create", "change", "remove"]] = {
    (True, False): "create",
    (False, False): "change",
    (False, True): "remove",
}


def _parse_harness(name: str) -> str:
    """Return the name of a harness that supports hooks."""
    from remit.hooks.install import HARNESSES

    if name == "gemini":
        hint = "to run it and check its return, use: remit run --runner gemini"
        raise UsageError("Remit has no hooks for Gemini CLI", hint=hint)
    if name not in HARNESSES:
        raise UsageError(f"there is no harness '{name}'", hint=did_you_mean(name, HARNESSES))
    return name


def _parse_harnesses(names: tuple[str, ...], *, command: str) -> list[str]:
    if not names:
        raise UsageError("HARNESS is missing", hint=f"name one: remit hooks {command} claude")
    return [_parse_harness(name) for name in names]


@click.command(cls=options.Command)
@_HARNESSES
@click.option("--shared", is_flag=True, help="Write files to be committed, which call Remit by the name remit.")
@click.option("--mcp", is_flag=True, help="Also register Remit's MCP server.")
@click.option("--dry-run", is_flag=True, help="Show the changes without writing them.")
@options.output_format("full", "json")
def install(harnesses: tuple[str, ...], *, shared: bool, mcp: bool, dry_run: bool, output_format: str) -> int:
    """Install Remit's hooks into the settings of this workspace that each HARNESS (claude, codex, opencode) reads.

    Every other byte of those files stays. `remit hooks uninstall` removes the hooks again.

    Exit code 0: installed, 1: something is missing and was not written, 2: could not run.
    """
    from remit.hooks.install import plan_installation

    names = _parse_harnesses(harnesses, command="install")
    plan = plan_installation(names, shared=shared, with_server=mcp)
    check = f"remit hooks check {' '.join(names)}"
    return _carry_out(plan, dry_run=dry_run, as_json=output_format == "json",
                      done=f"hooks installed; to verify that they work, run: {check}",
                      idle=f"nothing to do; to verify that the hooks work, run: {check}")  # fmt: skip


@click.command(cls=options.Command)
@_HARNESSES
@click.option("--dry-run", is_flag=True, help="Show the changes without writing them.")
@options.output_format("full", "json")
def uninstall(harnesses: tuple[str, ...], *, dry_run: bool, output_format: str) -> int:
    """Remove what `remit hooks install` added for each HARNESS, or for all of them.

    A file that was not edited since becomes what it was before, and is deleted if there was none. Later edits stay.
    Settings of Remit, tasks, findings and the ledger don't change.

    Exit code 0: nothing of Remit is left, 1: something is, 2: could not run.
    """
    from remit.hooks.install import plan_uninstallation

    plan = plan_uninstallation([_parse_harness(name) for name in harnesses])
    return _carry_out(plan, dry_run=dry_run, as_json=output_format == "json",
                      done="removed; everything else is unchanged", idle="nothing to remove")  # fmt: skip


@click.command(cls=options.Command)
@_HARNESSES
@options.output_format("full", "json")
def check(harnesses: tuple[str, ...], *, output_format: str) -> int:
    """Run each installed HARNESS once and test each promise of Remit's hooks.

    Nothing in the workspace changes: Remit runs the harness in a temporary folder with the same hooks, an honest and a
    lying subagent, and a scripted model, without network or key. It prints a line for each promise.

    Exit code 0: all promises hold, 1: one is broken, 2: could not run.
    """
    return _check(_parse_harnesses(harnesses, command="check"), as_json=output_format == "json")


def _carry_out(plan: InstallationPlan, *, dry_run: bool, as_json: bool, done: str, idle: str) -> int:
    """Write the plan and list its files, or with `dry_run` only show it."""
    paint = get_paint()
    if not dry_run:
        _write(plan, as_json=as_json)
    if not as_json:
        _show(plan, at_length=dry_run)
    if as_json:
        print_json(_build_installed(plan, written=not dry_run and bool(plan.changes)))
    elif not plan.changes:
        if not plan.undone:  # files that can't be read may still contain hooks
            print_lines(f"{paint('good', '✓')} {escape(idle)}")
    elif dry_run:
        print_lines("\nNothing was written.")
    else:
        print_lines(f"\n{paint('good', '✓')} {escape(done)}")
    for error in plan.undone:
        report_error(error, as_json=as_json)
    return ACCEPTED if not plan.undone else NOT_ACCEPTED


def _write(plan: InstallationPlan, *, as_json: bool) -> None:
    """Write the plan. If that fails, list the files that were written and those that weren't."""
    from remit.hooks.install import list_written, write_installation

    try:
        write_installation(plan)
    except RemitError as error:
        done = list_written(plan)
        left = [edit for edit in plan.changes if edit not in done]
        error.data.update(written=[edit.path for edit in done], not_written=[edit.path for edit in left])
        for title, edits in (("Written", done), ("Not written", left)) if not as_json else ():
            if edits:
                _show_files(title, edits)
        raise


def _build_installed(plan: InstallationPlan, *, written: bool) -> InstalledHooksObject:
    harnesses: list[HarnessHooksObject] = [
        {
            "name": each.name,
            "files": [{"path": edit.path, "action": _name_action(edit)} for edit in each.edits if edit.is_change],
            "events": list(each.events),
            "notes": list(each.notes),
            "undone": [str(error) for error in each.undone],
        }
        for each in plan.harnesses
    ]
    return {"root": plan.root, "harnesses": harnesses, "written": written}


def _name_action(edit: SettingsEdit) -> Literal["create", "change", "remove"]:
    return _ACTIONS[edit.before is None, edit.after is None]


def _show(plan: InstallationPlan, *, at_length: bool) -> None:
    paint = get_paint()
    print_lines(f"{paint('strong', 'Workspace')} {escape(plan.root)}")
    for each in plan.harnesses:
        for note in each.notes:
            print_lines(f"  {paint('note', 'note')}  {each.name}: {quote(note)}")
    if plan.changes:
        _show_files("To be written" if at_length else "Written", plan.changes, at_length=at_length)


def _show_files(title: str, edits: Sequence[SettingsEdit], *, at_length: bool = False) -> None:
    paint = get_paint()
    print_lines(f"\n{paint('strong', title)}")
    for edit in edits:
        print_lines(f"  {_name_action(edit)}  {escape(edit.path)}")
        for sign, line in _list_lines(edit) if at_length else ():
            print_lines(f"    {paint('good' if sign == '+' else 'error', f'{sign} {escape(line)}'.rstrip())}")


def _list_lines(edit: SettingsEdit) -> Iterator[tuple[str, str]]:
    """Yield the changed lines. Unchanged lines aren't shown, because they may contain secrets."""
    from difflib import unified_diff

    if edit.path.endswith(".js") or edit.after is None:
        return
    old, new = ((data or b"").decode("utf-8", "replace").splitlines() for data in (edit.before, edit.after))
    for line in list(unified_diff(old, new, n=0, lineterm=""))[2:]:
        if line[0] in "+-":
            yield line[0], line[1:]


# --- check ---------------------------------------------------------------------------------------------------


def _check(names: Sequence[str], *, as_json: bool) -> int:
    """Test each promise. Return exit code 1 if one is broken, 2 if one could not be checked."""
    from remit.hooks.check import check_harness

    def report(line: str) -> None:
        if not as_json:
            print_lines(get_paint(stderr=True)("note", f"{line} …"), stderr=True)

    checked, could_run = [], True
    for name in dict.fromkeys(names):
        try:
            checked.append(check_harness(name, report))
        except RemitError as error:
            could_run = False
            report_error(error, as_json=as_json)
    if as_json:
        from remit.views.json_builders import build_list

        print_json(
            build_list(each._asdict() | {"promises": [one._asdict() for one in each.promises]} for each in checked)
        )
    else:
        for each in checked:
            _show_checked(each)
    states = {promise.state for each in checked for promise in each.promises}
    if "broken" in states:
        return NOT_ACCEPTED
    return ACCEPTED if could_run and "unproven" not in states else COULD_NOT_RUN


def _show_checked(checked: HookCheck) -> None:
    paint = get_paint()
    print_lines(f"{paint('strong', checked.harness)} {escape(checked.version or '(version unknown)')}")
    hint = ""
    for promise in checked.promises:
        style, mark = _MARKS[promise.state]
        holds = promise.state == "holds"
        print_lines(f"  {paint(style, mark)} {promise.statement}{f' ({promise.why})' if holds and promise.why else ''}")
        if not holds:
            print_lines(f"      {promise.state}: {quote(promise.why)}")
        if promise.hint and promise.hint != hint:  # most problems have the same cause and hint
            hint = promise.hint
            print_lines(f"      {paint('note', 'hint:')} {quote(hint)}")
    for note in checked.notes:
        print_lines(f"  {paint('note', 'note')}  {quote(note)}")
    states = [promise.state for promise in checked.promises]
    broken, unproven, total = states.count("broken"), states.count("unproven"), count(len(states), "promise")
    if broken:
        print_lines(f"{paint('error', '✗')} {broken} of {total} broken")
    elif unproven:
        print_lines(f"{paint('warning', '?')} {unproven} of {total} could not be checked")
    else:
        print_lines(f"{paint('good', '✓')} all {total} hold")
