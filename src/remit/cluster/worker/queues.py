"""The queues, made with DBOS: which session is executed next, and on which worker.

Only this module uses DBOS. Each session is one workflow with the session's id, so enqueuing is idempotent. The workflow
gives the session to the worker and ends after the result is published. Leases and fencing tokens decide which worker
executes a session and whose result counts, so executing a workflow twice is harmless.

Each delegation depth has a queue of its own: agents that wait for nested runs never take the slots of these runs.

Each start of a worker has a new executor id. DBOS requeues the workflows of a known executor at its start, and they
would no longer count as running although their agents are; with a new id, DBOS doesn't recognize them.
"""

from __future__ import annotations

import asyncio
import json
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from remit.cluster.database.driver import read_url
from remit.cluster.retry import wait_for_event, wait_or_cancel
from remit.errors import ClusterError, how_to_install
from remit.model import MAX_DEPTH

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Iterable

    Execute = Callable[[str], Awaitable[None]]

NAME = "remit"
VERSION = "remit-1"
"""The same for all workers that can execute each other's orders."""
BODY = "remit.execute"
_ENDED_STATES = ("SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED")
_POOL_SIZE = 8
_IDLE_S = 5
_MAX_WORKFLOWS = 1000
_THREADS = 4
_TIMEOUT_S = 5.0
_START_MARK = "#"
"""Separates the worker id from the id of its start in DBOS's executor id."""


class QueueLimits(NamedTuple):
    """How many sessions are executed at once."""

    running: int = 32
    """On all workers together, per delegation depth."""
    per_agent: int | None = None
    per_worker: int = 4
    """On one worker, per delegation depth."""


class AbandonedWorkflow(NamedTuple):
    """A session whose workflow belongs to a worker that has ended."""

    session_id: str
    queue: str


def name_queue(depth: int, agent: str = "") -> str:
    """Return the queue of a delegation depth; with an agent, the queue for workers of this agent only."""
    return f"{NAME}.{agent}.{depth}" if agent else f"{NAME}.{depth}"


def choose_queue(agent: str, depth: int, wanted: Iterable[Collection[str]]) -> str:
    """Return the queue for a session. `wanted`: the agents of each active worker."""
    return name_queue(depth, agent if any(agent in agents for agents in wanted) else "")


def list_queues(agents: Collection[str]) -> list[str]:
    """Return the queues that a worker serves: those of its agents, or the general ones if it names none."""
    return [name_queue(depth, agent) for agent in sorted(agents) or [""] for depth in range(1, MAX_DEPTH + 1)]


