"""Hosted runs: runs that a long-lived process, such as a server, starts for its clients.

Each request opens the workspace again, so it uses the current settings, like `remit run`. A client that cancels its
request cancels the run. If the server ends, a run that the user started continues in a process of its own, and a run
that an agent started is cancelled, because nested runs end with their caller.
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

    ReportProgress = Callable[[list[RunProgress]], Awaitable[None]]
    MakeRequest = Callable[[Workspace], Request]

PROGRESS_S = 1.0
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
        """Return the environment of a client: this process's own, or that of an agent that a harness has started.

        Such an agent shares the server with its harness's session and has no ticket, so it names its own session. That
        can only reduce its rights, because the session has to be a nested run of this server's caller.
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
            hint = "omit caller; only a subagent that its harness has started passes its own session"
            raise RefusedError(f"'{session_id}' isn't a session that may call this server", hint=hint)
        if session_id not in self._issued or self._issued[session_id].hash != row.ticket:
            self._issued[session_id] = mint(os.urandom(RANDOM_BYTES))
            set_ticket(home.ledger, session_id, self._issued[session_id].hash)
        return {TICKET: self._issued[session_id].token, SESSION: session_id}

    async def delegate(
        self,
        make_request: MakeRequest,
        *,
        caller: str = "",
        wait_s: float | None = None,
        report_progress: ReportProgress | None = None,
        on_begun: Callable[[], None] | None = None,
    ) -> HostedResult:
        """Start a run and wait for it, for a limited time. If the client stops waiting, the run is cancelled.

        `on_begun` is called after the admission: from then on, the run survives a crash of this process.
        """
        ws = Workspace.open(environ=self.speak_for(caller))
        ws.keeps_data = False  # a model reads the result
        run = _HostedRun(ws, make_request(ws))
        self._open.add(run)
        run.task.add_done_callback(lambda _: self._open.discard(run))
        try:
            prepared = await run.wait_admitted()
            session_id = prepared.row.session_id
            if on_begun is not None:
                on_begun()
            await _watch(run.task, ProgressReader(ws.home, session_id), wait_s=wait_s, report_progress=report_progress)
        except asyncio.CancelledError:
            if not self.is_ending:
                run.cancel("the client cancelled its request")
            raise
        return HostedResult(prepared, run.task.result() if run.task.done() else None)

    def detach(self, make_request: MakeRequest, *, caller: str = "") -> AdmittedRun:
        """Start a run in a process of its own."""
        from remit.runs.run_control import detach  # noqa: PLC0415 - only for this

        ws = Workspace.open(environ=self.speak_for(caller))
        try:
            return detach(ws, make_request(ws))
        finally:
            ws.home.close()

    async def wait(
        self, session_id: str, *, wait_s: float, report_progress: ReportProgress | None = None
    ) -> Result | None:
        """Wait for a run, whichever process supervises it; None if it isn't finished. The run continues in any case."""
        ws = Workspace.open(environ=self.environ, lenient=True)
        waiting = asyncio.ensure_future(wait_for(ws, [session_id], timeout_s=wait_s))
        try:
            await _watch(waiting, ProgressReader(ws.home, session_id), wait_s=None, report_progress=report_progress)
            (waited,) = waiting.result()
        finally:
            await _stop(waiting)
            await ws.close()
        if waited.error is not None:
            raise waited.error
        return waited.result

    async def cancel(self, session_id: str, *, reason: str, caller: str = "") -> WaitResult:
        """Cancel a run and all nested runs."""
        ws = Workspace.open(environ=self.speak_for(caller), lenient=True)
        try:
            return await end_run(ws, session_id, reason=reason)
        finally:
            await ws.close()

    async def end(self) -> list[str]:
        """Stop supervising all runs; return the sessions that continue in processes of their own."""
        self.is_ending = True
        for run in self._open:
            if TICKET in run.ws.environ:
                run.cancel("the process of its caller has ended")
        ending = {run.task for run in self._open if run.is_cancelled}
        if ending:
            await asyncio.wait(ending, timeout=ENDING_S)
        released = [(await run.release(), run.is_cancelled) for run in [*self._open]]
        continued = [session_id for session_id, is_cancelled in released if session_id and not is_cancelled]
        for session_id in continued:
            self._hand_over(session_id)
        return continued

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
        self.task: asyncio.Task[Result] = asyncio.ensure_future(self._run(request))

    async def _run(self, request: Request) -> Result:
        async with self.ws:
            prepared = await self.ws.start(request)
            self._started.set_result(prepared)
            result = await self.ws.wait(prepared.row.session_id)
            for cancelling in self._cancelling:
                for each in await cancelling:  # nested runs, whose supervisors may have ended with their agents
                    await self.ws.wait(each)
            return result

    async def wait_admitted(self) -> AdmittedRun:
        """Wait until the run is admitted. Raises if it is refused."""
        both: set[asyncio.Future[Any]] = {self.task, self._started}
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        if not self._started.done():
            self.task.result()
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
            prepared = await self.wait_admitted()
        except RemitError:  # it was never admitted
            return ()
        return await self.ws.cancel(prepared.row.session_id, reason=reason)

    async def release(self) -> str:
        """Stop supervising, but let the agent continue; returns the session if the run isn't finished."""
        with suppress(RemitError):
            prepared = await self.wait_admitted()  # an admission in progress is still this process's
            if not self.task.done():
                await _stop(self.task)
                return prepared.row.session_id
        return ""


async def _watch(task: asyncio.Future[Result] | asyncio.Future[list[WaitResult]], reader: ProgressReader, *,
                 wait_s: float | None, report_progress: ReportProgress | None) -> None:  # fmt: skip
    """Wait until a run is finished or the time is up, and report progress meanwhile."""
    last = None if wait_s is None else time.monotonic() + wait_s
    while True:
        left_s = PROGRESS_S if last is None else min(PROGRESS_S, last - time.monotonic())
        if (await asyncio.wait({task}, timeout=max(0.0, left_s)))[0] or (last is not None and left_s < PROGRESS_S):
            return
        if report_progress is not None:
            with suppress(RemitError):  # without progress reports, the result still arrives
                await report_progress(reader.read())


async def _stop(task: asyncio.Future[Result] | asyncio.Future[list[WaitResult]]) -> None:
    task.cancel()
    with suppress(asyncio.CancelledError, Exception):
        await task
