"""Reaping: what workers have left that are no longer there is given to others.

Owns the rounds that every worker makes. A session whose lease has run out goes back into its queue; so does what DBOS
holds for a worker that is gone, and what waits in a queue that nobody takes from any more. One of them does it, and
where two do, nothing happens twice.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from remit.cluster.database import leases, session_rows, workers
from remit.cluster.database.retention import prune
from remit.cluster.worker.queues import choose_queue, list_queues

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from remit.cluster.database.session_rows import SessionRow
    from remit.cluster.database.store import Database
    from remit.cluster.database.workers import WorkerRow
    from remit.cluster.worker.queues import Queues

_THOROUGH_EVERY = 5
_WORKFLOW_KEPT_S, _PRUNE_EVERY_S = 3600.0, 600.0
"""How long DBOS keeps what is over: the outcome is in a table of our own."""


def choose_queue_for(row: SessionRow, present: Sequence[WorkerRow]) -> str:
    """The queue that a session belongs into, with these workers there."""
    return choose_queue(row.agent, row.depth, [each.agents for each in present if each.state == "active"])


class Reaper:
    """Makes the rounds."""

    def __init__(self, db: Database, queues: Queues, *, execute_here: Callable[[str], None], keep_days: float) -> None:
        """`execute_here` is for a session whose workflow has ended without an outcome: DBOS does nothing for it."""
        self._keep_days = keep_days
        self._db = db
        self._queues = queues
        self._execute_here = execute_here
        self._rounds = 0
        self._pruned_at = -_PRUNE_EVERY_S

    async def reap(self) -> list[SessionRow]:
        """Make a round; the sessions that were given back."""
        requeued = []
        for row in await leases.list_expired(self._db):
            if await leases.claim_expired(self._db, row.session_id):
                await self._requeue(row)
                requeued.append(row)
        self._rounds += 1
        if self._rounds % _THOROUGH_EVERY == 1:
            await self._requeue_abandoned()
        if time.monotonic() - self._pruned_at > _PRUNE_EVERY_S:
            self._pruned_at = time.monotonic()
            await self._prune()
        return requeued

    async def _prune(self) -> None:
        """Remove what is old: nothing grows without bound."""
        while await self._queues.delete_finished(_WORKFLOW_KEPT_S):
            pass
        await prune(self._db, days=self._keep_days)

    async def _requeue(self, row: SessionRow) -> None:
        if await self._queues.has_ended(row.session_id):
            self._execute_here(row.session_id)
            return
        present = await workers.list_workers(self._db, only_live=True)
        await self._queues.resume(row.session_id, choose_queue_for(row, present))

    async def _requeue_abandoned(self) -> None:
        """Give back what DBOS holds for workers that are gone, unless their lease still runs: they may come back."""
        present = await workers.list_workers(self._db, only_live=True)
        abandoned = await self._queues.list_abandoned({each.worker_id for each in present})
        names = [each.session_id for each in abandoned]
        found = {row.session_id: row for row in await session_rows.list_rows(self._db, sessions=names)} if names else {}
        for each in abandoned:
            row = found.get(each.session_id)
            if row is None or row.state != "running" or (row.lease_left_s or 0) <= 0:
                await self._queues.resume(
                    each.session_id, each.queue if row is None else choose_queue_for(row, present)
                )
        await self._move_stranded(present)

    async def _move_stranded(self, present: Sequence[WorkerRow]) -> None:
        """Put what waits where nobody takes it into the queue where it belongs now."""
        active = [each for each in present if each.state == "active"]
        served = {name for each in active for name in list_queues(each.agents)}
        for row in await session_rows.list_rows(self._db, only_open=True):
            wanted = choose_queue_for(row, present)
            is_stuck = row.state == "queued" and row.queue not in served and wanted in served
            if is_stuck and await self._queues.is_waiting(row.session_id, row.queue):
                await self._queues.resume(row.session_id, wanted)
