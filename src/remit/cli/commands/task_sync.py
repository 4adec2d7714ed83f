"""`remit task sync`: compare and synchronize state.json and TODO.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from remit.cli import options
from remit.cli.commands.task_changes import describe_interrupted
from remit.cli.diagnostics_output import DIAGNOSTIC_OUTPUTS
from remit.cli.output import name_file, print_json, print_lines
from remit.errors import UsageError
from remit.spelling import did_you_mean
from remit.terminal import escape, quote
from remit.views.json_builders import build_diagnostic, build_interrupted_change
from remit.views.render import ACCEPTED, NOT_ACCEPTED, count

if TYPE_CHECKING:
    from remit.cli.diagnostics_output import DiagnosticOutput
    from remit.model import Diagnostic
    from remit.runs.tasks.workspace_tasks import How
    from remit.tasks.sync import SyncResult

_SIDES = ("todo", "state")
_MAX_DONE = 50


def _parse_side(value: str) -> str:
    if value not in _SIDES:
        raise UsageError(f"expected todo or state, got '{value}'", hint=did_you_mean(value, _SIDES))
    return value


@click.command(cls=options.Command)
@click.option(
    "--check",
    "checking",
    is_flag=True,
    help="Only compare. A change that a crash interrupted is finished first.",
)
@click.option(
    "--repair", "repairing", is_flag=True, help="Also repair ambiguous differences, duplicate numbers and broken files."
)
@click.option("--from", "side", type=_parse_side, metavar="todo|state", help="Repair, and take this file's side.")
@options.output_format("full", "concise", "json", "github")
def sync(*, checking: bool, repairing: bool, side: str | None, output_format: str) -> int:
    """Synchronize the tasks in state.json and TODO.md.

    By default, Remit takes over only unambiguous edits: a status that was edited in one file since both last agreed, if
    the change is legal. A different title or priority is reported, and --from decides it. --repair resolves everything:
    if it's unknown which file was edited, state.json wins; tasks in only one file are added to the other; the later of
    two tasks with one number gets a new number; and a state.json that isn't JSON is restored from git and completed
    from TODO.md, with the original kept. Without a version in git, it is reported and nothing changes.

    Remit searches .opencode/specs, .claude/specs and specs for the files. Exit code 0: they agree, 1: they differ, 2:
    could not run.
    """
    if checking + (repairing or side is not None) > 1:
        raise UsageError("can't combine --check with --repair or --from", hint="leave one of them out")
    if checking:
        return _check(output_format)
    from remit.runs.tasks.workspace_tasks import Tasks

    how: How = "absorb"
    if side is not None:
        how = "todo" if side == "todo" else "state"
    elif repairing:
        how = "newest"
    tasks = Tasks()
    return _report(tasks.sync(how), tasks.root, output_format)


def _check(output_format: str) -> int:
    from remit.runs.tasks import workspace_tasks
    from remit.storage.spec_root import FOLDERS

    show = DIAGNOSTIC_OUTPUTS[output_format]()
    checked = workspace_tasks.check_sync()
    if checked is None:
        show.close(f"no tasks found in {', '.join(FOLDERS[:-1])} or {FOLDERS[-1]}: nothing to compare")
        return ACCEPTED
    for file, findings in checked.diagnostics.items():
        _show(show, findings, name_file(file), checked.texts[file])
    where = f"{name_file(checked.folder)}: {count(checked.tasks, 'task')} · "
    show.close(_render_verdict(show, agree=not checked.differences, where=where))
    return NOT_ACCEPTED if checked.differences else ACCEPTED


def _show(show: DiagnosticOutput, findings: tuple[Diagnostic, ...], filename: str, data: bytes) -> None:
    from remit.views.excerpt import SourceText

    text = SourceText(data)
    for finding in findings:
        show.add(finding, filename, text)


def _report(synced: SyncResult, root: str, output_format: str) -> int:
    names = {file: name_file(f"{root}/{file}") for file in synced.diagnostics}
    code = ACCEPTED if synced.agree else NOT_ACCEPTED
    if output_format == "json":
        print_json(
            {
                "agree": synced.agree,
                "done": list(synced.done),
                "diagnostics": [
                    build_diagnostic(each, names[file]) for file in names for each in synced.diagnostics[file]
                ],
                "files": [name_file(f"{root}/{file}") for file in synced.files],
                "recovered": [name_file(f"{root}/{file}") for file in synced.recovered],
                "interrupted": [build_interrupted_change(each) for each in synced.interrupted],
            }
        )
        return code
    show = DIAGNOSTIC_OUTPUTS[output_format]()
    for left in synced.interrupted:
        print_lines(describe_interrupted(left))
    shown = synced.done[:_MAX_DONE] if output_format == "full" else synced.done
    for sentence in shown:
        print_lines(f"{show.paint('good', '✓')} {quote(sentence)}")
    if len(shown) < len(synced.done):
        print_lines(f"… and {len(synced.done) - len(shown)} more")
    for file, name in names.items():
        _show(show, synced.diagnostics[file], name, synced.texts[file])
    show.flush()
    for file in synced.recovered:
        print_lines(f"the original is kept in {escape(name_file(f'{root}/{file}'))}")
    close = _render_verdict(show, agree=synced.agree)
    show.close(close if synced.files or not synced.agree or show.count() else f"{close}: nothing to do")
    return code


def _render_verdict(show: DiagnosticOutput, *, agree: bool, where: str = "") -> str:
    """Return the last line: whether the two files agree, marked as a success only if there are no warnings either."""
    if not agree:
        return f"{show.paint('error', '✗')} {where}state.json and TODO.md differ · {show.count()}"
    if show.count():
        return f"{show.paint('warning', '!')} {where}state.json and TODO.md agree, but see {show.count()}"
    return f"{show.paint('good', '✓')} {where}state.json and TODO.md agree"
