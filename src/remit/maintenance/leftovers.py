"""Leftovers: files that killed processes left, and files that were kept long enough.

Owns finding and removing them. A name alone proves nothing, so what is removed is a plain file of Remit's own naming
that nobody has touched for an hour and whose process is gone; or a folder like that, of git's, after a day. What cannot
be looked at or removed is told in a sentence, in the list that is handed in, and keeps nothing else from going.
"""

from __future__ import annotations

import os
import re
import stat
import time
from contextlib import contextmanager, suppress
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
"""What a file is called until it is whole (`files.name_half_written`)."""
_WAITING = lazy(r"\.remit-[0-9a-f]{12}\Z")
"""What the journal calls the content that a file shall have, where it cannot wait in a folder of its own."""
_PENDING = "pending"
"""That folder."""
_SCRATCH = lazy(re.escape(SCRATCH) + r"([1-9][0-9]{0,9})-[a-z0-9_]{8}\Z")
"""What the folder is called in which a commit is made."""
_NOT_OURS = ("worktrees",)
"""Below `.remit`, but an agent's."""


class Leftover(NamedTuple):
    """A file that nobody needs, or a folder."""

    file: str
    size_bytes: int


@contextmanager
def _telling(failures: list[str], what: str) -> Iterator[None]:
    """Say why something failed, and go on. What is not there is not missed."""
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
    """Files that were never finished: in some folders, and in some others with all that is below them.

    What the journal will still put in its place is none of them.
    """
    ledger = examine(home.ledger_file, seconds=0.0)
    is_idle = ledger is None or not (ledger.fault or ledger.is_newer or ledger.unfinished)
    now, found = time.time(), {}
    for file in _list_files(home, folders, trees, failures):
        is_waiting, pid = _read_name(file, f"{home.folder}/{_PENDING}")
        if is_waiting and ledger is not None and ledger.fault:
            failures.append(f"'{file}' may be needed, for the ledger can't be read: {ledger.fault}; see remit doctor")
        if (is_waiting and is_idle) or (pid is not None and not is_alive(pid)):
            size = _measure_if_quiet(file, now)
            if size is not None:
                found[file] = Leftover(file, size)
    return [found[file] for file in sorted(found)]


def _list_files(home: Home, folders: Iterable[str], trees: Iterable[str], failures: list[str]) -> Iterator[str]:
    """The names in the folders, up to a number; no link is followed."""
    rest = MAX_ENTRIES
    waiting = [(folder, False) for folder in folders] + [(tree, True) for tree in (*trees, home.folder)]
    while waiting:
        folder, is_tree = waiting.pop()
        if os.path.islink(folder):
            continue
        with _telling(failures, f"'{folder}' cannot be searched"), os.scandir(folder) as entries:
            for entry in entries:
                rest -= 1
                if rest < 0:
                    return
                if entry.is_dir(follow_symlinks=False):
                    if is_tree and (folder != home.folder or entry.name not in _NOT_OURS):
                        waiting.append((entry.path, True))
                else:
                    yield entry.path


def _read_name(file: str, pending: str) -> tuple[bool, int | None]:
    """Whether a file waits to be put in its place, and which process was writing it."""
    folder, name = os.path.split(file)
    half = _HALF_WRITTEN.match(name)
    if half is not None:
        return False, int(half[1])
    return folder == pending or _WAITING.match(name) is not None, None


def _measure_if_quiet(file: str, now: float) -> int | None:
    """The size of a plain file of our own that nobody has touched for a while; None for every other."""
    try:
        found = os.lstat(file)
    except OSError:
        return None
    is_quiet = now - max(found.st_mtime, found.st_ctime) > QUIET_SECONDS
    return found.st_size if stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid() and is_quiet else None


def find_old_tickets(home: Home) -> list[Leftover]:
    """Tickets of commands that no shell took, and profiles of commands; a profile that is needed is made again."""
    found = []
    for file in command_tickets.list_old(home.root):
        with suppress(OSError):
            found.append(Leftover(file, os.lstat(file).st_size))
    return found


