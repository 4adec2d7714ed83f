"""Work: the tasks by their markers, the findings in the manifest, and the errors by their causes.

Owns what is shown of the three files that a workspace keeps beside its ledger. What is not there is shown as empty; a
file that cannot be read is told as such.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from remit.errorlog.errors_command import load_errors
from remit.errorlog.records import parse_time
from remit.errors import UsageError
from remit.git.head import find_branch
from remit.ledger.queries import RunFilter, count_by_state, count_by_task, list_page
from remit.manifest.entries import is_pending
from remit.manifest.places import find_manifest
from remit.runs.tasks.workspace_tasks import Tasks, check_sync, parse_marker
from remit.runs.workspace_findings import Manifest, make_query
from remit.storage.settings import find_workspace
from remit.storage.spec_root import LINKS
from remit.tasks.values import MARKERS
from remit.views.json_shapes import shape_finding
from remit.views.live import find_last
from remit.views.run_details import clean, has_ledger
from remit.views.workers import name_backend

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.errorlog.causes import Group
    from remit.errorlog.records import ErrorRecord
    from remit.ledger.home import Home
    from remit.manifest.entries import ManifestEntry
    from remit.tasks.store import StoredTask

MOST, USUAL = 500, 100
_MOST_RECORDS = 20
_MOST_SESSIONS = 50
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


def load_board() -> dict[str, Any]:
    """All tasks with their markers, where the two files disagree, and how many delegations each task has."""
    with _open_tasks() as tasks:
        if not tasks.is_begun:
            empty: dict[str, Any] = {"tasks": [], "drift": [], "focus": None, "folder": None}
            return {"markers": [*MARKERS], **empty, "outside": [*tasks.outside.values()]}
        checked = check_sync(tasks)
        told = {} if checked is None else checked.findings
        counts = count_by_task(tasks.home.ledger) if has_ledger(tasks.home) else {}
        return {
            "markers": [*MARKERS],
            "tasks": [_shape_task(each, counts.get(each.number, (0, 0))) for each in tasks.list_tasks()],
            "drift": [
                shape_finding(each) | {"file": file.removeprefix(f"{tasks.root}/")}
                for file, found in told.items()
                for each in found
            ],
            "focus": tasks.get_focus(),
            "folder": tasks.store.folder,
            "outside": [],
        }


def load_task(number: int) -> dict[str, Any]:
    """One task with all that belongs to it, and its latest delegations."""
    with _open_tasks() as tasks:
        shown = tasks.show(number)
        ledger = tasks.home.ledger if has_ledger(tasks.home) else None
        rows = _list_sessions(tasks, RunFilter(task_number=number))
        counts = {} if ledger is None else count_by_task(ledger)
    plan = shown.plan
    return _shape_task(shown.facts, counts.get(number, (0, 0))) | {
        "fields": clean(shown.facts.fields),
        "section": clean(shown.section),
        "plan": None if plan is None else {
            "path": plan.path,
            "phases": [{"number": each.number, "name": clean(each.name), "marker": each.marker}
                       for each in plan.phases],
            "resume": plan.resume and plan.resume.number,
        },
        LINKS: [*shown.entries],
        "moves": [*shown.moves],
        "focused": shown.focused,
        "sessions": rows,
    }  # fmt: skip


def load_outside_task(task_id: str) -> dict[str, Any] | None:
    """What an outside system prints of a task, and its latest delegations; None if the workspace keeps its own."""
    with _open_tasks() as tasks:
        answer = tasks.ask_outside("show", task_id)
        if answer is None:
            return None
        sessions = _list_sessions(tasks, RunFilter(task_id=task_id))
    return {"task": task_id, "section": clean(answer.output), "truncated": answer.cut, "sessions": sessions}


def _list_sessions(tasks: Tasks, wanted: RunFilter) -> list[dict[str, Any]]:
    """The latest delegations of a task, newest first."""
    if not has_ledger(tasks.home):
        return []
    return [
        {"session_id": row.session_id, "agent": row.agent, "state": row.state, "status": row.status,
         "created_ms": row.created_ms} for row in list_page(tasks.home.ledger, wanted, limit=_MOST_SESSIONS)
    ]  # fmt: skip


def move_task(number: int, marker: str, *, reason: str = "") -> dict[str, Any]:
    """Give a task another marker."""
    with _open_tasks() as tasks:
        moved = tasks.move(number, parse_marker(marker), reason=reason)
    return {
        "number": moved.number,
        "before": moved.before,
        "after": moved.after,
        "files": [*moved.files],
        "findings": [shape_finding(each) for each in moved.diagnostics],
    }


def _shape_task(task: StoredTask, counts: tuple[int, int]) -> dict[str, Any]:
    """A task as the board has it; the reason for its marker, where one is given."""
    marker = task.marker or ""
    reason = task.fields.get(f"{marker.lower().replace(' ', '_')}_reason")
    phase = task.fields.get("phase")
    return {
        "number": task.number,
        "title": clean(task.title),
        "marker": task.marker,
        "closed": task.closed,
        "priority": task.priority or None,
        "phase": phase if isinstance(phase, int | str) else None,
        "reason": clean(reason) if isinstance(reason, str) else None,
        LINKS: [*task.links],
        "delegations": {"open": counts[0], "total": counts[1]},
    }


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
) -> dict[str, Any]:
    """One page of the entries that fit, the newest first; the cursor is the number of a page."""
    if not 1 <= limit <= MOST:
        raise UsageError(f"a page has no {limit} entries", hint=f"ask for 1 to {MOST}")
    page = int(cursor) if cursor.isascii() and cursor.isdecimal() and len(cursor) < len(str(_MOST_PAGES)) else 1
    if cursor and (str(page) != cursor or not page):
        raise UsageError("the cursor is none of ours", hint="give next_cursor of the page before, as it was")
    if find_manifest() is None:
        return {"items": [], "next_cursor": None, "total": 0, "file": None, "topics": [], "bad_lines": 0}
    words = (q[:_MOST_QUERY],) if any(map(str.isalnum, q[:_MOST_QUERY])) else ()
    with _open_manifest() as manifest:
        query = make_query(words=words, pending=pending, topic=topic, task=task, status=status)
        found = manifest.find(query, limit=limit, page=page)
        counted = manifest.count()
        file = manifest.file.removeprefix(f"{manifest.root}/")
    is_narrowed = bool(words) or pending or any(each is not None for each in (topic, task, status))
    return {
        "items": [_shape_entry(each) for each in found.entries],
        "next_cursor": str(page + 1) if found.has_more and page + 1 < _MOST_PAGES else None,
        "total": None if is_narrowed else counted.entries,
        "file": file,
        "topics": [{"topic": clean(name), "count": count} for name, count in counted.topics],
        "bad_lines": counted.bad_lines,
    }


def load_entry(entry_id: str) -> dict[str, Any]:
    """One entry with all that belongs to it."""
    with _open_manifest() as manifest:
        shown = manifest.show(entry_id)
        root = manifest.root
    return _shape_entry(shown.entry) | {
        "tasks": [*shown.tasks],
        "same_id": [line for line in shown.lines if line != shown.entry.line],
        "findings_file": None if shown.file is None else shown.file.removeprefix(f"{root}/"),
        "trouble": shown.trouble or None,
    }


def _shape_entry(entry: ManifestEntry) -> dict[str, Any]:
    """An entry by the standard's names, of the kinds that they should be, and what else it has as it is."""
    texts = {name: clean(entry.get_text(name)) for name in ("id", "title", "file", "date", "status")}
    lists = {name: clean(entry.get_list(name)) for name in ("topics", "key_findings", "needs_followup", "linked_tasks")}
    rest = clean({name: value for name, value in entry.fields.items() if name not in {*texts, *lists}})
    return rest | texts | lists | {"line": entry.line, "pending": is_pending(entry.fields)}


