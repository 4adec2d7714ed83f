"""The reaper: requeues the sessions of lost workers, and prunes the database.

Each worker runs it at intervals. It requeues sessions with an expired lease, workflows that DBOS still assigns to ended
workers, and sessions in queues that no worker serves. Each step is idempotent, so concurrent reapers are harmless.
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
"""How long ended workflows are kept, and how often they are pruned; results are in the sessions table."""


def choose_queue_for(row: SessionRow, present: Sequence[WorkerRow]) -> str:
    """Return the queue for a session, given the active workers."""
    return choose_queue(row.agent, row.depth, [each.agents for each in present if each.state == "active"])


class Reaper:
    """Requeues abandoned sessions at each call of `reap`."""

    def __init__(self, db: Database, queues: Queues, *, execute_here: Callable[[str], None], keep_days: float) -> None:
        """`execute_here` executes a session whose workflow ended without a result: DBOS can't restart it."""
        self._keep_days = keep_days
        self._db = db
        self._queues = queues
        self._execute_here = execute_here
        self._rounds = 0
        self._pruned_at = -_PRUNE_EVERY_S

    async def reap(self) -> list[SessionRow]:
        """Requeue abandoned sessions; return those with an expired lease."""
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
        """Delete old workflows and rows, so no table grows without bound."""
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
        """Requeue workflows of ended workers, except those with a valid lease: the worker may come back."""
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
        """Move sessions from queues that no worker serves to queues that one does."""
        active = [each for each in present if each.state == "active"]
        served = {name for each in active for name in list_queues(each.agents)}
        for row in await session_rows.list_rows(self._db, only_open=True):
            wanted = choose_queue_for(row, present)
            is_stuck = row.state == "queued" and row.queue not in served and wanted in served
            if is_stuck and await self._queues.is_waiting(row.session_id, row.queue):
                await self._queues.resume(row.session_id, wanted)
