"""`remit gc`: remove what was kept long enough, and leftovers of crashes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from remit.errors import InputError, RemitError, StorageError
from remit.storage.settings import find_workspace, load_settings

if TYPE_CHECKING:
    from collections.abc import Iterable

    from remit.config import Settings
    from remit.evidence.cleanup import Removed
    from remit.ledger.home import Home
    from remit.ledger.retention import Forgotten
    from remit.ledger.runs import Run
    from remit.maintenance.leftovers import Leftover

_DAY_MS = 24 * 60 * 60 * 1000
_MOST_ROWS = 100_000


class GcResult(NamedTuple):
    """What was removed, or would be; and what could not be."""

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
    """Of sessions."""
    supervisors: int = 0
    """Files of processes that drove delegations and were killed."""
    trees: int = 0
    """Private repositories of folders that are gone."""
    freed_bytes: int = 0
    failures: tuple[str, ...] = ()
    """What could not be done, a sentence each."""
    kept: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """The worktrees of completed work that stay because they hold what is on no branch, and what that is."""

    @property
    def is_empty(self) -> bool:
        """Whether there was nothing to remove."""
        return not any(self[1:11])


def clear_up(*, dry_run: bool = False) -> GcResult:
    """Remove what is old by the workspace's settings, and what nobody needs. A dry run tells what it would be."""
    from remit.ledger.home import Home

    root = find_workspace()
    settings = load_settings(root)
    home = Home(root)
    if not home.is_made:
        return GcResult(root)
    try:
        if not dry_run:
            from remit.tasks.transaction import finish_if_interrupted

            finish_if_interrupted(home)  # what waits to be put in its place is no leftover
        worktrees, kept, failures = _clear_worktrees(home, settings, dry_run=dry_run)
        forgotten, strays = _forget(home, settings, failures, dry_run=dry_run)
        folders, supervisors = _clear_sessions(home, failures, dry_run=dry_run)
        trees = _clear_evidence(home, failures, dry_run=dry_run)
        from remit.maintenance.leftovers import (
            clear,
            clear_scratch,
            clear_spills,
            find_old_tickets,
            find_recovered,
            find_scratch,
        )

        recovered = find_recovered(home, days=settings.retention.days, failures=failures)
        half = [*find_half_written(root, settings, failures), *find_old_tickets(home)]
        scratch = find_scratch(failures)
        if not dry_run:
            strays = clear_spills(home, strays, failures)
            recovered, half = clear(recovered, failures), clear(half, failures)
            scratch = clear_scratch(scratch, failures)
        return GcResult(
            root,
            forgotten.runs,
            forgotten.events,
            forgotten.spills + len(strays),
            tuple(_name(home, recovered)),
            tuple(_name(home, half)),
            tuple(worktrees),
            tuple(each.file for each in scratch),
            forgotten.folders + len(folders),
            supervisors,
            trees.repositories,
            forgotten.freed_bytes
            + trees.size_bytes
            + sum(each.size_bytes for each in (*strays, *recovered, *half, *scratch, *folders)),
            tuple(dict.fromkeys(failures)),  # a folder may be searched for more than one reason
            tuple(kept.items()),
        )
    finally:
        home.close()


def _forget(home: Home, settings: Settings, failures: list[str], *, dry_run: bool) -> tuple[Forgotten, list[Leftover]]:
    """Old delegations with all that belongs to them, and spills that belong to none."""
    from remit.ledger.retention import Forgotten, forget_old
    from remit.maintenance.leftovers import find_stray_spills

    if not os.path.lexists(home.ledger_file):
        return Forgotten(), []
    days, megabytes = settings.retention
    return forget_old(home, days=days, megabytes=megabytes, dry_run=dry_run), find_stray_spills(home, failures)


def _clear_sessions(home: Home, failures: list[str], *, dry_run: bool) -> tuple[list[Leftover], int]:
    """What agents and supervisors have left: folders that no row names, and killed supervisors."""
    if not os.path.lexists(home.ledger_file):
        return [], 0
    from remit.maintenance.leftovers import clear_sessions, find_stray_sessions

    folders = find_stray_sessions(home)
    if not dry_run:
        folders = clear_sessions(home, folders, failures)
    return folders, _clear_supervisors(home, failures, dry_run=dry_run)


def _clear_evidence(home: Home, failures: list[str], *, dry_run: bool) -> Removed:
    """Private repositories of folders that are gone, and trees that no session names."""
    from remit.evidence.cleanup import Removed, clear_evidence

    return clear_evidence(home, failures, dry_run=dry_run) if os.path.lexists(home.ledger_file) else Removed()


def _clear_supervisors(home: Home, failures: list[str], *, dry_run: bool) -> int:
    from remit.storage.supervisors import clear_departed, count_departed

    try:
        departed = count_departed(home)
        if not dry_run:
            clear_departed(home)
    except StorageError as error:
        failures.append(str(error))
        return 0
    return departed