# --- errors ----------------------------------------------------------------------------------------------------------


def load_error_groups(*, only_open: bool = False) -> dict[str, Any]:
    """The errors of the workspace by their causes, the newest first."""
    found = load_errors(only_open=only_open)
    groups = sorted(found.groups, key=lambda group: _read_ms(group.newest) or 0, reverse=True)
    return {
        "groups": [_shape_group(each) for each in groups],
        "total": found.total,
        "file": found.file.removeprefix(f"{find_workspace()}/"),
        "findings": [shape_finding(each) for each in found.findings],
    }


def _shape_group(group: Group) -> dict[str, Any]:
    newest = [*reversed(group.records)]
    return {
        "id": group.cause.key,
        "code": group.cause.code,
        "cause": clean(group.cause.text),
        "message": clean(group.newest.message),
        "count": len(group.records),
        "open": group.is_open,
        "fix_status": group.fix_status,
        "recurrences": group.recurrences,
        "last_ms": _read_ms(group.newest),
        "tasks": [*group.tasks],
        "sessions": [*group.sessions][-_MOST_SESSIONS:],
        "records": [_shape_record(each) for each in newest[:_MOST_RECORDS]],
    }


def _shape_record(record: ErrorRecord) -> dict[str, Any]:
    return {
        "id": record.id,
        "at_ms": _read_ms(record),
        "type": record.type,
        "severity": record.severity or None,
        "message": clean(record.message),
        "session_id": record.session_id or None,
        "task_number": record.task_number,
        "phase": record.phase,
        "path": [*record.path],
        "suggested_action": clean(record.suggested_action) or None,
        "fix_status": record.fix_status,
        "note": clean(record.note) or None,
    }


def _read_ms(record: ErrorRecord) -> int | None:
    moment = parse_time(record.time)
    return None if moment is None else int(moment)


# --- all of it -------------------------------------------------------------------------------------------------------


def load_glance(home: Home) -> dict[str, Any]:
    """Where we are, and how many delegations there are."""
    return {
        "root": clean(os.path.basename(home.root)),
        "branch": clean(find_branch(home.root)),
        "event": find_last(home),
        "delegations": count_work(home),
        "backend": name_backend(home),
    }


def count_work(home: Home) -> dict[str, int]:
    """How many delegations are open and how many are settled."""
    found = count_by_state(home.ledger) if has_ledger(home) else {}
    total = sum(found.values())
    return {"open": total - found.get("finished", 0), "finished": found.get("finished", 0), "total": total}
