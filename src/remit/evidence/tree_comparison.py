"""Compare two scans of a work tree: which files were created, changed or deleted.

Git compares the trees. A file with another mode only is unchanged. A file that is new to the tree but older than the
run existed before: the ignore rules changed, or another run included it. If git can't compare a part of the tree, for
example because a nested repository was removed, the paths in that part are undecided; other parts aren't affected.
"""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager
from typing import TYPE_CHECKING

from remit.errors import StorageError, UsageError
from remit.evidence.take_tree import MAX_SECONDS
from remit.evidence.tree import Comparison, TreeChange
from remit.evidence.work_tree import NOT_THERE, TreeDifference, Trees, find_place
from remit.git.git_errors import GitRefused
from remit.ledger.home import FOLDER as OWN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from remit.evidence.tree import ChangeKind, FolderTree, WorkTree

_LINK = "120000"


def compare(before: WorkTree, after: WorkTree) -> Comparison:
    """Return the changes between two scans of one root. The later one must be the last scan of it.

    A part of the tree that git can't compare is in `unclear`. No change in it is listed, and its folder is doubtful.
    """
    if before.root != after.root:
        raise UsageError(f"a tree of '{before.root}' can't be compared with one of '{after.root}'",
                         hint="take both of the same folder")  # fmt: skip
    found: dict[ChangeKind, list[TreeChange]] = {"created": [], "changed": [], "deleted": [], "doubtful": []}
    unclear: dict[str, str] = {}
    entries = [*_list_entries(before, after, unclear)]
    partial = Comparison(unclear=unclear)
    entries = [entry for entry in entries if not partial.find_unclear(entry.path)]
    older = _list_older(before, entries)
    for entry in entries:
        kind: ChangeKind = (
            "created" if entry.old_mode == NOT_THERE else "deleted" if entry.mode == NOT_THERE else "changed"
        )
        full = os.path.join(after.root, entry.path)
        try:
            now = os.lstat(full)
        except OSError:
            now = None
        if entry.path in older:
            continue
        if kind == "deleted" and now is not None and not stat.S_ISDIR(now.st_mode):  # it has been ignored since
            continue
        gone = kind == "deleted"
        size = None if now is None or gone else now.st_size
        is_link = entry.old_mode == entry.mode == _LINK
        found[kind].append(TreeChange(entry.path, kind, size, "" if gone else entry.id, is_link=is_link))
    for path in before.executed.keys() | after.executed.keys():
        old, new = before.executed.get(path), after.executed.get(path)
        if old != new:
            kind = "created" if old is None else "deleted" if new is None else "changed"
            found[kind].append(TreeChange(path, kind))
    for path, reason in {**before.unread, **after.unread}.items():
        found["doubtful"].append(TreeChange(path, "doubtful", reason=reason))
    for name, reason in unclear.items():
        found["doubtful"].append(TreeChange(name.rstrip("/") or ".", "doubtful", reason=reason))
    lists = {kind: tuple(sorted(changes, key=lambda change: change.path)) for kind, changes in found.items()}
    return Comparison(lists["created"], lists["changed"], lists["deleted"], lists["doubtful"], older, unclear)


def _list_older(before: WorkTree, entries: Iterable[TreeDifference]) -> frozenset[str]:
    """Return the files that are new to the tree but existed before the run: the earlier rules ignored them.

    A file that was moved with its folder is older than the run, too, but new at its place.
    """
    unmoved = [
        entry.path
        for entry in entries
        if entry.old_mode == NOT_THERE and _changed_by(os.path.join(before.root, entry.path), before.taken_ns)
    ]
    expected = tuple(f"{each.rstrip('/')}/" for each in before.expected)
    found: set[str] = set()
    for part, inner in _split(before.parts, [path for path in unmoved if not path.startswith(expected)]):
        with _translate_errors(before.root):
            ignored = (
                _open(before.home, part).find_ignored(part.rules, [f"{part.prefix}{each}" for each in inner])
                if part.rules
                else ()
            )
        found |= {f"{part.name}{path[len(part.prefix) :]}" for path in ignored}
    return frozenset(found)


