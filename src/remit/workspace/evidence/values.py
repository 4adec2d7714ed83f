"""The values of evidence: what a snapshot keeps of a tree, and how much work looking may be.

Owns the packed form. A folder is two byte strings, so that half a million files fit into some 30 MB, and an unchanged
folder is known by comparing two strings.
"""

from __future__ import annotations

import posixpath
import struct
from typing import TYPE_CHECKING

from remit.quick_tuple import NamedTuple

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Mapping

ROW = struct.Struct("=5q")
SEPARATOR = "\0"
"""Between names: the one character besides `/` that no file name has."""

_HALF, _WHOLE = 1 << 63, 1 << 64


class Limits(NamedTuple):
    """How much work looking at a tree may be. What lies beyond is told as not looked at."""

    max_entries: int = 1_000_000
    max_depth: int = 128
    max_seconds: float = 60.0
    max_file_bytes: int = 256 * 1024 * 1024
    """A larger file is not hashed."""
    max_hashed_bytes: int = 2 * 1024 * 1024 * 1024
    """All files that are hashed together."""


LIMITS = Limits()


class Facts(NamedTuple):
    """What the system says of a file without opening it. The time of change (ctime) is the one that nobody can set."""

    size_bytes: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    mode: int


class Folder(NamedTuple):
    """Whatever in a folder is no folder itself: the names, sorted, and the facts in the same order."""

    names: bytes
    facts: bytes


class Snapshot(NamedTuple):
    """A tree at one time. Paths are below the root, with `/` between; the root itself is the empty path."""

    root: str
    taken_ns: int
    folders: Mapping[str, Folder]
    links: Mapping[str, str]
    """Where each symbolic link points, as it is written; none is followed."""
    hashes: Mapping[str, str]
    """The SHA-256 of the files that were hashed then."""
    racy: frozenset[str]
    """Files that could change later without their facts telling, because their time of change was not yet over."""
    gaps: Mapping[str, str]
    """Folders that could not be looked at, and why."""

    @property
    def complete(self) -> bool:
        """Whether everything below the root was looked at."""
        return not self.gaps

    @property
    def entries(self) -> int:
        """How many files, links and others there are."""
        return sum(len(folder.facts) for folder in self.folders.values()) // ROW.size

    def find_gap(self, path: str) -> str | None:
        """The folder that could not be looked at and that holds the path; None where the snapshot knows."""
        return next((step for step in list_steps(path) if step in self.gaps), None) if self.gaps else None


class Lookup:
    """A snapshot that is asked for one path after another: a folder is unpacked once."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self._folders: dict[str, dict[str, Facts]] = {}

    def find(self, path: str) -> Facts | None:
        """The facts of a file; None where the snapshot has none."""
        folder, _, name = path.rpartition("/")
        if folder not in self._folders:
            self._folders[folder] = unpack_folder(self.snapshot.folders.get(folder))
        return self._folders[folder].get(name)

    def get_hash(self, path: str) -> str | None:
        """The hash that belongs to the facts; None where they do not vouch for the content."""
        return None if path in self.snapshot.racy else self.snapshot.hashes.get(path)


def get_facts(found: os.stat_result) -> Facts:
    """The facts of a file as a snapshot has them."""
    return Facts(
        *fold((found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino, found.st_mode)),
    )


def fold(numbers: Iterable[int]) -> list[int]:
    """Numbers in 64 bits: a time in the year 2500 and some inodes are larger, and are kept by their lower bits."""
    return [(number + _HALF) % _WHOLE - _HALF for number in numbers]


def pack_folder(rows: list[tuple[str, int, int, int, int, int]]) -> Folder:
    """A folder from its rows: name, then facts."""
    names = SEPARATOR.join([row[0] for row in rows]).encode("utf-8", "surrogateescape")
    try:
        facts = b"".join([ROW.pack(*row[1:]) for row in rows])
    except struct.error:
        facts = b"".join([ROW.pack(*fold(row[1:])) for row in rows])
    return Folder(names, facts)


def unpack_folder(folder: Folder | None) -> dict[str, Facts]:
    """What is in a folder, by name; nothing for a folder that is not there."""
    if folder is None or not folder.facts:
        return {}
    names = folder.names.decode("utf-8", "surrogateescape").split(SEPARATOR)
    return dict(zip(names, map(Facts._make, ROW.iter_unpack(folder.facts)), strict=True))


def join_path(folder: str, name: str) -> str:
    """The path of something in a folder."""
    return f"{folder}/{name}" if folder else name


def list_steps(path: str) -> Iterator[str]:
    """A path and all folders above it, the root last."""
    yield path
    while path:
        path = path.rpartition("/")[0]
        yield path


def clean_path(path: str) -> str:
    """A path below the root as a snapshot has it."""
    cleaned = posixpath.normpath(path)
    return "" if cleaned == "." else cleaned
