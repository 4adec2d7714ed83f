"""A snapshot: what the system says of every file below a root, files that git ignores too, without opening them.

Owns walking the tree. Folders are opened from the folder above and links are not followed, so that a walk never leaves
the root, whatever is exchanged under it. Two places are left out, because they change with every command and nothing
can be told from that: Remit's own folder in the root, and of each `.git` all but what git obeys or executes. A claim
that leads there is refused (see `grades`), so nothing is gained by writing there.
"""

from __future__ import annotations

import os
import stat
import time
from itertools import islice
from typing import TYPE_CHECKING

from remit.errors import InputError
from remit.workspace.evidence.content import Budget, open_root, read_content, tell
from remit.workspace.evidence.values import (
    LIMITS,
    Lookup,
    Snapshot,
    clean_path,
    join_path,
    list_steps,
    pack_folder,
    unpack_folder,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
    from pathlib import Path

    from remit.workspace.evidence.values import Facts, Folder, Limits

OWN_FOLDER = ".remit"
GIT_FOLDER = ".git"
_GIT_OBEYS = frozenset({"config", "config.worktree", "hooks", "info"})
_GIT_LISTING = "refs"
"""The one file in `info` that git obeys nowhere, and writes whenever it tidies up."""

_TICK_NS = 20_000_000
"""Longer than the clock that files are stamped with stands still on any Linux or macOS."""
_WHOLE_SECONDS_TICK_NS = 2_000_000_000
_SECOND_NS = 1_000_000_000

_OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def take_snapshot(
    root: str | Path,
    *,
    limits: Limits = LIMITS,
    hash_paths: Iterable[str] = (),
    earlier: Snapshot | None = None,
    list_ignored: Callable[[str], Collection[str]] | None = None,
) -> Snapshot:
    """Look at everything below a root.

    `hash_paths` are files, or folders with all that is in them, whose content shall be known later; a hash that an
    `earlier` snapshot has is taken from there while the file's facts are the same. If the limits do not allow to hash
    all of them, files below the paths that `list_ignored` returns come last.
    """
    real = os.path.realpath(root)
    try:
        handle = open_root(real)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(f"'{real}' cannot be looked at: {reason}", hint="name a folder that can be read") from error
    walk = _Walk(limits)
    try:
        walk.run(handle)
        taken_ns = time.time_ns()
        racy = _outwait(walk)
        wanted = dict(_find_wanted(walk.folders, {*map(clean_path, hash_paths)} | racy))
        hashes = {} if earlier is None else _take_over(wanted, racy, earlier)
        left = [(path, facts) for path, facts in wanted.items() if path not in hashes]
        if sum(facts.size_bytes for _, facts in left) > limits.max_hashed_bytes:
            ignored = frozenset(() if list_ignored is None else list_ignored(real))
            left.sort(key=lambda each: (any(step in ignored for step in list_steps(each[0])), each[1].size_bytes))
        hashes |= _hash_files(handle, left, limits)
    finally:
        os.close(handle)
    return Snapshot(real, taken_ns, walk.folders, walk.links, hashes, racy, walk.gaps)


# --- the walk ---------------------------------------------------------------------------------------------------------


class _Walk:
    """One pass over a tree, depth first: a handle is open for each folder on the way down, and no more."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.left = limits.max_entries
        self.deadline = time.monotonic() + limits.max_seconds
        self.newest_ns = 0
        self.folders: dict[str, Folder] = {}
        self.links: dict[str, str] = {}
        self.gaps: dict[str, str] = {}

    def run(self, root: int) -> None:
        """Fill in the folders, starting with an open one that stays open."""
        open_folders: list[tuple[int, str, Iterator[str]]] = [(root, "", iter(self._list(root, "")))]
        try:
            while open_folders:
                handle, path, names = open_folders[-1]
                name = next(names, None)
                if name is None:
                    open_folders.pop()
                    if open_folders:
                        os.close(handle)
                    continue
                inner = join_path(path, name)
                below = self._open(handle, name, inner, depth=len(open_folders))
                if below is not None:
                    open_folders.append((below, inner, iter(self._list(below, inner))))
        finally:
            for handle, _, _ in open_folders[1:]:
                os.close(handle)

    def _open(self, handle: int, name: str, path: str, *, depth: int) -> int | None:
        """A folder of an open folder; None where it is not entered, which is a gap unless it is gone."""
        if depth > self.limits.max_depth:
            self.gaps[path] = f"it is more than {self.limits.max_depth} folders deep"
        elif self.left <= 0:
            self.gaps[path] = f"the limit of {self.limits.max_entries} entries was reached before it"
        elif time.monotonic() > self.deadline:
            self.gaps[path] = f"the limit of {self.limits.max_seconds:g} seconds was reached before it"
        else:
            try:
                return os.open(name, _OPEN, dir_fd=handle)
            except FileNotFoundError:
                return None
            except OSError as error:
                self.gaps[path] = tell(error)
        return None

    def _list(self, handle: int, path: str) -> list[str]:
        """Put what is in an open folder down; the names of its folders. A folder is put down whole or not at all."""
        rows: list[tuple[str, int, int, int, int, int]] = []
        folders: list[str] = []
        links: list[str] = []
        newest_ns = self.newest_ns
        try:
            with os.scandir(handle) as entries:
                for entry in islice(entries, self.left + 1):
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.name)
                        continue
                    try:
                        found = entry.stat(follow_symlinks=False)
                    except FileNotFoundError:
                        continue
                    ctime_ns, mode = found.st_ctime_ns, found.st_mode
                    rows.append((entry.name, found.st_size, found.st_mtime_ns, ctime_ns, found.st_ino, mode))
                    if ctime_ns > newest_ns:  # noqa: PLR1730 - max() is a call for every file
                        newest_ns = ctime_ns
                    if stat.S_ISLNK(mode):
                        links.append(entry.name)
        except OSError as error:
            self.gaps[path] = tell(error)
            return []
        self.left -= len(rows) + len(folders)
        if self.left < 0:
            self.gaps[path] = f"the limit of {self.limits.max_entries} entries was reached in it"
            return []
        rows, folders = _leave_out(path, rows, folders)
        self.newest_ns = newest_ns
        self.folders[path] = pack_folder(rows)
        self._read_links(handle, path, links)
        return folders

    def _read_links(self, handle: int, path: str, names: list[str]) -> None:
        for name in names:
            try:
                self.links[join_path(path, name)] = os.readlink(name, dir_fd=handle)
            except OSError:  # it was exchanged since: its facts, taken a moment ago, will tell
                continue


def _leave_out(
    path: str, rows: list[tuple[str, int, int, int, int, int]], folders: list[str]
) -> tuple[list[tuple[str, int, int, int, int, int]], list[str]]:
    rows.sort()
    folders.sort()
    above, _, name = path.rpartition("/")
    if name == GIT_FOLDER:
        return [row for row in rows if row[0] in _GIT_OBEYS], [each for each in folders if each in _GIT_OBEYS]
    if name == "info" and above.rpartition("/")[2] == GIT_FOLDER:
        return [row for row in rows if row[0] != _GIT_LISTING], folders
    if not path and OWN_FOLDER in folders:
        folders.remove(OWN_FOLDER)
    return rows, folders


# --- what could change unseen -----------------------------------------------------------------------------------------


def _outwait(walk: _Walk) -> frozenset[str]:
    """Wait until a later change gets another time of change than any file has now; files that waiting does not help.

    Files are stamped with a clock that stands still for milliseconds. A file that was written just now and is written
    again in the same tick, at the same size, has the same facts. After one tick that cannot happen any more, except to
    files with a time in the future, which a clock that was set back leaves behind.
    """
    whole = walk.newest_ns % _SECOND_NS == 0
    tick_ns = _WHOLE_SECONDS_TICK_NS if whole else _TICK_NS
    if walk.newest_ns <= time.time_ns() - tick_ns:
        return frozenset()
    time.sleep((tick_ns + 1_000_000) / _SECOND_NS)
    over_ns = time.time_ns() - tick_ns
    if walk.newest_ns <= over_ns:
        return frozenset()
    return frozenset(
        join_path(path, name)
        for path, folder in walk.folders.items()
        for name, facts in unpack_folder(folder).items()
        if facts.ctime_ns > over_ns and stat.S_ISREG(facts.mode)
    )


def _take_over(wanted: Mapping[str, Facts], racy: frozenset[str], earlier: Snapshot) -> dict[str, str]:
    """The hashes that an earlier snapshot has of files that have not changed since."""
    known = Lookup(earlier)
    found = {path: known.get_hash(path) for path in wanted if path not in racy and known.find(path) == wanted[path]}
    return {path: digest for path, digest in found.items() if digest}


def _hash_files(handle: int, wanted: Iterable[tuple[str, Facts]], limits: Limits) -> dict[str, str]:
    """The hashes of files that are still what the walk saw, within the limits; without those that cannot be read."""
    hashes: dict[str, str] = {}
    budget = Budget(limits)
    for path, facts in wanted:
        content = read_content(handle, path, budget)
        if content.sha256 is not None and content.facts == facts:
            hashes[path] = content.sha256
    return hashes


def _find_wanted(folders: dict[str, Folder], wanted: set[str]) -> Iterator[tuple[str, Facts]]:
    """The files that are meant by paths of files and folders."""
    holders = {os.path.dirname(path) for path in wanted}
    for path, folder in folders.items():
        whole = any(step in wanted for step in list_steps(path))
        if whole or path in holders:
            for name, facts in unpack_folder(folder).items():
                inner = join_path(path, name)
                if stat.S_ISREG(facts.mode) and (whole or inner in wanted):
                    yield inner, facts