def find_half_written(root: str, settings: Settings, failures: list[str]) -> list[Leftover]:
    """Files that a killed process never finished, where Remit writes: not a walk through the whole tree."""
    from remit.agent_files.discovery import find_agent_files
    from remit.ledger.home import Home
    from remit.maintenance.leftovers import find_half_written
    from remit.manifest.places import place_manifest
    from remit.storage.spec_root import FOLDERS

    try:
        found = find_agent_files((), root=root, exclude=settings.lint.exclude)
    except InputError as error:  # a folder that may not be read keeps nobody from clearing the others
        found = []
        failures.append(str(error))
    agents = {os.path.dirname(each.file) for each in found}
    manifest = os.path.dirname(f"{root}/{place_manifest(root, settings)}")
    tasks = [f"{root}/{folder}" for folder in ((settings.tasks.folder,) if settings.tasks.folder else FOLDERS)]
    folders = (root, manifest, *agents, *_find_consents())
    return find_half_written(Home(root), folders=folders, trees=tasks, failures=failures)


def _find_consents() -> list[str]:
    """The folder of the list of trusted workspaces; none for a user without a home."""
    from remit.storage.trust import find_file

    try:
        return [os.path.dirname(find_file())]
    except InputError:
        return []


def _name(home: Home, leftovers: Iterable[Leftover]) -> list[str]:
    return [each.file.removeprefix(f"{home.root.rstrip('/')}/") for each in leftovers]


def _clear_worktrees(
    home: Home, settings: Settings, *, dry_run: bool
) -> tuple[list[str], dict[str, tuple[str, ...]], list[str]]:
    """The worktrees of delegations that are done with all of it on a branch, or are settled and old, or forgotten.

    In any other may be work that is nowhere else, or that is gone on with; where that is known, it is told.
    """
    removed: list[str] = []
    kept: dict[str, tuple[str, ...]] = {}
    failures: list[str] = []
    if not os.path.isdir(f"{home.folder}/worktrees"):
        return removed, kept, failures
    from remit.git.worktrees import list_worktrees, remove_worktree

    try:
        names = list_worktrees(home.root)
    except RemitError as error:
        return removed, kept, [str(error)]
    users = _list_users(home, names)
    for name in names:
        try:
            if not _is_over(home, name, users[name], settings.retention.days, kept):
                continue
            if not dry_run:
                remove_worktree(home.root, name)
            removed.append(name)
        except RemitError as error:
            failures.append(str(error))
    return removed, kept, failures


def _list_users(home: Home, names: Iterable[str]) -> dict[str, list[Run]]:
    """Who has worked in each worktree: the delegation that it was made for, and those that went on there."""
    from remit.ledger.runs import list_runs

    users: dict[str, list[Run]] = {name: [] for name in names}
    for row in list_runs(home.ledger, limit=_MOST_ROWS):
        for name in {row.session_id, str(row.details.get("worktree"))} & users.keys():
            users[name].append(row)
    return users


def _is_over(home: Home, name: str, users: list[Run], days: int, kept: dict[str, tuple[str, ...]]) -> bool:
    """Whether nobody needs a worktree any more. One without a row is as old as its folder."""
    from remit.attempts.folders import list_living
    from remit.git.worktrees import has_branch
    from remit.ledger.events import read_clock_ms

    horizon = read_clock_ms() - days * _DAY_MS
    living = {attempt.session_id for attempt in list_living(home)}
    if name in living or any(row.state != "finished" or row.session_id in living for row in users):
        return False
    if not users:
        try:
            return os.lstat(f"{home.folder}/worktrees/{name}").st_mtime * 1000 < horizon
        except FileNotFoundError:  # git still knows it, and there is nothing in it
            return True
    if all((row.ended_ms or row.created_ms) < horizon for row in users):
        return True
    if any(row.status != "completed" for row in users):
        return False
    held = _find_held(home, users)
    if held:
        kept[name] = held
    return not held and has_branch(home.root, f"remit/{name}")


def _find_held(home: Home, users: Iterable[Run]) -> tuple[str, ...]:
    """What those who worked in a worktree have left there that is on no branch."""
    from remit.git.worktrees import find_unsaved_work
    from remit.runs.admission.run_config import read_run_config
    from remit.runs.results.full_result import load_report

    claimed: dict[str, list[str]] = {}
    for row in users:
        config = read_run_config(row.details)
        if config.worktree:
            _, conclusion = load_report(home, row.session_id)
            claimed.setdefault(config.root, []).extend(each.path for each in conclusion.artifacts)
    return tuple(path for folder, paths in claimed.items() for path in find_unsaved_work(folder, paths))
