"""Two looks at one work tree compared: what was created, changed or deleted in between.

Owns that list. Git compares the trees. A file in another mode is the same file, and a file that is new to the tree and
older than the run was there before: the ignore rules changed, or another run made Remit include it.
"""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

from remit.errors import StorageError, UsageError
from remit.evidence.area import NOT_THERE, Entry, Trees, find_place
from remit.evidence.tree import MAX_SECONDS
from remit.quick_tuple import NamedTuple
from remit.workspace.git.told import Refused

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from remit.evidence.tree import Part, Tree
    from remit.workspace.home import Home

Kind = Literal["created", "changed", "deleted", "doubtful"]
_LINK = "120000"


class Change(NamedTuple):
    """One path that is not what it was."""

    path: str
    """Named from the root; a full path for a file outside of it."""
    kind: Kind
    blob: str = ""
    """The git id of the content now; empty if it is deleted or isn't known."""
    size_bytes: int | None = None
    reason: str = ""


class Comparison(NamedTuple):
    """Every path that is not what it was, sorted. A file that moved is deleted at one path and created at another."""

    created: tuple[Change, ...] = ()
    changed: tuple[Change, ...] = ()
    deleted: tuple[Change, ...] = ()
    doubtful: tuple[Change, ...] = ()
    """Files that could not be hashed."""
    older: frozenset[str] = frozenset()
    """Files that are new to the tree, and were there before the run."""

    def find(self, path: str) -> Change | None:
        """The change of a path; None if it has none."""
        changes = (*self.created, *self.changed, *self.deleted, *self.doubtful)
        return next((change for change in changes if change.path == path), None)


def compare(home: Home, before: Tree, after: Tree) -> Comparison:
    """What changed between two looks at one root. The later one must be the last look at it."""
    if before.root != after.root:
        raise UsageError(f"a tree of '{before.root}' cannot be compared with one of '{after.root}'",
                         hint="take both of the same folder")  # fmt: skip
    found: dict[Kind, list[Change]] = {"created": [], "changed": [], "deleted": [], "doubtful": []}
    older = set()
    for entry in _list_entries(home, before, after):
        kind: Kind = "created" if entry.old_mode == NOT_THERE else "deleted" if entry.mode == NOT_THERE else "changed"
        full = os.path.join(after.root, entry.path)
        try:
            now = os.lstat(full)
        except OSError:
            now = None
        if kind == "created" and now is not None and now.st_ctime_ns < before.taken_ns:
            older.add(entry.path)
        elif kind == "deleted" and now is not None and not stat.S_ISDIR(now.st_mode):  # it is ignored since
            continue
        else:
            gone = kind == "deleted"
            size = None if now is None or gone else now.st_size
            found[kind].append(Change(entry.path, kind, "" if gone else entry.id, size))
    for path in before.executed.keys() | after.executed.keys():
        old, new = before.executed.get(path), after.executed.get(path)
        if old != new:
            kind = "created" if old is None else "deleted" if new is None else "changed"
            found[kind].append(Change(path, kind))
    for path, reason in {**before.unread, **after.unread}.items():
        found["doubtful"].append(Change(path, "doubtful", reason=reason))
    lists = {kind: tuple(sorted(changes, key=lambda change: change.path)) for kind, changes in found.items()}
    return Comparison(lists["created"], lists["changed"], lists["deleted"], lists["doubtful"], frozenset(older))


def find_ids(home: Home, tree: Tree, paths: Iterable[str]) -> dict[str, str]:
    """The git id that each of some paths has in a tree; those that it doesn't have are left out."""
    wanted = [*paths]
    found: dict[str, str] = {}
    for part, inner in _split(tree.parts, wanted):
        with _telling(tree.root):
            ids = _open(home, part).find(part.tree, inner)
        found |= {f"{part.name}{path}": blob for path, blob in ids.items()}
    return found


def join_trees(home: Home, earlier: Tree, now: Tree, *, last_ns: int) -> Tree:
    """The tree as it is now; of files that last changed by `last_ns`, as it was earlier.

    It is what an agent is compared with that continues an earlier session: its own work until then counts.
    """
    parts = []
    known = {part.folder: part for part in earlier.parts}
    for part in now.parts:
        old = known.get(part.folder)
        if old is None or old.tree == part.tree:
            parts.append(part)
            continue
        with _telling(now.root):
            trees = _open(home, part)
            entries = trees.compare(old.tree, part.tree)
            kept = [entry for entry in entries if _changed_by(os.path.join(part.folder, entry.path), last_ns)]
            parts.append(part._replace(tree=trees.blend(part.tree, kept)) if kept else part)
    return now._replace(parts=tuple(parts), taken_ns=earlier.taken_ns, pause_ns=(last_ns, now.taken_ns))


def _changed_by(file: str, last_ns: int) -> bool:
    try:
        return os.lstat(file).st_ctime_ns <= last_ns
    except OSError:  # when it was deleted isn't known, so that isn't the agent's
        return False


def _list_entries(home: Home, before: Tree, after: Tree) -> Iterator[Entry]:
    """The paths that differ, named from the root. A folder that became a repository meanwhile moved to another part."""
    old_parts = {part.folder: part for part in before.parts}
    new_parts = {part.folder: part for part in after.parts}
    merged: dict[str, Entry] = {}
    for folder, part in {**old_parts, **new_parts}.items():
        old, new = old_parts.get(folder), new_parts.get(folder)
        old_id, new_id = "" if old is None else old.tree, "" if new is None else new.tree
        with _telling(after.root):
            entries = _open(home, part).compare(old_id, new_id)
        for entry in entries:
            path = f"{part.name}{entry.path}"
            other = merged.get(path, entry)  # another one: it left one part and is in another
            first, second = (other, entry) if other.mode == NOT_THERE else (entry, other)
            merged[path] = Entry(path, first.old_mode, second.mode, first.old_id, second.id)
    for entry in merged.values():
        is_link = (entry.old_mode == _LINK) == (entry.mode == _LINK)
        if entry.old_id != entry.id or not is_link:
            yield entry


def _split(parts: Iterable[Part], paths: list[str]) -> Iterator[tuple[Part, list[str]]]:
    """The paths of each part, named from its folder. The longest name that fits a path counts."""
    longest = sorted(parts, key=lambda part: -len(part.name))
    for part in longest:
        inner = [path[len(part.name) :] for path in paths if path.startswith(part.name)]
        if part.name == "":
            inner = [path for path in inner if not path.startswith("/")]
        if inner:
            yield part, inner


def _open(home: Home, part: Part) -> Trees:
    return Trees(find_place(os.path.realpath(home.folder), part.folder), part.prefix, seconds=MAX_SECONDS)


@contextmanager
def _telling(root: str) -> Iterator[None]:
    """Say of a failure of git what it was about."""
    try:
        yield
    except Refused as refused:
        error = refused.as_error()
        raise StorageError(f"the trees of '{root}' can't be compared: {error.message}", hint=error.hint) from refused
