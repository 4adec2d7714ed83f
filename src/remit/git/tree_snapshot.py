"""Take a snapshot of a workspace's tree as a commit that can be sent to a worker.

The tree has tracked, changed and new files, but nothing that git ignores, nothing from `.git` and `.remit`, and nothing
behind a link. A private index remembers the last snapshot, so only changed files are read again. The user's repository,
index and branches are only read.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from functools import cache, partial
from typing import TYPE_CHECKING, NamedTuple

from remit.errors import StorageError
from remit.git.bundles import BaseTree, write_commit
from remit.git.commits import MAX_FILE_BYTES
from remit.git.git_errors import GitRefused, commit_failed
from remit.git.private_repo import (
    MAX_LISTED_BYTES,
    MAX_RULES_BYTES,
    check_rules,
    find_changes,
    is_own,
    is_sound,
    open_private_repo,
)
from remit.git.process import run
from remit.git.repository import find_commit, find_repository, parse_entries
from remit.storage.files import load_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from remit.git.private_repo import PrivateRepo
    from remit.git.repository import Repository

MAX_CHANGED_BYTES = 1024 * 1024 * 1024
"""The total size of new files in one snapshot; the largest files beyond it are left out."""
_BATCH = 4000
_MIN_PACKED = 50
_MAX_REFUSED = 100
LINKED = "160000"
"""The mode of a nested repository in a tree. Its files aren't sent."""


class Tracked(NamedTuple):
    """Facts that only the user's index has."""

    mark: str
    """The fingerprint of the index file."""
    forced: tuple[str, ...]
    """The paths that are tracked although they are ignored."""
    linked: dict[str, str]
    """The paths of nested repositories, and their commits."""


def snapshot_tree(root: str, *, with_history: bool) -> BaseTree:
    """Return the tree around a workspace as it is now. With history, its commit is HEAD or a child of HEAD."""
    repository = _find(root)
    prefix = repository.prefix if repository else ""
    borrowed = [f"{repository.common}/objects"] if repository else []
    with open_private_repo(
        root, prefix, hashing=repository.hashing if repository else "sha1", borrowed=borrowed,
        excludes=_find_excludes(repository), excluded=_load_excluded(repository),
    ) as store:  # fmt: skip
        head = (find_commit(repository) if repository else None) or ""
        if repository and os.path.isfile(f"{repository.common}/shallow"):
            store.write("shallow", os.fsdecode(load_bytes(f"{repository.common}/shallow")))
        store.collect_garbage()
        commit, tree, left = store.retry_without_cache(partial(_update_snapshot, store, repository))
        if with_history and head:
            commit = _commit_onto(store, tree, head)
        if head:
            store.write(f"refs/remit/heads/{commit}", f"{head}\n")
        return BaseTree(commit, tree, prefix, left)


def _find(root: str) -> Repository | None:
    try:
        return find_repository(root)
    except GitRefused as refused:
        if refused.diagnostic.code == "GIT002":
            return None
        raise refused.as_error() from refused


def _find_excludes(repository: Repository | None) -> str:
    """Return the user's global ignore file, which often lists files with keys and passwords; empty if there is none."""
    named = repository.settings.get("core.excludesfile", "") if repository else ""
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    file = os.path.join(repository.top if repository else "/", os.path.expanduser(named or f"{home}/git/ignore"))
    return file if os.path.isfile(file) else ""


def _load_excluded(repository: Repository | None) -> str:
    file = f"{repository.common}/info/exclude" if repository else ""
    if not os.path.isfile(file):
        return ""
    data = load_bytes(file, max_bytes=MAX_RULES_BYTES)
    if len(data) > MAX_RULES_BYTES:  # with only some of the rules, too much would be sent
        raise StorageError(f"'{file}' has more than {MAX_RULES_BYTES:,} bytes", hint="move it away")
    return os.fsdecode(data)


def _update_snapshot(store: PrivateRepo, repository: Repository | None) -> tuple[str, str, tuple[str, ...]]:
    """Update the private index to the state on disk; return its commit, its tree, and the paths that were left out."""
    note = store.load_note("base") if os.path.exists(store.index) else {}
    rules = "\n".join((check_rules(store.top), *_mark_rules(store)))
    tracked = _load_tracked(repository, note)
    last = str(note.get("commit") or "")
    store.set_head(last)
    there, gone = find_changes(store)
    if tracked.mark != note.get("mark") or rules != note.get("rules"):
        gone += _list_ignored(store, tracked.forced)
        there += [path for path in tracked.forced if os.path.lexists(f"{store.top}/{path}")]
        given = "".join(f"{LINKED} {commit}\t{path}\0" for path, commit in tracked.linked.items())
        store.check_git("update-index", "-z", "--index-info", given=os.fsencode(given))
    elif last and not there and not gone:
        return last, str(note["tree"]), find_filled(store, tracked.linked)
    left = tuple(sorted({*update(store, there, gone, is_new=repository is None), *find_filled(store, tracked.linked)}))
    tree = store.check_git("write-tree").decode("ascii").strip()
    commit = write_commit(store, tree, (), "base")
    store.save_note("base", {
        "commit": commit, "tree": tree, "rules": rules, "mark": tracked.mark,
        "forced": tracked.forced, "linked": tracked.linked,
    })  # fmt: skip
    return commit, tree, left


def _mark_rules(store: PrivateRepo) -> list[str]:
    marks = []
    for file in (f"{store.folder}/info/exclude", store.options[-1].partition("=")[2]):
        with open(file, "rb") as stream:
            found = os.fstat(stream.fileno())
        marks.append(f"{file} {found.st_mtime_ns} {found.st_size} {found.st_ino}")
    return marks


