"""Control of runs: wait for them, cancel them and detach them, whichever process supervises them.

An agent that waits for its own nested run releases its slot meanwhile, and can cancel only its own nested runs. If a
run's supervisor no longer exists, the waiting process takes the run over.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from remit.attempts.background_supervisor import start_supervisor
from remit.attempts.folders import list_living, send_control
from remit.errors import RefusedError, RemitError, StateError, StorageError, UsageError
from remit.ledger.events import read_clock_ms
from remit.ledger.runs import list_runs, load_run
from remit.ledger.slots import claim, set_awaited
from remit.runs.admission.tickets import TICKET, find_caller
from remit.runs.progress import is_in_harness
from remit.storage.supervisor_presence import Presence, clear_departed, is_present

if TYPE_CHECKING:
    from collections.abc import Sequence

    from remit.ledger.home import Home
    from remit.ledger.runs import Run
    from remit.result import Result
    from remit.runs.admission.admitted_run import AdmittedRun
    from remit.runs.admission.guard import Caller
    from remit.runs.request import Request
    from remit.runs.workspace import Workspace


FINISH_S = 10.0
"""How long another supervisor may take to finish a cancelled run: a function can't be ended."""

_POLL_S = 0.1
_MAX_ROWS = 100_000


class WaitResult(NamedTuple):
    """The result of waiting for one run."""

    session_id: str
    result: Result | None
    """None if the run isn't finished."""
    error: RemitError | None = None
    """Why waiting failed."""
    harness: str = ""
    """The harness of a cancelled run, if only the harness can end it."""


def describe_open(waited: WaitResult) -> str:
    """A sentence on a run that isn't finished, and why a cancelled run continues."""
    session, harness = waited.session_id, waited.harness
    if harness:
        return (
            f"{session} runs in {harness}, and Remit can't end it there: its tools are denied from now on, and it is "
            f"cancelled when it stops; to end it now, stop it in {harness}"
        )
    return f"{session} isn't finished"


async def wait_for(ws: Workspace, session_ids: Sequence[str], *, timeout_s: float | None = None) -> list[WaitResult]:
    """Wait for several runs at once, for a limited time. Unfinished runs continue."""
    awaited = _mark_awaited(ws, session_ids)
    tasks = {each: asyncio.ensure_future(ws.wait(each)) for each in dict.fromkeys(session_ids)}
    try:
        await asyncio.wait(tasks.values(), timeout=timeout_s)
        return [_make_result(each, task) for each, task in tasks.items()]
    finally:
        for task in tasks.values():
            task.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await task
        for each in awaited:
            set_awaited(ws.home.ledger, each, awaited=False)


def _make_result(session_id: str, task: asyncio.Future[Result]) -> WaitResult:
    """The result of one run; errors of the others don't affect it."""
    error = task.exception() if task.done() else None
    if isinstance(error, RemitError):
        return WaitResult(session_id, None, error)
    return WaitResult(session_id, task.result() if task.done() else None)


def _mark_awaited(ws: Workspace, session_ids: Sequence[str]) -> list[str]:
    """Record that a caller waits for its own nested runs; returns those that it didn't wait for before."""
    caller: Caller | None = None
    with suppress(RefusedError):  # a process without a ticket may wait, too
        caller = _find_caller(ws)
    rows = [load_run(ws.home.ledger, each) for each in session_ids] if caller is not None else []
    own = [row.session_id for row in rows if row is not None and caller is not None
           and row.parent_id == caller.session_id and not row.awaited]  # fmt: skip
    for each in own:
        set_awaited(ws.home.ledger, each, awaited=True)
    return own


def _find_caller(ws: Workspace) -> Caller | None:
    return find_caller(ws.home, ws.caller_environ, now_ms=read_clock_ms())


