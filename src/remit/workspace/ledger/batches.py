"""Batches: delegations that were asked for together, each found again by its key.

Owns the looking up. The key is in a delegation's terms; there are few who ask for it, so it has no column.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from remit.workspace.ledger.store import Ledger


class Member(NamedTuple):
    """A delegation of a batch."""

    session_id: str
    state: str
    ending: str | None


_QUERY = """
    SELECT json_extract(details, '$.batch') AS batch, session_id, state, ending FROM delegations
    WHERE created_ms >= :since AND batch IS NOT NULL AND (:key IS NULL OR batch = :key)
    ORDER BY created_ms, session_id
"""


def list_members(ledger: Ledger) -> dict[str, Member]:
    """The delegations that have a key, by it; of several the newest."""
    with ledger.reading() as db:
        return {key: Member(*found) for key, *found in db.execute(_QUERY, {"since": 0, "key": None})}


def find_member(ledger: Ledger, key: str, *, since_ms: int) -> Member | None:
    """The newest delegation with a key that was made since some time; None where there is none."""
    with ledger.reading() as db:
        found = db.execute(_QUERY, {"since": since_ms, "key": key}).fetchall()
    return Member(*found[-1][1:]) if found else None
