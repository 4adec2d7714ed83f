"""Leftovers: files that killed processes left, and files that are past their retention.

A name proves nothing, so Remit removes only plain files with one of its own names, an hour after the last change and
once their process is gone, and folders of git with the same properties after a day. A failure to examine or remove one
file is added as a sentence to the caller's list `failures`; the other files are still removed.
"""

from __future__ import annotations

import os
import re
import stat
import time
from contextlib import contextmanager, suppress
from shutil import rmtree
from tempfile import gettempdir
from typing import TYPE_CHECKING, NamedTuple

from remit.attempts.folders import SESSIONS, list_living, measure_sessions, remove_session
from remit.errors import BusyError, StorageError
from remit.git.repository import SCRATCH
from remit.hooks import command_tickets
from remit.lazy_regex import lazy
from remit.ledger.integrity_check import examine
from remit.storage.machine import is_alive

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from sqlite3 import Connection

    from remit.ledger.home import Home

QUIET_SECONDS = 3600.0
SCRATCH_SECONDS = 86_400.0
MAX_ENTRIES = 200_000
RECOVERED = "recovered"
_DAY_SECONDS = 86_400
_HALF_WRITTEN = lazy(r"\.remit-([1-9][0-9]{0,9})-[0-9a-f]{8}-.{1,40}\Z", re.DOTALL)
"""The name of a file until it is complete (`files.name_half_written`)."""
_WAITING = lazy(r"\.remit-[0-9a-f]{12}\Z")
"""The journal's name for the new content of a file if that can't be kept in the folder `pending`."""
_PENDING = "pending"
_SCRATCH = lazy(re.escape(SCRATCH) + r"([1-9][0-9]{0,9})-[a-z0-9_]{8}\Z")
"""The name of a folder in which a commit is made."""
_FOREIGN = ("worktrees",)
"""Folders below `.remit` whose content belongs to agents."""


class Leftover(NamedTuple):
    """A file or folder that is no longer needed."""

    file: str
    size_bytes: int


@contextmanager
def _collecting(failures: list[str], what: str) -> Iterator[None]:
    """Turn an error into a sentence in `failures`. A missing file or folder isn't an error."""
    try:
        yield
    except (FileNotFoundError, NotADirectoryError):
        pass
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        failures.append(f"{what}: {reason}; check the disk and the permissions, then try again")


def find_half_written(
    home: Home, *, folders: Iterable[str], trees: Iterable[str], failures: list[str]
) -> list[Leftover]:
    """Return half-written files in `folders`, and in `trees` with their subfolders.

    Files that an unfinished journal entry will still rename are left out.
    """
    ledger = examine(home.ledger_file, seconds=0.0)
    is_idle = ledger is None or not (ledger.fault or ledger.is_newer or ledger.unfinished)
    now, found = time.time(), {}
    for file in _list_files(home, folders, trees, failures):
        is_waiting, pid = _read_name(file, f"{home.folder}/{_PENDING}")
        if is_waiting and ledger is not None and ledger.fault:
            failures.append(
                f"'{file}' may be needed, because the ledger can't be read: {ledger.fault}; run remit doctor"
            )
        if (is_waiting and is_idle) or (pid is not None and not is_alive(pid)):
            size = _measure_if_quiet(file, now)
            if size is not None:
                found[file] = Leftover(file, size)
    return [found[file] for file in sorted(found)]


def _list_files(home: Home, folders: Iterable[str], trees: Iterable[str], failures: list[str]) -> Iterator[str]:
    """Yield the files in the folders and trees, up to a number of entries. Links aren't followed."""
    rest = MAX_ENTRIES
    waiting = [(folder, False) for folder in folders] + [(tree, True) for tree in (*trees, home.folder)]
    while waiting:
        folder, is_tree = waiting.pop()
        if os.path.islink(folder):
            continue
        with _collecting(failures, f"'{folder}' can't be searched"), os.scandir(folder) as entries:
            for entry in entries:
                rest -= 1
                if rest < 0:
                    return
                if entry.is_dir(follow_symlinks=False):
                    if is_tree and (folder != home.folder or entry.name not in _FOREIGN):
                        waiting.append((entry.path, True))
                else:
                    yield entry.path


def _read_name(file: str, pending: str) -> tuple[bool, int | None]:
    """Return whether a file waits for the journal, and the id of the process that was writing it."""
    folder, name = os.path.split(file)
    half = _HALF_WRITTEN.match(name)
    if half is not None:
        return False, int(half[1])
    return folder == pending or _WAITING.match(name) is not None, None


def _measure_if_quiet(file: str, now: float) -> int | None:
    """Return the size of a plain file of this user that hasn't changed for a while, else None."""
    try:
        found = os.lstat(file)
    except OSError:
        return None
    is_quiet = now - max(found.st_mtime, found.st_ctime) > QUIET_SECONDS
    return found.st_size if stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid() and is_quiet else None


def find_old_tickets(home: Home) -> list[Leftover]:
    """Return old tickets that no shell has used, and old profiles of commands, which are created again if needed."""
    found = []
    for file in command_tickets.list_old(home.root):
        with suppress(OSError):
            found.append(Leftover(file, os.lstat(file).st_size))
    return found