class Queues:
    """The queues of a cluster, used by one worker."""

    def __init__(
        self,
        url: str,
        worker_id: str,
        *,
        limits: QueueLimits,
        agents: Collection[str] = (),
        poll_s: float,
        on_execute: Execute,
    ) -> None:
        """`on_execute` is awaited on the loop that calls `launch`; it returns after the result is published."""
        self._url = url
        self._worker_id = worker_id
        self._executor = f"{worker_id}{_START_MARK}{os.urandom(4).hex()}"
        self._limits = limits
        self._agents = agents
        self._poll_s = poll_s
        self._on_execute = on_execute
        self._loop: asyncio.AbstractEventLoop | None = None
        self._threads = ThreadPoolExecutor(_THREADS, "queues")
        self._known: set[str] = set()
        """Queues that are known to exist."""
        self._executing: set[str] = set()
        self._idle: frozenset[str] = frozenset()
        """Workflows that DBOS assigned to this worker, but that weren't executing at the last check."""

    async def launch(self, max_concurrency: int = 0) -> None:
        """Start executing sessions. `max_concurrency`: the highest concurrency of the other workers.

        DBOS has one limit per queue for all workers; a worker with fewer slots gives surplus sessions back.
        """
        self._limits = self._limits._replace(per_worker=max(self._limits.per_worker, max_concurrency))
        self._loop = asyncio.get_running_loop()
        try:
            await asyncio.to_thread(self._launch)
        except ImportError as error:
            raise ClusterError("a worker needs DBOS", hint=how_to_install("postgres")) from error
        except Exception as error:  # its drivers raise many types
            message = f"the queues can't be opened: {_describe_error(error, self._url)}"
            hint = "check that the database answers, and that its user may create tables"
            raise ClusterError(message, hint=hint) from error

    def _launch(self) -> None:
        from dbos import DBOS  # noqa: PLC0415 - takes half a second, only for workers

        DBOS(config=self._make_config())
        DBOS.workflow(name=BODY, max_recovery_attempts=None)(self._make_body())
        names = list_queues(self._agents)
        DBOS.listen_queues(names)
        DBOS.launch()
        for name in names:
            if name.endswith(".1") or DBOS.retrieve_queue(name) is not None:
                self._register(name)

    def _register(self, name: str) -> None:
        """Register a queue with this worker's limits. Queues of nested runs are registered when they are first needed.

        Each worker polls each registered queue several times a second, so unused queues aren't registered.
        """
        from dbos import DBOS  # noqa: PLC0415 - as above

        limits = self._limits
        DBOS.register_queue(
            name,
            global_concurrency=limits.running,
            worker_concurrency=min(limits.per_worker, limits.running),
            # only if it is set: DBOS polls partitioned queues more slowly
            partition_concurrency=None if limits.per_agent is None else min(limits.per_agent, limits.running),
            polling_interval_sec=self._poll_s,
            on_conflict="always_update",
        )
        self._known.add(name)

    def _ensure_queue(self, name: str) -> None:
        """Register a queue if no worker has registered it yet."""
        from dbos import DBOS  # noqa: PLC0415 - as above

        if name not in self._known and DBOS.retrieve_queue(name) is None:
            self._register(name)
        self._known.add(name)

    def _make_config(self) -> Any:  # noqa: ANN401 - a type of DBOS
        return {
            "name": NAME,
            "system_database_url": self._url.replace("postgres://", "postgresql://", 1),
            "application_version": VERSION,
            "executor_id": self._executor,
            "serializer": _make_serializer(),
            "log_level": "CRITICAL",  # the worker reports errors itself, without the password in the URL
            "console_log_level": "CRITICAL",
            "sys_db_pool_size": _POOL_SIZE,
            "db_engine_kwargs": {
                "connect_args": _make_connect_args(self._url),
                "pool_pre_ping": False,  # a ping doubles the cost of each query; a failed query is retried
            },
            "use_listen_notify": False,
        }

    def _make_body(self) -> Callable[[str], Awaitable[None]]:
        async def execute(session_id: str) -> None:
            loop = self._loop
            if loop is None:
                raise RuntimeError("the queues aren't launched")
            self._executing.add(session_id)
            try:
                body = asyncio.run_coroutine_threadsafe(_as_coroutine(self._on_execute(session_id)), loop)
                await asyncio.wrap_future(body)
            except Exception as error:  # the worker failed: DBOS must not count the session as ended
                raise asyncio.CancelledError from error
            finally:
                self._executing.discard(session_id)

        return execute

    async def enqueue(self, session_id: str, agent: str, queue: str) -> None:
        """Enqueue a session; idempotent."""
        from dbos import DBOS  # noqa: PLC0415 - as above

        options: Any = {
            "workflow_name": BODY,
            "workflow_id": session_id,
            "queue_name": queue,
            "queue_partition_key": agent or "-",
            "app_version": VERSION,
        }

        def work() -> None:
            self._ensure_queue(queue)
            DBOS.enqueue_workflow_with_options(options, session_id)

        await self._call_dbos(work)

    async def resume(self, session_id: str, queue: str) -> None:
        """Requeue a session whose worker has ended; a session that has ended isn't changed."""
        from dbos import DBOS  # noqa: PLC0415 - as above

        def work() -> None:
            self._ensure_queue(queue)
            DBOS.resume_workflow(session_id, queue_name=queue)

        await self._call_dbos(work)

    async def has_ended(self, session_id: str) -> bool:
        """Return whether a session's workflow has ended, so that DBOS won't execute the session again."""
        from dbos import DBOS  # noqa: PLC0415 - as above

        found = await self._call_dbos(lambda: DBOS.get_workflow_status(session_id))
        return found is None or found.status in _ENDED_STATES

    async def is_waiting(self, session_id: str, queue: str) -> bool:
        """Return whether a session is waiting in this queue."""
        from dbos import DBOS  # noqa: PLC0415 - as above

        found = await self._call_dbos(lambda: DBOS.get_workflow_status(session_id))
        return found is not None and (found.status, found.queue_name) == ("ENQUEUED", queue)

    async def list_abandoned(self, present: Collection[str]) -> list[AbandonedWorkflow]:
        """Return sessions of workers that aren't `present`, of this worker's earlier starts, and never started ones.

        DBOS dequeues a workflow before it starts it: if the database is lost in between, DBOS silently never starts it.
        """
        from dbos import DBOS  # noqa: PLC0415 - as above

        found = await self._call_dbos(
            lambda: DBOS.list_workflows(
                name=BODY, status="PENDING", limit=_MAX_WORKFLOWS, load_input=False, load_output=False
            )
        )
        own = frozenset(each.workflow_id for each in found if each.executor_id == self._executor) - self._executing
        never_started, self._idle = own & self._idle, own  # idle at two checks, so it isn't just about to start
        return [
            AbandonedWorkflow(each.workflow_id, each.queue_name or "")
            for each in found
            if self._is_abandoned(each.executor_id or "", present) or each.workflow_id in never_started
        ]

    def _is_abandoned(self, executor: str, present: Collection[str]) -> bool:
        worker_id = executor.partition(_START_MARK)[0]
        return worker_id not in present or (worker_id == self._worker_id and executor != self._executor)

    async def delete_finished(self, seconds: float) -> int:
        """Delete workflows that ended this long ago, at most 1000 at once; return their number."""
        from dbos import DBOS  # noqa: PLC0415 - as above

        before = datetime.fromtimestamp(time.time() - seconds, UTC).isoformat()

        def work() -> int:
            found = DBOS.list_workflows(
                name=BODY, status="SUCCESS", completed_before=before, limit=_MAX_WORKFLOWS, load_input=False,
                load_output=False,
            )  # fmt: skip
            names = [each.workflow_id for each in found]
            if names:
                DBOS.delete_workflows(names)
            return len(names)

        count: int = await self._call_dbos(work)
        return count

    async def _call_dbos(self, work: Callable[[], Any]) -> Any:  # noqa: ANN401 - a type of DBOS
        """Call DBOS in a thread, with a time limit: DBOS itself waits longer for an unreachable database."""
        call = asyncio.get_running_loop().run_in_executor(self._threads, work)
        try:
            if not await wait_or_cancel(call, _TIMEOUT_S):
                raise TimeoutError(f"no answer within {_TIMEOUT_S:.0f} s")  # noqa: TRY301 - reported like other errors
            return call.result()
        except Exception as error:  # its drivers raise many types
            message = f"the queues do not answer: {_describe_error(error, self._url)}"
            raise ClusterError(message, hint="check that the database answers") from error

    async def stop(self) -> None:
        """Stop taking sessions. Unfinished ones continue on other workers, or on this one after a restart."""
        from dbos import DBOS  # noqa: PLC0415 - as above

        ended = asyncio.Event()
        loop = asyncio.get_running_loop()

        def end() -> None:
            with suppress(Exception):  # the database may be unreachable, and the process ends anyway
                DBOS.destroy(workflow_completion_timeout_sec=0)
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(ended.set)

        threading.Thread(target=end, name="ending", daemon=True).start()
        await wait_for_event(ended, _TIMEOUT_S)


