"""Leases on runs, and everything that workers write to the table of sessions.

A worker that acquires a lease gets a fencing token, a number that only grows. A report, checkpoint or result with an
older token changes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from remit.cluster.database.schema import MIGRATIONS, check_version
from remit.cluster.database.session_rows import as_json, select

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.cluster.database.session_rows import SessionRow
    from remit.cluster.database.store import Database

REQUEUE_S = 2
"""How long an expired session is reserved for the worker that claimed it to requeue it."""
_MAX_COUNT = 2**63 - 1
_MAX_DEADLINE_S = 10 * 365 * 86400.0


class Lease(NamedTuple):
    """The right to execute a run, valid as long as the row has the same fencing token."""

    session_id: str
    fence: int
    is_first: bool
    earlier_worker: str | None
    deadline_left_ms: int
    cancel_reason: str | None


class LeaseRenewal(NamedTuple):
    """The sessions that a worker keeps, each with its cancel reason, and those that it has lost."""

    kept: dict[str, str | None]
    lost: set[str]
    drains: bool


_ACQUIRE = """
    WITH old AS (
        SELECT session_id, fence, worker_id FROM remit.sessions
        WHERE session_id = %(session_id)s AND (
            state IN ('posted', 'queued') OR state = 'running' AND (
                leased_until < clock_timestamp() OR %(again)s AND worker_id = %(worker_id)s
            )
        ) FOR UPDATE
    ), taken AS (
        UPDATE remit.sessions AS s SET
            state = 'running', fence = old.fence + 1, worker_id = %(worker_id)s, resumed_at = NULL,
            leased_until = clock_timestamp() + make_interval(secs => %(lease_s)s),
            taken_at = coalesce(s.taken_at, clock_timestamp()),
            deadline_at = coalesce(s.deadline_at, clock_timestamp() + make_interval(secs => %(limit_s)s)),
            version = s.version + 1
        FROM old WHERE s.session_id = old.session_id
        RETURNING s.session_id, s.fence, old.fence = 0, old.worker_id,
            floor(extract(epoch FROM s.deadline_at - clock_timestamp()) * 1000)::bigint, s.cancel_reason
    ) SELECT taken.*, pg_notify('remit_changed', session_id) FROM taken
"""


async def acquire(
    db: Database,
    session_id: str,
    worker_id: str,
    *,
    lease_s: float,
    timeout_s: float,
    limit_left_ms: int | None = None,
    again: bool = False,
) -> Lease | None:
    """Acquire the lease of a session; None if another worker has the lease or the session is done.

    `again`: acquire it even if this worker has an unexpired lease.
    """
    limit_s = min(timeout_s, _MAX_DEADLINE_S if limit_left_ms is None else limit_left_ms / 1000, _MAX_DEADLINE_S)
    given = {"session_id": session_id, "worker_id": worker_id, "lease_s": float(lease_s), "limit_s": float(limit_s)}
    rows = await db.execute(_ACQUIRE, {**given, "again": again})
    return Lease(*rows[0][:-1]) if rows else None


# Rows are locked in the same order here and when a tree is cancelled, so the two can't deadlock.
_RENEW = """
    WITH me AS (
        UPDATE remit.workers SET beat_at = clock_timestamp() WHERE worker_id = %(worker_id)s RETURNING state
    ), mine AS (
        SELECT s.session_id FROM remit.sessions AS s
        JOIN unnest(%(sessions)s::text[], %(fences)s::bigint[]) AS held (session_id, fence)
            ON s.session_id = held.session_id AND s.fence = held.fence
        WHERE s.state = 'running' AND s.worker_id = %(worker_id)s
        ORDER BY s.depth, s.session_id FOR NO KEY UPDATE OF s
    ), kept AS (
        UPDATE remit.sessions AS s SET leased_until = clock_timestamp() + make_interval(secs => %(lease_s)s)
        FROM mine WHERE s.session_id = mine.session_id
        RETURNING s.session_id, s.cancel_reason
    )
    SELECT kept.session_id, kept.cancel_reason, (SELECT state FROM me),
        (SELECT value FROM remit.meta WHERE key = 'schema'), (SELECT value FROM remit.meta WHERE key = 'oldest')
    FROM (SELECT) AS once LEFT JOIN kept ON true
"""


async def renew(db: Database, worker_id: str, fences: Mapping[str, int], *, lease_s: float) -> LeaseRenewal:
    """Renew the leases of a worker and record its heartbeat; a lease that isn't in `fences` runs out."""
    given = {
        "worker_id": worker_id,
        "sessions": list(fences),
        "fences": list(fences.values()),
        "lease_s": float(lease_s),
    }
    rows = await db.execute(_RENEW, given)
    _, _, state, schema, oldest = rows[0]
    check_version(len(MIGRATIONS), schema=int(schema), oldest=int(oldest), display=db.display)
    kept = {row[0]: row[1] for row in rows if row[0] is not None}
    return LeaseRenewal(kept, set(fences) - set(kept), state == "draining")


