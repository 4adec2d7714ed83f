"""`remit task new`, `set-status`, `start`, `done`, `block`, `link` and `archive`: changes to tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from remit.cli import options
from remit.cli.commands import completion
from remit.cli.output import get_paint, name_file, say, say_json
from remit.runs.tasks.task_numbers import parse_number
from remit.terminal import escape, quote
from remit.views.json_objects import build_list, build_moved_task
from remit.views.render import ACCEPTED, count, render_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from remit.ledger.journal import Interrupted
    from remit.runs.tasks.workspace_tasks import Tasks
    from remit.tasks.store import TaskChange

_MAX_TOLD = 3
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
    return _tell(tasks, [moved], output_format, lambda each: f"task {each.number} made: {escape(named)}")


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
    told = f"task {number}, phase {escape(phase or '')}"
    return _tell(tasks, [moved], output_format, _tell_move if phase is None else lambda each: f"{told}: {each.after}")


@click.command(cls=options.Command)
@click.argument("task_id", metavar="[N]", required=False, shell_complete=completion.complete_tasks)
@options.output_format("full", "json")
def start(task_id: str | None, *, output_format: str) -> int:
    """Start task N, or show the current one: set it IN PROGRESS if it is new or blocked, and make it current."""
    tasks = _open()
    if task_id is None:
        return _show_focus(tasks, output_format)
    if ask_outside(tasks, "focus", task_id, output_format):
        return ACCEPTED
    number = parse_number(task_id)
    moved = tasks.focus(number)
    if moved is not None:
        return _tell(tasks, [moved], output_format, lambda each: f"{_tell_move(each)}, in focus")
    if output_format == "json":
        say_json({"focus": number})
    else:
        say(f"{get_paint()('good', '✓')} task {number}: in focus")
    return ACCEPTED


@click.command(cls=options.Command)
@click.argument("task_id", metavar="N", shell_complete=completion.complete_tasks)
@options.output_format("full", "json")
def done(task_id: str, *, output_format: str) -> int:
    """Complete task N. It must be IN PROGRESS or IMPLEMENTING."""
    tasks = _open()
    if ask_outside(tasks, "complete", task_id, output_format):
        return ACCEPTED
    return _tell(tasks, [tasks.move(parse_number(task_id), "COMPLETED")], output_format, _tell_move)


@click.command(cls=options.Command)
@click.argument("number", metavar="N", type=parse_number, shell_complete=completion.complete_tasks)
@click.option("--reason", metavar="TEXT", required=True, help="Reason, in a sentence.")
@options.output_format("full", "json")
def block(number: int, *, reason: str, output_format: str) -> int:
    """Block task N, with a reason."""
    tasks = _open()
    return _tell(tasks, [tasks.move(number, "BLOCKED", reason=reason)], output_format, _tell_move)


@click.command(cls=options.Command)
@click.argument("task_id", metavar="N", shell_complete=completion.complete_tasks)
@click.argument("entry_id", metavar="ENTRY")
@options.output_format("full", "json")
def link(task_id: str, entry_id: str, *, output_format: str) -> int:
    """Link task N to the finding ENTRY, by its ID. Both task show and findings show list the link."""
    tasks = _open()
    if ask_outside(tasks, "link", task_id, output_format, research=entry_id):
        return ACCEPTED
    moved = tasks.link(parse_number(task_id), entry_id)
    sentence = f"task {moved.number} {'is' if moved.files else 'was already'} linked to {escape(entry_id)}"
    return _tell(tasks, [moved], output_format, lambda _: sentence)


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
        say("no task is over: nothing to put away")
        _tell_asides(aside, tasks.root)
        return ACCEPTED
    return _tell(tasks, done, output_format, lambda each: f"task {each.number} put away", listed=True)


def _open() -> Tasks:
    from remit.runs.tasks.workspace_tasks import Tasks

    return Tasks()


def _show_focus(tasks: Tasks, output_format: str) -> int:
    number = tasks.get_focus()
    if output_format == "json":
        say_json({"focus": number})
    else:
        say("no task is in focus: remit task start N takes one up" if number is None else f"task {number} is in focus")
    return ACCEPTED


def ask_outside(tasks: Tasks, name: str, task_id: str, output_format: str, *, research: str = "") -> bool:
    """Have an outside task system do it; whether there is one."""
    answer = tasks.ask_outside(name, task_id, research=research)
    if answer is None:
        return False
    if output_format == "json":
        say_json({"command": answer.command, "output": answer.output, "cut": answer.cut})
        return True
    if answer.output.strip():
        say(escape(answer.output.rstrip("\n"), keep="\n\t"))
    else:
        say(f"{get_paint()('good', '✓')} {quote(answer.command)}")
    if answer.cut:
        say(f"note: {quote(answer.command)} printed more than is shown", stderr=True)
    return True


def _tell_move(moved: TaskChange) -> str:
    return f"task {moved.number}: {moved.before} → {moved.after}"


def _tell(
    tasks: Tasks,
    moved: list[TaskChange],
    output_format: str,
    sentence: Callable[[TaskChange], str],
    *,
    listed: bool = False,
) -> int:
    """Say what was done, and what there was to tell on the way."""
    if output_format == "json":
        shaped = [build_moved_task(each) for each in moved]
        say_json(build_list(shaped) if listed else shaped[0])
        return ACCEPTED
    for each in moved:
        say(f"{get_paint()('good', '✓')} {sentence(each)}")
    _tell_asides(moved[-1], tasks.root)
    return ACCEPTED


def _tell_asides(moved: TaskChange, root: str) -> None:
    """Say on standard error what was finished or taken in before, and where the files still disagree."""
    for left in moved.interrupted:
        say(f"note: {tell_interrupted(left)}", stderr=True)
    for sentence in moved.absorbed[:_MAX_TOLD]:
        say(f"note: {quote(sentence)}", stderr=True)
    if len(moved.absorbed) > _MAX_TOLD:
        say(f"note: {len(moved.absorbed) - _MAX_TOLD} more edits were taken in", stderr=True)
    told = list(zip(moved.diagnostics, moved.diagnostic_files, strict=True))
    for finding, file in told[:_MAX_TOLD]:
        say(render_line(finding, name_file(f"{root}/{file}")), stderr=True)
    if told:
        say(tell_drift(len(told)), stderr=True)


def tell_drift(places: int) -> str:
    """That the two files disagree, and where that is shown."""
    return f"note: state.json and TODO.md disagree in {count(places, 'place')}: see remit task sync --check"


def tell_interrupted(left: Interrupted) -> str:
    """What became of a change that a crash had interrupted."""
    how = "was finished" if left.finished else "was given up, because a file had changed meanwhile"
    alone = f"; {', '.join(left.left_alone)} was edited meanwhile, and is left alone" if left.left_alone else ""
    return f"a change that had been interrupted ({left.kind}) {how}{alone}"