async def _as_coroutine(work: Awaitable[None]) -> None:
    await work


def _make_connect_args(url: str) -> dict[str, Any]:
    """Return DBOS's connection parameters: Remit's, so that both sides detect a cut network.

    DBOS locks a queue while it takes from it: the timeout for idle transactions frees the lock of a frozen worker.
    """
    wanted = read_url(url)
    alive = {name: value for name, value in wanted.items() if name.startswith(("keepalives", "tcp_", "connect_"))}
    own = f"-c statement_timeout=0 -c idle_in_transaction_session_timeout={_IDLE_S * 1000}"
    return {**alive, "options": f"{wanted['options']} {own}", "application_name": "remit queues"}


def _make_serializer() -> Any:  # noqa: ANN401 - a type of DBOS
    """Return a JSON serializer: other clients can write to the database, so DBOS must not load pickles from it."""
    from dbos import Serializer  # noqa: PLC0415 - as above

    class Plain(Serializer):
        def serialize(self, data: Any) -> str:  # noqa: ANN401
            return json.dumps(data, default=repr)

        def deserialize(self, serialized_data: str) -> Any:  # noqa: ANN401
            return json.loads(serialized_data)

        def name(self) -> str:
            return "remit_json"

    return Plain()


def _describe_error(error: Exception, url: str) -> str:
    """Return a driver's error message in one line, without the URL."""
    lines = str(error).replace(url, "…").strip().splitlines()
    return f"{type(error).__name__}: {lines[0][:200]}" if lines else type(error).__name__
