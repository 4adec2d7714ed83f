"""Scan a work tree before a run and again after it.

A tree includes the root, the repositories in it, and expected folders outside of it. Also hashes the files that git
executes or obeys, such as hooks and settings.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from remit.errors import StorageError
from remit.evidence.tree import FolderTree, WorkTree
from remit.evidence.work_tree import FOLDER, find_checkout, open_folder_repo
from remit.git.git_errors import GitRefused
from remit.ledger.home import Home
from remit.light_hash import take_sha256
from remit.storage.files import storage_error
from remit.storage.safe_path import name_below

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from remit.git.repository import Repository

MAX_SECONDS = 30.0
_MAX_NESTED = 200
_MAX_DEPTH = 8
_MAX_EXECUTED_BYTES = 4 * 1024 * 1024


def take_tree(home: Home, root: str, *, expected: Iterable[str] = (), seconds: float = MAX_SECONDS) -> WorkTree:
    """Scan a work tree before a run.

    `expected`: folders where artifacts are expected; their files count even if git ignores them. Raise `StorageError`
    if git fails or takes longer than `seconds`.
    """
    return _take(home, os.path.realpath(root), tuple(expected), None, seconds)


def scan_again(before: WorkTree, *, seconds: float = MAX_SECONDS) -> WorkTree:
    """Scan the same work tree again, with the earlier ignore rules and expected folders."""
    return _take(Home(before.home), before.root, before.expected, before, seconds)


def _take(home: Home, root: str, expected: tuple[str, ...], before: WorkTree | None, seconds: float) -> WorkTree:
    try:
        home.make_folder(FOLDER)
        return _TreeScanner(home, root, before, seconds).take(expected)
    except GitRefused as refused:
        error = refused.as_error()
        raise StorageError(f"the tree couldn't be read: {error.message}", hint=error.hint) from refused
    except OSError as error:
        raise storage_error(f"{home.folder}/{FOLDER}", error) from error


class _TreeScanner:
    """One scan of all parts of a tree."""

    def __init__(self, home: Home, root: str, like: WorkTree | None, seconds: float) -> None:
        self.home = home.root
        self.own = os.path.realpath(home.folder)
        self.root = root
        self.deadline = time.monotonic() + seconds
        self.rules = {part.folder: part.rules for part in like.parts} if like is not None else {}
        self.parts: list[FolderTree] = []
        self.unread: dict[str, str] = {}
        self.executed: dict[str, str] = {}

    def take(self, expected: tuple[str, ...]) -> WorkTree:
        """Scan the root, then the expected folders outside of it."""
        places = [os.path.realpath(os.path.join(self.root, each)) for each in expected]
        inside = [name for place in places if (name := name_below(self.root, place))]
        taken_ns = _read_clock(f"{self.own}/{FOLDER}/clock")
        self._scan(self.root, "", inside, depth=0)
        for place in dict.fromkeys(places):
            is_apart = name_below(self.root, place) is None and name_below(place, self.root) is None
            if is_apart and os.path.isdir(place):
                self._scan(place, f"{place}/", (), depth=0, everything=True)
        return WorkTree(self.home, self.root, taken_ns, tuple(self.parts), expected, self.executed, self.unread)

    def _scan(
        self, folder: str, name: str, expected: Iterable[str], *, depth: int, everything: bool = False
    ) -> None:  # fmt: skip
        """Scan a folder and the repositories in it. With `everything`, no rule ignores a file."""
        left = max(self.deadline - time.monotonic(), 0.1)
        repository = None if everything else find_checkout(folder, seconds=left)
        if repository is not None:
            self.executed |= hash_executed(repository, self.root)
        with open_folder_repo(self.own, folder, repository, seconds=max(self.deadline - time.monotonic(), 0.1)) as repo:
            scan = repo.scan(expected=tuple(expected), rules=self.rules.get(folder, ""), everything=everything)
        self.parts.append(FolderTree(folder, name, scan.tree, scan.rules, repository.prefix if repository else ""))
        self.unread |= {f"{name}{path}": reason for path, reason in scan.unread.items()}
        for nested in scan.nested:
            inner = os.path.join(folder, nested.rstrip("/"))
            if nested and depth < _MAX_DEPTH and len(self.parts) < _MAX_NESTED and not os.path.islink(inner):
                below = [each[len(nested) :] for each in expected if each.startswith(nested)]
                self._scan(inner, f"{name}{nested}", below, depth=depth + 1, everything=everything)


def _read_clock(file: str) -> int:
    """Return the time by the clock of the file system, which sets the timestamps of files."""
    with open(file, "ab"):
        os.utime(file)
    return os.stat(file).st_mtime_ns


# --- files that git executes ------------------------------------------------------------------------------------------


def hash_executed(repository: Repository, root: str) -> dict[str, str]:
    """Return a hash of each file that git executes or obeys in a repository.

    The key is the path below the root, or the full path of a file elsewhere.
    """
    found = {}
    for file in dict.fromkeys(_list_executed(repository)):
        try:
            with open(file, "rb") as stream:
                found[name_below(root, file) or file] = take_sha256(stream.read(_MAX_EXECUTED_BYTES))
        except OSError:
            continue
    return found


def _list_executed(repository: Repository) -> Iterator[str]:
    for place in dict.fromkeys((os.path.realpath(repository.own), repository.common)):
        yield from _list_in(place)
    for folder, inner, _ in os.walk(f"{repository.common}/modules"):
        if "objects" in inner:
            yield from _list_in(folder)
        inner[:] = [name for name in inner if name not in ("objects", "refs", "logs", "hooks", "info")]


def _list_in(place: str) -> Iterator[str]:
    """Yield the files of one git folder: settings, active hooks, attributes and ignore rules."""
    yield from (f"{place}/{name}" for name in ("config", "config.worktree"))
    for folder in ("hooks", "info"):
        try:
            names = sorted(os.listdir(f"{place}/{folder}"))
        except OSError:
            continue
        for name in names:
            file = f"{place}/{folder}/{name}"
            if not name.endswith(".sample") and name != "refs" and os.path.isfile(file):
                yield file
