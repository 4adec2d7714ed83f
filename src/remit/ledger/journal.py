"""Change several files atomically, with a write-ahead journal in the ledger.

The new contents are staged next to the files, the intent is written to the ledger, the files are replaced by renaming,
and the intent is deleted. After a crash, the next process finishes the change, but only for files that still have their
old content; files that were edited since are left alone and reported. The first file decides whether the change
happened. Each file is compared once more right before it is replaced: if a user has edited it, nothing is changed and
the caller retries (`EditedError`).
"""

from __future__ import annotations

import errno
import json
import os
from contextlib import ExitStack
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

from remit.errors import EditedError, RemitError
from remit.ledger.events import add_event, read_clock_ms
from remit.model import NOTHING
from remit.storage.files import storage_error
from remit.storage.safe_path import (
    MAX_HASHED_BYTES,
    PENDING,
    UNREADABLE,
    choose_staging,
    find_inside,
    hash_target,
    move_if_unchanged,
    open_target,
    remove_target,
    take_hash,
    write_target,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from sqlite3 import Connection

    from remit.ledger.home import Home
    from remit.storage.safe_path import FileTarget

MAX_BYTES = MAX_HASHED_BYTES


class FileChange:
    """The new content of a file. `before` is its content when the change was computed, None if it was missing."""

    def __init__(self, path: str, before: bytes | None, after: bytes, *, hash_before: bytes | None = None) -> None:
        self.path = path
        """Relative to the workspace's root."""
        self.before = before
        self.after = after
        self.hash_before = hash_before or take_hash(before)
        """The hash of the old content; callers that know it pass it."""

    @cached_property
    def hash_after(self) -> bytes:
        """The hash of the new content."""
        return sha256(self.after).digest()


class Interrupted(NamedTuple):
    """A change that a crash interrupted, and how it was recovered."""

    kind: str
    finished: bool
    """False if it was rolled back: the first file hadn't been replaced, so the change never happened."""
    left_alone: tuple[str, ...]
    """Files that were edited meanwhile and left alone."""


class _ChangeEvent(NamedTuple):
    """The event that is added once a change is done."""

    kind: str
    details: dict[str, Any]


class _StagedFile(NamedTuple):
    """One file of a change: its staged new content, its target, and the hashes of both contents."""

    path: str
    waiting: FileTarget
    target: FileTarget
    before: bytes | None
    after: bytes


def write_together(
    home: Home,
    changes: Iterable[FileChange],
    *,
    kind: str,
    details: Mapping[str, object] = NOTHING,
    conclude: Callable[[Connection], None] = lambda _: None,
) -> None:
    """Change several files atomically, under the caller's lock. `conclude` adds rows in the last transaction.

    Once the change is done, an event of this kind is added, also if another process finishes it.

    When this returns, the change is on disk. If it raises before the intent is written, nothing has changed; after
    that, the next process with the lock finishes the change. If the disk fails while the intent is written, either may
    be the case. Raises `EditedError`, with nothing changed, if a user has edited one of the files since it was read.
    """
    changed_files = [change for change in changes if change.before != change.after]
    if not changed_files:
        with home.ledger.transaction() as db:
            conclude(db)
        return
    with ExitStack() as stack:
        steps = _plan(home, stack, [(change.path, change.hash_before, change.hash_after) for change in changed_files])
        number = _stage_and_record(home, steps, changed_files, change_event := _ChangeEvent(kind, dict(details)))
        edited = [step for step in steps if hash_target(step.target) not in (step.before, UNREADABLE)]
        edited = edited or _replace_files(home, number, steps)
        if edited:
            _roll_back(home, number, steps, changed_files)
            raise EditedError(edited[0].path)
        _delete_intent(
            home, number, durable=False, change_event=change_event, conclude=conclude
        )  # finishing it again would change nothing


def _stage_and_record(
    home: Home, steps: list[_StagedFile], changed_files: list[FileChange], change_event: _ChangeEvent
) -> int:
    """Stage the new contents and write the intent; return its number."""
    is_written = False
    try:
        for step, change in zip(steps, changed_files, strict=True):
            _stage(step, change.after)
        _sync_waiting(steps)
        with home.ledger.transaction(durable=True) as db:
            number = _write_intent(db, change_event, steps)
            is_written = True
    except BaseException:
        # If the transaction failed, its intent may still be in the ledger's log: then the staged contents must exist.
        if not is_written:
            _remove_staged(steps)
        raise
    return number


def _plan(home: Home, stack: ExitStack, files: list[tuple[str, bytes | None, bytes]]) -> list[_StagedFile]:
    """Open the files and choose one staging name for each, so that crashes leave no pile of files."""
    home.make_folder("pending")
    path, steps = "", []
    try:
        own = stack.enter_context(open_target(home.root, f"{PENDING}/x"))
        for path, before, after in files:
            below = find_inside(home.root, path)
            if below is None:
                raise PermissionError(errno.EPERM, "it is outside the workspace")
            target = stack.enter_context(open_target(home.root, below, make=True))
            mark = f".remit-{sha256(path.encode('utf-8', 'surrogateescape')).hexdigest()[:12]}"
            steps.append(_StagedFile(path, choose_staging(target, own, mark), target, before, after))
    except OSError as error:
        raise storage_error(path, error) from error
    return steps


def _stage(step: _StagedFile, data: bytes) -> None:
    """Write the staged content, so that a full disk fails before anything has changed."""
    try:
        remove_target(step.waiting)
        write_target(step.waiting, data, like=step.target)
    except OSError as error:
        raise storage_error(step.path, error) from error


def _sync_waiting(steps: list[_StagedFile]) -> None:
    """Sync the folders of the staged contents."""
    try:
        for folder in {step.waiting.folder for step in steps}:
            os.fsync(folder)
    except OSError as error:
        raise storage_error(steps[0].path, error) from error


def _write_intent(db: Connection, change_event: _ChangeEvent, steps: list[_StagedFile]) -> int:
    made = db.execute(
        "INSERT INTO intents (kind, details, created_ms) VALUES (?, ?, ?)",
        (change_event.kind, json.dumps(change_event.details), read_clock_ms()),
    )
    number = made.lastrowid or 0
    db.executemany(
        "INSERT INTO intended_files (intent, position, path, before, after) VALUES (?, ?, ?, ?, ?)",
        [(number, place, step.path, step.before, step.after) for place, step in enumerate(steps)],
    )
    return number


def _replace_files(
    home: Home, number: int, steps: list[_StagedFile], *, is_begun: bool = False, finishes: bool = False
) -> list[_StagedFile]:
    """Replace the files; return those that were edited meanwhile, which are left alone.

    An edited file stops the change, unless this `finishes` a change that a crash interrupted: then the other files
    follow. If the first file can't be replaced, the change is given up: nothing has happened.
    """
    path, edited = "", []
    try:
        for step in steps:
            path = step.path
            if move_if_unchanged(step.waiting, step.target, step.before):
                is_begun = True
                continue
            edited.append(step)
            if not (finishes and is_begun):
                break
        for step in steps:
            path = step.path
            os.fsync(step.target.folder)
    except OSError as error:
        failure = storage_error(path, error)
        if not is_begun and _try_to_delete_intent(home, number):
            _remove_staged(steps)
        else:
            failure.hint = "fix that; the next remit command then finishes the change"
        raise failure from error
    return edited


def _roll_back(home: Home, number: int, steps: list[_StagedFile], changed_files: list[FileChange]) -> None:
    """Restore the old content of each replaced file, unless it was edited since, and delete the intent."""
    path = ""
    try:
        for step, change in zip(steps, changed_files, strict=True):
            path = step.path
            if hash_target(step.target) != step.after:
                continue
            if change.before is None:
                remove_target(step.target)
            else:
                _stage(step, change.before)
                move_if_unchanged(step.waiting, step.target, step.after)
            os.fsync(step.target.folder)
    except OSError as error:
        raise storage_error(path, error) from error
    _delete_intent(home, number, durable=True)
    _remove_staged(steps)


def _try_to_delete_intent(home: Home, number: int) -> bool:
    try:
        _delete_intent(home, number, durable=True)
    except RemitError:
        return False
    return True


def _remove_staged(steps: Iterable[_StagedFile]) -> None:
    for step in steps:
        remove_target(step.waiting)


def _delete_intent(
    home: Home,
    number: int,
    *,
    durable: bool,
    change_event: _ChangeEvent | None = None,
    conclude: Callable[[Connection], None] = lambda _: None,
) -> None:
    with home.ledger.transaction(durable=durable) as db:
        conclude(db)
        if change_event is not None:
            add_event(db, change_event.kind, change_event.details)
        db.execute("DELETE FROM intended_files WHERE intent = ?", (number,))
        db.execute("DELETE FROM intents WHERE number = ?", (number,))


def has_unfinished(home: Home) -> bool:
    """Return whether there is an unfinished change, including one that another process is making right now."""
    with home.ledger.reading() as db:
        return db.execute("SELECT 1 FROM intents LIMIT 1").fetchone() is not None


def finish_interrupted(home: Home) -> list[Interrupted]:
    """Finish or roll back interrupted changes. The caller has the lock, so the process that began them is gone."""
    with home.ledger.reading() as db:
        rows = db.execute("SELECT number, kind, details FROM intents ORDER BY number").fetchall()
    return [_finish(home, number, _ChangeEvent(kind, json.loads(details))) for number, kind, details in rows]


def _finish(home: Home, number: int, change_event: _ChangeEvent) -> Interrupted:
    with home.ledger.reading() as db:
        query = "SELECT path, before, after FROM intended_files WHERE intent = ? ORDER BY position"
        rows = db.execute(query, (number,)).fetchall()
    with ExitStack() as stack:
        steps = _plan(home, stack, rows)
        rest = [step for step in steps if hash_target(step.target) != step.after]
        ready = [
            step for step in rest if hash_target(step.target) == step.before and hash_target(step.waiting) == step.after
        ]
        changed = tuple(step.path for step in rest if step not in ready)
        # If the first file wasn't replaced yet, the change hasn't happened: it is applied as a whole or not at all.
        happens = not changed or steps[0] not in rest
        if happens:
            edited = _replace_files(home, number, ready, is_begun=steps[0] not in rest, finishes=True)
            changed += tuple(step.path for step in edited)
            happens = steps[0] not in edited
        _delete_intent(home, number, durable=True, change_event=change_event if happens else None)
        _remove_staged(steps)
    return Interrupted(change_event.kind, happens, changed)
