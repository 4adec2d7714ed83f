"""A worker: the process that executes runs for other machines.

It renews its leases, listens for notifications, dispatches posted sessions to queues, requeues abandoned ones, and
resumes its own sessions after a restart. Agents keep running while the database is unreachable; their progress and
results are reported afterwards.
"""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from remit.cluster.database import leases, session_rows, submissions, workers
from remit.cluster.orders import PROTOCOL
from remit.cluster.retry import retry_forever, wait_for_event, wait_or_cancel
from remit.cluster.worker.heartbeat import Heartbeat
from remit.cluster.worker.job import Job
from remit.cluster.worker.queues import QueueLimits, Queues, list_queues
from remit.cluster.worker.reaper import Reaper, choose_queue_for
from remit.cluster.worker.worker_folder import remove_session
from remit.errors import ClusterError, RemitError
from remit.model import MAX_DEPTH

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from remit.cluster.worker.worker_context import WorkerContext

    OnEvent = Callable[["WorkerEvent"], None]

_DISPATCH_S = 1.0
_POLL_S = 0.5
_RETURN_S = 60.0
"""How long the leases of a worker that was asked to end are kept for its restart."""
_UNABLE_S = 30.0
_SLOT_S = 1.0
_REAP_SHARE = 5
_REAP_MIN_S = 0.2
_DEFAULT_TIMEOUT_S = 3600.0
_MAX_TIMEOUT_S = 1e9
_THREADS = 32
"""Mostly for git: large transfers must not delay the start of other sessions."""
_CHANNELS = ("remit_posted", "remit_cancel", "remit_drain")

Kind = Literal["ready", "taken", "again", "done", "lost", "unable", "given", "away", "back", "draining", "ended"]


class WorkerEvent(NamedTuple):
    """An event for the worker's log."""

    kind: Kind
    session_id: str = ""
    agent: str = ""
    text: str = ""
    """The status of a finished session, or the database's error."""
    running: int = 0


class WorkerPlan(NamedTuple):
    """The properties and limits of a worker."""

    host: str
    pid: int
    version: str
    limits: QueueLimits
    agents: tuple[str, ...] = ()
    keep_days: float = 90
    """How long the database keeps finished sessions."""