async def cancel(ws: Workspace, session_id: str, *, reason: str) -> WaitResult:
    """Cancel a run and all nested runs, and return its result if it is finished. A finished run stays as it is.

    When this returns, all processes that Remit has started for them have ended. An agent that a harness has started can
    only be ended there: from now on, its tools are denied, and this function doesn't wait for it.
    """
    caller = _find_caller(ws)
    if caller is not None and not _is_below(ws, session_id, caller.session_id):
        message = f"{session_id} isn't a nested run of {caller.agent}, which wants to cancel it"
        raise RefusedError(message, hint="an agent can cancel only its own nested runs")
    cancelled = await ws.cancel(session_id, reason=reason)
    await _end_living(ws, session_id)
    rows = {each: load_run(ws.home.ledger, each) for each in (*cancelled, session_id)}
    now_ms = read_clock_ms()
    in_harness = {each: row.runner for each, row in rows.items() if row is not None and _is_in_harness(row, now_ms)}
    if session_id in in_harness:  # of a harness that Remit has started, all ends with it
        if len(rows) > len(in_harness):
            await wait_for(ws, [each for each in rows if each not in in_harness], timeout_s=FINISH_S)
        return WaitResult(session_id, None, harness=in_harness[session_id])
    waited = await wait_for(ws, [*cancelled, session_id], timeout_s=FINISH_S)
    own = next(each for each in waited if each.session_id == session_id)
    if own.error is not None:
        raise own.error
    return own


def list_open(home: Home, session_id: str) -> list[str]:
    """The sessions of a run and all its nested runs that aren't finished."""
    own = load_run(home.ledger, session_id)
    rows = [] if own is None else list_runs(home.ledger, root_id=own.root_id, limit=_MAX_ROWS)
    below = {session_id}
    for row in reversed(rows):  # parents are older than their children
        if row.parent_id in below:
            below.add(row.session_id)
    return [row.session_id for row in reversed(rows) if row.session_id in below and row.state != "finished"]


def _is_in_harness(row: Run, now_ms: int) -> bool:
    """Whether only a harness can end an agent. Once its return is judged, any waiting process finishes the run."""
    return row.state == "running" and is_in_harness(row, now_ms)


async def _end_living(ws: Workspace, session_id: str) -> None:
    """End an agent that is alive although its run is finished."""
    while own := [each for each in list_living(ws.home) if each.session_id == session_id]:
        for attempt in own:
            send_control(attempt.folder, "cancel")
        await asyncio.sleep(_POLL_S)


def _is_below(ws: Workspace, session_id: str, above: str) -> bool:
    row: Run | None = load_run(ws.home.ledger, session_id)
    while row is not None and row.parent_id is not None:
        if row.parent_id == above:
            return True
        row = load_run(ws.home.ledger, row.parent_id)
    return False


def detach(ws: Workspace, request: Request) -> AdmittedRun:
    """Admit a request, and start a process of its own that supervises the run."""
    if request.function is not None:
        raise UsageError("a function runs only in this process", hint="start it with Workspace.start")
    if ws.supervisor.cluster is not None and TICKET in ws.environ:
        raise UsageError("a nested run on a worker ends with its caller", hint="wait for it: run it without --detach")
    presence = Presence(ws.home)
    try:
        prepared = ws.prepare(request._replace(awaited=False), owner=presence.id)
        try:
            start_supervisor(ws.home, prepared.row.session_id, presence, environ=ws.environ)
        except BaseException:  # a run whose start failed must not run later
            ws.supervisor.cancel(prepared.row.session_id, reason="its supervisor could not be started")
            raise
    except BaseException:
        presence.end()
        raise
    presence.hand_over()
    return prepared


async def drive_detached(ws: Workspace, session_id: str, *, held: int | None) -> Result:
    """Supervise a detached run until it is finished.

    `held` is the open file of the supervisor that owns the run until this process has claimed the run.
    """
    row = load_run(ws.home.ledger, session_id)
    if row is None:
        raise UsageError(f"there is no run {session_id}", hint="list all runs: remit ps --all")
    if held is None and row.state != "finished" and is_present(ws.home, row.owner):
        raise StateError(f"{session_id} is supervised by another process", hint=f"wait for it: remit wait {session_id}")
    if row.state != "finished" and claim(ws.home.ledger, row, ws.backend.id):
        await ws.backend.submit(session_id)
    if held is not None:
        with suppress(OSError):
            os.close(held)
        with suppress(StorageError):  # leftovers are harmless
            clear_departed(ws.home)
    return await ws.wait(session_id)