def find_ids(tree: WorkTree, paths: Iterable[str]) -> dict[str, str]:
    """Return the git ids of paths in a tree; missing paths are left out."""
    wanted = [*paths]
    found: dict[str, str] = {}
    for part, inner in _split(tree.parts, wanted):
        with _translate_errors(tree.root):
            ids = _open(tree.home, part).find(part.tree, inner)
        found |= {f"{part.name}{path}": blob for path, blob in ids.items()}
    return found


def join_trees(earlier: WorkTree, now: WorkTree, *, last_ns: int) -> WorkTree:
    """Return the tree as it is now, but with the earlier state of files that last changed by `last_ns`.

    A resumed agent is compared with it, so that its own work until then counts.
    """
    parts = []
    known = {part.folder: part for part in earlier.parts}
    for part in now.parts:
        old = known.get(part.folder)
        if old is None or old.tree == part.tree:
            parts.append(part)
            continue
        with _translate_errors(now.root):
            trees = _open(now.home, part)
            entries = trees.compare(old.tree, part.tree)
            kept = [entry for entry in entries if _changed_by(os.path.join(part.folder, entry.path), last_ns)]
            parts.append(part._replace(tree=trees.blend(part.tree, kept)) if kept else part)
    return now._replace(parts=tuple(parts), taken_ns=earlier.taken_ns, pause_ns=(last_ns, now.taken_ns))


def _changed_by(file: str, last_ns: int) -> bool:
    try:
        return os.lstat(file).st_ctime_ns <= last_ns
    except OSError:  # the time of a deletion is unknown, so it isn't the agent's
        return False


def _list_entries(before: WorkTree, after: WorkTree, unclear: dict[str, str]) -> Iterator[TreeDifference]:
    """Yield the paths that differ, relative to the root. A folder that became a repository moved to another part.

    Each part that git can't compare is added to `unclear`, with the reason.
    """
    old_parts = {part.folder: part for part in before.parts}
    new_parts = {part.folder: part for part in after.parts}
    merged: dict[str, TreeDifference] = {}
    for folder, part in {**old_parts, **new_parts}.items():
        old, new = old_parts.get(folder), new_parts.get(folder)
        old_id, new_id = "" if old is None else old.tree, "" if new is None else new.tree
        try:
            entries = _open(after.home, part).compare(old_id, new_id)
        except GitRefused as refused:
            where = f"'{part.name.rstrip('/')}'" if part.name else "the project"
            why = refused.as_error().message
            unclear[part.name] = f"git can't compare {where} with what it was before the run: {why}"
            continue
        for entry in entries:
            path = f"{part.name}{entry.path}"
            other = merged.get(path, entry)  # the same path in another part
            first, second = (other, entry) if other.mode == NOT_THERE else (entry, other)
            merged[path] = TreeDifference(path, first.old_mode, second.mode, first.old_id, second.id)
    for entry in merged.values():
        is_link = (entry.old_mode == _LINK) == (entry.mode == _LINK)
        if entry.old_id != entry.id or not is_link:
            yield entry


def _split(parts: Iterable[FolderTree], paths: list[str]) -> Iterator[tuple[FolderTree, list[str]]]:
    """Yield each part with its paths, relative to its folder. The longest matching prefix decides."""
    longest = sorted(parts, key=lambda part: -len(part.name))
    for part in longest:
        inner = [path[len(part.name) :] for path in paths if path.startswith(part.name)]
        if part.name == "":
            inner = [path for path in inner if not path.startswith("/")]
        if inner:
            yield part, inner


def _open(home: str, part: FolderTree) -> Trees:
    return Trees(find_place(os.path.realpath(f"{home}/{OWN}"), part.folder), part.prefix, seconds=MAX_SECONDS)


@contextmanager
def _translate_errors(root: str) -> Iterator[None]:
    """Translate a failure of git, naming the root."""
    try:
        yield
    except GitRefused as refused:
        error = refused.as_error()
        raise StorageError(f"the trees of '{root}' can't be compared: {error.message}", hint=error.hint) from refused
