"""Hosted runs: runs that a long-lived process, such as a server, starts for its clients.

Owns what becomes of them when nobody waits for them any more. Each is what a `remit run` would be, with the settings of
its moment. Who takes a question back ends the work; that the server ends does not: what a person asked for goes on in
a process of its own, and what an agent asked for ends, as everything does that an agent has handed on.
"""

from __future__ import annotations

import asyncio
import os
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from remit.attempts.background_supervisor import start_supervisor
from remit.errors import RefusedError, RemitError
from remit.ledger.events import read_clock_ms
from remit.ledger.home import Home
from remit.ledger.runs import load_run
from remit.ledger.slots import claim, set_ticket
from remit.runs.admission.run_config import read_run_config
from remit.runs.admission.tickets import RANDOM_BYTES, SESSION, TICKET, find_caller, mint
from remit.runs.progress import ProgressReader
from remit.runs.run_control import WaitResult, wait_for
from remit.runs.run_control import cancel as end_run
from remit.runs.workspace import Workspace
from remit.storage.settings import find_workspace
from remit.storage.supervisor_presence import Presence

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from remit.ledger.runs import Run
    from remit.result import Result
    from remit.runs.admission.admitted_run import AdmittedRun
    from remit.runs.admission.guard import Caller
    from remit.runs.admission.tickets import Ticket
    from remit.runs.progress import RunProgress
    from remit.runs.request import Request

    Tell = Callable[[list[RunProgress]], Awaitable[None]]
    Ask = Callable[[Workspace], Request]

LOOK_S = 1.0
"""How often progress is reported to a waiting client."""
ENDING_S = 8.0
"""How long an ending server waits for cancelled runs to finish."""


class HostedResult(NamedTuple):
    """A run of a client, and its result."""

    prepared: AdmittedRun
    result: Result | None
    """None if the run isn't finished."""


class HostedRuns:
    """The unfinished runs of one server."""

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        self.environ = dict(os.environ if environ is None else environ)
        self.is_ending = False
        """Set before waiting clients are cancelled."""
        self._open: set[_HostedRun] = set()
        self._issued: dict[str, Ticket] = {}

    def speak_for(self, session_id: str) -> dict[str, str]:
        """The environment of a client: this process's own, or that of an agent that a harness has started.

        Such an agent has the server of its harness's session, which knows no ticket of it. It can only make less of
        itself by naming a session: what is named has to be below whoever this server belongs to.
        """
        if not session_id:
            return self.environ
        home = Home(find_workspace())
        try:
            return self.environ | self._issue(home, session_id)
        finally:
            home.close()

    def _issue(self, home: Home, session_id: str) -> dict[str, str]:
        """A ticket of a session, valid for the requests of this process on its behalf."""
        own = find_caller(home, self.environ, now_ms=read_clock_ms(), harness=None)
        if own is not None and own.session_id == session_id:
            return {}
        row = load_run(home.ledger, session_id) if home.is_made else None
        if (
            row is None
            or not read_run_config(row.details).is_harness_run
            or not (own is None or _is_below(home, row, own))
        ):
            hint = "leave caller out; only a subagent that its harness has started names its own session"
            raise RefusedError(f"nobody asks here as '{session_id}'", hint=hint)
        if session_id not in self._issued or self._issued[session_id].hash != row.ticket:
            self._issued[session_id] = mint(os.urandom(RANDOM_BYTES))
            set_ticket(home.ledger, session_id, self._issued[session_id].hash)
        return {TICKET: self._issued[session_id].token, SESSION: session_id}

    async def delegate(
        self,
        ask: Ask,
        *,
        caller: str = "",
        wait_s: float | None = None,
        tell: Tell | None = None,
        on_begun: Callable[[], None] | None = None,
    ) -> HostedResult:
        """Start a run and wait for it, for a limited time. If the client stops waiting, the run is cancelled.

        `on_begun` is called once it is admitted: from then on it is not lost.
        """
        ws = Workspace.open(environ=self.speak_for(caller))
        carried = _HostedRun(ws, ask(ws))
        self._open.add(carried)
        carried.work.add_done_callback(lambda _: self._open.discard(carried))
        try:
            prepared = await carried.begin()
            session_id = prepared.row.session_id
            if on_begun is not None:
                on_begun()
            await _watch(carried.work, ProgressReader(ws.home, session_id), wait_s=wait_s, tell=tell)
        except asyncio.CancelledError:
            if not self.is_ending:
                carried.cancel("whoever asked for it took that back")
            raise
        return HostedResult(prepared, carried.work.result() if carried.work.done() else None)

    def detach(self, ask: Ask, *, caller: str = "") -> AdmittedRun:
        """Start a run in a process of its own."""
        from remit.runs.run_control import detach  # noqa: PLC0415 - only for this

        ws = Workspace.open(environ=self.speak_for(caller))
        try:
            return detach(ws, ask(ws))
        finally:
            ws.home.close()

    async def wait(self, session_id: str, *, wait_s: float, tell: Tell | None = None) -> Result | None:
        """Wait for a run, whichever process supervises it; None if it isn't finished. The run continues in any case."""
        ws = Workspace.open(environ=self.environ, lenient=True)
        waiting = asyncio.ensure_future(wait_for(ws, [session_id], timeout_s=wait_s))
        try:
            await _watch(waiting, ProgressReader(ws.home, session_id), wait_s=None, tell=tell)
            (waited,) = waiting.result()
        finally:
            await _stop(waiting)
            await ws.close()
        if waited.trouble is not None:
            raise waited.trouble
        return waited.result

    async def cancel(self, session_id: str, *, reason: str, caller: str = "") -> WaitResult:
        """Cancel a run and all nested runs."""
        ws = Workspace.open(environ=self.speak_for(caller), lenient=True)
        try:
            return await end_run(ws, session_id, reason=reason)
        finally:
            await ws.close()

    async def end(self) -> list[str]:
        """Stop all; returns the sessions that continue in processes of their own."""
        self.is_ending = True
        for carried in self._open:
            if TICKET in carried.ws.environ:
                carried.cancel("whoever asked for it has gone")
        ending = {carried.work for carried in self._open if carried.is_cancelled}
        if ending:
            await asyncio.wait(ending, timeout=ENDING_S)
        left = [(await carried.leave(), carried.is_cancelled) for carried in [*self._open]]
        goes_on = [each for each, is_cancelled in left if each and not is_cancelled]
        for each in goes_on:
            self._hand_over(each)
        return goes_on

    def _hand_over(self, session_id: str) -> None:
        """Start a process that supervises a run without a supervisor."""
        home = Home(find_workspace())
        try:
            presence = Presence(home)
            try:
                row = load_run(home.ledger, session_id)
                if row is None or not claim(
                    home.ledger, row, presence.id
                ):  # another process was faster, or the run is finished
                    presence.end()
                    return
                start_supervisor(home, session_id, presence, environ=self.environ)
            except BaseException:
                presence.end()
                raise
            presence.hand_over()
        except RemitError:  # the next process that waits or opens the workspace takes it over
            return
        finally:
            home.close()


