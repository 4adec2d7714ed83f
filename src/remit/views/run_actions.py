"""Actions of the dashboard: start, cancel, resume and retry runs.

Runs that a user starts execute in their own process. A request from inside an agent needs the agent's ticket, whose
limits then apply; without a ticket it is refused.
"""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from remit.attempts.process_owner import find_enclosing
from remit.errors import RefusedError, RemitError
from remit.ledger.events import read_clock_ms
from remit.runs.admission.run_tree import load_tree
from remit.runs.admission.tickets import SESSION, TICKET, check_holder, find_within, hash_ticket
from remit.runs.hosted_runs import HostedRuns
from remit.runs.progress import is_in_harness
from remit.runs.request import Request, build_request
from remit.runs.resume_retry import make_resume, make_retry
from remit.runs.run_control import list_open
from remit.runs.workspace import Workspace
from remit.storage.peers import ConnectionEnd, Peers, find_maker, find_peers, load_environ
from remit.storage.process_ancestry import find_mark, list_above
from remit.storage.secrets import redact

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from remit.ledger.home import Home
    from remit.ledger.runs import Run
    from remit.model import Diagnostic
    from remit.runs.admission.admitted_run import AdmittedRun
    from remit.schemas import PossibleObject

_MOST_REASON = 500
_HINT = f"an agent uses its own tools, or sends its {TICKET}"


class ConnectionPeer(NamedTuple):
    """The two ends of a client's connection, and what identifies the client."""

    own: ConnectionEnd | None = None
    """The server's end of the connection; None if there is no connection."""
    other: ConnectionEnd | None = None
    """The client's end; None if the client disconnected before the check."""
    ticket: str = ""
    """The ticket of an agent; empty for a user."""
    is_browser: bool = False
    """Whether the client has a browser session, which agents never get."""


class StartedRun(NamedTuple):
    """A run that was started in its own process."""

    session_id: str
    agent: str
    diagnostics: tuple[Diagnostic, ...] = ()
    """What there is to say of the request."""


class CancelResult(NamedTuple):
    """The runs that were cancelled."""

    cancelled: tuple[str, ...]
    note: str


# --- who asks --------------------------------------------------------------------------------------------------------


def check_user(home: Home, asker: ConnectionPeer) -> None:
    """Raise if the client runs inside an agent, has disconnected, or can't be identified.

    The kernel's data on the connection decides. Without such data, the client counts as a user.
    """
    if asker.own is None:
        return
    peers = Peers(is_gone=True) if asker.other is None else find_peers(asker.own, asker.other)
    if peers.is_gone:
        raise RefusedError("the client disconnected before Remit could identify it", hint=_HINT)
    session_id = next(filter(None, (_find_agent(home, pid) for pid in (*peers.pids, *peers.hiding))), None)
    if session_id is not None:
        raise RefusedError(
            f"the request comes from an agent of {session_id} without its ticket", hint=_HINT, session_id=session_id
        )
    # What leads here from another machine hides, too: a browser may come that way.
    is_likely = bool(peers.hiding) and (asker.is_browser or peers.is_foreign)
    if peers.is_hidden and not is_likely:
        hint = "ask from a program that runs on this machine, or log in with a browser: remit serve --open"
        raise RefusedError("Remit can't identify the process that sent this request", hint=hint)


def is_another_user(asker: ConnectionPeer) -> bool:
    """Whether the client is known to be another user of this machine, and not root."""
    maker = None if asker.own is None or asker.other is None else find_maker(asker.own, asker.other)
    return maker is not None and maker not in (0, os.geteuid())


def _find_agent(home: Home, pid: int) -> str | None:
    """The session of the agent that a process belongs to; None for a process of the user."""
    environ = load_environ(pid)
    if TICKET in environ or SESSION in environ:
        return environ.get(SESSION) or "another session"
    if not home.is_made:
        return None
    return find_enclosing(home, pid) or find_within(home, marks=[find_mark(pid), *list_above(f"{pid}.")])


