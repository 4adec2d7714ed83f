"""The queues: which session is carried out next, and on which worker.

Owns DBOS, and is the only module that knows it. A workflow of DBOS is one session; its id is the session's, so that
what is enqueued twice is carried out once. Its body gives the session to the worker and ends when an outcome is there.
Who may work on it, and whose outcome counts, is decided elsewhere, by lease and fence: what is run twice does no harm.

Every level of a tree has a queue of its own, so that those who wait never keep those from beginning whom they wait for.

To DBOS every start of a worker is another one. What it knows of, it puts back into its queue at the start, and then
that no longer counts among those that run, though its agent does; so it must not know what this worker had before.
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
"""What workers have in common that can carry out one another's orders."""
BODY = "remit.execute"
_ENDED_STATES = ("SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED")
_POOL_SIZE = 8
_IDLE_S = 5
_MAX_WORKFLOWS = 1000
_THREADS = 4
_PATIENCE_S = 5.0
_START_MARK = "#"
"""In DBOS's name for a worker, before that of its start."""


class QueueLimits(NamedTuple):
    """How many are carried out at once."""

    running: int = 32
    """On all workers together, of one level."""
    per_agent: int | None = None
    per_worker: int = 4
    """On one worker."""


class AbandonedWorkflow(NamedTuple):
    """A session whose workflow belongs to a worker that is no longer there."""

    session_id: str
    queue: str


def name_queue(depth: int, agent: str = "") -> str:
    """The queue of a level; with an agent, that of the workers who carry out only some."""
    return f"{NAME}.{agent}.{depth}" if agent else f"{NAME}.{depth}"


def choose_queue(agent: str, depth: int, wanted: Iterable[Collection[str]]) -> str:
    """The queue that a session belongs into. `wanted`: of each worker that is there, the agents that it is for."""
    return name_queue(depth, agent if any(agent in agents for agents in wanted) else "")


def list_queues(agents: Collection[str]) -> list[str]:
    """The queues that a worker takes from: those of its agents; of all where it names none."""
    return [name_queue(depth, agent) for agent in sorted(agents) or [""] for depth in range(1, MAX_DEPTH + 1)]


