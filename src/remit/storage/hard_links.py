"""Find the other names (hard links) of a file below some folders, by device and inode.

Hooks use it, so it imports little. Only a file with more than one link needs a search.
"""

from __future__ import annotations

import os
from collections import deque
from stat import S_ISREG

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

MAX_ENTRIES = 20_000
"""How many folder entries a search by a hook examines, which takes about 20 ms."""
_LARGE = frozenset({"node_modules", "objects", "__pycache__"})
"""Folders with very many files, to which no rule applies."""


def make_search(root: str, home: str, protected: Sequence[str]) -> Callable[[str], list[str]]:
    """Return a function that finds all names of a file.

    It searches the folders that rules name first, then the whole workspace.
    """

    def search(path: str) -> list[str]:
        try:
            own = os.stat(path)
        except (OSError, ValueError):  # missing, or not a valid path
            return []
        if own.st_nlink < 2 or not S_ISREG(own.st_mode):  # noqa: PLR2004 - it has another name
            return []
        places = _list_places(root, home, protected)
        return find_names((own.st_dev, own.st_ino), own.st_nlink, places, most=MAX_ENTRIES, left_out=_LARGE)

    return search


def _list_places(root: str, home: str, protected: Sequence[str]) -> list[tuple[str, bool]]:
    """Return folders, and whether to search below them; the workspace itself comes last."""
    found: dict[tuple[str, bool], None] = {}
    for pattern in protected:
        plain = pattern.partition("*")[0]
        full = home + plain[1:] if plain.startswith("~/") else os.path.join(root, plain)
        found[os.path.dirname(full), "**" in pattern] = None
    whole = (root, True)
    return [*(each for each in sorted(found, key=lambda each: each[1]) if each[0] != root), (root, False), whole]


def find_names(
    node: tuple[int, int], links: int, places: Iterable[tuple[str, bool]], *, most: int, left_out: frozenset[str]
) -> list[str]:
    """Return the names of a file in some places, as far as they are among the first `most` entries.

    `node`: its device and inode. `links`: the number of its names. A place is a folder, and whether the folders below
    it are searched, too. `left_out`: names and paths of folders that aren't.
    """
    found: dict[str, None] = {}
    seen: set[str] = set()
    waiting, left = deque(places), most
    while waiting and left > 0 and len(found) < links:
        folder, deep = waiting.popleft()
        if folder in seen:
            continue
        if deep:
            seen.add(folder)
        for entry in _scan(folder):
            left -= 1
            if entry.inode() == node[1] and _is_same(entry, node):
                found[entry.path] = None
            elif deep and not {entry.name, entry.path} & left_out and entry.is_dir(follow_symlinks=False):
                waiting.append((entry.path, True))
            if left <= 0:
                break
    return list(found)


def _scan(folder: str) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            yield from entries
    except OSError:  # missing, or unreadable
        return


def _is_same(entry: os.DirEntry[str], node: tuple[int, int]) -> bool:
    try:
        other = entry.stat(follow_symlinks=False)
    except OSError:  # it has just been deleted
        return False
    return (other.st_dev, other.st_ino) == node
