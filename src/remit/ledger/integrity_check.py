"""Check the ledger file read-only, within a time limit: integrity, version, and interrupted changes."""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from contextlib import suppress
from typing import NamedTuple
from urllib.parse import quote

from remit.globs import matches_name
from remit.ledger import VERSION

_BUSY_SECONDS = 2.0
_STEPS = 10_000
"""The number of SQLite's steps between two checks of the time limit."""


class LedgerCondition(NamedTuple):
    """The result of a check of the ledger file."""

    fault: str = ""
    """SQLite's description of the damage; "" if there is none."""
    is_checked: bool = True
    """False if the time limit was too short to check every page."""
    unfinished: int = 0
    """The number of interrupted changes to several files."""
    is_newer: bool = False
    """True if a newer Remit wrote it."""
    is_older: bool = False
    """True if an older Remit wrote it: the next process that opens it renames it."""
    size_bytes: int = 0


def examine(file: str, *, seconds: float) -> LedgerCondition | None:
    """Check a ledger; return None if there is none."""
    try:
        found = os.lstat(file)
    except FileNotFoundError:
        return None
    except OSError as error:
        return LedgerCondition((error.strerror or str(error)).lower())
    if not stat.S_ISREG(found.st_mode):
        return LedgerCondition("it isn't a file")
    deadline = time.monotonic() + seconds
    try:
        db = sqlite3.connect(f"file:{quote(file)}?mode=ro", uri=True, timeout=_BUSY_SECONDS, isolation_level=None)
    except sqlite3.Error as error:
        return LedgerCondition(str(error))
    try:
        return _inspect(db, deadline)._replace(size_bytes=found.st_size)
    except sqlite3.Error as error:
        return LedgerCondition(str(error), size_bytes=found.st_size)
    finally:
        db.close()


def _inspect(db: sqlite3.Connection, deadline: float) -> LedgerCondition:
    version = db.execute("PRAGMA user_version").fetchone()[0]
    if version > VERSION:
        return LedgerCondition(is_newer=True)
    tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    unfinished = db.execute("SELECT count(*) FROM intents").fetchone()[0] if "intents" in tables else 0
    db.set_progress_handler(lambda: time.monotonic() > deadline, _STEPS)
    try:
        answer = db.execute("PRAGMA quick_check(1)").fetchone()[0]
    except sqlite3.OperationalError as error:
        if "interrupted" in str(error):
            return LedgerCondition(is_checked=False, unfinished=unfinished)
        raise
    return LedgerCondition(
        "" if answer == "ok" else str(answer), unfinished=unfinished, is_older=bool(tables) and version < VERSION
    )


def list_set_aside(file: str) -> list[str]:
    """Return the renamed older ledgers next to a ledger."""
    folder = os.path.dirname(file)
    with suppress(OSError):
        return sorted(f"{folder}/{name}" for name in os.listdir(folder) if matches_name("ledger.version-*.db", name))
    return []


def read_version() -> tuple[int, ...]:
    """Return the version of SQLite."""
    return sqlite3.sqlite_version_info


def has_full_text() -> bool:
    """True if this SQLite has full-text search (FTS5)."""
    db = sqlite3.connect(":memory:")
    try:
        db.execute("CREATE VIRTUAL TABLE words USING fts5(word)")
    except sqlite3.OperationalError:
        return False
    finally:
        db.close()
    return True