async def extend(db: Database, worker_id: str, seconds: float) -> int:
    """Extend all leases of a worker that is about to restart, and return their number."""
    rows = await db.execute(
        "WITH mine AS (SELECT session_id FROM remit.sessions WHERE state = 'running' AND worker_id = %s"
        " ORDER BY depth, session_id FOR NO KEY UPDATE)"
        " UPDATE remit.sessions AS s"
        " SET leased_until = greatest(leased_until, clock_timestamp() + make_interval(secs => %s))"
        " FROM mine WHERE s.session_id = mine.session_id RETURNING s.session_id",
        (worker_id, float(seconds)),
    )
    return len(rows)


async def list_expired(db: Database, *, limit: int = 100) -> list[SessionRow]:
    """Return the sessions with an expired lease that no worker has just claimed to requeue."""
    return await select(
        db,
        "WHERE s.state = 'running' AND s.leased_until < clock_timestamp()"
        " AND (s.resumed_at IS NULL OR s.resumed_at < clock_timestamp() - make_interval(secs => %s))"
        " ORDER BY s.posted_at LIMIT %s",
        (REQUEUE_S, limit),
    )


async def claim_expired(db: Database, session_id: str) -> bool:
    """Claim an expired session to requeue it; False if another worker was faster, or the lease is valid again."""
    return bool(
        await db.execute(
            "UPDATE remit.sessions SET resumed_at = clock_timestamp()"
            " WHERE session_id = %s AND state = 'running' AND leased_until < clock_timestamp()"
            " AND (resumed_at IS NULL OR resumed_at < clock_timestamp() - make_interval(secs => %s))"
            " RETURNING session_id",
            (session_id, REQUEUE_S),
        )
    )


# Progress and results

# Progress is reported repeatedly, so losing one report in a crash of the server is harmless: don't wait for its disk.
_REPORT_PROGRESS = """
    WITH told AS (
        UPDATE remit.sessions SET live = %(live)s::jsonb, tokens = %(tokens)s, cost_usd = %(cost_usd)s,
            turns = %(turns)s, version = version + 1
        WHERE session_id = %(session_id)s AND fence = %(fence)s AND state = 'running'
        RETURNING session_id
    ) SELECT pg_notify('remit_changed', session_id), set_config('synchronous_commit', 'off', true) FROM told
"""


async def report_progress(
    db: Database,
    session_id: str,
    fence: int,
    *,
    live: Mapping[str, Any],
    tokens: int | None,
    cost_usd: float | None,
    turns: int | None,
) -> bool:
    """Write the progress of a run; False if another worker has the session now."""
    given = {"session_id": session_id, "fence": fence, **_as_usage(tokens, cost_usd, turns)}
    return bool(await db.execute(_REPORT_PROGRESS, {**given, "live": as_json(live)}))


async def save_checkpoint(db: Database, session_id: str, fence: int, saved: bytes) -> bool:
    """Store a checkpoint for a worker that may have to continue; False if another worker has the session now."""
    return bool(
        await db.execute(
            "UPDATE remit.sessions SET saved = %s WHERE session_id = %s AND fence = %s AND state = 'running'"
            " RETURNING session_id",
            (saved, session_id, fence),
        )
    )


def _as_usage(tokens: int | None, cost_usd: float | None, turns: int | None) -> dict[str, object]:
    """Return the usage as query parameters, limited to the range of the columns: harnesses report any number."""
    counts = {"tokens": tokens, "turns": turns}
    return {"cost_usd": cost_usd, **{name: None if n is None else min(n, _MAX_COUNT) for name, n in counts.items()}}


# Idempotent: a worker that didn't get the answer publishes again, and gets the same answer.
_PUBLISH = """
    WITH changed AS (
        UPDATE remit.sessions SET state = 'done', done_at = clock_timestamp(), leased_until = NULL, saved = NULL,
            outcome = %(outcome)s, status = %(status)s, ending = %(ending)s, tokens = %(tokens)s,
            cost_usd = %(cost_usd)s, turns = %(turns)s, version = version + 1
        WHERE session_id = %(session_id)s AND fence = %(fence)s AND state = 'running'
        RETURNING session_id
    )
    SELECT pg_notify('remit_changed', session_id) FROM changed
    UNION ALL
    SELECT NULL FROM remit.sessions
    WHERE session_id = %(session_id)s AND fence = %(fence)s AND fence > 0 AND state = 'done'
"""


async def publish(
    db: Database,
    session_id: str,
    fence: int,
    *,
    outcome: bytes,
    status: str,
    stop_reason: str,
    tokens: int | None,
    cost_usd: float | None,
    turns: int | None,
) -> bool:
    """Write the final result of a session; False, without a change, if another worker has the session now."""
    given = {"session_id": session_id, "fence": fence, **_as_usage(tokens, cost_usd, turns)}
    return bool(await db.execute(_PUBLISH, {**given, "outcome": outcome, "status": status, "ending": stop_reason}))
