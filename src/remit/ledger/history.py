"""Read-only queries on past runs: repeated refusals and prompts, finish steps, and the runs of a batch.

Queries with many rows read only the latest.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from remit.ledger.store import Ledger

_MAX_ROWS = 2000
_USUAL_TIMEOUT_S = 3600.0


class PastRun(NamedTuple):
    """A finished run."""

    session_id: str
    agent: str
    seconds: float
    timeout_s: float
    stop_reason: str
    verdict: str
    status: str
    attempts: int
    codes: tuple[str, ...] = ()
    """The codes of the errors in its returns, of all attempts."""


class Refusals(NamedTuple):
    """How often an agent's nested runs were refused for one reason."""

    agent: str
    code: str
    target: str
    times: int
    session_id: str
    """The last run whose call was refused."""


class Repeats(NamedTuple):
    """How often one agent got the same prompt within one tree."""

    root_id: str
    agent: str
    work: str
    times: int


def list_past(ledger: Ledger) -> list[PastRun]:
    """Return the runs that started and finished, newest first."""
    query = """
        SELECT session_id, agent, (ended_ms - started_ms) / 1000.0, json_extract(details, '$.timeout_s'), stop_reason,
            verdict, status, (SELECT count(*) FROM attempts WHERE session_id = done.session_id),
            (SELECT json_group_array(json_extract(diagnostic.value, '$.code'))
             FROM attempts, json_each(attempts.diagnostics) AS diagnostic
             WHERE attempts.session_id = done.session_id AND json_extract(diagnostic.value, '$.severity') = 'error')
        FROM runs AS done
        WHERE state = 'finished' AND started_ms IS NOT NULL AND ended_ms IS NOT NULL
        ORDER BY created_ms DESC LIMIT ?
    """
    with ledger.reading() as db:
        rows = db.execute(query, (_MAX_ROWS,)).fetchall()
    return [
        PastRun(
            session, agent, seconds, timeout_s or _USUAL_TIMEOUT_S, stop_reason or "", verdict or "", status or "",
            attempts, tuple(json.loads(codes)),
        )
        for session, agent, seconds, timeout_s, stop_reason, verdict, status, attempts, codes in rows
    ]  # fmt: skip


def list_refusals(ledger: Ledger, *, after_ms: int, least: int) -> list[Refusals]:
    """Return the agents whose nested runs were refused repeatedly since a time, most frequent first."""
    query = """
        SELECT runs.agent, json_extract(events.details, '$.code'), json_extract(events.details, '$.agent'),
            count(*), max(events.session_id)
        FROM events JOIN runs ON runs.session_id = events.session_id
        WHERE events.kind = 'refused' AND events.at_ms >= ?
        GROUP BY 1, 2, 3 HAVING count(*) >= ? ORDER BY 4 DESC, 1, 2, 3 LIMIT 20
    """
    with ledger.reading() as db:
        return [Refusals(*row) for row in db.execute(query, (after_ms, least))]


def list_repeats(ledger: Ledger, *, after_ms: int, least: int) -> list[Repeats]:
    """Return the prompts that one agent got repeatedly within one tree since a time, most frequent first."""
    query = """
        SELECT root_id, agent, json_extract(details, '$.work'), count(*) FROM runs
        WHERE created_ms >= ? AND parent_id IS NOT NULL
        GROUP BY 1, 2, 3 HAVING count(*) >= ? ORDER BY 4 DESC, 1, 2 LIMIT 20
    """
    with ledger.reading() as db:
        return [
            Repeats(root, agent, work or "", times) for root, agent, work, times in db.execute(query, (after_ms, least))
        ]


# --- finish steps ----------------------------------------------------------------------------------------------------


class StoredStep(NamedTuple):
    """A finish step as the ledger stores it."""

    name: str
    state: str
    """done, there, nothing or failed."""
    message: str
    at_ms: int


def list_steps(ledger: Ledger, session_id: str) -> list[StoredStep]:
    """Return the finish steps of a run in the order in which they run."""
    query = "SELECT step, result, at_ms FROM finish_steps WHERE session_id = ?"
    with ledger.reading() as db:
        rows = db.execute(query, (session_id,)).fetchall()
    kept = [(name, json.loads(result), at_ms) for name, result, at_ms in rows]
    found = [StoredStep(name, state, message, at_ms) for name, (state, message), at_ms in kept]
    return sorted(found, key=lambda step: _ORDER.index(step.name) if step.name in _ORDER else len(_ORDER))


_ORDER = ("worktree", "manifest", "task", "errors", "activity", "git")


# --- batches: runs that were requested together, each found again by its key -----------------------------------------


class BatchRun(NamedTuple):
    """A run of a batch."""

    session_id: str
    state: str
    stop_reason: str | None


_MEMBERS = """
    SELECT json_extract(details, '$.batch') AS batch, session_id, state, stop_reason FROM runs
    WHERE created_ms >= :since AND batch IS NOT NULL AND (:key IS NULL OR batch = :key)
    ORDER BY created_ms, session_id
"""


def list_members(ledger: Ledger) -> dict[str, BatchRun]:
    """Return the runs that have a batch key, by key; the newest if there are several."""
    with ledger.reading() as db:
        return {key: BatchRun(*found) for key, *found in db.execute(_MEMBERS, {"since": 0, "key": None})}


def find_member(ledger: Ledger, key: str, *, since_ms: int) -> BatchRun | None:
    """Return the newest run with a batch key that was created since a time; None if there is none."""
    with ledger.reading() as db:
        found = db.execute(_MEMBERS, {"since": since_ms, "key": key}).fetchall()
    return BatchRun(*found[-1][1:]) if found else None
