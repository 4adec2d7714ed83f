"""`remit gc`: remove old runs, merged worktrees, and leftovers of crashes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from remit.agent_files.discovery import find_agent_files
from remit.attempts.folders import list_living
from remit.errors import InputError, RemitError, StorageError
from remit.evidence.cleanup import Removed, clear_evidence
from remit.git.worktrees import find_unsaved_work, has_branch, list_worktrees, remove_worktree
from remit.ledger.events import read_clock_ms
from remit.ledger.home import Home
from remit.ledger.retention import DeletedRuns, delete_old_runs
from remit.ledger.runs import list_runs
from remit.maintenance import leftovers
from remit.manifest.manifest_file import place_manifest
from remit.runs.admission.run_config import read_run_config
from remit.runs.results.full_result import load_report
from remit.storage import trust
from remit.storage.settings import find_workspace, load_settings
from remit.storage.spec_root import FOLDERS
from remit.storage.supervisor_presence import clear_departed, count_departed
from remit.tasks.transaction import finish_if_interrupted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from remit.config import Settings
    from remit.ledger.runs import Run
    from remit.maintenance.leftovers import Leftover

_DAY_MS = 24 * 60 * 60 * 1000
_MAX_ROWS = 100_000


class GcResult(NamedTuple):
    """What `remit gc` removed, or would remove in a dry run, and what failed."""

    root: str
    runs: int = 0
    events: int = 0
    spills: int = 0
    recovered: tuple[str, ...] = ()
    half_written: tuple[str, ...] = ()
    worktrees: tuple[str, ...] = ()
    scratch: tuple[str, ...] = ()
    """Folders outside of the workspace in which a commit was made."""
    folders: int = 0
    """Session folders without a row."""
    supervisors: int = 0
    """Files of supervisors that were killed."""
    trees: int = 0
    """Private repositories of folders that no longer exist."""
    freed_bytes: int = 0
    failures: tuple[str, ...] = ()
    """A sentence for each failure."""
    kept: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Worktrees of completed runs with changes that are on no branch, and the paths of these changes."""

    @property
    def is_empty(self) -> bool:
        """Whether there was nothing to remove."""
        return not any(self[1:11])


def clear_up(*, dry_run: bool = False) -> GcResult:
    """Remove what is older than the workspace's settings allow, and leftovers. A dry run only reports it."""
    root = find_workspace()
    settings = load_settings(root)
    home = Home(root)
    if not home.is_made:
        return GcResult(root)
    try:
        if not dry_run:
            finish_if_interrupted(home)  # otherwise the journal's pending files would look like leftovers
        has_ledger = os.path.lexists(home.ledger_file)
        worktrees, kept, failures = _clear_worktrees(home, settings, dry_run=dry_run)

        forgotten, spills = DeletedRuns(), []
        folders: list[Leftover] = []
        supervisors, trees = 0, Removed()
        if has_ledger:
            days, megabytes = settings.retention
            forgotten = delete_old_runs(home, days=days, megabytes=megabytes, dry_run=dry_run)
            spills = leftovers.find_stray_spills(home, failures)
            folders = leftovers.find_stray_sessions(home)
            if not dry_run:
                folders = leftovers.clear_sessions(home, folders, failures)
            try:
                supervisors = count_departed(home)
                if not dry_run:
                    clear_departed(home)
            except StorageError as error:
                failures.append(str(error))
                supervisors = 0
            trees = clear_evidence(home, failures, dry_run=dry_run)

        recovered = leftovers.find_recovered(home, days=settings.retention.days, failures=failures)
        half = [*find_half_written(root, settings, failures), *leftovers.find_old_tickets(home)]
        scratch = leftovers.find_scratch(failures)
        if not dry_run:
            spills = leftovers.clear_spills(home, spills, failures)
            recovered, half = leftovers.clear(recovered, failures), leftovers.clear(half, failures)
            scratch = leftovers.clear_scratch(scratch, failures)
        freed_bytes = sum(each.size_bytes for each in (*spills, *recovered, *half, *scratch, *folders))
        return GcResult(
            root=root,
            runs=forgotten.runs,
            events=forgotten.events,
            spills=forgotten.spills + len(spills),
            recovered=_list_paths(home, recovered),
            half_written=_list_paths(home, half),
            worktrees=tuple(worktrees),
            scratch=tuple(each.file for each in scratch),
            folders=forgotten.folders + len(folders),
            supervisors=supervisors,
            trees=trees.repositories,
            freed_bytes=forgotten.freed_bytes + trees.size_bytes + freed_bytes,
            failures=tuple(dict.fromkeys(failures)),  # a folder that was searched twice fails twice
            kept=tuple(kept.items()),
        )
    finally:
        home.close()


