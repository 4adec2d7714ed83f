"""The tasks by their markers, the findings in the manifest, and the errors by their causes.

Owns what is shown of the three files that a workspace keeps beside its ledger. What is not there is shown as empty; a
file that can't be read is told as such.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from remit import __version__
from remit.errorlog.workspace_errors import load_errors
from remit.errors import UsageError
from remit.git.head import find_branch
from remit.ledger.queries import RunFilter, count_by_state, count_by_task, list_page
from remit.manifest.manifest_file import find_manifest
from remit.runs.tasks.workspace_tasks import Tasks, check_sync, parse_marker
from remit.runs.workspace_findings import Manifest, make_query
from remit.storage.secrets import redact_all
from remit.storage.settings import find_workspace
from remit.tasks.task import MARKERS
from remit.views.json_objects import (
    build_diagnostic,
    build_error_groups,
    build_finding,
    build_finding_details,
    build_list,
    build_moved_task,
    build_plan,
    build_run_summary,
    build_task,
)
from remit.views.live import find_last
from remit.views.run_snapshots import has_ledger, load_snapshots
from remit.views.workers import name_backend

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.ledger.home import Home
    from remit.manifest.search import EntryQuery
    from remit.schemas import (
        ErrorGroupsObject,
        FindingDetailsObject,
        FindingPageObject,
        MovedTaskObject,
        OutsideTaskObject,
        RunSummaryObject,
        TaskBoardObject,
        TaskDetailsObject,
        WorkspaceRunCountObject,
        WorkspaceStatusObject,
    )

MOST, USUAL = 500, 100
_MOST_RUNS = 50
_MOST_QUERY = 500
_MOST_PAGES = 10_000


# --- tasks -----------------------------------------------------------------------------------------------------------


@contextmanager
def _open_tasks() -> Iterator[Tasks]:
    tasks = Tasks()
    try:
        yield tasks
    finally:
        tasks.home.close()


def load_board() -> TaskBoardObject:
    """All tasks with their markers, where the two files disagree, and how many delegations each task has."""
    with _open_tasks() as tasks:
        if not tasks.is_begun:
            return {
                "items": [], "total": 0, "markers": [*MARKERS], "drift": [], "focus": None, "folder": None,
                "outside": [*tasks.outside.values()],
            }  # fmt: skip
        checked = check_sync(tasks)
        told = {} if checked is None else checked.findings
        counts = count_by_task(tasks.home.ledger) if has_ledger(tasks.home) else {}
        return {
            **build_list(build_task(each, counts.get(each.number, (0, 0))) for each in tasks.list_tasks()),
            "markers": [*MARKERS],
            "drift": [
                build_diagnostic(each, file.removeprefix(f"{tasks.root}/"))
                for file, found in told.items()
                for each in found
            ],
            "focus": tasks.get_focus(),
            "folder": tasks.store.folder,
            "outside": [],
        }


def load_task(number: int) -> TaskDetailsObject:
    """One task with all that belongs to it, and its latest delegations."""
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
    """What an outside system prints of a task, and its latest delegations; None if the workspace keeps its own."""
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


# --- the manifest ----------------------------------------------------------------------------------------------------


@contextmanager
def _open_manifest() -> Iterator[Manifest]:
    manifest = Manifest()
    try:
        yield manifest
    finally:
        manifest.close()


def find_entries(
    *,
    q: str = "",
    topic: str | None = None,
    task: str | None = None,
    status: str | None = None,
    pending: bool = False,
    limit: int = USUAL,
    cursor: str = "",
) -> FindingPageObject:
    """One page of the matching findings, newest first, with the topics of all findings."""
    if not 1 <= limit <= MOST:
        raise UsageError(f"a page has no {limit} entries", hint=f"ask for 1 to {MOST}")
    page = parse_page_cursor(cursor)
    if find_manifest() is None:
        return {**NO_FINDINGS, "topics": []}
    words = (q[:_MOST_QUERY],) if any(map(str.isalnum, q[:_MOST_QUERY])) else ()
    with _open_manifest() as manifest:
        query = make_query(words=words, pending=pending, topic=topic, task=task, status=status)
        found = load_finding_page(manifest, query, limit=limit, page=page)
        topics = manifest.count().topics
    return {**found, "topics": [{"topic": redact_all(name), "count": count} for name, count in topics]}


NO_FINDINGS: FindingPageObject = {"items": [], "next_cursor": None, "total": 0, "manifest": None, "bad_lines": 0}
"""The page of a workspace without a manifest."""


def parse_page_cursor(cursor: str) -> int:
    """The number of the page that a cursor of `load_finding_page` stands for; 1 for the first page."""
    page = int(cursor) if cursor.isascii() and cursor.isdecimal() and len(cursor) < len(str(_MOST_PAGES)) else 1
    if cursor and (str(page) != cursor or not page):
        raise UsageError("this is not a cursor of this list", hint="give next_cursor of the page before, unchanged")
    return page


def load_finding_page(manifest: Manifest, query: EntryQuery, *, limit: int, page: int) -> FindingPageObject:
    """One page of the findings that match a query, newest first. The cursor is the number of the next page."""
    found = manifest.find(query, limit=limit, page=page)
    counted = manifest.count()
    return {
        "items": [build_finding(each) for each in found.entries],
        "next_cursor": str(page + 1) if found.has_more and page + 1 < _MOST_PAGES else None,
        "total": counted.entries if query == make_query() else None,
        "manifest": manifest.file.removeprefix(f"{manifest.root}/"),
        "bad_lines": counted.bad_lines,
    }


def load_entry(entry_id: str) -> FindingDetailsObject:
    """One entry with all that belongs to it."""
    with _open_manifest() as manifest:
        shown = manifest.show(entry_id)
        root = manifest.root
    return build_finding_details(shown, root)


# --- errors ----------------------------------------------------------------------------------------------------------


def load_error_groups(*, only_open: bool = False) -> ErrorGroupsObject:
    """The errors of the workspace by their causes, the newest first."""
    return build_error_groups(load_errors(only_open=only_open), find_workspace())


# --- all of it -------------------------------------------------------------------------------------------------------


def load_workspace_status(home: Home) -> WorkspaceStatusObject:
    """The workspace at a glance. The cost doesn't depend on how many runs there are."""
    return {
        "version": __version__,
        "root": redact_all(os.path.basename(home.root)),
        "branch": redact_all(find_branch(home.root)),
        "event": find_last(home),
        "runs": count_runs(home),
        "backend": name_backend(home),
    }


def count_runs(home: Home) -> WorkspaceRunCountObject:
    """How many runs are open and how many are finished."""
    found = count_by_state(home.ledger) if has_ledger(home) else {}
    total = sum(found.values())
    return {"open": total - found.get("finished", 0), "finished": found.get("finished", 0), "total": total}
