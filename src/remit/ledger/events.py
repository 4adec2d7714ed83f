"""The event log, append-only with ascending numbers, and the log of what sessions did to files (R3.11).

The frontmatter of the files is updated only when the run finishes: a file that changes under a working agent makes its
next edit fail.
"""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

from remit.light_namedtuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from sqlite3 import Connection

    from remit.ledger.store import Ledger


PAGE = 500


class LedgerEvent(NamedTuple):
    """An event in the log."""

    number: int
    at_ms: int
    session_id: str | None
    kind: str
    details: dict[str, Any]


def read_clock_ms() -> int:
    """Return the current time in milliseconds since 1970."""
    return time.time_ns() // 1_000_000


def to_json(value: object) -> str:
    """Return a value as JSON text, as the tables store it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def add_event(db: Connection, kind: str, details: Mapping[str, Any], *, session_id: str | None = None) -> int:
    """Add an event in the transaction that makes it true; return its number."""
    added = db.execute(
        "INSERT INTO events (at_ms, session_id, kind, details) VALUES (?, ?, ?, ?)",
        (read_clock_ms(), session_id, kind, to_json(details)),
    )
    return added.lastrowid or 0


def load_events(
    ledger: Ledger, *, after: int = 0, session_id: str | None = None, kind: str | None = None, limit: int = PAGE
) -> list[LedgerEvent]:
    """Return the events above a number, oldest first."""
    narrowed = "" if session_id is None else "AND session_id = :session"
    narrowed += "" if kind is None else " AND kind = :kind"
    query = f"SELECT number, at_ms, session_id, kind, details FROM events WHERE number > :after {narrowed} ORDER BY number LIMIT :limit"  # noqa: E501, S608 - fixed texts
    with ledger.reading() as db:
        rows = db.execute(query, {"after": after, "session": session_id, "kind": kind, "limit": limit}).fetchall()
    return [
        LedgerEvent(number, at_ms, session, kind, json.loads(details)) for number, at_ms, session, kind, details in rows
    ]


def load_last_event(ledger: Ledger, session_id: str, *kinds: str) -> LedgerEvent | None:
    """Return a session's last event of the given kinds; None if there is none."""
    marks = ", ".join("?" * len(kinds))
    query = f"SELECT number, at_ms, session_id, kind, details FROM events WHERE session_id = ? AND kind IN ({marks}) ORDER BY number DESC LIMIT 1"  # noqa: E501, S608 - marks only
    with ledger.reading() as db:
        row = db.execute(query, (session_id, *kinds)).fetchone()
    return None if row is None else LedgerEvent(row[0], row[1], row[2], row[3], json.loads(row[4]))


def follow_events(ledger: Ledger, *, after: int = 0, session_id: str | None = None) -> Iterator[LedgerEvent]:
    """Yield all current events above a number, page by page."""
    while page := load_events(ledger, after=after, session_id=session_id):
        yield from page
        after = page[-1].number


class FileAct(NamedTuple):
    """One operation of a session on a file."""

    path: str
    operation: str
    at_ms: int
    session_id: str
    parent_id: str | None = None
    number: int = 0


def list_acts(ledger: Ledger, session_id: str, *, only_unreported: bool = False) -> list[FileAct]:
    """Return the operations of a session in order; with `only_unreported`, those that no frontmatter has yet."""
    query = "SELECT path, operation, at_ms, session_id, parent_id, number FROM activity WHERE session_id = ?"
    with ledger.reading() as db:
        rows = db.execute(
            f"{query}{' AND NOT written' if only_unreported else ''} ORDER BY number", (session_id,)
        ).fetchall()
    return [FileAct(*row) for row in rows]


def mark_reported(db: Connection, acts: Iterable[FileAct]) -> None:
    """Record that the operations are in the frontmatter of their files."""
    db.executemany("UPDATE activity SET written = 1 WHERE number = ?", [(act.number,) for act in acts])
