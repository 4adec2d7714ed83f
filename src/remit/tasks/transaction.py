"""Transactions on state.json, TODO.md and plans: load under the lock, change texts, write all files or none.

A transaction first finishes a change that a crash interrupted. It then checks whether the two files still have the
content from when they last agreed, so that manual edits are never overwritten silently: if they have, nothing is
parsed; otherwise unambiguous edits of one file are copied into the other, and conflicting edits become diagnostics.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from remit.errors import InputError, StateError, UsageError
from remit.ledger.home import TASKS
from remit.ledger.journal import MAX_BYTES, FileChange, finish_interrupted, has_unfinished, write_together
from remit.storage.files import load_bytes
from remit.storage.safe_path import find_inside, take_hash
from remit.storage.spec_root import ARCHIVE, STATE, TODO
from remit.tasks.drift import check_drift
from remit.tasks.merge_sides import check_merged
from remit.tasks.repair import classify_drift, plan_absorb
from remit.tasks.state import RESTORE, parse_archive, parse_state
from remit.tasks.state_edits import render_empty_state
from remit.tasks.todo import parse_todo
from remit.tasks.todo_edits import render_empty_todo

if TYPE_CHECKING:
    from collections.abc import Iterator
    from sqlite3 import Connection

    from remit.ledger.home import Home
    from remit.ledger.journal import Interrupted
    from remit.model import Diagnostic
    from remit.tasks.repair import RepairPlan
    from remit.tasks.state import State
    from remit.tasks.todo import Todo

_MANUAL_EDITS = {"SYN017", "SYN018", "SYN020"}
"""The diagnostics of tasks whose status was edited by hand and couldn't be absorbed."""


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


def prepare_files(files: TaskFiles, *, may_begin: bool = False) -> None:
    """Check that both files exist and can be parsed, and absorb unambiguous edits. Raise `StateError` otherwise."""
    _check_there(files, may_begin=may_begin)
    if load_agreed(files.home, files.folder) == files.take_hash():
        return
    broken = parse_state(files.state).broken
    if broken is not None:
        raise StateError(broken.message, hint=RESTORE)
    unmerged = check_merged(files.todo)
    if unmerged is not None:
        raise StateError(unmerged.message, hint=f"{unmerged.hint[:1].lower()}{unmerged.hint[1:].rstrip('.')}")
    baseline = load_agreed_markers(files.home, files.folder)
    apply_repair(files, plan_absorb(files.state, files.todo, baseline))


def _check_there(files: TaskFiles, *, may_begin: bool) -> None:
    there = [name for name in (STATE, TODO) if files.load(name) is not None]
    if not there:
        if not may_begin:
            raise UsageError("this workspace has no tasks", hint="create the first one with: remit task new TITLE")
        files.put(STATE, render_empty_state())
        files.put(TODO, render_empty_todo())
    elif len(there) == 1:
        raise missing_file_error(TODO if there[0] == STATE else STATE, there[0])


def missing_file_error(missing: str, other: str) -> StateError:
    """Return the error for one missing file."""
    return StateError(
        f"{missing} is missing, but {other} exists", hint=f"create it from {other} with: remit task sync --repair"
    )


def apply_repair(files: TaskFiles, repair: RepairPlan) -> None:
    """Put a planned repair into the files, and note what is left for the user."""
    files.put(STATE, repair.state)
    files.put(TODO, repair.todo)
    files.absorbed += repair.done
    files.agrees = not repair.left
    state, todo = parse_state(repair.state), parse_todo(repair.todo)
    _record_left(files, repair.left, state, todo)
    kinds = classify_drift(state, todo, None)
    # For tasks that differ, keep the marker from when the files last agreed: it shows later which file was edited.
    files.markers = {
        task.number: task.marker for task in state.tasks if task.marker and kinds.get(task.number) == "same"
    }


def recheck(files: TaskFiles) -> None:
    """Compute the remaining diagnostics again after a change: it may have fixed them, and has moved their places."""
    if files.diagnostics:
        baseline = load_agreed_markers(files.home, files.folder) | files.markers
        again = plan_absorb(files.state, files.todo, baseline)
        _record_left(files, again.left, parse_state(files.state), parse_todo(files.todo))
        files.agrees = not again.left and (again.state, again.todo) == (files.state, files.todo)


def _record_left(files: TaskFiles, left: tuple[Diagnostic, ...], state: State, todo: Todo) -> None:
    """Store the diagnostics that the user has to decide, the file of each, and the tasks that were edited by hand."""
    in_state = set(check_drift(state, todo, parse_archive(files.load(ARCHIVE))).in_state) if left else set()
    files.diagnostics = list(left)
    files.diagnostic_files = [STATE if each in in_state else TODO for each in left]
    edited = {each.place: each for each in left if each.code in _MANUAL_EDITS}
    places = [(task.number, place) for task in todo.tasks for place in (task.marker_place, task.place)]
    files.doubts = {number: edited[place] for number, place in places if place in edited}
