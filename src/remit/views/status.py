"""The status of a workspace: tasks, runs, findings and errors on one screen, and in numbers."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from remit.errors import RemitError, StateError
from remit.storage.settings import check_open, find_workspace, load_settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from remit.config import Settings
    from remit.ledger.home import Home
    from remit.ledger.runs import Run
    from remit.manifest.counts import ManifestCounts
    from remit.schemas import WorkspaceRunCountObject, WorkspaceStatusObject
    from remit.tasks.store import StoredTask
    from remit.views.run_snapshots import RunSnapshot

    T = TypeVar("T")

FINISHED = 5
OPEN = 50
_MANIFEST_BYTES = 4 * 1024 * 1024
_WORKING = ("IN PROGRESS", "IMPLEMENTING", "PLANNING", "RESEARCHING", "REVISING", "PARTIAL")
_WAITING = ("BLOCKED", "NOT STARTED", "ON HOLD", "EXPANDED", "COMPLETED", "ABANDONED")


class TaskOverview(NamedTuple):
    """The tasks in numbers, and the tasks in progress or blocked."""

    folder: str
    counts: tuple[tuple[str, int], ...]
    """Markers, those of tasks in progress first."""
    working: tuple[StoredTask, ...]
    blocked: tuple[StoredTask, ...]
    focus: int | None
    differences: int
    """How often state.json and TODO.md disagree."""


class ManifestOverview(NamedTuple):
    """The path of the manifest, and its counts."""

    path: str
    seen: ManifestCounts


class Overview(NamedTuple):
    """A workspace at a glance. A part that couldn't be read is None, and `unreadable` has the reason."""

    root: str
    branch: str | None
    now_ms: int
    tasks: TaskOverview | None = None
    outside: tuple[str, ...] = ()
    """The commands of an outside task system, if the workspace has no tasks of its own."""
    running: tuple[RunSnapshot, ...] = ()
    finished: tuple[Run, ...] = ()
    manifest: ManifestOverview | None = None
    open_errors: int = 0
    open_causes: int = 0
    ledger_bytes: int | None = None
    unreadable: tuple[tuple[str, str], ...] = ()
    """The parts that couldn't be read, and why."""


def load_overview() -> Overview:
    """Load the status of the workspace."""
    from remit.git.head import find_branch
    from remit.ledger.home import Home

    root = find_workspace()
    settings = load_settings(root)
    home = Home(root)
    unreadable: list[tuple[str, str]] = []

    def attempt(name: str, load: Callable[[], T]) -> T | None:
        """Return a part of the status; None if it can't be read, so that the other parts are still shown."""
        try:
            return load()
        except RemitError as error:
            unreadable.append((name, str(error)))
            return None

    try:
        tasks, outside = attempt("tasks", _load_tasks) or (None, ())
        running, finished = attempt("runs", lambda: _load_runs(home)) or ((), ())
        manifest = attempt("manifest", lambda: _load_manifest(home, settings))
        errors, causes = attempt("errors", _load_errors) or (0, 0)
        size = attempt("ledger", lambda: _measure(home))
    finally:
        home.close()
    now_ms = time.time_ns() // 1_000_000
    return Overview(
        root,
        find_branch(root),
        now_ms,
        tasks,
        outside,
        running,
        finished,
        manifest,
        errors,
        causes,
        size,
        tuple(unreadable),
    )


def _load_tasks() -> tuple[TaskOverview | None, tuple[str, ...]]:
    from remit.runs.tasks.workspace_tasks import Tasks, check_sync

    tasks = Tasks()
    if not tasks.is_begun:
        return None, tuple(tasks.outside.values())
    try:
        checked = check_sync(tasks)
        differences = 0 if checked is None else checked.differences
        facts = [each for each in tasks.list_tasks() if not each.closed or each.marker]
        focus = tasks.get_focus()
    finally:
        tasks.home.close()
    markers = [each.marker or "NO STATUS" for each in facts]
    counts = sorted({marker: markers.count(marker) for marker in markers}.items(), key=lambda row: _rank(row[0]))
    working = tuple(each for each in facts if not each.closed and each.marker in _WORKING)
    blocked = tuple(each for each in facts if not each.closed and each.marker == "BLOCKED")
    return TaskOverview(tasks.store.folder, tuple(counts), working, blocked, focus, differences), ()


def _rank(marker: str) -> tuple[int, str]:
    """Return a sort key: active tasks first, then tasks that are ready for a command, waiting ones, finished ones."""
    if marker in _WORKING:
        return 0, marker
    return (_WAITING.index(marker) + 2 if marker in _WAITING else 1), marker


def _load_runs(home: Home) -> tuple[tuple[RunSnapshot, ...], tuple[Run, ...]]:
    check_open(home.ledger_file)
    if not os.path.lexists(home.ledger_file):
        return (), ()
    from remit.ledger.runs import list_runs
    from remit.views.run_snapshots import list_snapshots

    running = list_snapshots(home, limit=OPEN)
    recent = list_runs(home.ledger, limit=FINISHED + len(running))
    return tuple(running), tuple([each for each in recent if each.state == "finished"][:FINISHED])


def _load_manifest(home: Home, settings: Settings) -> ManifestOverview | None:
    from remit.manifest.manifest_file import place_manifest

    path = place_manifest(home.root, settings)
    check_open(f"{home.root}/{path}")
    if not os.path.lexists(f"{home.root}/{path}"):
        return None
    from remit.manifest.counts import count_quickly

    return ManifestOverview(path, count_quickly(home, f"{home.root}/{path}", max_bytes=_MANIFEST_BYTES))


def _load_errors() -> tuple[int, int]:
    from remit.errorlog.workspace_errors import load_errors

    found = load_errors(only_open=True)
    broken = next((diagnostic for diagnostic in found.diagnostics if diagnostic.severity == "error"), None)
    if broken is not None:
        raise StateError(broken.message, hint="see: remit errors list")
    return len(found.records), len(found.groups)


def _measure(home: Home) -> int | None:
    check_open(home.ledger_file)
    if not os.path.lexists(home.ledger_file):
        return None
    return os.lstat(home.ledger_file).st_size


# --- in numbers ------------------------------------------------------------------------------------------------------


def load_workspace_status(home: Home) -> WorkspaceStatusObject:
    """The workspace at a glance. The cost doesn't depend on how many runs there are."""
    # Only the HTTP API and the MCP server call this function: `remit status` doesn't load these modules.
    from remit import __version__
    from remit.git.head import find_branch
    from remit.storage.secrets import redact_all
    from remit.views.events import find_last
    from remit.views.workers import name_backend

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
    from remit.ledger.queries import count_by_state
    from remit.views.run_snapshots import has_ledger

    found = count_by_state(home.ledger) if has_ledger(home) else {}
    total = sum(found.values())
    return {"open": total - found.get("finished", 0), "finished": found.get("finished", 0), "total": total}