def _is_below(home: Home, row: Run, above: Caller) -> bool:
    """Whether a session is a nested run of another session, at any depth."""
    at: Run | None = row
    while at is not None and at.parent_id is not None and at.parent_id != above.session_id:
        at = load_run(home.ledger, at.parent_id)
    return at is not None and at.parent_id == above.session_id


class _HostedRun:
    """One run that this process supervises."""

    def __init__(self, ws: Workspace, request: Request) -> None:
        self.ws = ws
        self._started: asyncio.Future[AdmittedRun] = asyncio.get_running_loop().create_future()
        self._cancelling: list[asyncio.Task[Sequence[str]]] = []
        self.work: asyncio.Task[Result] = asyncio.ensure_future(self._carry(request))

    async def _carry(self, request: Request) -> Result:
        async with self.ws:
            prepared = await self.ws.start(request)
            self._started.set_result(prepared)
            result = await self.ws.wait(prepared.row.session_id)
            for cancelling in self._cancelling:
                for each in await cancelling:  # nested runs, whose supervisors may have ended with their agents
                    await self.ws.wait(each)
            return result

    async def begin(self) -> AdmittedRun:
        """Wait until the run is admitted. Raises if it is refused."""
        both: set[asyncio.Future[Any]] = {self.work, self._started}
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        if not self._started.done():
            self.work.result()
        return self._started.result()

    @property
    def is_cancelled(self) -> bool:
        """Whether the run was cancelled."""
        return bool(self._cancelling)

    def cancel(self, reason: str) -> None:
        """Cancel the run; it ends soon after, and is finished."""
        if not self._cancelling:
            self._cancelling.append(asyncio.ensure_future(self._cancel(reason)))

    async def _cancel(self, reason: str) -> Sequence[str]:
        try:
            prepared = await self.begin()
        except RemitError:  # it was never admitted
            return ()
        return await self.ws.cancel(prepared.row.session_id, reason=reason)

    async def leave(self) -> str:
        """Stop supervising, but let the agent continue; returns the session if the run isn't finished."""
        with suppress(RemitError):
            prepared = await self.begin()  # an admission in progress is still this process's
            if not self.work.done():
                await _stop(self.work)
                return prepared.row.session_id
        return ""


async def _watch(work: asyncio.Future[Result] | asyncio.Future[list[WaitResult]], following: ProgressReader, *,
                 wait_s: float | None, tell: Tell | None) -> None:  # fmt: skip
    """Wait until a run is finished or the time is up, and report progress meanwhile."""
    last = None if wait_s is None else time.monotonic() + wait_s
    while True:
        left_s = LOOK_S if last is None else min(LOOK_S, last - time.monotonic())
        if (await asyncio.wait({work}, timeout=max(0.0, left_s)))[0] or (last is not None and left_s < LOOK_S):
            return
        if tell is not None:
            with suppress(RemitError):  # without progress reports, the result still arrives
                await tell(following.look())


async def _stop(task: asyncio.Future[Result] | asyncio.Future[list[WaitResult]]) -> None:
    task.cancel()
    with suppress(asyncio.CancelledError, Exception):
        await task
