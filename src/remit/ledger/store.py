"""Open the ledger's file: many processes, short transactions.

Writers wait for SQLite's own lock. Only one process at a time makes a checkpoint, which moves the write-ahead log into
the file: before SQLite 3.51.3, two concurrent checkpoints could, rarely, corrupt the file.
"""

from __future__ import annotations

import json
import os
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from remit.errors import BusyError, RemitError, StorageError, UsageError
from remit.ledger import VERSION
from remit.light_namedtuple import NamedTuple
from remit.storage.files import name_half_written, remove, storage_error, sync_folder
from remit.storage.locks import hold_lock, try_lock

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator
else:
    try:
        import _sqlite3 as sqlite3
    except ImportError:
        import sqlite3

Connection = sqlite3.Connection
"""The type of a transaction's connection, for packages that don't import SQLite themselves."""
BUSY_SECONDS = 30.0
MAX_LOG_BYTES = 4 * 1024 * 1024
"""A longer write-ahead log is moved into the file by the next process that writes."""


class OlderLedger(NamedTuple):
    """An older ledger that was kept as a separate file."""

    file: str
    version: int
    unfinished: int
    """The number of unfinished runs in it."""


SET_ASIDE: list[OlderLedger] = []
"""The older ledgers that this process has renamed; the interface reports them."""