class Queues:
    """The queues of a cluster, as one worker has them."""

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
        """`on_execute` is awaited on the loop that `launch` is called on; it returns when an outcome is there."""
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
        """The queues that are there for sure."""
        self._executing: set[str] = set()
        self._idle: frozenset[str] = frozenset()
        """What DBOS has for this worker though nobody carries it out, when that was looked at last."""

    async def launch(self, max_concurrency: int = 0) -> None:
        """Begin to take sessions, and to carry them out. `most`: how many the largest of the other workers carries out.

        DBOS has one number for all who take from a queue; whoever has room for fewer gives back what is too much.
        """
        self._limits = self._limits._replace(per_worker=max(self._limits.per_worker, max_concurrency))
        self._loop = asyncio.get_running_loop()
        try:
            await asyncio.to_thread(self._launch)
        except ImportError as error:
            raise ClusterError("a worker needs DBOS", hint=how_to_install("postgres")) from error
        except Exception as error:  # whatever it is that its drivers raise
            message = f"the queues cannot be opened: {_describe_error(error, self._url)}"
            hint = "see whether the database answers, and whether its user may make tables"
            raise ClusterError(message, hint=hint) from error

    def _launch(self) -> None:
        from dbos import DBOS  # noqa: PLC0415 - half a second, and only workers need it

        DBOS(config=self._make_config())
        DBOS.workflow(name=BODY, max_recovery_attempts=None)(self._make_body())
        names = list_queues(self._agents)
        DBOS.listen_queues(names)
        DBOS.launch()
        for name in names:
            if name.endswith(".1") or DBOS.retrieve_queue(name) is not None:
                self._register(name)

    def _register(self, name: str) -> None:
        """Have a queue, with this worker's limits. Those of the lower levels wait for the first who needs them.

        Every worker asks for each queue there is many times in a second; for one that nobody needs, nobody does.
        """
        from dbos import DBOS  # noqa: PLC0415 - as above

        limits = self._limits
        DBOS.register_queue(
            name,
            global_concurrency=limits.running,
            worker_concurrency=min(limits.per_worker, limits.running),
            # only where it is asked for: for those of a queue in partitions DBOS waits longer than for the database
            partition_concurrency=None if limits.per_agent is None else min(limits.per_agent, limits.running),
            polling_interval_sec=self._poll_s,
            on_conflict="always_update",
        )
        self._known.add(name)

    def _ensure_queue(self, name: str) -> None:
        """See that there is a queue, with whoever's limits."""
        from dbos import DBOS  # noqa: PLC0415 - as above

        if name not in self._known and DBOS.retrieve_queue(name) is None:
            self._register(name)
        self._known.add(name)

    def _make_config(self) -> Any:  # noqa: ANN401 - DBOS's own
        return {
            "name": NAME,
            "system_database_url": self._url.replace("postgres://", "postgresql://", 1),
            "application_version": VERSION,
            "executor_id": self._executor,
            "serializer": _make_serializer(),
            "log_level": "CRITICAL",  # the worker says what there is to say, and no address with a password
            "console_log_level": "CRITICAL",
            "sys_db_pool_size": _POOL_SIZE,
            "db_engine_kwargs": {
                "connect_args": _make_connect_args(self._url),
                "pool_pre_ping": False,  # to ask before each question costs as much again; what was lost is asked anew
            },
            "use_listen_notify": False,
        }

    def _make_body(self) -> Callable[[str], Awaitable[None]]:
        async def execute(session_id: str) -> None:
            loop = self._loop
            if loop is None:
                raise RuntimeError("nobody has launched the queues")
            self._executing.add(session_id)
            try:
                body = asyncio.run_coroutine_threadsafe(_as_coroutine(self._on_execute(session_id)), loop)
                await asyncio.wrap_future(body)
            except Exception as error:  # this worker cannot: DBOS must not take that for the session's end
                raise asyncio.CancelledError from error
            finally:
                self._executing.discard(session_id)

        return execute

    async def enqueue(self, session_id: str, agent: str, queue: str) -> None:
        """Let a session be carried out; one that is there already is left as it is."""
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
        """Put a session back whose worker is no longer there; one that is over is left as it is."""
        from dbos import DBOS  # noqa: PLC0415 - as above

        def work() -> None:
            self._ensure_queue(queue)
            DBOS.resume_workflow(session_id, queue_name=queue)

        await self._call_dbos(work)

    async def has_ended(self, session_id: str) -> bool:
        """Whether nobody will carry a session out any more, because its workflow has ended."""
        from dbos import DBOS  # noqa: PLC0415 - as above

        found = await self._call_dbos(lambda: DBOS.get_workflow_status(session_id))
        return found is None or found.status in _ENDED_STATES

    async def is_waiting(self, session_id: str, queue: str) -> bool:
        """Whether a session waits in a queue, and nobody has taken it from there."""
        from dbos import DBOS  # noqa: PLC0415 - as above

        found = await self._call_dbos(lambda: DBOS.get_workflow_status(session_id))
        return found is not None and (found.status, found.queue_name) == ("ENQUEUED", queue)

    async def list_abandoned(self, present: Collection[str]) -> list[AbandonedWorkflow]:
        """The sessions of workers who are not `present`, of this one before it was started, and what it never began.

        DBOS takes first and begins then: where the database goes away in between, it begins nothing, and says nothing.
        """
        from dbos import DBOS  # noqa: PLC0415 - as above

        found = await self._call_dbos(
            lambda: DBOS.list_workflows(
                name=BODY, status="PENDING", limit=_MAX_WORKFLOWS, load_input=False, load_output=False
            )
        )
        own = frozenset(each.workflow_id for each in found if each.executor_id == self._executor) - self._executing
        never_started, self._idle = own & self._idle, own  # seen so twice: it is not just about to begin
        return [
            AbandonedWorkflow(each.workflow_id, each.queue_name or "")
            for each in found
            if self._is_abandoned(each.executor_id or "", present) or each.workflow_id in never_started
        ]

    def _is_abandoned(self, executor: str, present: Collection[str]) -> bool:
        worker_id = executor.partition(_START_MARK)[0]
        return worker_id not in present or (worker_id == self._worker_id and executor != self._executor)

    async def delete_finished(self, seconds: float) -> int:
        """Remove what DBOS keeps of sessions that were over so long ago; how many, at most a thousand at once."""
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

    async def _call_dbos(self, work: Callable[[], Any]) -> Any:  # noqa: ANN401 - DBOS's own
        """Ask DBOS something. It waits for a database that is away, for longer than anybody here does."""
        call = asyncio.get_running_loop().run_in_executor(self._threads, work)
        try:
            if not await wait_or_cancel(call, _PATIENCE_S):
                raise TimeoutError(f"nothing was heard for {_PATIENCE_S:.0f} s")  # noqa: TRY301 - told as the others
            return call.result()
        except Exception as error:  # whatever it is that its drivers raise
            message = f"the queues do not answer: {_describe_error(error, self._url)}"
            raise ClusterError(message, hint="see whether the database answers") from error

    async def stop(self) -> None:
        """Take nothing more. What is not over now is carried out by others, or by this worker once it is back."""
        from dbos import DBOS  # noqa: PLC0415 - as above

        ended = asyncio.Event()
        loop = asyncio.get_running_loop()

        def end() -> None:
            with suppress(Exception):  # there may be no database any more, and this process ends
                DBOS.destroy(workflow_completion_timeout_sec=0)
            with suppress(RuntimeError):  # nobody waits any more
                loop.call_soon_threadsafe(ended.set)

        threading.Thread(target=end, name="ending", daemon=True).start()
        await wait_for_event(ended, _PATIENCE_S)


async def _as_coroutine(work: Awaitable[None]) -> None:
    await work


def _make_connect_args(url: str) -> dict[str, Any]:
    """How DBOS connects: as Remit does, so that who was cut off is noticed on both sides.

    It locks what it takes, and where that is locked nobody takes anything: who froze meanwhile must not keep it.
    """
    wanted = read_url(url)
    alive = {name: value for name, value in wanted.items() if name.startswith(("keepalives", "tcp_", "connect_"))}
    own = f"-c statement_timeout=0 -c idle_in_transaction_session_timeout={_IDLE_S * 1000}"
    return {**alive, "options": f"{wanted['options']} {own}", "application_name": "remit queues"}


def _make_serializer() -> Any:  # noqa: ANN401 - DBOS's own
    """What DBOS keeps is read by whoever can write to the database: no pickle."""
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
    """What a driver says, in one line and without the address."""
    lines = str(error).replace(url, "…").strip().splitlines()
    return f"{type(error).__name__}: {lines[0][:200]}" if lines else type(error).__name__
