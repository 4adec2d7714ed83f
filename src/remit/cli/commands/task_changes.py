"""`remit task new`, `set-status`, `start`, `done`, `block`, `link` and `archive`: change tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from remit.cli import options
from remit.cli.commands import completion
from remit.cli.output import get_paint, name_file, print_json, print_lines
from remit.runs.tasks.task_numbers import parse_number
from remit.terminal import escape, quote
from remit.views.json_builders import build_list, build_moved_task
from remit.views.render import ACCEPTED, count, render_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from remit.ledger.journal import Interrupted
    from remit.runs.tasks.workspace_tasks import Tasks
    from remit.tasks.store import TaskChange

_MAX_NOTES = 3
_reason = click.option("--reason", metavar="TEXT", help="Reason. Required for BLOCKED and ABANDONED.")


@click.command(cls=options.Command)
@click.argument("title", metavar="TITLE", nargs=-1, required=True)
@click.option(
    "--priority",
    metavar="PRIORITY",
    default="medium",
    type=str.lower,
    help="high, medium or low. Default: medium.",
)
@click.option("--language", metavar="NAME", help="Programming language.")
@click.option("--description", metavar="TEXT", help="What to do, in a sentence or two.")
@options.output_format("full", "json")
def new(title: tuple[str, ...], *, output_format: str, **asked: str | None) -> int:
    """Create a task with TITLE and the next free number, in state.json and TODO.md.

    The first task creates both files in the spec folder: the one that remit.toml or the project's agents name. Default:
    specs.
    """
    given = {name: value for name, value in asked.items() if value is not None}
    tasks = _open()
    moved = tasks.add(" ".join(title), **given)
    named = tasks.store.get(moved.number).title
    return _report(tasks, [moved], output_format, lambda each: f"task {each.number} created: {escape(named)}")


@click.command(cls=options.Command)
@click.argument("number", metavar="N", type=parse_number, shell_complete=completion.complete_tasks)
@click.argument("marker", metavar="MARKER", nargs=-1, required=True)
@_reason
@click.option("--phase", metavar="P", help="Phase of the task's plan to set instead.")
@options.output_format("full", "json")
def set_status(
    number: int, marker: tuple[str, ...], *, reason: str | None, phase: str | None, output_format: str
) -> int:
    """Set the status of task N, such as RESEARCHING or "in progress", in state.json, TODO.md and its plan.

    An illegal change is refused, and the legal ones are listed. Exit code 0: changed, 1: refused, 2: could not run.
    """
    tasks = _open()
    moved = tasks.move(number, " ".join(marker), reason=reason or "", phase=phase)
    text = f"task {number}, phase {escape(phase or '')}"
    return _report(
        tasks, [moved], output_format, _describe_move if phase is None else lambda each: f"{text}: {each.after}"
    )


@click.command(cls=options.Command)
@click.argument("task_id", metavar="[N]", required=False, shell_complete=completion.complete_tasks)
@options.output_format("full", "json")
def start(task_id: str | None, *, output_format: str) -> int:
    """Start task N, or show the current one: set it IN PROGRESS if it is new or blocked, and make it current."""
    tasks = _open()
    if task_id is None:
        return _show_current(tasks, output_format)
    if run_outside_command(tasks, "focus", task_id, output_format):
        return ACCEPTED
    number = parse_number(task_id)
    moved = tasks.focus(number)
    if moved is not None:
        return _report(tasks, [moved], output_format, lambda each: f"{_describe_move(each)}, now the current task")
    if output_format == "json":
        print_json({"focus": number})
    else:
        print_lines(f"{get_paint()('good', '✓')} task {number} is now the current task")
    return ACCEPTED


@click.command(cls=options.Command)
@click.argument("task_id", metavar="N", shell_complete=completion.complete_tasks)
@options.output_format("full", "json")
def done(task_id: str, *, output_format: str) -> int:
    """Complete task N. It must be IN PROGRESS or IMPLEMENTING."""
    tasks = _open()
    if run_outside_command(tasks, "complete", task_id, output_format):
        return ACCEPTED
    return _report(tasks, [tasks.move(parse_number(task_id), "COMPLETED")], output_format, _describe_move)


@click.command(cls=options.Command)
@click.argument("number", metavar="N", type=parse_number, shell_complete=completion.complete_tasks)
@click.option("--reason", metavar="TEXT", required=True, help="Reason, in a sentence.")
@options.output_format("full", "json")
def block(number: int, *, reason: str, output_format: str) -> int:
    """Block task N, with a reason."""
    tasks = _open()
    return _report(tasks, [tasks.move(number, "BLOCKED", reason=reason)], output_format, _describe_move)


@click.command(cls=options.Command)
@click.argument("task_id", metavar="N", shell_complete=completion.complete_tasks)
@click.argument("entry_id", metavar="ENTRY")
@options.output_format("full", "json")
def link(task_id: str, entry_id: str, *, output_format: str) -> int:
    """Link task N to the finding ENTRY, by its ID. Both task show and findings show list the link."""
    tasks = _open()
    if run_outside_command(tasks, "link", task_id, output_format, research=entry_id):
        return ACCEPTED
    moved = tasks.link(parse_number(task_id), entry_id)
    sentence = f"task {moved.number} {'is' if moved.files else 'was already'} linked to {escape(entry_id)}"
    return _report(tasks, [moved], output_format, lambda _: sentence)


@click.command(cls=options.Command)
@click.argument("numbers", metavar="[N…]", nargs=-1, type=parse_number, shell_complete=completion.complete_tasks)
@options.output_format("full", "json")
def archive(numbers: tuple[int, ...], *, output_format: str) -> int:
    """Archive tasks that are COMPLETED or ABANDONED. Default: all of them.

    They leave TODO.md and the active tasks in state.json. Their text is kept in archive/TODO.md.
    """
    tasks = _open()
    done, aside = tasks.archive(numbers)
    if not done and output_format != "json":
        print_lines("no finished tasks to archive")
        _print_notes(aside, tasks.root)
        return ACCEPTED
    return _report(tasks, done, output_format, lambda each: f"task {each.number} archived", listed=True)


def _open() -> Tasks:
    from remit.runs.tasks.workspace_tasks import Tasks

    return Tasks()


def _show_current(tasks: Tasks, output_format: str) -> int:
    number = tasks.get_focus()
    if output_format == "json":
        print_json({"focus": number})
    else:
        print_lines(
            "no current task; to start one, run: remit task start N"
            if number is None
            else f"task {number} is the current task"
        )
    return ACCEPTED


def run_outside_command(tasks: Tasks, name: str, task_id: str, output_format: str, *, research: str = "") -> bool:
    """Run a command of an outside task system, and return whether there is one."""
    answer = tasks.ask_outside(name, task_id, research=research)
    if answer is None:
        return False
    if output_format == "json":
        print_json({"command": answer.command, "output": answer.output, "cut": answer.cut})
        return True
    if answer.output.strip():
        print_lines(escape(answer.output.rstrip("\n"), keep="\n\t"))
    else:
        print_lines(f"{get_paint()('good', '✓')} {quote(answer.command)}")
    if answer.cut:
        print_lines(f"note: {quote(answer.command)} printed more than shown", stderr=True)
    return True


def _describe_move(moved: TaskChange) -> str:
    return f"task {moved.number}: {moved.before} → {moved.after}"


def _report(
    tasks: Tasks,
    moved: list[TaskChange],
    output_format: str,
    sentence: Callable[[TaskChange], str],
    *,
    listed: bool = False,
) -> int:
    """Print the changed tasks, then the notes."""
    if output_format == "json":
        shaped = [build_moved_task(each) for each in moved]
        print_json(build_list(shaped) if listed else shaped[0])
        return ACCEPTED
    for each in moved:
        print_lines(f"{get_paint()('good', '✓')} {sentence(each)}")
    _print_notes(moved[-1], tasks.root)
    return ACCEPTED


def _print_notes(moved: TaskChange, root: str) -> None:
    """Print the recovered changes, the picked-up edits, and the remaining differences on standard error."""
    for left in moved.interrupted:
        print_lines(f"note: {describe_interrupted(left)}", stderr=True)
    for sentence in moved.absorbed[:_MAX_NOTES]:
        print_lines(f"note: {quote(sentence)}", stderr=True)
    if len(moved.absorbed) > _MAX_NOTES:
        print_lines(f"note: {len(moved.absorbed) - _MAX_NOTES} more edits were picked up", stderr=True)
    differences = list(zip(moved.diagnostics, moved.diagnostic_files, strict=True))
    for finding, file in differences[:_MAX_NOTES]:
        print_lines(render_line(finding, name_file(f"{root}/{file}")), stderr=True)
    if differences:
        print_lines(describe_drift(len(differences)), stderr=True)


def describe_drift(places: int) -> str:
    """Return a note that the two files differ, with the command that lists the differences."""
    return f"note: state.json and TODO.md differ in {count(places, 'place')}; see: remit task sync --check"


def describe_interrupted(left: Interrupted) -> str:
    """Return whether an interrupted change was finished or discarded."""
    how = "was finished" if left.finished else "was discarded, because a file had changed meanwhile"
    alone = f"; {', '.join(left.left_alone)} was edited meanwhile and stays unchanged" if left.left_alone else ""
    return f"an interrupted change ({left.kind}) {how}{alone}"
