"""Runs of the same tree on other machines, mirrored into the local ledger.

The guard, the budgets and all views read one ledger, so reports of other machines are written into it repeatedly. No
process on this machine drives such a row.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from remit.ledger.events import add_event, read_clock_ms, to_json
from remit.ledger.runs import COLUMNS, STATES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from sqlite3 import Connection

    from remit.ledger.runs import Run
    from remit.ledger.store import Ledger

OWNER = "afar"
_KEPT = ("started_ms", "deadline_ms", "ended_ms", "stop_reason", "verdict", "status", "tokens", "cost_usd", "turns")
_UPDATE = ", ".join(f"{name} = coalesce(excluded.{name}, {name})" for name in _KEPT)


def mirror(db: Connection, delegation: Run) -> None:
    """Write down what another machine says of a delegation; a row that is driven here is left alone."""
    known = db.execute("SELECT state, owner FROM runs WHERE session_id = ?", (delegation.session_id,)).fetchone()
    is_over = known is not None and known[0] == "finished"
    if known is not None and (known[1] != OWNER or is_over or _is_later(known[0], delegation.state)):
        return
    row = delegation._replace(owner=OWNER, created_ms=delegation.created_ms or read_clock_ms(), ticket=None)
    values = [*row]
    values[3], values[-1] = to_json(list(row.path)), to_json(dict(row.details))
    db.execute(
        f"INSERT INTO runs ({COLUMNS}) VALUES ({', '.join('?' * len(values))}) "  # noqa: S608 - fixed
        f"ON CONFLICT (session_id) DO UPDATE SET state = excluded.state, {_UPDATE}",
        values,
    )
    if known is None:
        add_event(db, "admitted", {"agent": row.agent, "depth": row.depth}, session_id=row.session_id)
    if (known[0] if known is not None else "admitted") != row.state:
        add_event(db, row.state, {"status": row.status}, session_id=row.session_id)


def _is_later(state: str, other: str) -> bool:
    return STATES.index(state) > STATES.index(other)


_TAKEN = """
    SELECT ids.value, details FROM json_each(?) AS ids CROSS JOIN events ON number = (
        SELECT number FROM events WHERE session_id = ids.value AND kind = 'taken' ORDER BY number DESC LIMIT 1
    )
"""


def list_taken(ledger: Ledger, session_ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Who took each of some delegations last: worker, host and fence."""
    if not session_ids:
        return {}
    with ledger.reading() as db:
        return {name: json.loads(told) for name, told in db.execute(_TAKEN, (json.dumps([*session_ids]),))}