def find_recovered(home: Home, *, days: int, failures: list[str]) -> list[Leftover]:
    """Originals of files that were corrupt, kept beside what was recovered from them, once they are old."""
    folder = f"{home.folder}/{RECOVERED}"
    if os.path.islink(home.folder) or os.path.islink(folder):
        return []
    age_seconds = days * _DAY_SECONDS
    return list(_find_plain([f"{folder}/{name}" for name in _list_names(folder, failures)], age_seconds))


def find_scratch(failures: list[str]) -> list[Leftover]:
    """Folders in which a commit was made, or looked for, by a process that was killed."""
    from tempfile import gettempdir

    found, now = [], time.time()
    with _telling(failures, "the folder for temporary files cannot be searched"), os.scandir(gettempdir()) as entries:
        for entry in entries:
            name = _SCRATCH.match(entry.name)
            if name is not None and not is_alive(int(name[1])) and _is_old_scratch(entry, now):
                found.append(Leftover(entry.path, _measure_tree(entry.path)))
    return sorted(found)


def _is_old_scratch(entry: os.DirEntry[str], now: float) -> bool:
    """Whether it is a folder that only we may enter. Others write into the folder above, too."""
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
    """Remove folders with all that is in them; those that are gone now. No link is followed."""
    from shutil import rmtree

    gone = []
    for each in leftovers:
        with _telling(failures, f"'{each.file}' can't be removed"):
            rmtree(each.file)
        if not os.path.lexists(each.file):
            gone.append(each)
    return gone


def find_stray_spills(home: Home, failures: list[str]) -> list[Leftover]:
    """Spills that no row of the ledger names: whoever removed the rows was killed before the files."""
    found = _find_plain(list(_list_spills(f"{home.folder}/spills", failures)), QUIET_SECONDS)
    with home.ledger.reading() as db:
        return [each for each in found if not _is_named(db, each)]


def clear_spills(home: Home, strays: list[Leftover], failures: list[str]) -> list[Leftover]:
    """Remove spills that no row names; those that are gone now. While one is looked up, nobody else can name it."""
    gone = []
    for each in strays:
        with home.ledger.transaction() as db:
            gone += [] if _is_named(db, each) else clear([each], failures)
    return gone


def _is_named(db: Connection, spill: Leftover) -> bool:
    name = os.path.basename(spill.file)
    return db.execute("SELECT 1 FROM spills WHERE hash = ? LIMIT 1", (name,)).fetchone() is not None


def _find_plain(files: list[str], age_seconds: float) -> Iterator[Leftover]:
    """Those that are plain files and were written so long ago."""
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
    """The names in a folder of our own; none where it is a link, which could lead anywhere."""
    with _telling(failures, f"'{folder}' cannot be searched"):
        return [] if os.path.islink(folder) else os.listdir(folder)
    return []


def find_stray_sessions(home: Home) -> list[Leftover]:
    """Folders of sessions that the ledger does not know, and that nobody has touched for a day."""
    now, place = time.time(), f"{home.folder}/{SESSIONS}"
    sizes = measure_sessions(home)
    with home.ledger.reading() as db:
        known = {row[0] for row in db.execute("SELECT session_id FROM runs")}
    living = {attempt.session_id for attempt in list_living(home)}
    strays = sorted(sizes.keys() - known - living)
    return [Leftover(f"{place}/{name}", sizes[name]) for name in strays if _is_quiet(f"{place}/{name}", now)]


def clear_sessions(home: Home, strays: Iterable[Leftover], failures: list[str]) -> list[Leftover]:
    """Remove them; those that are gone now. One that has come alive stays."""
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
    """Remove them; those that are gone now."""
    gone = []
    for each in leftovers:
        with _telling(failures, f"'{each.file}' can't be removed"):
            os.unlink(each.file)
        if not os.path.lexists(each.file):
            gone.append(each)
    return gone
