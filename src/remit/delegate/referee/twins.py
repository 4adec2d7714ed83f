"""Twins: the other names of a file that has several.

Owns the search for hard links, which no path tells of. Only a file with more than one name pays for it: first the
places are gone through that no agent writes to, then the workspace, until all names are found or enough was looked at.
"""

from __future__ import annotations

import os
from collections import deque
from stat import S_ISREG

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

MAX_ENTRIES = 20_000
"""So many entries of folders are looked at: some 20 ms."""
_LEFT_OUT = frozenset({"node_modules", "objects", "__pycache__"})
"""Folders with more files than all others, and none that a rule is about."""


def make_search(root: str, home: str, protected: Sequence[str]) -> Callable[[str], list[str]]:
    """A search for the other names of a file, in the places that rules are about."""

    def search(path: str) -> list[str]:
        try:
            own = os.stat(path)
        except (OSError, ValueError):  # not there, or no name at all
            return []
        if own.st_nlink < 2 or not S_ISREG(own.st_mode):  # noqa: PLR2004 - another name besides its own
            return []
        return _find(own, _list_places(root, home, protected))

    return search


def _list_places(root: str, home: str, protected: Sequence[str]) -> list[tuple[str, bool]]:
    """Folders, and whether what is below them counts; the workspace itself comes last."""
    found: dict[tuple[str, bool], None] = {}
    for pattern in protected:
        plain = pattern.partition("*")[0]
        full = home + plain[1:] if plain.startswith("~/") else os.path.join(root, plain)
        found[os.path.dirname(full), "**" in pattern] = None
    whole = (root, True)
    return [*(each for each in sorted(found, key=lambda each: each[1]) if each[0] != root), (root, False), whole]


def _find(own: os.stat_result, places: list[tuple[str, bool]]) -> list[str]:
    found: dict[str, None] = {}
    seen: set[str] = set()
    waiting, left = deque(places), MAX_ENTRIES
    while waiting and left > 0 and len(found) < own.st_nlink:
        folder, deep = waiting.popleft()
        if folder in seen:
            continue
        if deep:
            seen.add(folder)
        for entry in _scan(folder):
            left -= 1
            if entry.inode() == own.st_ino and _is_same(entry, own):
                found[entry.path] = None
            elif deep and entry.name not in _LEFT_OUT and entry.is_dir(follow_symlinks=False):
                waiting.append((entry.path, True))
            if left <= 0:
                break
    return list(found)


def _scan(folder: str) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            yield from entries
    except OSError:  # it is not there, or not ours to read
        return


def _is_same(entry: os.DirEntry[str], own: os.stat_result) -> bool:
    try:
        other = entry.stat(follow_symlinks=False)
    except OSError:  # it has just gone
        return False
    return (other.st_dev, other.st_ino) == (own.st_dev, own.st_ino)