def find_recovered(home: Home, *, days: int, failures: list[str]) -> list[Leftover]:
    """Return old originals of corrupt files, which were kept when their content was recovered."""
    folder = f"{home.folder}/{RECOVERED}"
    if os.path.islink(home.folder) or os.path.islink(folder):
        return []
    age_seconds = days * _DAY_SECONDS
    return list(_find_plain([f"{folder}/{name}" for name in _list_names(folder, failures)], age_seconds))


def find_scratch(failures: list[str]) -> list[Leftover]:
    """Return folders in which a killed process was making or searching a commit."""
    found, now = [], time.time()
    with _collecting(failures, "the folder for temporary files can't be searched"), os.scandir(gettempdir()) as entries:
        for entry in entries:
            name = _SCRATCH.match(entry.name)
            if name is not None and not is_alive(int(name[1])) and _is_old_scratch(entry, now):
                found.append(Leftover(entry.path, _measure_tree(entry.path)))
    return sorted(found)


def _is_old_scratch(entry: os.DirEntry[str], now: float) -> bool:
    """Whether a folder is old and accessible to this user only: other users write into the same parent folder."""
    try:
        facts = entry.stat(follow_symlinks=False)
    except OSError:
        return False
    is_ours = facts.st_uid == os.geteuid() and facts.st_mode == stat.S_IFDIR | 0o700
    return is_ours and now - max(facts.st_mtime, facts.st_ctime) > SCRATCH_SECONDS


def _measure_tree(folder: str) -> int:
    size = 0
    for here, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                size += os.lstat(os.path.join(here, name)).st_size
    return size


def clear_scratch(leftovers: Iterable[Leftover], failures: list[str]) -> list[Leftover]:
    """Remove folders with their content, and return those that are gone. Links aren't followed."""
    gone = []
    for each in leftovers:
        with _collecting(failures, f"'{each.file}' can't be removed"):
            rmtree(each.file)
        if not os.path.lexists(each.file):
            gone.append(each)
    return gone


def find_stray_spills(home: Home, failures: list[str]) -> list[Leftover]:
    """Return spills that no row of the ledger names: a process was killed after it had removed the rows."""
    found = _find_plain(list(_list_spills(f"{home.folder}/spills", failures)), QUIET_SECONDS)
    with home.ledger.reading() as db:
        return [each for each in found if not _is_referenced(db, each)]


def clear_spills(home: Home, strays: list[Leftover], failures: list[str]) -> list[Leftover]:
    """Remove spills that no row names, and return those that are gone. A transaction keeps out new rows."""
    gone = []
    for each in strays:
        with home.ledger.transaction() as db:
            gone += [] if _is_referenced(db, each) else clear([each], failures)
    return gone


def _is_referenced(db: Connection, spill: Leftover) -> bool:
    name = os.path.basename(spill.file)
    return db.execute("SELECT 1 FROM spills WHERE hash = ? LIMIT 1", (name,)).fetchone() is not None


def _find_plain(files: list[str], age_seconds: float) -> Iterator[Leftover]:
    """Yield the plain files that are older than an age."""
    now = time.time()
    for file in sorted(files):
        with suppress(OSError):
            facts = os.lstat(file)
            if stat.S_ISREG(facts.st_mode) and now - facts.st_mtime > age_seconds:
                yield Leftover(file, facts.st_size)


def _list_spills(folder: str, failures: list[str]) -> Iterator[str]:
    for shelf in _list_names(folder, failures):
        names = _list_names(f"{folder}/{shelf}", failures)
        yield from (f"{folder}/{shelf}/{name}" for name in names if name.isalnum())


def _list_names(folder: str, failures: list[str]) -> list[str]:
    """Return the names in a folder of Remit; none if the folder is a link, which could lead anywhere."""
    with _collecting(failures, f"'{folder}' can't be searched"):
        return [] if os.path.islink(folder) else os.listdir(folder)
    return []


def find_stray_sessions(home: Home) -> list[Leftover]:
    """Return folders of sessions that the ledger doesn't know and that haven't changed for a day."""
    now, place = time.time(), f"{home.folder}/{SESSIONS}"
    sizes = measure_sessions(home)
    with home.ledger.reading() as db:
        known = {row[0] for row in db.execute("SELECT session_id FROM runs")}
    living = {attempt.session_id for attempt in list_living(home)}
    strays = sorted(sizes.keys() - known - living)
    return [Leftover(f"{place}/{name}", sizes[name]) for name in strays if _is_quiet(f"{place}/{name}", now)]


def clear_sessions(home: Home, strays: Iterable[Leftover], failures: list[str]) -> list[Leftover]:
    """Remove session folders, and return those that are gone. A folder whose agent is alive again stays."""
    gone = []
    for each in strays:
        try:
            remove_session(home, os.path.basename(each.file))
            gone.append(each)
        except (BusyError, StorageError) as error:
            failures.append(str(error))
    return gone


def _is_quiet(folder: str, now: float) -> bool:
    try:
        return now - os.lstat(folder).st_mtime > SCRATCH_SECONDS
    except OSError:
        return False


def clear(leftovers: Iterable[Leftover], failures: list[str]) -> list[Leftover]:
    """Remove files, and return those that are gone."""
    gone = []
    for each in leftovers:
        with _collecting(failures, f"'{each.file}' can't be removed"):
            os.unlink(each.file)
        if not os.path.lexists(each.file):
            gone.append(each)
    return gone
