"""A worker: the process that carries out what other machines ask for.

Owns who works on what here, and how it begins and ends. It keeps its leases, hears what is new, puts what was posted
into queues, gives back what others have left, and takes up again what it had begun itself. While the database is away,
agents go on; all that is to be said of them is said when it is back.
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
from remit.cluster.retry import insist, settle, wait_for_event
from remit.cluster.worker.heartbeat import Heartbeat
from remit.cluster.worker.job import Job
from remit.cluster.worker.queues import QueueLimits, Queues, list_queues
from remit.cluster.worker.reaper import Reaper, choose
from remit.cluster.worker.worker_folder import clear_away
from remit.errors import ClusterError, RemitError
from remit.model import MAX_DEPTH

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from remit.cluster.worker.worker_context import WorkerContext

    Say = Callable[["WorkerEvent"], None]

_DISPATCH_S = 1.0
_LOOK_S = 0.5
_BACK_S = 60.0
"""So long what a worker held is kept for it when it was told to end."""
_UNABLE_S = 30.0
_ROOM_S = 1.0
_REAP_SHARE = 5
_REAP_LEAST_S = 0.2
_TIMEOUT_S = 3600.0
_MOST_S = 1e9
_THREADS = 32
"""For git, mostly: whoever sends much must not keep others from beginning."""
_CHANNELS = ("remit_posted", "remit_cancel", "remit_drain")

Kind = Literal["ready", "taken", "again", "done", "lost", "unable", "given", "away", "back", "draining", "ended"]


class WorkerEvent(NamedTuple):
    """Something that whoever looks at a worker wants to know."""

    kind: Kind
    session_id: str = ""
    agent: str = ""
    text: str = ""
    """The status of what is done; what is wrong with the database."""
    running: int = 0


class WorkerPlan(NamedTuple):
    """How a worker works."""

    host: str
    pid: int
    version: str
    room: QueueLimits
    agents: tuple[str, ...] = ()
    keep_days: float = 90
    """How long the database keeps what is over."""


class Worker:
    """This process, as a worker."""

    def __init__(self, site: WorkerContext, plan: WorkerPlan, *, say: Say) -> None:
        self.site = site
        self.plan = plan
        self.jobs: dict[str, Job] = {}
        self._say = say
        self._running: dict[str, asyncio.Task[None]] = {}
        self._rooms = {depth: asyncio.Semaphore(plan.room.on_one) for depth in range(1, MAX_DEPTH + 1)}
        self._posted = asyncio.Event()
        self._leaving = asyncio.Event()
        """Set once nothing more is taken."""
        self._ending = asyncio.Event()
        """Set once it ends, whatever is at work."""
        self._is_away = False
        self._again: set[str] = set()
        """What was begun before this process, whose workflow DBOS still has for that one."""
        self._able_at = 0.0
        """Until then this machine leaves to others what they can do."""
        self._tasks: list[asyncio.Task[None]] = []
        settings = site.settings
        self.queues = Queues(
            site.url, site.worker_id, room=plan.room, agents=plan.agents, poll_s=settings.poll,
            on_execute=self._execute,
        )  # fmt: skip
        self._beating = Heartbeat(site.url, site.worker_id, settings.lease, on_heard=self._hear_beat)
        self._reaper = Reaper(site.db, self.queues, execute_here=self._execute_soon, keep_days=plan.keep_days)

    def end(self) -> None:
        """End now; agents go on, and this worker or another takes them up."""
        self._leaving.set()
        self._ending.set()

    def drain(self) -> None:
        """Take nothing more, and end when all that is at work is done."""
        if not self._leaving.is_set():
            self._leaving.set()
            self._say(WorkerEvent("draining", running=len(self.jobs)))

    async def run(self) -> None:
        """Work until it is told to end."""
        site, plan = self.site, self.plan
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(_THREADS, "work"))
        await workers.enter(
            site.db,
            workers.RegisteredWorker(
                site.worker_id, plan.host, plan.pid, plan.version, PROTOCOL, plan.room.on_one, plan.agents,
                site.settings.lease,
            ),
        )  # fmt: skip
        self._beating.start()
        try:
            await self._take_again()
            await self._clear_up()
            others = [each.concurrency for each in await workers.list_workers(site.db, only_live=True)]
            await self.queues.launch(max(others, default=0))
            self._tasks = [asyncio.ensure_future(each) for each in (self._listen(), self._dispatch(), self._reap())]
            self._say(WorkerEvent("ready", running=len(self.jobs)))
            await self._work(self._tasks[:])
            await self._finish()
        finally:
            await self._leave()

    async def _work(self, tasks: Sequence[asyncio.Task[None]]) -> None:
        """Wait until nothing more is taken; raise what ended one of the tasks that a worker can't work without."""
        leaving = asyncio.ensure_future(self._leaving.wait())
        try:
            await asyncio.wait({leaving, *tasks}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            leaving.cancel()
        for task in tasks:
            error = task.exception() if task.done() and not task.cancelled() else None
            if isinstance(error, RemitError):
                raise error
            if error is not None:
                raise RuntimeError(f"the worker can't go on: {error!r}") from error

    async def _finish(self) -> None:
        """Wait for what is at work, unless this is to end at once."""
        ending = asyncio.ensure_future(self._ending.wait())
        while self._running and not self._ending.is_set():
            await asyncio.wait({ending, *self._running.values()}, return_when=asyncio.FIRST_COMPLETED)
        ending.cancel()

    async def _leave(self) -> None:
        """End in order: what is still at work is kept for this worker's return."""
        self._leaving.set()
        self._ending.set()
        for task in (*self._tasks, *self._running.values()):
            task.cancel()
        await asyncio.gather(*self._tasks, *self._running.values(), return_exceptions=True)
        self._beating.stop()
        with suppress(ClusterError):
            await leases.extend(self.site.db, self.site.worker_id, _BACK_S)
            await workers.leave(self.site.db, self.site.worker_id)
        await self.queues.stop()
        self._say(WorkerEvent("ended"))

    # --- what was begun before ----------------------------------------------------------------------------------------

    async def _take_again(self) -> None:
        """Go on with what this worker held when it ended, however that was."""
        found = await insist(lambda: session_rows.list_rows(self.site.db, only_open=True, limit=100_000))
        for row in found:
            if row.state == "running" and row.worker_id == self.site.worker_id:
                job = await self._take(row, again=True)
                if job is not None:
                    self._say(WorkerEvent("again", row.session_id, row.agent))
                    self._again.add(row.session_id)
                    await self._fill_room(self._find_room(row), self._start(job))

    async def _fill_room(self, room: asyncio.Semaphore, task: asyncio.Task[None]) -> None:
        """Let one that goes on have its place, where there is one."""
        if not room.locked():
            await room.acquire()
            task.add_done_callback(lambda _: room.release())

    async def _clear_up(self) -> None:
        """Remove what is left here of sessions that are others' now, and end their agents."""
        await asyncio.to_thread(self.site.folder.sweep)
        for session_id in await asyncio.to_thread(self.site.folder.list_sessions):
            if session_id not in self.jobs:
                with suppress(RemitError):
                    await clear_away(self.site, session_id)

    # --- sessions -----------------------------------------------------------------------------------------------------

    async def _execute(self, session_id: str) -> None:
        """Carry out a session; returns when an outcome is there, whosever it is."""
        while True:
            row = await insist(lambda: session_rows.load_row(self.site.db, session_id))
            if row is None or row.state == "done":
                return
            if session_id in self._running:
                await asyncio.wait({self._running[session_id]})
            elif self._leaving.is_set():
                await self._pass_on(row)
            elif row.state == "running" and (row.lease_left_s or 0) > 0:
                await self._wait(min(_LOOK_S, row.lease_left_s or 0))
            else:
                await self._take_up(row)

    async def _wait(self, seconds: float) -> None:
        await wait_for_event(self._leaving, seconds)

    async def _pass_on(self, row: session_rows.SessionRow) -> None:
        """Leave a session to others. Whoever is cancelled has not ended: DBOS lets another carry it out."""
        is_free = row.state != "running" or (row.lease_left_s or 0) <= 0
        if is_free and not self._ending.is_set():
            with suppress(ClusterError):
                present = await workers.list_workers(self.site.db, only_live=True)
                await self.queues.resume(row.session_id, choose(row, present))
        raise asyncio.CancelledError

    async def _take_up(self, row: session_rows.SessionRow) -> None:
        """Take a session once there is room for it here, and carry it out."""
        room = self._find_room(row)
        if not await self._wait_for_room(room, row):
            return
        try:
            if self._leaving.is_set() or row.session_id in self._running:
                return
            job = await self._take(row)
            if job is not None:
                self._say(WorkerEvent("taken", row.session_id, row.agent))
                await asyncio.wait({self._start(job)})
        finally:
            room.release()

    def _find_room(self, row: session_rows.SessionRow) -> asyncio.Semaphore:
        return self._rooms[min(max(row.depth, 1), MAX_DEPTH)]

    async def _wait_for_room(self, room: asyncio.Semaphore, row: session_rows.SessionRow) -> bool:
        """Wait until there is room; False where this worker leaves. What another could do sooner is left to it.

        How many are taken is the same for all who take from a queue: a small worker takes more than it has room for.
        """
        while not self._leaving.is_set():
            if time.monotonic() < self._able_at and await self._has_others(row):
                await self._wait(_ROOM_S)
                await self._pass_on(row)
            if await _acquire(room, _ROOM_S):
                return True
            if await self._has_others(row, with_room=True):
                await self._pass_on(row)
        return False

    async def _has_others(self, row: session_rows.SessionRow, *, with_room: bool = False) -> bool:
        """Whether other workers take from the queue that a session came from."""
        found = []
        with suppress(ClusterError):
            found = await workers.list_workers(self.site.db, only_live=True)
        others = [each for each in found if each.worker_id != self.site.worker_id and each.state == "active"]
        return any(
            row.queue in list_queues(each.agents) and (not with_room or each.running < each.concurrency)
            for each in others
        )

    async def _take(self, row: session_rows.SessionRow, *, again: bool = False) -> Job | None:
        timeout_s = row.terms.get("timeout_s")
        seconds = float(min(timeout_s, _MOST_S)) if isinstance(timeout_s, int | float) else _TIMEOUT_S
        limit_ms = await self._find_limit(row)
        lease = await insist(
            lambda: leases.take(
                self.site.db, row.session_id, self.site.worker_id, lease_s=self.site.settings.lease,
                timeout_s=seconds, limit_left_ms=limit_ms, again=again,
            )
        )  # fmt: skip
        return None if lease is None else Job(self.site, row, lease, has_others=partial(self._has_others, row))

    async def _find_limit(self, row: session_rows.SessionRow) -> int | None:
        """How much of its caller's own time is left."""
        if row.parent_id is None:
            return None
        parent = await insist(lambda: session_rows.load_row(self.site.db, row.parent_id or ""))
        return None if parent is None else parent.deadline_left_ms

    def _start(self, job: Job) -> asyncio.Task[None]:
        """Begin to carry out what this worker has the lease of."""
        self.jobs[job.session_id] = job
        self._beating.held[job.session_id] = job.lease.fence
        task = self._running[job.session_id] = asyncio.ensure_future(self._run_job(job))
        task.add_done_callback(lambda _: self._running.pop(job.session_id, None))
        return task

    async def _run_job(self, job: Job) -> None:
        try:
            done = await job.run()
        finally:
            del self.jobs[job.session_id]
            self._beating.held.pop(job.session_id, None)
        if done.status == "unable":
            await self._let_go(job)
        elif done.status != "lost" and job.session_id in self._again:
            await self._end_workflow(job.row)
        kinds: dict[str, Kind] = {"lost": "lost", "unable": "unable"}
        kind = kinds.get(done.status, "done")
        self._say(WorkerEvent(kind, job.session_id, job.row.agent, done.trouble or done.status))

    async def _end_workflow(self, row: session_rows.SessionRow) -> None:
        """Let a workflow be carried out whose outcome is there: until it has ended, it counts among those that run."""
        with suppress(ClusterError):  # else the reaper finds it
            present = await workers.list_workers(self.site.db, only_live=True)
            await self.queues.resume(row.session_id, choose(row, present))

    async def _let_go(self, job: Job) -> None:
        """Leave a session to others, and take nothing for a while that they could take."""
        self._able_at = time.monotonic() + _UNABLE_S
        await insist(
            lambda: leases.take(
                self.site.db, job.session_id, self.site.worker_id, lease_s=0, timeout_s=_TIMEOUT_S, again=True
            )
        )

    def _execute_soon(self, session_id: str) -> None:
        """Carry out a session that no queue has any more."""
        task = asyncio.ensure_future(self._execute(session_id))
        self._tasks.append(task)
        task.add_done_callback(self._tasks.remove)

    # --- what is heard ------------------------------------------------------------------------------------------------

    def _hear_beat(self, told: leases.LeaseRenewal | ClusterError) -> None:
        if isinstance(told, ClusterError):
            if not self._is_away:
                self._is_away = True
                self._say(WorkerEvent("away", text=str(told)))
            if not told.recoverable:  # a newer Remit has changed the tables: what is at work is brought to its end
                self.drain()
            return
        if self._is_away:
            self._is_away = False
            self._say(WorkerEvent("back"))
        for session_id in told.lost:
            if session_id in self.jobs:
                self.jobs[session_id].lose()
        for session_id, reason in told.kept.items():
            if reason is not None and session_id in self.jobs:
                self.jobs[session_id].cancel(reason)
        if told.drains:
            self.drain()

    async def _listen(self) -> None:
        async for channel, payload in self.site.db.listen(_CHANNELS):
            if channel == "remit_drain" and payload == self.site.worker_id:
                self.drain()
            elif channel == "remit_cancel":
                await self._hear_cancel(payload)
            elif channel in ("", "remit_posted"):
                self._posted.set()

    async def _hear_cancel(self, session_id: str) -> None:
        job = self.jobs.get(session_id)
        if job is None:
            return
        with suppress(ClusterError):  # the next beat says it again
            row = await session_rows.load_row(self.site.db, session_id)
            if row is not None and row.cancel_reason is not None:
                job.cancel(row.cancel_reason)

    async def _dispatch(self) -> None:
        """Put what was posted into queues, when something was and now and then."""
        while not self._leaving.is_set():
            await wait_for_event(self._posted, _DISPATCH_S)
            self._posted.clear()
            with suppress(ClusterError):
                while await submissions.dispatch(self.site.db, self._enqueue, choose):
                    pass

    async def _enqueue(self, row: session_rows.SessionRow, queue: str) -> None:
        await self.queues.enqueue(row.session_id, row.agent, queue)

    async def _reap(self) -> None:
        pause = max(self.site.settings.lease / _REAP_SHARE, _REAP_LEAST_S)
        while not self._leaving.is_set():
            await self._wait(pause)
            given: list[Any] = []
            with suppress(ClusterError):
                given = await self._reaper.reap()
            for row in given:
                self._say(WorkerEvent("given", row.session_id, row.agent, row.worker_id or ""))


async def _acquire(room: asyncio.Semaphore, seconds: float) -> bool:
    """Get room within this time. Whoever gets it in the moment in which it gives up gives it back."""
    acquiring = asyncio.ensure_future(room.acquire())
    try:
        return await settle(acquiring, seconds)
    except asyncio.CancelledError:
        acquiring.add_done_callback(lambda done: None if done.cancelled() else room.release())
        raise
