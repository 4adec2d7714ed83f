"""The desk: state.json and TODO.md under the lock, as they are and as they shall be.

Owns loading the two and writing them together. Whoever comes to the desk first finishes what a crash left, then looks
whether the two still say what they said when they last agreed. An edit of one of them that is clear is taken in; what
is not is told with both values, and nothing is overwritten in silence.
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
    """The files while they are changed. What is put on it is written when the work at the desk ends well."""

    def __init__(self, home: Home, folder: str) -> None:
        self.home = home
        self.folder = folder
        self.interrupted: list[Interrupted] = []
        self.absorbed: tuple[str, ...] = ()
        """What one of the files said and the other follows now, a sentence each."""
        self.diagnostics: list[Diagnostic] = []
        """Where they disagree, and a person has to say what is true."""
        self.diagnostic_files: list[str] = []
        """The file that each of these is about."""
        self.doubts: dict[int, Diagnostic] = {}
        """Of these, the tasks whose status was edited by hand and could not be taken in."""
        self.markers: dict[int, str] = {}
        """What both files will say of tasks, as far as that is new."""
        self.agrees = True
        self._before: dict[str, bytes | None] = {}
        self._read: dict[str, str | None] = {}
        self._after: dict[str, str] = {}
        self._changes: dict[str, tuple[str, FileChange]] = {}
        self._hashes: dict[str, bytes | None] = {}

    def load(self, name: str) -> str | None:
        """A file of the folder, as it will be."""
        if name in self._after:
            return self._after[name]
        if name not in self._before:
            before = self._before[name] = load_file(self.home.root, f"{self.folder}/{name}")
            self._read[name] = None if before is None else decode(before)
        return self._read[name]

    def put(self, name: str, text: str) -> None:
        """Say what a file shall become."""
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
        """What there is to write, the true file first."""
        names = sorted(self._after, key=lambda name: (name != STATE, name != TODO, name))
        return [self._make_change(name) for name in names]

    def _make_change(self, name: str) -> FileChange:
        after = self._after[name]
        known = self._changes.get(name)
        if known is None or known[0] is not after:  # its hashes are worked out once
            change = FileChange(
                f"{self.folder}/{name}", self._before[name], encode(after), hash_before=self._hash_before(name)
            )
            known = self._changes[name] = after, change
        return known[1]

    def take_hash(self) -> bytes:
        """What the two files are known by together, as they will be."""
        return sha256(b"".join(self._hash(name) or b"-" for name in (STATE, TODO))).digest()

    def _hash(self, name: str) -> bytes | None:
        self.load(name)
        return self._make_change(name).hash_after if name in self._after else self._hash_before(name)

    def _hash_before(self, name: str) -> bytes | None:
        if name not in self._hashes:
            self._hashes[name] = take_hash(self._before[name])
        return self._hashes[name]


def load_file(root: str, path: str) -> bytes | None:
    """A file of tasks, named from the root; None where there is none."""
    if find_inside(root, path) is None:  # before anything else: where nothing is yet, something would be written
        raise StateError(f"'{path}' leads out of the workspace through a link", hint="put the file itself there")
    file = f"{root}/{path}"
    if not os.path.lexists(file):
        return None
    if os.path.exists(file) and not os.path.isfile(file):
        raise InputError(f"'{path}' is not a file", hint="move it away, or restore it from git")
    data = load_bytes(file, max_bytes=MAX_BYTES)
    if len(data) > MAX_BYTES:
        raise StateError(f"'{path}' has more than {MAX_BYTES:,} bytes", hint="archive old tasks")
    return data


def decode(data: bytes) -> str:
    """Bytes as a text from which the same bytes can be made again."""
    return data.decode("utf-8", "surrogateescape")


def encode(text: str) -> bytes:
    """The bytes of a text that was read here."""
    return text.encode("utf-8", "surrogateescape")


@contextmanager
def edit_task_files(
    home: Home, folder: str, *, kind: str, details: dict[str, Any] | None = None
) -> Iterator[TaskFiles]:
    """Work at the desk, alone; at the end everything that was put on it is written, or nothing is."""
    with home.lock(TASKS):
        desk = TaskFiles(home, folder)
        desk.interrupted = finish_interrupted(home)
        yield desk

        def conclude(db: Connection) -> None:  # only then: whoever finishes it after a crash finds out by looking
            save_agreed(db, folder, desk.take_hash() if desk.agrees else b"", desk.markers)

        write_together(home, desk.list_changes(), kind=kind, details=details or {}, conclude=conclude)


def finish_if_interrupted(home: Home) -> list[Interrupted]:
    """Finish what a crash left, before anything is read. What another process is just doing is waited for."""
    if not os.path.exists(home.ledger_file) or not has_unfinished(home):
        return []
    with home.lock(TASKS):
        return finish_interrupted(home)


def load_agreed(home: Home, folder: str) -> bytes | None:
    """What the two files were known by when they last agreed; None where that is not known."""
    with home.ledger.reading() as db:
        row = db.execute("SELECT hash FROM agreed WHERE path = ?", (folder,)).fetchone()
    return None if row is None else row[0]


def load_agreed_markers(home: Home, folder: str) -> dict[int, str]:
    """The marker of each task when the two files last agreed on it."""
    with home.ledger.reading() as db:
        return dict(db.execute("SELECT number, marker FROM agreed_markers WHERE path = ?", (folder,)))


def save_agreed(db: Connection, folder: str, known_by: bytes, markers: dict[int, str]) -> None:
    """Remember what the two files say, now that they agree."""
    db.execute("INSERT OR REPLACE INTO agreed (path, hash) VALUES (?, ?)", (folder, known_by))
    rows = [(folder, number, marker) for number, marker in markers.items()]
    db.executemany("INSERT OR REPLACE INTO agreed_markers (path, number, marker) VALUES (?, ?, ?)", rows)
