"""Company: who else is at work beside an agent, above it and below it.

Owns the questions whose answers decide what a changed file proves: with other runs in the same folder, a change alone
does not show which of them made it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.model import NOTHING
from remit.workspace.ledger.delegations import list_delegations
from remit.workspace.ledger.refereed import GRACE_MS

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from remit.workspace.ledger.delegations import Delegation
    from remit.workspace.ledger.store import Ledger

# Two questions that an index answers each: who is at work, and who has ended since. A run that was long late before
# this one began is not at work: its harness ended without a word.
_OTHERS = """
    SELECT session_id FROM (
        SELECT session_id, details FROM delegations
        WHERE state <> 'settled' AND started_ms IS NOT NULL AND ended_ms IS NULL
            AND (deadline_ms IS NULL OR deadline_ms >= :since - :grace)
        UNION
        SELECT session_id, details FROM delegations WHERE ended_ms > :since AND started_ms IS NOT NULL
    ) WHERE session_id <> :session AND json_extract(details, '$.root') = :root
"""


def is_shared(ledger: Ledger, row: Delegation, root: str, *, since: Mapping[str, int]) -> bool:
    """Whether others worked in the same folder meanwhile: neither those above it, who wait, nor those below it.

    `since`: the sessions that it goes on with, and when each began.
    """
    return bool(_list_others(ledger, row, root, since=since))


def list_written_by_others(
    ledger: Ledger,
    row: Delegation,
    root: str,
    *,
    since: Mapping[str, int],
    live: Mapping[str, Collection[str]] = NOTHING,
) -> frozenset[str]:
    """The files that the tools of others wrote meanwhile, as far as their harnesses tell.

    `live`: what was heard of those that are at work, by session, and is not written down yet.
    """
    query = "SELECT path FROM activity WHERE session_id = ? AND operation = 'write' AND at_ms >= ?"
    began_ms = min((row.started_ms or 0, *since.values()))
    with ledger.reading() as db:
        others = _list_others(ledger, row, root, since=since)
        told = {each[0] for other in others for each in db.execute(query, (other, began_ms))}
    return frozenset(told.union(*(live.get(other, ()) for other in others)))


def _list_others(ledger: Ledger, row: Delegation, root: str, *, since: Mapping[str, int]) -> set[str]:
    began_ms = min((row.started_ms or 0, *since.values()))
    values = {"since": began_ms, "grace": GRACE_MS, "session": row.session_id, "root": root}
    with ledger.reading() as db:
        others = {each[0] for each in db.execute(_OTHERS, values)} - since.keys()
    if not others:
        return set()
    tree = {each.session_id: each for each in list_delegations(ledger, root_id=row.root_id, limit=100_000)}
    others -= set(_list_waiting(tree, row.session_id))
    return {other for other in others if row.session_id not in _list_above(tree, other)}


def list_below(ledger: Ledger, session_id: str) -> tuple[str, ...]:
    """The agents that were handed work by another and are not back yet."""
    query = "SELECT agent FROM delegations WHERE parent_id = ? AND state <> 'settled' ORDER BY created_ms"
    with ledger.reading() as db:
        return tuple(each[0] for each in db.execute(query, (session_id,)))


def _list_above(tree: Mapping[str, Delegation], session_id: str | None) -> list[str]:
    """The sessions above one, nearest first."""
    above: list[str] = []
    row = tree.get(session_id or "")
    while row is not None and row.parent_id is not None:
        above.append(row.parent_id)
        row = tree.get(row.parent_id)
    return above


def _list_waiting(tree: Mapping[str, Delegation], session_id: str) -> list[str]:
    """The sessions above one that do nothing but wait for it."""
    waiting: list[str] = []
    row = tree.get(session_id)
    while row is not None and row.parent_id is not None and row.awaited:
        waiting.append(row.parent_id)
        row = tree.get(row.parent_id)
    return waiting