def _load_tracked(repository: Repository | None, note: dict[str, object]) -> Tracked:
    """Return the facts of the user's index; git is called only if the index has changed."""
    if repository is None:
        return Tracked("", (), {})
    try:
        found = os.stat(f"{repository.own}/index")
    except FileNotFoundError:
        return Tracked("none", (), {})
    mark = f"{found.st_mtime_ns} {found.st_size} {found.st_ino}"
    forced, linked = note.get("forced"), note.get("linked")
    if note.get("mark") == mark and isinstance(forced, list) and isinstance(linked, dict):
        return Tracked(mark, tuple(forced), linked)
    listed = ("ls-files", "-z", "--cached", "--ignored", "--exclude-standard")
    ignored = run(repository.top, *listed, max_bytes=MAX_LISTED_BYTES)
    entries = run(repository.top, "ls-files", "-s", "-z", max_bytes=MAX_LISTED_BYTES)
    if ignored.code or entries.code:
        raise GitRefused(commit_failed(ignored.reason if ignored.code else entries.reason))
    return Tracked(
        mark,
        tuple(path for path in os.fsdecode(ignored.out).split("\0") if path and not is_own(path)),
        {path: entry.blob for path, entry in parse_entries(entries.out) if entry.mode == LINKED and not is_own(path)},
    )


def _list_ignored(store: PrivateRepo, forced: Iterable[str]) -> list[str]:
    """Return the paths in the private index that have become ignored."""
    kept = frozenset(forced)
    listed = ("ls-files", "-z", "--cached", "--ignored", "--exclude-standard")
    out = store.check_git(*listed, max_bytes=MAX_LISTED_BYTES)
    return [path for path in os.fsdecode(out).split("\0") if path and path not in kept]


def find_filled(store: PrivateRepo, linked: Iterable[str]) -> tuple[str, ...]:
    """Return the nested repositories in a tree that have files on disk; git doesn't read them."""
    found = []
    for path in linked:
        with suppress(OSError), os.scandir(f"{store.top}/{path}") as entries:
            if any(True for _ in entries):
                found.append(path)
    return tuple(found)


def _commit_onto(store: PrivateRepo, tree: str, head: str) -> str:
    """Return a commit of the tree on top of another one, or that one itself if nothing has changed since."""
    if store.check_git("rev-parse", f"{head}^{{tree}}").decode("ascii").strip() == tree:
        return head
    return write_commit(store, tree, (head,), "base")


# --- the index --------------------------------------------------------------------------------------------------------


def update(store: PrivateRepo, there: Iterable[str], gone: Iterable[str], *, is_new: bool) -> tuple[str, ...]:
    """Update paths in a private index to the state on disk; return the paths that can't be added.

    These stay as they were. `is_new`: hardly any content is known to the repository or its alternates.
    """
    removed = set(gone)
    left: list[str] = []
    sized: list[tuple[int, str]] = []
    for path in dict.fromkeys(there):
        if not is_sound(path.rstrip("/")):
            left.append(path)
            continue
        try:
            found = os.lstat(f"{store.top}/{path}")
        except OSError:
            removed.add(path)
            continue
        if stat.S_ISLNK(found.st_mode) or (stat.S_ISREG(found.st_mode) and found.st_size <= MAX_FILE_BYTES):
            sized.append((found.st_size, path))
        else:
            left.append(path.rstrip("/"))
    total = 0
    added: list[str] = []
    for size, path in sorted(sized):
        total += size
        (added if total <= MAX_CHANGED_BYTES else left).append(path)
    if removed:
        given = os.fsencode("".join(f"0 {store.zeros}\t{path}\0" for path in sorted(removed)))
        store.check_git("update-index", "-z", "--index-info", given=given)
    added.sort()
    for start in range(0, len(added), _BATCH):
        left += _add(store, added[start : start + _BATCH], is_new=is_new)
    return tuple(sorted(left))


@cache
def _packs_large_objects() -> bool:
    """Return whether git writes all objects of a call into one pack instead of single files: from version 2.37 on.

    Git does so for objects that it considers large. Writing and sending many objects is much faster then, but objects
    that exist already would be packed again.
    """
    words = run("/", "version").out.decode("ascii", "replace").split()
    parts = words[2].split(".") if len(words) > 2 else []  # noqa: PLR2004 - git version 2.39.5
    return [int(part) for part in parts[:2] if part.isdecimal()] >= [2, 37]


def _add(store: PrivateRepo, paths: Sequence[str], *, is_new: bool) -> list[str]:
    """Add paths to the index; return those that git can't read. Git fails for all paths of a call, so bisect."""
    refused: list[str] = []
    waiting = [paths]
    together = (
        ("-c", "core.bigFileThreshold=1") if is_new and len(paths) > _MIN_PACKED and _packs_large_objects() else ()
    )
    while waiting:
        portion = waiting.pop()
        given = b"".join(os.fsencode(path) + b"\0" for path in portion)
        answer = store.run_git(*together, "update-index", "-z", "--add", "--replace", "--stdin", given=given)
        if answer.code == 0:
            continue
        if len(portion) == 1:
            store.check_git("hash-object", "-w", "--stdin", given=os.urandom(16))
            refused.append(portion[0])
            if len(refused) > _MAX_REFUSED:
                raise GitRefused(commit_failed(f"more than {_MAX_REFUSED} files can't be added: {answer.reason}"))
        else:
            middle = len(portion) // 2
            waiting += [portion[middle:], portion[:middle]]
    return refused