class Worker:
    """The worker of this process."""

    def __init__(self, context: WorkerContext, plan: WorkerPlan, *, on_event: OnEvent) -> None:
        self.context = context
        self.plan = plan
        self.jobs: dict[str, Job] = {}
        self._on_event = on_event
        self._running: dict[str, asyncio.Task[None]] = {}
        self._slots = {depth: asyncio.Semaphore(plan.limits.per_worker) for depth in range(1, MAX_DEPTH + 1)}
        self._posted = asyncio.Event()
        self._draining = asyncio.Event()
        """Set when the worker stops taking sessions."""
        self._ending = asyncio.Event()
        """Set when the worker ends without waiting for its sessions."""
        self._is_database_away = False
        self._resumed: set[str] = set()
        """Resumed sessions, whose workflows DBOS still assigns to this worker's earlier process."""
        self._unable_until = 0.0
        """Until then, this worker leaves sessions to other workers if possible."""
        self._tasks: list[asyncio.Task[None]] = []
        settings = context.settings
        self.queues = Queues(
            context.url, context.worker_id, limits=plan.limits, agents=plan.agents, poll_s=settings.poll,
            on_execute=self._execute,
        )  # fmt: skip
        self._heartbeat = Heartbeat(context.url, context.worker_id, settings.lease, on_renewal=self._handle_renewal)
        self._reaper = Reaper(context.db, self.queues, execute_here=self._execute_soon, keep_days=plan.keep_days)

    def end(self) -> None:
        """End now; agents keep running, and this worker or another one takes them over."""
        self._draining.set()
        self._ending.set()

    def drain(self) -> None:
        """Stop taking sessions, and end when the current ones are done."""
        if not self._draining.is_set():
            self._draining.set()
            self._on_event(WorkerEvent("draining", running=len(self.jobs)))

    async def run(self) -> None:
        """Execute sessions until `end` or `drain` is called."""
        context, plan = self.context, self.plan
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(_THREADS, "work"))
        await workers.register(
            context.db,
            workers.RegisteredWorker(
                context.worker_id, plan.host, plan.pid, plan.version, PROTOCOL, plan.limits.per_worker, plan.agents,
                context.settings.lease,
            ),
        )  # fmt: skip
        self._heartbeat.start()
        try:
            await self._resume_sessions()
            await self._remove_stale_sessions()
            others = [each.concurrency for each in await workers.list_workers(context.db, only_live=True)]
            await self.queues.launch(max(others, default=0))
            self._tasks = [asyncio.ensure_future(each) for each in (self._listen(), self._dispatch(), self._reap())]
            self._on_event(WorkerEvent("ready", running=len(self.jobs)))
            await self._wait_until_draining(self._tasks[:])
            await self._wait_for_jobs()
        finally:
            await self._shut_down()

    async def _wait_until_draining(self, tasks: Sequence[asyncio.Task[None]]) -> None:
        """Wait until the worker drains; raise the error of a background task that failed."""
        draining = asyncio.ensure_future(self._draining.wait())
        try:
            await asyncio.wait({draining, *tasks}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            draining.cancel()
        for task in tasks:
            error = task.exception() if task.done() and not task.cancelled() else None
            if isinstance(error, RemitError):
                raise error
            if error is not None:
                raise RuntimeError(f"the worker can't continue: {error!r}") from error

    async def _wait_for_jobs(self) -> None:
        """Wait for the current sessions, unless `end` is called."""
        ending = asyncio.ensure_future(self._ending.wait())
        while self._running and not self._ending.is_set():
            await asyncio.wait({ending, *self._running.values()}, return_when=asyncio.FIRST_COMPLETED)
        ending.cancel()

    async def _shut_down(self) -> None:
        """Shut down in order; the leases of running sessions are extended for a restart."""
        self._draining.set()
        self._ending.set()
        for task in (*self._tasks, *self._running.values()):
            task.cancel()
        await asyncio.gather(*self._tasks, *self._running.values(), return_exceptions=True)
        self._heartbeat.stop()
        with suppress(ClusterError):
            await leases.extend(self.context.db, self.context.worker_id, _RETURN_S)
            await workers.deregister(self.context.db, self.context.worker_id)
        await self.queues.stop()
        self._on_event(WorkerEvent("ended"))

    # --- sessions of earlier starts -----------------------------------------------------------------------------------

    async def _resume_sessions(self) -> None:
        """Resume the sessions whose leases this worker had when it ended or crashed."""
        found = await retry_forever(lambda: session_rows.list_rows(self.context.db, only_open=True, limit=100_000))
        for row in found:
            if row.state == "running" and row.worker_id == self.context.worker_id:
                job = await self._acquire(row, again=True)
                if job is not None:
                    self._on_event(WorkerEvent("again", row.session_id, row.agent))
                    self._resumed.add(row.session_id)
                    await self._occupy_slot(self._find_slots(row), self._start(job))

    async def _occupy_slot(self, slots: asyncio.Semaphore, task: asyncio.Task[None]) -> None:
        """Let a resumed session occupy a slot if one is free."""
        if not slots.locked():
            await slots.acquire()
            task.add_done_callback(lambda _: slots.release())

    async def _remove_stale_sessions(self) -> None:
        """End the agents of sessions that other workers have now, and remove their folders."""
        await asyncio.to_thread(self.context.folder.sweep)
        for session_id in await asyncio.to_thread(self.context.folder.list_sessions):
            if session_id not in self.jobs:
                with suppress(RemitError):
                    await remove_session(self.context.folder, session_id)

    # --- sessions -----------------------------------------------------------------------------------------------------

    async def _execute(self, session_id: str) -> None:
        """Execute a session; return after its result is published, by this worker or another."""
        while True:
            row = await retry_forever(lambda: session_rows.load_row(self.context.db, session_id))
            if row is None or row.state == "done":
                return
            if session_id in self._running:
                await asyncio.wait({self._running[session_id]})
            elif self._draining.is_set():
                await self._release_to_others(row)
            elif row.state == "running" and (row.lease_left_s or 0) > 0:
                await self._wait(min(_POLL_S, row.lease_left_s or 0))
            else:
                await self._acquire_and_run(row)

    async def _wait(self, seconds: float) -> None:
        await wait_for_event(self._draining, seconds)

    async def _release_to_others(self, row: session_rows.SessionRow) -> None:
        """Leave a session to others. Raising `CancelledError` makes DBOS execute its workflow elsewhere."""
        is_free = row.state != "running" or (row.lease_left_s or 0) <= 0
        if is_free and not self._ending.is_set():
            with suppress(ClusterError):
                present = await workers.list_workers(self.context.db, only_live=True)
                await self.queues.resume(row.session_id, choose_queue_for(row, present))
        raise asyncio.CancelledError

    async def _acquire_and_run(self, row: session_rows.SessionRow) -> None:
        """Wait for a slot, acquire the session's lease, and execute the session."""
        slots = self._find_slots(row)
        if not await self._wait_for_slot(slots, row):
            return
        try:
            if self._draining.is_set() or row.session_id in self._running:
                return
            job = await self._acquire(row)
            if job is not None:
                self._on_event(WorkerEvent("taken", row.session_id, row.agent))
                await asyncio.wait({self._start(job)})
        finally:
            slots.release()

    def _find_slots(self, row: session_rows.SessionRow) -> asyncio.Semaphore:
        return self._slots[min(max(row.depth, 1), MAX_DEPTH)]

    async def _wait_for_slot(self, slots: asyncio.Semaphore, row: session_rows.SessionRow) -> bool:
        """Wait for a slot; False if this worker drains. A session that another worker can start now is left to it.

        DBOS has the same limit for all workers of a queue, so a small worker gets more sessions than it has slots.
        """
        while not self._draining.is_set():
            if time.monotonic() < self._unable_until and await self._has_others(row):
                await self._wait(_SLOT_S)
                await self._release_to_others(row)
            if await _acquire_slot(slots, _SLOT_S):
                return True
            if await self._has_others(row, with_free_slot=True):
                await self._release_to_others(row)
        return False

    async def _has_others(self, row: session_rows.SessionRow, *, with_free_slot: bool = False) -> bool:
        """Return whether other workers serve the queue of a session."""
        found = []
        with suppress(ClusterError):
            found = await workers.list_workers(self.context.db, only_live=True)
        others = [each for each in found if each.worker_id != self.context.worker_id and each.state == "active"]
        return any(
            row.queue in list_queues(each.agents) and (not with_free_slot or each.running < each.concurrency)
            for each in others
        )

    async def _acquire(self, row: session_rows.SessionRow, *, again: bool = False) -> Job | None:
        timeout_s = row.terms.get("timeout_s")
        seconds = float(min(timeout_s, _MAX_TIMEOUT_S)) if isinstance(timeout_s, int | float) else _DEFAULT_TIMEOUT_S
        limit_ms = await self._find_limit(row)
        lease = await retry_forever(
            lambda: leases.acquire(
                self.context.db, row.session_id, self.context.worker_id, lease_s=self.context.settings.lease,
                timeout_s=seconds, limit_left_ms=limit_ms, again=again,
            )
        )  # fmt: skip
        return None if lease is None else Job(self.context, row, lease, has_others=partial(self._has_others, row))

    async def _find_limit(self, row: session_rows.SessionRow) -> int | None:
        """Return the time that is left until the caller's deadline."""
        if row.parent_id is None:
            return None
        parent = await retry_forever(lambda: session_rows.load_row(self.context.db, row.parent_id or ""))
        return None if parent is None else parent.deadline_left_ms

    def _start(self, job: Job) -> asyncio.Task[None]:
        """Start a job whose lease this worker has."""
        self.jobs[job.session_id] = job
        self._heartbeat.fences[job.session_id] = job.lease.fence
        task = self._running[job.session_id] = asyncio.ensure_future(self._run_job(job))
        task.add_done_callback(lambda _: self._running.pop(job.session_id, None))
        return task

    async def _run_job(self, job: Job) -> None:
        try:
            done = await job.run()
        finally:
            del self.jobs[job.session_id]
            self._heartbeat.fences.pop(job.session_id, None)
        if done.status == "unable":
            await self._release_lease(job)
        elif done.status != "lost" and job.session_id in self._resumed:
            await self._end_workflow(job.row)
        kinds: dict[str, Kind] = {"lost": "lost", "unable": "unable"}
        kind = kinds.get(done.status, "done")
        self._on_event(WorkerEvent(kind, job.session_id, job.row.agent, done.problem or done.status))

    async def _end_workflow(self, row: session_rows.SessionRow) -> None:
        """Requeue the workflow of a finished session, so that it ends: until then DBOS counts it as running."""
        with suppress(ClusterError):  # otherwise the reaper requeues it
            present = await workers.list_workers(self.context.db, only_live=True)
            await self.queues.resume(row.session_id, choose_queue_for(row, present))

    async def _release_lease(self, job: Job) -> None:
        """Expire the lease at once for other workers, and leave sessions to them for a while."""
        self._unable_until = time.monotonic() + _UNABLE_S
        await retry_forever(
            lambda: leases.acquire(
                self.context.db,
                job.session_id,
                self.context.worker_id,
                lease_s=0,
                timeout_s=_DEFAULT_TIMEOUT_S,
                again=True,
            )
        )

    def _execute_soon(self, session_id: str) -> None:
        """Execute a session that is in no queue."""
        task = asyncio.ensure_future(self._execute(session_id))
        self._tasks.append(task)
        task.add_done_callback(self._tasks.remove)

    # --- notifications ------------------------------------------------------------------------------------------------

    def _handle_renewal(self, renewal: leases.LeaseRenewal | ClusterError) -> None:
        if isinstance(renewal, ClusterError):
            if not self._is_database_away:
                self._is_database_away = True
                self._on_event(WorkerEvent("away", text=str(renewal)))
            if not renewal.recoverable:  # a newer Remit has changed the tables: finish the current sessions
                self.drain()
            return
        if self._is_database_away:
            self._is_database_away = False
            self._on_event(WorkerEvent("back"))
        for session_id in renewal.lost:
            if session_id in self.jobs:
                self.jobs[session_id].mark_lost()
        for session_id, reason in renewal.kept.items():
            if reason is not None and session_id in self.jobs:
                self.jobs[session_id].cancel(reason)
        if renewal.drains:
            self.drain()

    async def _listen(self) -> None:
        async for channel, payload in self.context.db.listen(_CHANNELS):
            if channel == "remit_drain" and payload == self.context.worker_id:
                self.drain()
            elif channel == "remit_cancel":
                await self._handle_cancel(payload)
            elif channel in ("", "remit_posted"):
                self._posted.set()

    async def _handle_cancel(self, session_id: str) -> None:
        job = self.jobs.get(session_id)
        if job is None:
            return
        with suppress(ClusterError):  # the next renewal reports it, too
            row = await session_rows.load_row(self.context.db, session_id)
            if row is not None and row.cancel_reason is not None:
                job.cancel(row.cancel_reason)

    async def _dispatch(self) -> None:
        """Dispatch posted sessions, after notifications and at intervals."""
        while not self._draining.is_set():
            await wait_for_event(self._posted, _DISPATCH_S)
            self._posted.clear()
            with suppress(ClusterError):
                while await submissions.dispatch(self.context.db, self._enqueue, choose_queue_for):
                    pass

    async def _enqueue(self, row: session_rows.SessionRow, queue: str) -> None:
        await self.queues.enqueue(row.session_id, row.agent, queue)

    async def _reap(self) -> None:
        pause = max(self.context.settings.lease / _REAP_SHARE, _REAP_MIN_S)
        while not self._draining.is_set():
            await self._wait(pause)
            requeued: list[Any] = []
            with suppress(ClusterError):
                requeued = await self._reaper.reap()
            for row in requeued:
                self._on_event(WorkerEvent("given", row.session_id, row.agent, row.worker_id or ""))


async def _acquire_slot(slots: asyncio.Semaphore, seconds: float) -> bool:
    """Acquire a slot within this time. If the task is cancelled just as it gets the slot, the slot is released."""
    acquiring = asyncio.ensure_future(slots.acquire())
    try:
        return await wait_or_cancel(acquiring, seconds)
    except asyncio.CancelledError:
        acquiring.add_done_callback(lambda done: None if done.cancelled() else slots.release())
        raise
