"""Start a run in the background.

Owns the handing over. It is admitted here, so that a refusal is told at once; then a process of its own drives it. At
every moment exactly one supervisor has it, and that supervisor lives.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from remit.attempts.background_supervisor import start_supervisor
from remit.errors import StateError, StorageError, UsageError
from remit.ledger.runs import load_run
from remit.ledger.slots import claim
from remit.runs.admission.tickets import TICKET
from remit.storage.supervisors import Presence, clear_departed, is_present

if TYPE_CHECKING:
    from remit.result import Result
    from remit.runs.admission.admitted_run import AdmittedRun
    from remit.runs.request import Request
    from remit.runs.workspace import Workspace


def detach(ws: Workspace, request: Request) -> AdmittedRun:
    """Admit a request, and leave it to a process of its own."""
    if request.function is not None:
        raise UsageError("a function runs in this process alone", hint="start it with Workspace.start")
    if ws.supervisor.cluster is not None and TICKET in ws.environ:
        raise UsageError("what an agent on a worker hands on ends with it", hint="wait for it: leave --detach out")
    presence = Presence(ws.home)
    try:
        prepared = ws.prepare(request._replace(awaited=False), owner=presence.id)
        try:
            start_supervisor(ws.home, prepared.row.session_id, presence, environ=ws.environ)
        except BaseException:  # whoever is told that it does not run must not find later that it did
            ws.supervisor.cancel(prepared.row.session_id, reason="its driver could not be started")
            raise
    except BaseException:
        presence.end()
        raise
    presence.hand_over()
    return prepared


async def drive(ws: Workspace, session_id: str, *, held: int | None) -> Result:
    """Take a delegation that was detached to its end.

    `held` is the open file of the supervisor that has it until it is claimed here.
    """
    row = load_run(ws.home.ledger, session_id)
    if row is None:
        raise UsageError(f"there is no delegation {session_id}", hint="remit ps --all shows what there is")
    if held is None and row.state != "finished" and is_present(ws.home, row.owner):
        raise StateError(f"{session_id} is driven by another process", hint=f"wait for it: remit wait {session_id}")
    if row.state != "finished" and claim(ws.home.ledger, row, ws.backend.id):
        await ws.backend.submit(session_id)
    if held is not None:
        with suppress(OSError):
            os.close(held)
        with suppress(StorageError):  # it is in nobody's way
            clear_departed(ws.home)
    return await ws.wait(session_id)
