"""The journal: several files change together, or none of them does.

Owns changing more than one file. What shall be is written into the ledger first, then into the files, then crossed out.
Whoever comes after a crash finds the entry and finishes it, but only where a file still is what it was: what somebody
has changed since is left alone and told. The first file of a change is the one that is true; the others follow it.
"""

from __future__ import annotations

import os
import time
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from remit.workspace.files import load_bytes, remove, sync_folder, tell_failure, write_beside

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from sqlite3 import Connection

    from remit.workspace.ledger import Ledger

MAX_BYTES = 32 * 1024 * 1024


class Change(NamedTuple):
    """What a file shall become. `before` is what it was when the change was worked out, None where there was none."""

    path: str
    """Below the workspace's root."""
    before: bytes | None
    after: bytes


class Interrupted(NamedTuple):
    """A change that was found unfinished, and what was done about it."""

    kind: str
    finished: bool
    """False where it was given up: the true file had changed, so it never happened."""
    left_alone: tuple[str, ...]
    """Files that somebody else has changed meanwhile."""


def take_hash(data: bytes | None) -> bytes | None:
    """What a file's content is known by; None where there is no file."""
    return None if data is None else sha256(data).digest()


def write_together(
    ledger: Ledger,
    root: str,
    changes: Iterable[Change],
    *,
    kind: str,
    record: Callable[[Connection], None] = lambda _: None,
) -> None:
    """Change files as a whole, under the lock that the caller holds. `record` adds rows that belong to the change.

    When this ends, the change is on disk. When it raises before the entry is written, nothing has happened; after that,
    the change will be finished by the next one who looks.
    """
    wanted = [change for change in changes if change.before != change.after]
    prepared = _prepare([(f"{root}/{change.path}", change.after) for change in wanted])
    try:
        with ledger.transaction(durable=True) as db:
            record(db)
            number = _write_intent(db, kind, wanted) if wanted else None
    except BaseException:
        _discard(prepared)
        raise
    if number is not None:
        _put_in_place(prepared)
        _cross_out(ledger, number, durable=False)  # to finish it a second time changes nothing


def _write_intent(db: Connection, kind: str, changes: list[Change]) -> int:
    now_ms = time.time_ns() // 1_000_000
    number = db.execute("INSERT INTO intents (kind, created_ms) VALUES (?, ?)", (kind, now_ms)).lastrowid
    db.executemany(
        "INSERT INTO intended_files (intent, position, path, before, after) VALUES (?, ?, ?, ?, ?)",
        [(number, place, each.path, take_hash(each.before), each.after) for place, each in enumerate(changes)],
    )
    return number or 0


def _prepare(files: list[tuple[str, bytes]]) -> list[tuple[str, str]]:
    """Write the new contents beside their files: a full disk is met before anything has happened."""
    prepared: list[tuple[str, str]] = []
    path = ""
    try:
        for path, data in files:
            temporary, target = _name_beside(path)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            remove(temporary)
            write_beside(temporary, data, target=target)
            prepared.append((temporary, target))
    except OSError as error:
        _discard(prepared)
        raise tell_failure(path, error) from error
    return prepared


def _name_beside(path: str) -> tuple[str, str]:
    """Where a file's new content waits, and what it will replace: one name only, so that crashes leave no heap."""
    target = os.path.realpath(path)
    folder, name = os.path.split(target)
    return f"{folder}/.{name[:200]}.remit", target


def _put_in_place(prepared: list[tuple[str, str]]) -> None:
    path = ""
    try:
        for temporary, path in prepared:
            os.replace(temporary, path)
        for path in {os.path.dirname(target) for _, target in prepared}:
            sync_folder(path)
    except OSError as error:
        told = tell_failure(path, error)
        told.hint += ": the next remit command will finish it"
        raise told from error


def _discard(prepared: list[tuple[str, str]]) -> None:
    for temporary, _ in prepared:
        remove(temporary)


def _cross_out(ledger: Ledger, number: int, *, durable: bool) -> None:
    with ledger.transaction(durable=durable) as db:
        db.execute("DELETE FROM intended_files WHERE intent = ?", (number,))
        db.execute("DELETE FROM intents WHERE number = ?", (number,))


def has_unfinished(ledger: Ledger) -> bool:
    """Whether a change was begun that nobody has finished; one that is being made right now counts as well."""
    with ledger.reading() as db:
        return db.execute("SELECT 1 FROM intents LIMIT 1").fetchone() is not None


def finish_interrupted(ledger: Ledger, root: str) -> list[Interrupted]:
    """Finish what was begun, under the lock that the caller holds: whoever began it is gone."""
    with ledger.reading() as db:
        rows = db.execute("SELECT number, kind FROM intents ORDER BY number").fetchall()
    return [_finish(ledger, root, number, kind) for number, kind in rows]


def _finish(ledger: Ledger, root: str, number: int, kind: str) -> Interrupted:
    with ledger.reading() as db:
        query = "SELECT path, before, after FROM intended_files WHERE intent = ? ORDER BY position"
        rows = db.execute(query, (number,)).fetchall()
    waiting: list[tuple[str, bytes]] = []
    changed: list[str] = []
    happens = True
    for place, (path, before, after) in enumerate(rows):
        now = take_hash(_load(f"{root}/{path}"))
        if now == take_hash(after):
            continue
        if now == before:
            waiting.append((f"{root}/{path}", after))
            continue
        changed.append(path)
        happens = happens and place > 0
    if changed and waiting and waiting[0][0] == f"{root}/{rows[0][0]}":
        happens = False  # the true file was not replaced yet: the change never happened
    if happens:
        _put_in_place(_prepare(waiting))
    else:
        _discard([_name_beside(f"{root}/{path}") for path, _, _ in rows])
    _cross_out(ledger, number, durable=True)
    return Interrupted(kind, happens, tuple(changed))


def _load(path: str) -> bytes | None:
    return load_bytes(path, max_bytes=MAX_BYTES) if os.path.lexists(path) else None
