"""Transactions on state.json, TODO.md and plans: load under the lock, change texts, write all files or none.

A transaction first finishes a change that a crash interrupted. It then checks whether the two files still have the
content from when they last agreed, so that manual edits are never overwritten silently.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from remit.errors import InputError, StateError
from remit.ledger.home import TASKS
from remit.ledger.journal import MAX_BYTES, FileChange, finish_interrupted, has_unfinished, write_together
from remit.storage.files import load_bytes
from remit.storage.safe_path import find_inside, take_hash
from remit.storage.spec_root import STATE, TODO

if TYPE_CHECKING:
    from collections.abc import Iterator
    from sqlite3 import Connection

    from remit.ledger.home import Home
    from remit.ledger.journal import Interrupted
    from remit.model import Diagnostic


class TaskFiles:
    """The task files within a transaction. `put` texts are written if the transaction ends without an exception."""

    def __init__(self, home: Home, folder: str) -> None:
        self.home = home
        self.folder = folder
        self.interrupted: list[Interrupted] = []
        self.absorbed: tuple[str, ...] = ()
        """Edits that were copied from one file to the other, a sentence each."""
        self.diagnostics: list[Diagnostic] = []
        """Differences that the user has to decide."""
        self.diagnostic_files: list[str] = []
        """The file of each diagnostic."""
        self.doubts: dict[int, Diagnostic] = {}
        """The diagnostic of each task whose status was edited by hand and couldn't be absorbed, by number."""
        self.markers: dict[int, str] = {}
        """The new marker of tasks on which both files agree, by number."""
        self.agrees = True
        self._before: dict[str, bytes | None] = {}
        self._read: dict[str, str | None] = {}
        self._after: dict[str, str] = {}
        self._changes: dict[str, tuple[str, FileChange]] = {}
        self._hashes: dict[str, bytes | None] = {}

    def load(self, name: str) -> str | None:
        """Return the text of a file in the folder with the changes so far; None if it is missing."""
        if name in self._after:
            return self._after[name]
        if name not in self._before:
            before = self._before[name] = load_file(self.home.root, f"{self.folder}/{name}")
            self._read[name] = None if before is None else decode(before)
        return self._read[name]

    def put(self, name: str, text: str) -> None:
        """Set the new text of a file."""
        self.load(name)
        self._after[name] = text

    @property
    def state(self) -> str:
        """The text of state.json."""
        return self.load(STATE) or ""

    @property
    def todo(self) -> str:
        """The text of TODO.md."""
        return self.load(TODO) or ""

    def list_changes(self) -> list[FileChange]:
        """Return the changes to write; state.json comes first, because it decides whether a change happened."""
        names = sorted(self._after, key=lambda name: (name != STATE, name != TODO, name))
        return [self._make_change(name) for name in names]

    def _make_change(self, name: str) -> FileChange:
        after = self._after[name]
        known = self._changes.get(name)
        if known is None or known[0] is not after:  # compute its hashes only once
            change = FileChange(
                f"{self.folder}/{name}", self._before[name], encode(after), hash_before=self._hash_before(name)
            )
            known = self._changes[name] = after, change
        return known[1]

    def take_hash(self) -> bytes:
        """Return one hash of both files with the changes so far."""
        return sha256(b"".join(self._hash(name) or b"-" for name in (STATE, TODO))).digest()

    def _hash(self, name: str) -> bytes | None:
        self.load(name)
        return self._make_change(name).hash_after if name in self._after else self._hash_before(name)

    def _hash_before(self, name: str) -> bytes | None:
        if name not in self._hashes:
            self._hashes[name] = take_hash(self._before[name])
        return self._hashes[name]


def load_file(root: str, path: str) -> bytes | None:
    """Return the bytes of a task file, named from the root; None if it is missing."""
    if find_inside(root, path) is None:  # check first, because a missing file would be created there
        raise StateError(f"'{path}' leads out of the workspace through a link", hint="replace the link with the file")
    file = f"{root}/{path}"
    if not os.path.lexists(file):
        return None
    if os.path.exists(file) and not os.path.isfile(file):
        raise InputError(f"'{path}' isn't a file", hint="move it away, or restore the file from git")
    data = load_bytes(file, max_bytes=MAX_BYTES)
    if len(data) > MAX_BYTES:
        raise StateError(
            f"'{path}' has more than {MAX_BYTES:,} bytes", hint="archive old tasks with: remit task archive"
        )
    return data


def decode(data: bytes) -> str:
    """Decode bytes so that `encode` restores them exactly, even if they aren't UTF-8."""
    return data.decode("utf-8", "surrogateescape")


def encode(text: str) -> bytes:
    """Return the bytes of a text that `decode` returned."""
    return text.encode("utf-8", "surrogateescape")


@contextmanager
def edit_task_files(
    home: Home, folder: str, *, kind: str, details: dict[str, Any] | None = None
) -> Iterator[TaskFiles]:
    """Run a transaction under the tasks lock: at its end all changed files are written, or none."""
    with home.lock(TASKS):
        files = TaskFiles(home, folder)
        files.interrupted = finish_interrupted(home)
        yield files

        def conclude(db: Connection) -> None:  # only after all files are written; recovery compares the files instead
            save_agreed(db, folder, files.take_hash() if files.agrees else b"", files.markers)

        write_together(home, files.list_changes(), kind=kind, details=details or {}, conclude=conclude)


def finish_if_interrupted(home: Home) -> list[Interrupted]:
    """Finish a change that a crash interrupted; wait for a change that another process is making."""
    if not os.path.exists(home.ledger_file) or not has_unfinished(home):
        return []
    with home.lock(TASKS):
        return finish_interrupted(home)


def load_agreed(home: Home, folder: str) -> bytes | None:
    """Return the hash of both files from when they last agreed; None if unknown."""
    with home.ledger.reading() as db:
        row = db.execute("SELECT hash FROM agreed WHERE path = ?", (folder,)).fetchone()
    return None if row is None else row[0]


def load_agreed_markers(home: Home, folder: str) -> dict[int, str]:
    """Return the marker of each task from when the two files last agreed on it."""
    with home.ledger.reading() as db:
        return dict(db.execute("SELECT number, marker FROM agreed_markers WHERE path = ?", (folder,)))


def save_agreed(db: Connection, folder: str, known_by: bytes, markers: dict[int, str]) -> None:
    """Store the hash and the markers on which the two files agree now."""
    db.execute("INSERT OR REPLACE INTO agreed (path, hash) VALUES (?, ?)", (folder, known_by))
    rows = [(folder, number, marker) for number, marker in markers.items()]
    db.executemany("INSERT OR REPLACE INTO agreed_markers (path, number, marker) VALUES (?, ?, ?)", rows)
