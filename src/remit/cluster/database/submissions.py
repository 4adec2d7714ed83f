"""Everything that callers write to the table of sessions, and the dispatch of posted sessions to queues."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from remit.cluster.database.session_rows import as_json, clean, select
from remit.cluster.database.workers import list_workers

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence

    from remit.cluster.database.session_rows import SessionRow
    from remit.cluster.database.store import Database
    from remit.cluster.database.workers import WorkerRow

LOCK_S = 40.0
"""Time limit of waiting for a tree's lock: longer than a frozen process can keep the lock."""


class Posted(NamedTuple):
    """The values of a session that a caller submits."""

    session_id: str
    root_id: str
    parent_id: str | None
    agent: str
    depth: int
    path: tuple[str, ...]
    runner: str
    terms: Mapping[str, Any]
    order: bytes = b""


# A parent that is cancelled at the same moment is seen here, or the cancellation sees the new row: FOR SHARE makes
# one statement wait for the other.
_PUT = """
    WITH parent AS (
        SELECT cancel_reason, cancelled_at FROM remit.sessions WHERE session_id = %(parent_id)s FOR SHARE
    ), put AS (
        INSERT INTO remit.sessions AS s (session_id, root_id, parent_id, agent, depth, path, runner, state, terms,
            order_body, cancel_reason, cancelled_at)
        SELECT %(session_id)s, %(root_id)s, %(parent_id)s, %(agent)s, %(depth)s, %(path)s::jsonb, %(runner)s,
            %(state)s, %(terms)s::jsonb, %(order)s,
            (SELECT cancel_reason FROM parent), (SELECT cancelled_at FROM parent)
        ON CONFLICT (session_id) DO UPDATE SET state = excluded.state, order_body = excluded.order_body,
            terms = excluded.terms, runner = excluded.runner, posted_at = clock_timestamp(), version = s.version + 1,
            cancel_reason = coalesce(s.cancel_reason, excluded.cancel_reason),
            cancelled_at = coalesce(s.cancelled_at, excluded.cancelled_at)
        WHERE s.state = 'admitted' AND excluded.state = 'posted'
        RETURNING session_id, state
    ) SELECT CASE state WHEN 'posted' THEN pg_notify('remit_posted', session_id) END FROM put
"""


async def announce(db: Database, posted: Posted) -> bool:
    """Add a session that counts in its tree but isn't posted yet; False if the session exists already."""
    return bool(await db.execute(_PUT, _as_params(posted, "admitted")))


async def post(db: Database, posted: Posted) -> bool:
    """Post a session for the workers; False if it was posted already."""
    return bool(await db.execute(_PUT, _as_params(posted, "posted")))


def _as_params(posted: Posted, state: str) -> dict[str, object]:
    texts = {"path": as_json(posted.path), "terms": as_json(posted.terms), "state": state}
    return {**posted._asdict(), **texts, "order": posted.order if state == "posted" else None}


async def dispatch(
    db: Database,
    enqueue: Callable[[SessionRow, str], Awaitable[None]],
    choose_queue: Callable[[SessionRow, Sequence[WorkerRow]], str],
    limit: int = 50,
) -> int:
    """Enqueue posted sessions, each by one of the workers that try at the same time; return how many were enqueued.

    A row is marked after it was enqueued: if a worker dies in between, the next one enqueues it again, which is
    idempotent. If enqueuing one session fails, the others are still enqueued, and the first error is raised afterwards.
    """
    if not await db.execute("SELECT 1 FROM remit.sessions WHERE state = 'posted' LIMIT 1"):
        return 0  # usually there is nothing: one statement instead of a transaction
    failed: Exception | None = None
    queued: dict[str, str] = {}
    async with db.separate_transaction() as transaction:
        rows = await select(
            transaction,
            "WHERE s.state = 'posted' ORDER BY s.posted_at LIMIT %s FOR NO KEY UPDATE OF s SKIP LOCKED",
            (limit,),
        )
        workers = await list_workers(transaction, only_live=True) if rows else []
        for row in rows:
            try:
                queue = choose_queue(row, workers)
                await enqueue(row, queue)
            except Exception as error:  # noqa: BLE001 - raised below, after the other sessions
                failed = failed or error
            else:
                queued[row.session_id] = queue
        if queued:
            await transaction.execute(_QUEUED, (list(queued), list(queued.values())))
    if failed is not None:
        raise failed
    return len(queued)


_QUEUED = """
    WITH done AS (
        UPDATE remit.sessions AS s
        SET state = 'queued', queue = chosen.queue, queued_at = clock_timestamp(), version = version + 1
        FROM unnest(%s::text[], %s::text[]) AS chosen (session_id, queue)
        WHERE s.session_id = chosen.session_id AND s.state = 'posted'
        RETURNING s.session_id
    ) SELECT pg_notify('remit_changed', session_id) FROM done
"""


# Cancellation

_CANCEL = """
    WITH RECURSIVE tree (session_id) AS (
        SELECT %(session_id)s::text
        UNION
        SELECT child.session_id FROM remit.sessions AS child JOIN tree ON child.parent_id = tree.session_id
    ), open AS (
        SELECT s.session_id FROM remit.sessions AS s JOIN tree USING (session_id)
        WHERE s.state <> 'done' AND (%(again)s OR s.cancelled_at IS NULL)
        ORDER BY s.depth, s.session_id FOR NO KEY UPDATE OF s
    ), told AS (
        UPDATE remit.sessions AS s SET cancel_reason = coalesce(cancel_reason, %(reason)s),
            cancelled_at = coalesce(cancelled_at, clock_timestamp()), version = version + 1
        FROM open WHERE s.session_id = open.session_id
        RETURNING s.session_id
    ) SELECT session_id, pg_notify('remit_cancel', session_id), pg_notify('remit_changed', session_id) FROM told
"""


async def cancel(db: Database, session_id: str, reason: str) -> list[str]:
    """Request the cancellation of a session and its descendants, and return those that are open.

    An earlier reason stays. The query is repeated until it finds no new session: a nested run that was posted while
    the first query waited for a lock is found by the second.
    """
    given = {"session_id": session_id, "reason": clean(reason)}
    cancelled = [row[0] for row in await db.execute(_CANCEL, {**given, "again": True})]
    while more := [row[0] for row in await db.execute(_CANCEL, {**given, "again": False})]:
        cancelled += more
    return cancelled


async def finish_unstarted(db: Database, session_id: str, outcome: bytes, status: str, stop_reason: str) -> bool:
    """Write the result of a session that no worker has acquired; False if one has, or the session is done."""
    return bool(
        await db.execute(
            "WITH changed AS ("
            " UPDATE remit.sessions SET state = 'done', done_at = clock_timestamp(), outcome = %s, status = %s,"
            " ending = %s, version = version + 1"
            " WHERE session_id = %s AND state IN ('admitted', 'posted', 'queued') RETURNING session_id"
            ") SELECT pg_notify('remit_changed', session_id) FROM changed",
            (outcome, status, stop_reason, session_id),
        )
    )


@asynccontextmanager
async def lock_tree(db: Database, root_id: str) -> AsyncIterator[None]:
    """Lock a tree: no machine admits a run to the tree before the block ends."""
    async with db.separate_transaction(timeout_s=LOCK_S) as transaction:
        await transaction.execute(
            "SELECT pg_advisory_xact_lock(hashtextextended('remit ps --tree ' || %s, 0))", (root_id,), timeout_s=LOCK_S
        )
        yield
