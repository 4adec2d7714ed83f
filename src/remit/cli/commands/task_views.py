"""`remit task list`, `show` and `phases`: show tasks."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING

import click

from remit.cli import options
from remit.cli.commands import completion
from remit.cli.commands.task_changes import describe_drift, describe_interrupted, run_outside_command
from remit.cli.output import get_paint, print_json, print_lines
from remit.errors import InputError, StateError
from remit.runs.tasks.task_numbers import parse_number
from remit.terminal import count_columns, escape, measure, quote
from remit.views.render import ACCEPTED, count

if TYPE_CHECKING:
    from collections.abc import Callable

    from remit.runs.tasks.workspace_tasks import ShownTask, Tasks
    from remit.tasks.store import StoredTask

_MAX_TITLE, _MAX_MARKER = 1_000, 40
_STYLES = {"COMPLETED": "good", "BLOCKED": "error", "PARTIAL": "warning", "ABANDONED": "frame"}


def _reading(function: Callable[..., int]) -> Callable[..., int]:
    """Give a command exit code 2 if the tasks can't be read. Commands that change tasks use exit code 1 for it."""

    @wraps(function)
    def command(*args: object, **asked: object) -> int:
        try:
            return function(*args, **asked)
        except StateError as error:
            raise InputError(error.message, hint=error.hint) from error

    return command


@click.command(cls=options.Command)
@click.option("--status", metavar="MARKER", help="Only tasks with this status.")
@click.option("--priority", metavar="PRIORITY", help="Only tasks with this priority.")
@click.option("--all", "everything", is_flag=True, help="Include archived tasks.")
@options.output_format("full", "json")
@_reading
def list_tasks(*, status: str | None, priority: str | None, everything: bool, output_format: str) -> int:
    """List the tasks of state.json, in its order.

    Exit code 0: listed, 2: could not run.
    """
    from remit.ledger.queries import count_by_task
    from remit.runs.tasks.workspace_tasks import Tasks, parse_marker
    from remit.views.json_builders import build_list, build_task
    from remit.views.run_snapshots import has_ledger

    marker = None if status is None else parse_marker(status)
    tasks = Tasks()
    kept = tasks.list_tasks()
    known = [task for task in kept if everything or not task.closed]
    found = [
        task
        for task in known
        if marker in {None, task.marker} and (priority is None or task.priority.lower() == priority.lower())
    ]
    if output_format == "json":
        counts = count_by_task(tasks.home.ledger) if has_ledger(tasks.home) else {}
        print_json(build_list(build_task(task, counts.get(task.number, (0, 0))) for task in found))
        return ACCEPTED
    focus = tasks.get_focus()
    for task in found:
        print_lines(_render_row(task, focused=task.number == focus))
    print_lines(_sum_up(len(found), len(known), len(kept)))
    _print_interrupted(tasks)
    differing = tasks.count_drift()
    if differing:
        print_lines(describe_drift(differing), stderr=True)
    return ACCEPTED


def _print_interrupted(tasks: Tasks) -> None:
    """Print the interrupted changes that were recovered before the tasks were read."""
    for left in tasks.store.interrupted:
        print_lines(f"note: {describe_interrupted(left)}", stderr=True)


def _sum_up(found: int, known: int, kept: int) -> str:
    if not kept:
        return "no tasks; to create one, run: remit task new TITLE"
    if not known:
        return f"no open tasks, {kept} archived; to include them, use: --all"
    return count(found, "task") if found == known else f"{found} of {count(known, 'task')}"


def _render_row(task: StoredTask, *, focused: bool) -> str:
    marker = _name_marker(task)
    paint = get_paint()
    shown = f"[{escape(marker)}]".ljust(15)
    mark = "*" if focused else " "
    title = _fit(escape(task.title[:_MAX_TITLE]), count_columns() - 26)
    return f"{mark}{task.number:>5}  {paint(_STYLES.get(marker, 'strong'), shown)}  {title}"


def _name_marker(task: StoredTask) -> str:
    return (task.marker or "no status")[:_MAX_MARKER]


def _fit(title: str, room: int) -> str:
    """Cut a title to a number of columns."""
    used = 0
    for at, width in enumerate(measure(title)):
        used += width
        if used > room or (used == room and at + 1 < len(title)):
            return f"{title[:at]}…"
    return title


@click.command(cls=options.Command)
@click.argument("task_id", metavar="N", shell_complete=completion.complete_tasks)
@options.output_format("full", "json")
@_reading
def show(task_id: str, *, output_format: str) -> int:
    """Show task N: its text in TODO.md, its plan, its linked findings, and its next legal statuses.

    Exit code 0: shown, 2: could not run.
    """
    from remit.runs.tasks.workspace_tasks import Tasks
    from remit.views.tasks import load_task

    tasks = Tasks()
    if run_outside_command(tasks, "show", task_id, output_format):
        return ACCEPTED
    if output_format == "json":
        print_json(load_task(parse_number(task_id)))
    else:
        _print_shown(tasks.show(parse_number(task_id)))
        _print_interrupted(tasks)
    return ACCEPTED


def _print_shown(shown: ShownTask) -> None:
    paint, facts = get_paint(), shown.facts
    print_lines(f"{paint('strong', f'{facts.number}. {quote(facts.title)}')}  [{escape(_name_marker(facts))}]")
    body = shown.section.split("\n", 1)[1] if "\n" in shown.section else ""
    if body.strip("-\n "):
        print_lines(escape(body.strip("\n"), keep="\n\t").removesuffix("---").rstrip())
    if shown.focused:
        print_lines("It is the current task.")
    if shown.entries:
        print_lines(f"linkedResearch: {', '.join(escape(each) for each in shown.entries)}")
    if shown.plan is not None:
        from remit.tasks.plan import format_phases

        resume = shown.plan.resume
        where = format_phases(shown.plan.open) or ("all phases are finished" if shown.plan.phases else "no phases")
        if resume is not None:
            where = f"continues at phase {resume.number}, {escape(resume.name)}"
        print_lines(f"Plan: {escape(shown.plan.path)}: {where}")
    if facts.closed:
        print_lines("It is archived and can't change.")
    else:
        print_lines(f"Can become: {', '.join(shown.moves)}" if shown.moves else "It is finished.")


@click.command(cls=options.Command)
@click.argument("number", metavar="N", type=parse_number, shell_complete=completion.complete_tasks)
@options.output_format("full", "json")
@_reading
def phases(number: int, *, output_format: str) -> int:
    """Show the phases of task N's plan. Work continues at the first one that is NOT STARTED or IN PROGRESS.

    Exit code 0: shown, 2: could not run.
    """
    from remit.runs.tasks.workspace_tasks import Tasks

    plan = Tasks().load_plan(number)
    if output_format == "json":
        from remit.views.json_builders import build_plan

        print_json(build_plan(plan))
        return ACCEPTED
    for phase in plan.phases:
        mark = "→" if phase == plan.resume else " "
        print_lines(f"{mark} {phase.number:>4}  {f'[{phase.marker or chr(63)}]':<15}  {escape(phase.name)}")
    if plan.resume is None:
        from remit.tasks.plan import format_phases

        over = "all phases are finished" if plan.phases else f"{escape(plan.path)} has no phases"
        print_lines(f"work can't continue at any phase: {format_phases(plan.open)}" if plan.open else over)
    return ACCEPTED
