"""Steps: what was done on disk when a delegation was settled.

Owns reading the table of settled steps; `settle` writes it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from remit.workspace.ledger.store import Ledger


class KeptStep(NamedTuple):
    """One step of a settlement, as it is remembered."""

    name: str
    state: str
    """done, there, nothing or failed."""
    message: str
    at_ms: int


def list_steps(ledger: Ledger, session_id: str) -> list[KeptStep]:
    """The steps of a settlement, in the order in which they were done."""
    query = "SELECT step, result, at_ms FROM settled_steps WHERE session_id = ?"
    with ledger.reading() as db:
        rows = db.execute(query, (session_id,)).fetchall()
    kept = [(name, json.loads(result), at_ms) for name, result, at_ms in rows]
    found = [KeptStep(name, state, message, at_ms) for name, (state, message), at_ms in kept]
    return sorted(found, key=lambda step: _ORDER.index(step.name) if step.name in _ORDER else len(_ORDER))


_ORDER = ("worktree", "manifest", "task", "errors", "activity", "git")
