"""Retention: nothing grows without bound.

Owns what is forgotten, and when: settled delegations with all that belongs to them once they are old, and the oldest
of them while the whole is too large. What is open is never touched, nor anything that people keep: tasks, manifest and
errors are not in the ledger.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from remit.workspace.files import remove
from remit.workspace.ledger.events import read_clock_ms
from remit.workspace.ledger.spills import find_spill

if TYPE_CHECKING:
    from sqlite3 import Connection

    from remit.workspace.home import Home

_DAY_MS = 24 * 60 * 60 * 1000
_BATCH = 200
_ROW_BYTES = 100
_TEXTS = {
    "delegations": "length(details) + length(path)",
    "attempts": "length(findings) + length(usage)",
    "events": "length(details)",
    "activity": "length(path)",
}
"""What makes a row long, by table."""


class Forgotten(NamedTuple):
    """What was removed."""

    delegations: int = 0
    events: int = 0
    spills: int = 0
    freed_bytes: int = 0


def forget_old(home: Home, *, days: int, megabytes: int, dry_run: bool = False) -> Forgotten:
    """Remove settled delegations that are too old, then the oldest while more is kept than may be.

    A dry run tells what is too old, and removes nothing.
    """
    before = measure_bytes(home)
    horizon = read_clock_ms() - days * _DAY_MS
    total = Forgotten()
    while batch := _find_settled(home, horizon, skip=total.delegations if dry_run else 0):
        total = _add(total, _forget(home, batch, dry_run=dry_run))
    total = _add(total, _forget_events(home, horizon, dry_run=dry_run))
    if dry_run:
        return total
    while measure_bytes(home) > megabytes * 1024 * 1024 and (batch := _find_settled(home, None)):
        total = _add(total, _forget(home, batch, dry_run=False))
    with home.ledger.transaction() as db:
        db.execute("PRAGMA incremental_vacuum").fetchall()
    home.ledger.checkpoint()
    return total._replace(freed_bytes=max(0, before - measure_bytes(home)))


def measure_bytes(home: Home) -> int:
    """How much past delegations take, in rows and in spills. The manifest's index is not theirs."""
    sizes = [f"SELECT {_ROW_BYTES} + {text} AS size FROM {table}" for table, text in _TEXTS.items()]  # noqa: S608 - ours
    rows = " UNION ALL ".join(sizes)
    once = "SELECT DISTINCT hash, size_bytes FROM spills"
    with home.ledger.reading() as db:
        kept = db.execute(f"SELECT coalesce(sum(size), 0) FROM ({rows})").fetchone()[0]  # noqa: S608 - names from above
        spilled = db.execute(f"SELECT coalesce(sum(size_bytes), 0) FROM ({once})").fetchone()[0]  # noqa: S608
    return int(kept + spilled)


def _add(one: Forgotten, other: Forgotten) -> Forgotten:
    return Forgotten(*(a + b for a, b in zip(one, other, strict=True)))


def _find_settled(home: Home, horizon: int | None, *, skip: int = 0) -> list[str]:
    """The oldest settled sessions whose whole tree is settled: a parent is not forgotten before its children."""
    query = """
        SELECT session_id FROM delegations AS old
        WHERE state = 'settled' AND (:horizon IS NULL OR created_ms < :horizon)
          AND NOT EXISTS (SELECT 1 FROM delegations WHERE root_id = old.root_id
                          AND (state <> 'settled' OR (:horizon IS NOT NULL AND created_ms >= :horizon)))
        ORDER BY created_ms, session_id LIMIT :batch OFFSET :skip
    """
    with home.ledger.reading() as db:
        return [row[0] for row in db.execute(query, {"horizon": horizon, "batch": _BATCH, "skip": skip})]


def _forget(home: Home, sessions: list[str], *, dry_run: bool) -> Forgotten:
    with home.ledger.transaction() as db:
        marks = ", ".join("?" * len(sessions))
        query = f"SELECT DISTINCT hash FROM spills WHERE session_id IN ({marks})"  # noqa: S608 - marks only
        spills = [row[0] for row in db.execute(query, sessions)]
        query = f"SELECT count(*) FROM events WHERE session_id IN ({marks})"  # noqa: S608
        events = db.execute(query, sessions).fetchone()[0]
        if not dry_run:
            _delete(db, sessions, marks)
            spills = [name for name in spills if not _is_kept(db, name)]
            for name in spills:  # while the transaction keeps others from naming it again
                remove(find_spill(home, name))
    return Forgotten(len(sessions), events, len(spills))


def _is_kept(db: Connection, name: str) -> bool:
    return db.execute("SELECT 1 FROM spills WHERE hash = ? LIMIT 1", (name,)).fetchone() is not None


def _delete(db: Connection, sessions: list[str], marks: str) -> None:
    for table in ("events", "attempts", "activity", "spills", "settled_steps", "delegations"):
        db.execute(f"DELETE FROM {table} WHERE session_id IN ({marks})", sessions)  # noqa: S608 - names from this line


def _forget_events(home: Home, horizon: int, *, dry_run: bool) -> Forgotten:
    """Old events that belong to no delegation."""
    with home.ledger.transaction() as db:
        if dry_run:
            query = "SELECT count(*) FROM events WHERE session_id IS NULL AND at_ms < ?"
            return Forgotten(events=db.execute(query, (horizon,)).fetchone()[0])
        return Forgotten(
            events=db.execute("DELETE FROM events WHERE session_id IS NULL AND at_ms < ?", (horizon,)).rowcount
        )