class Ledger:
    """An open ledger. A process has one, and doesn't share it between threads."""

    def __init__(self, file: str) -> None:
        self.file = file
        self._is_durable = False
        with _translate_errors(file):
            self._connection = sqlite3.connect(file, timeout=BUSY_SECONDS, isolation_level=None, cached_statements=64)
            try:
                self._prepare()
            except BaseException:
                self._connection.close()
                raise

    def _prepare(self) -> None:
        db = self._connection
        db.execute("PRAGMA wal_autocheckpoint = 0")
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if version > VERSION:
            raise StorageError(
                f"'{self.file}' was written by a newer Remit (version {version}; this one supports up to {VERSION})",
                hint="update Remit",
            )
        if version < VERSION:
            with hold_lock(
                f"{self.file}.lock"
            ):  # a race: two processes that create the file would fail at the switch to WAL
                db.execute("PRAGMA auto_vacuum = INCREMENTAL")  # has an effect only on an empty file
                db.execute("PRAGMA journal_mode = WAL")
                self._make_tables()

    def _make_tables(self) -> None:
        """Create all tables or none; an older ledger is copied to another file first."""
        from remit.ledger.schema import JOURNAL, TABLES  # noqa: PLC0415 - once for each workspace

        kept = None
        with self.transaction(durable=True) as db:
            version = db.execute("PRAGMA user_version").fetchone()[0]
            if version == VERSION:  # another process was faster
                return
            query = (
                "SELECT type, name FROM sqlite_master WHERE type IN ('table', 'trigger') AND name NOT LIKE 'sqlite_%'"
            )
            made = db.execute(f"{query} ORDER BY sql LIKE 'CREATE VIRTUAL%' DESC").fetchall()
            if made:
                kept = OlderLedger(_copy(self.file, version), version, _count_open(db, [name for _, name in made]))
                for kind, name in made:
                    if not (version and name in JOURNAL):
                        db.execute(f'DROP {kind} IF EXISTS "{name}"')
            for statement in TABLES:
                db.execute(statement)
            if kept is not None:
                details = json.dumps({"file": kept.file, "version": version, "open": kept.unfinished})
                statement = "INSERT INTO events (at_ms, kind, details) VALUES (?, 'set_aside', ?)"
                db.execute(statement, (time.time_ns() // 1_000_000, details))
            db.execute(f"PRAGMA user_version = {VERSION}")
        if kept is not None:
            SET_ASIDE.append(kept)

    @property
    def db(self) -> sqlite3.Connection:
        """The connection, for reading."""
        return self._connection

    @contextmanager
    def transaction(self, *, durable: bool = False) -> Iterator[sqlite3.Connection]:
        """Run a transaction: synced to disk if it is `durable`; otherwise it survives only a crash of this process."""
        db = self._connection
        with _translate_errors(self.file):
            if db.in_transaction:  # part of an outer transaction
                if durable and not self._is_durable:
                    raise RuntimeError("a durable transaction can't be part of one that isn't")
                yield db
                return
            db.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            db.execute("BEGIN IMMEDIATE")
            self._is_durable = durable
            try:
                yield db
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise
        with suppress(OSError):
            if os.stat(f"{self.file}-wal").st_size > MAX_LOG_BYTES:
                checkpoint_if_free(db, self.file)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Yield the connection for reading, with SQLite's errors translated."""
        with _translate_errors(self.file):
            yield self._connection

    def get_note(self, name: str) -> str | None:
        """Return a single fact that the workspace remembers, such as the task in focus; None if it isn't known."""
        with self.reading() as db:
            row = db.execute("SELECT value FROM notes WHERE name = ?", (name,)).fetchone()
        return None if row is None else str(row[0])

    def set_note(self, name: str, value: str | None) -> None:
        """Store a single fact; None removes it."""
        with self.transaction() as db:
            if value is None:
                db.execute("DELETE FROM notes WHERE name = ?", (name,))
            else:
                db.execute("INSERT OR REPLACE INTO notes (name, value) VALUES (?, ?)", (name, value))

    def checkpoint(self) -> bool:
        """Move the log into the file unless another process is doing so; return whether it was done."""
        return _checkpoint(self._connection, self.file)

    def close(self) -> None:
        """Close the file.

        The last process that closes it makes a checkpoint, so this waits for the checkpoint lock. If the lock can't be
        taken, the file is closed when the process ends: all rows are in the log, and the next process moves it.
        """
        with suppress(StorageError, BusyError), hold_lock(f"{self.file}.checkpoint"):
            self._connection.close()


def _copy(file: str, version: int) -> str:
    """Copy a ledger to a file beside it; return its path. A complete copy of a killed process is used again."""
    from filecmp import cmp  # noqa: PLC0415 - once for each version

    folder, name = os.path.split(file)
    half = f"{folder}/{name_half_written(name)}"
    target, number = f"{folder}/ledger.version-{version}.db", 1
    try:
        source = sqlite3.connect(file, timeout=BUSY_SECONDS, isolation_level=None)
        try:
            source.execute("VACUUM INTO ?", (half,))
        finally:
            source.close()
        while os.path.lexists(target):
            if os.path.isfile(target) and cmp(half, target, shallow=False):
                return target
            number += 1
            target = f"{folder}/ledger.version-{version}.{number}.db"
        handle = os.open(half, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
        os.rename(half, target)
        sync_folder(folder)
    except OSError as error:
        raise storage_error(target, error) from error
    finally:
        remove(half)
    return target


def _count_open(db: sqlite3.Connection, tables: list[str]) -> int:
    """Return the number of unfinished runs of an older ledger."""
    if "runs" not in tables:
        return 0
    count: int = db.execute("SELECT count(*) FROM runs WHERE state <> 'finished'").fetchone()[0]
    return count


def checkpoint_if_free(db: sqlite3.Connection, file: str) -> None:
    """Move the log into the file unless another process does so; if it fails, the rows are safe in the log."""
    with suppress(StorageError, BusyError):
        _checkpoint(db, file)


def _checkpoint(db: sqlite3.Connection, file: str) -> bool:
    with _translate_errors(file), try_lock(f"{file}.checkpoint") as is_locked:
        if not is_locked:
            return False
        mode = "PASSIVE" if db.in_transaction else "TRUNCATE"
        patience = db.execute("PRAGMA busy_timeout").fetchone()[0]
        db.execute("PRAGMA busy_timeout = 0")  # don't wait for readers
        try:
            busy = db.execute(f"PRAGMA wal_checkpoint({mode})").fetchone()[0]
        finally:
            db.execute(f"PRAGMA busy_timeout = {patience}")
        return not busy


@contextmanager
def _translate_errors(file: str) -> Iterator[None]:
    """Translate SQLite's errors to Remit's."""
    try:
        yield
    except RemitError:
        raise
    except UnicodeEncodeError as error:  # a lone surrogate, from a command line in another encoding
        raise UsageError(f"{error.object[:80]!r} isn't valid UTF-8", hint="encode it as UTF-8") from error
    except sqlite3.OperationalError as error:
        if "locked" in str(error) or "busy" in str(error):
            message = f"another process has locked '{file}' for more than {BUSY_SECONDS:.0f} s"
            raise BusyError(message, hint="end it, or try again later") from error
        hint = "check the disk, its free space and the folder's permissions"
        raise StorageError(f"'{file}' can't be used: {error}", hint=hint) from error
    except sqlite3.DatabaseError as error:
        if isinstance(error, (sqlite3.IntegrityError, sqlite3.ProgrammingError)):
            raise  # a bug in Remit, not a damaged file
        raise StorageError(
            f"'{file}' is damaged: {error}",
            hint="move it away: only the record of past runs is lost, not tasks or the manifest",
        ) from error