def _list_paths(home: Home, found: Iterable[Leftover]) -> tuple[str, ...]:
    return tuple(each.file.removeprefix(f"{home.root.rstrip('/')}/") for each in found)


def find_half_written(root: str, settings: Settings, failures: list[str]) -> list[Leftover]:
    """Return files that a killed process left half-written in the folders to which Remit writes."""
    try:
        found = find_agent_files((), root=root, exclude=settings.lint.exclude)
    except InputError as error:  # the other folders can still be searched
        found = []
        failures.append(str(error))
    agents = {os.path.dirname(each.file) for each in found}
    manifest = os.path.dirname(f"{root}/{place_manifest(root, settings)}")
    tasks = [f"{root}/{folder}" for folder in ((settings.tasks.folder,) if settings.tasks.folder else FOLDERS)]
    try:
        trusted = [os.path.dirname(trust.find_file())]
    except InputError:  # a user without a home has no list of trusted workspaces
        trusted = []
    folders = (root, manifest, *agents, *trusted)
    return leftovers.find_half_written(Home(root), folders=folders, trees=tasks, failures=failures)


# --- worktrees --------------------------------------------------------------------------------------------------------


def _clear_worktrees(
    home: Home, settings: Settings, *, dry_run: bool
) -> tuple[list[str], dict[str, tuple[str, ...]], list[str]]:
    """Remove worktrees that are no longer needed; return their names, those kept with unmerged paths, and failures."""
    removed: list[str] = []
    kept: dict[str, tuple[str, ...]] = {}
    failures: list[str] = []
    if not os.path.isdir(f"{home.folder}/worktrees"):
        return removed, kept, failures
    try:
        names = list_worktrees(home.root)
    except RemitError as error:
        return removed, kept, [str(error)]
    users: dict[str, list[Run]] = {name: [] for name in names}  # the run of the same name, and runs that resumed it
    for row in list_runs(home.ledger, limit=_MAX_ROWS):
        for name in {row.session_id, str(row.details.get("worktree"))} & users.keys():
            users[name].append(row)
    for name in names:
        try:
            if not _is_unneeded(home, name, users[name], settings.retention.days, kept):
                continue
            if not dry_run:
                remove_worktree(home.root, name)
            removed.append(name)
        except RemitError as error:
            failures.append(str(error))
    return removed, kept, failures


def _is_unneeded(home: Home, name: str, users: list[Run], days: int, kept: dict[str, tuple[str, ...]]) -> bool:
    """Whether a worktree can be removed: its runs are over and old, or completed with all changes on a branch.

    Any other worktree may have the only copy of some work, or may be used by a resumed run. If unmerged paths are the
    reason to keep it, they are added to `kept`.
    """
    horizon = read_clock_ms() - days * _DAY_MS
    living = {attempt.session_id for attempt in list_living(home)}
    if name in living or any(row.state != "finished" or row.session_id in living for row in users):
        return False
    if not users:  # a worktree without a row is as old as its folder
        try:
            return os.lstat(f"{home.folder}/worktrees/{name}").st_mtime * 1000 < horizon
        except FileNotFoundError:  # git still lists it, but the folder is gone
            return True
    if all((row.ended_ms or row.created_ms) < horizon for row in users):
        return True
    if any(row.status != "completed" for row in users):
        return False
    claimed: dict[str, list[str]] = {}
    for row in users:
        config = read_run_config(row.details)
        if config.worktree:
            _, conclusion = load_report(home, row.session_id)
            claimed.setdefault(config.root, []).extend(each.path for each in conclusion.artifacts)
    unmerged = tuple(path for folder, paths in claimed.items() for path in find_unsaved_work(folder, paths))
    if unmerged:
        kept[name] = unmerged
    return not unmerged and has_branch(home.root, f"remit/{name}")
