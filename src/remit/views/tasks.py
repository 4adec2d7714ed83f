"""The tasks of a workspace with their runs, for lists and pages."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from remit.ledger.queries import RunFilter, count_by_task, list_page
from remit.runs.tasks.workspace_tasks import Tasks, check_sync, parse_marker
from remit.storage.secrets import redact_all
from remit.tasks.task import MARKERS
from remit.views.json_builders import (
    build_diagnostic,
    build_list,
    build_moved_task,
    build_plan,
    build_run_summary,
    build_task,
)
from remit.views.run_snapshots import has_ledger, load_snapshots

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.schemas import (
        MovedTaskObject,
        OutsideTaskObject,
        RunSummaryObject,
        TaskBoardObject,
        TaskDetailsObject,
    )


_MOST_RUNS = 50


@contextmanager
def _open_tasks() -> Iterator[Tasks]:
    tasks = Tasks()
    try:
        yield tasks
    finally:
        tasks.home.close()


def load_board() -> TaskBoardObject:
    """Load all tasks with their markers and numbers of runs, and the differences between the two files."""
    with _open_tasks() as tasks:
        if not tasks.is_begun:
            return {
                "items": [], "total": 0, "markers": [*MARKERS], "drift": [], "focus": None, "folder": None,
                "outside": [*tasks.outside.values()],
            }  # fmt: skip
        checked = check_sync(tasks)
        diagnostics = {} if checked is None else checked.diagnostics
        counts = count_by_task(tasks.home.ledger) if has_ledger(tasks.home) else {}
        return {
            **build_list(build_task(each, counts.get(each.number, (0, 0))) for each in tasks.list_tasks()),
            "markers": [*MARKERS],
            "drift": [
                build_diagnostic(each, file.removeprefix(f"{tasks.root}/"))
                for file, found in diagnostics.items()
                for each in found
            ],
            "focus": tasks.get_focus(),
            "folder": tasks.store.folder,
            "outside": [],
        }


def load_task(number: int) -> TaskDetailsObject:
    """One task with its plan, findings and latest runs."""
    with _open_tasks() as tasks:
        shown = tasks.show(number)
        ledger = tasks.home.ledger if has_ledger(tasks.home) else None
        latest = _list_latest_runs(tasks, RunFilter(task_number=number))
        counts = {} if ledger is None else count_by_task(ledger)
    plan = shown.plan
    return {
        **build_task(shown.facts, counts.get(number, (0, 0))),
        "fields": redact_all(shown.facts.fields),
        "section": redact_all(shown.section),
        "plan": None if plan is None else build_plan(plan),
        "linkedResearch": [*shown.entries],
        "moves": [*shown.moves],
        "focused": shown.focused,
        "latest_runs": latest,
    }  # fmt: skip


def load_outside_task(task_id: str) -> OutsideTaskObject | None:
    """What an outside system prints of a task, and its latest runs; None if the workspace keeps its own."""
    with _open_tasks() as tasks:
        answer = tasks.ask_outside("show", task_id)
        if answer is None:
            return None
        latest = _list_latest_runs(tasks, RunFilter(task_id=task_id))
    return {"task": task_id, "section": redact_all(answer.output), "truncated": answer.cut, "latest_runs": latest}


def _list_latest_runs(tasks: Tasks, wanted: RunFilter) -> list[RunSummaryObject]:
    """The latest runs of a task, newest first."""
    if not has_ledger(tasks.home):
        return []
    rows = list_page(tasks.home.ledger, wanted, limit=_MOST_RUNS)
    return [build_run_summary(each) for each in load_snapshots(tasks.home, rows)]


def move_task(number: int, marker: str, *, reason: str = "") -> MovedTaskObject:
    """Give a task another marker."""
    with _open_tasks() as tasks:
        moved = tasks.move(number, parse_marker(marker), reason=reason)
    return build_moved_task(moved)