def _check_holder(home: Home, asker: ConnectionPeer) -> None:
    """Raise if the process that shows a ticket belongs to another agent. The ticket itself is checked later."""
    if asker.own is None or asker.other is None:
        return
    tree = load_tree(home, ticket=hash_ticket(asker.ticket))
    if tree is not None:
        for pid in find_peers(asker.own, asker.other).pids:
            check_holder(home, tree, pid)


def _open_serving(home: Home, asker: ConnectionPeer) -> HostedRuns:
    if asker.ticket:
        _check_holder(home, asker)
    else:
        check_user(home, asker)
    return HostedRuns(os.environ | ({TICKET: asker.ticket} if asker.ticket else {}))


# --- what is done ----------------------------------------------------------------------------------------------------


def delegate(home: Home, given: Mapping[str, Any], *, asker: ConnectionPeer) -> StartedRun:
    """Start a run from the fields of a request, in a process of its own."""
    return _begin(home, asker, lambda ws: build_request(ws, given))


def retry(home: Home, session_id: str, *, timeout_s: float | None = None, asker: ConnectionPeer) -> StartedRun:
    """Start a run from the request of a finished run."""
    return _begin(home, asker, lambda ws: make_retry(ws, session_id, _limit(timeout_s)))


def resume(
    home: Home, session_id: str, prompt: str, *, timeout_s: float | None = None, asker: ConnectionPeer
) -> StartedRun:
    """Start a run that continues the harness session of a finished run."""
    return _begin(home, asker, lambda ws: make_resume(ws, session_id, prompt, _limit(timeout_s)))


def _limit(timeout_s: float | None) -> dict[str, Any]:
    return {} if timeout_s is None else {"timeout_s": timeout_s}


def _begin(home: Home, asker: ConnectionPeer, ask: Callable[[Workspace], Request]) -> StartedRun:
    prepared: AdmittedRun = _open_serving(home, asker).detach(ask)
    return StartedRun(prepared.row.session_id, prepared.row.agent, prepared.diagnostics)


def cancel(home: Home, session_id: str, *, reason: str = "", asker: ConnectionPeer) -> CancelResult:
    """Cancel a run and its nested runs. Don't call it from a running event loop."""
    serving = _open_serving(home, asker)
    before = list_open(home, session_id)
    waited = asyncio.run(serving.cancel(session_id, reason=" ".join(reason.split())[:_MOST_REASON]))
    if waited.harness:
        note = f"only {waited.harness} can end it; Remit refuses its tools from now on"
    elif waited.result is None:
        note = "cancellation requested; the run hasn't ended yet"
    else:
        note = "" if before else "it had already finished"
    return CancelResult(tuple(before), note)


# --- what could be done ----------------------------------------------------------------------------------------------


def describe_actions(home: Home, row: Run) -> PossibleObject:
    """The possible actions on a run, and the reasons against the others."""
    if row.state == "finished":
        ws = Workspace(home.root, lenient=True)
        ws.home = home
        reasons = {
            "cancel": "It has finished.",
            "retry": _try(row, lambda: make_retry(ws, row.session_id, {})),
            "resume": _try(row, lambda: make_resume(ws, row.session_id, "", {})),
        }
    else:
        reasons = {"retry": "It hasn't finished.", "resume": "It hasn't finished."}
    why = {name: reason for name, reason in reasons.items() if reason}
    if row.state != "finished" and is_in_harness(row, read_clock_ms()):
        why["note"] = f"Only {row.runner} can end its agent: once cancelled, its tools are refused."
    return {"cancel": "cancel" not in why, "retry": "retry" not in why, "resume": "resume" not in why, "why": why}


def _try(row: Run, make: Callable[[], Request]) -> str:
    """Why a request isn't possible, as a sentence; empty if it is."""
    try:
        make()
    except RemitError as error:
        message = redact(str(error))
        message = f"It{message.removeprefix(row.session_id)}" if message.startswith(row.session_id) else message
        return f"{message[:1].upper()}{message[1:]}."
    return ""
