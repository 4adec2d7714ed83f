"""Slots: how many agents may run at once, counted over all processes, and which supervisor drives a run.

Each transition is one conditional statement. A running run has a slot unless it waits for a nested run: otherwise a
tree that is deeper than the number of slots would deadlock.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.ledger.events import add_event, read_clock_ms
from remit.ledger.runs import REMOTE_OWNER, advance
from remit.light_namedtuple import NamedTuple

if TYPE_CHECKING:
    from sqlite3 import Connection

    from remit.ledger.runs import Run
    from remit.ledger.store import Ledger


class Slots(NamedTuple):
    """How many agents may run at once; None means no limit."""

    running: int | None = None
    per_agent: int | None = None
    per_tree: int | None = None


_HOLDING = """
    FROM runs AS holder
    WHERE state = 'running' AND state <> 'finished' AND NOT EXISTS (  -- the index needs these words
        SELECT 1 FROM runs AS child
        WHERE child.parent_id = holder.session_id AND child.awaited AND child.state <> 'finished'
    )
"""
_HOLDERS = f"SELECT count(*), coalesce(sum(agent = :agent), 0), coalesce(sum(root_id = :root), 0) {_HOLDING}"


_CANCELLED = """
    SELECT session_id FROM runs
    WHERE state = 'admitted' AND state <> 'finished' AND EXISTS (
        SELECT 1 FROM events WHERE events.session_id = runs.session_id AND events.kind = 'cancel'
    )
"""


_ORPHANED = """
    SELECT session_id FROM runs AS child
    WHERE state = 'admitted' AND state <> 'finished' AND parent_id IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM runs AS parent WHERE parent.session_id = child.parent_id AND parent.state = 'running'
    )
"""


_WAITING_ELSEWHERE = """
    SELECT created_ms FROM runs
    WHERE state = 'admitted' AND state <> 'finished' AND owner IS NOT :owner AND owner IS NOT :remote
"""


def take_slot(
    db: Connection, row: Run, slots: Slots, *, deadline_ms: int, ahead: int = 0
) -> str | None:  # fmt: skip
    """Start a run if a slot is free now; otherwise return the limit that is reached.

    `ahead`: how many waiting runs come first. Returns `line` if there is room, but not for all of these, too.
    """
    counts = db.execute(_HOLDERS, {"agent": row.agent, "root": row.root_id}).fetchone()
    limit_names = ("running", f"agent {row.agent}", f"tree {row.root_id}")
    for name, count, limit in zip(limit_names, counts, slots, strict=True):
        if limit is not None and count >= limit:
            return name
    if ahead and slots.running is not None and counts[0] + ahead >= slots.running:
        return "line"
    advance(db, row.session_id, "running", started_ms=read_clock_ms(), deadline_ms=deadline_ms)
    return None


def list_waiting_elsewhere(db: Connection, owner: str) -> list[int]:
    """Return since when the runs wait that other supervisors of this machine have admitted."""
    return [row[0] for row in db.execute(_WAITING_ELSEWHERE, {"owner": owner, "remote": REMOTE_OWNER})]


def list_holders(db: Connection) -> list[tuple[str, str]]:
    """Return agent and tree of each run that has a slot."""
    return list(db.execute(f"SELECT agent, root_id {_HOLDING}"))


def list_waiting(db: Connection) -> list[int]:
    """Return since when the runs wait that haven't started, oldest first."""
    query = "SELECT created_ms FROM runs WHERE state = 'admitted' AND state <> 'finished' ORDER BY created_ms"
    return [row[0] for row in db.execute(query)]


def list_cancelled(db: Connection) -> frozenset[str]:
    """Return the runs that haven't started and are to be cancelled."""
    return frozenset(row[0] for row in db.execute(_CANCELLED))


def list_orphaned(db: Connection) -> frozenset[str]:
    """Return the runs that haven't started and whose caller has ended: they end with it."""
    return frozenset(row[0] for row in db.execute(_ORPHANED))


def set_deadline(ledger: Ledger, session_id: str, deadline_ms: int) -> None:
    """Move the deadline of a run whose agent hasn't started; after the start it is fixed."""
    with ledger.transaction(durable=True) as db:
        db.execute("UPDATE runs SET deadline_ms = ? WHERE session_id = ?", (deadline_ms, session_id))


def claim(ledger: Ledger, row: Run, owner: str) -> bool:
    """Take over a run from the supervisor in its row; return False if another was faster or the run is finished."""
    with ledger.transaction(durable=True) as db:
        done = db.execute(
            "UPDATE runs SET owner = ? WHERE session_id = ? AND owner IS ? AND state <> 'finished'",
            (owner, row.session_id, row.owner),
        )
        if done.rowcount:
            add_event(db, "claimed", {"owner": owner}, session_id=row.session_id)
    return bool(done.rowcount)


def set_ticket(ledger: Ledger, session_id: str, ticket: str | None) -> None:
    """Set or remove the hash of the token that identifies a run's agent."""
    with ledger.transaction() as db:
        db.execute("UPDATE runs SET ticket = ? WHERE session_id = ?", (ticket, session_id))


def set_awaited(ledger: Ledger, session_id: str, *, awaited: bool) -> None:
    """Record whether the caller of a run waits for it."""
    with ledger.transaction() as db:
        db.execute("UPDATE runs SET awaited = ? WHERE session_id = ?", (awaited, session_id))
