"""Actions of the dashboard: start, cancel, resume and retry runs.

Owns what can be done about a delegation, and who may. What a person asks for goes on in a process of its own. An agent
is no person: who runs inside one says so with its ticket, and is held to it; else it is refused.
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
_HINT = f"an agent delegates with its own tools, or shows its {TICKET}"


class ConnectionPeer(NamedTuple):
    """Who asks through a connection of this machine."""

    own: ConnectionEnd | None = None
    """The server's end of it; None where there is no connection to look at."""
    other: ConnectionEnd | None = None
    """None where it was gone before anybody looked."""
    ticket: str = ""
    """What proves which agent it is; empty for a person."""
    is_browser: bool = False
    """Whether it has a session, which no agent is given."""


class StartedRun(NamedTuple):
    """Work that goes on by itself."""

    session_id: str
    agent: str
    findings: tuple[Diagnostic, ...] = ()
    """What there is to say of the request."""


class CancelResult(NamedTuple):
    """What was told to end."""

    cancelled: tuple[str, ...]
    note: str


# --- who asks --------------------------------------------------------------------------------------------------------


def check_person(home: Home, asker: ConnectionPeer) -> None:
    """Raise where who asks runs inside an agent, does not wait for an answer, or hides.

    What the system keeps of the connection counts. Where the system keeps nothing of it, it is a person.
    """
    if asker.own is None:
        return
    peers = Peers(is_gone=True) if asker.other is None else find_peers(asker.own, asker.other)
    if peers.is_gone:
        raise RefusedError("whoever asked for this has gone, and nobody can tell who it was", hint=_HINT)
    session_id = next(filter(None, (_find_agent(home, pid) for pid in (*peers.pids, *peers.hiding))), None)
    if session_id is not None:
        raise RefusedError(f"an agent of {session_id} asks here and shows no ticket", hint=_HINT, session_id=session_id)
    # What leads here from another machine hides, too: a browser may come that way.
    is_likely = bool(peers.hiding) and (asker.is_browser or peers.is_foreign)
    if peers.is_hidden and not is_likely:
        hint = "ask from a program that runs on this machine, or log in with a browser: remit serve --open"
        raise RefusedError("nobody can tell which process asks for this", hint=hint)


def is_another_user(asker: ConnectionPeer) -> bool:
    """Whether who asks is known to be another user of this machine than this process, and not root."""
    maker = None if asker.own is None or asker.other is None else find_maker(asker.own, asker.other)
    return maker is not None and maker not in (0, os.geteuid())


def _find_agent(home: Home, pid: int) -> str | None:
    """The session of the agent that a process runs inside; None for a person's."""
    environ = load_environ(pid)
    if TICKET in environ or SESSION in environ:
        return environ.get(SESSION) or "another session"
    if not home.is_made:
        return None
    return find_enclosing(home, pid) or find_within(home, marks=[find_mark(pid), *list_above(f"{pid}.")])


def _check_holder(home: Home, asker: ConnectionPeer) -> None:
    """Raise where the process that shows a ticket belongs to another agent. The ticket itself is looked up later."""
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
        check_person(home, asker)
    return HostedRuns(os.environ | ({TICKET: asker.ticket} if asker.ticket else {}))


# --- what is done ----------------------------------------------------------------------------------------------------


def delegate(home: Home, given: Mapping[str, Any], *, asker: ConnectionPeer) -> StartedRun:
    """Start a run from the fields of a request, in a process of its own."""
    return _begin(home, asker, lambda ws: build_request(ws, given))


def retry(home: Home, session_id: str, *, timeout_s: float | None = None, asker: ConnectionPeer) -> StartedRun:
    """Ask for the same once more, from the beginning."""
    return _begin(home, asker, lambda ws: make_retry(ws, session_id, _limit(timeout_s)))


def resume(
    home: Home, session_id: str, prompt: str, *, timeout_s: float | None = None, asker: ConnectionPeer
) -> StartedRun:
    """Go on with what was cut short, in the session of its harness."""
    return _begin(home, asker, lambda ws: make_resume(ws, session_id, prompt, _limit(timeout_s)))


def _limit(timeout_s: float | None) -> dict[str, Any]:
    return {} if timeout_s is None else {"timeout_s": timeout_s}


def _begin(home: Home, asker: ConnectionPeer, ask: Callable[[Workspace], Request]) -> StartedRun:
    prepared: AdmittedRun = _open_serving(home, asker).detach(ask)
    return StartedRun(prepared.row.session_id, prepared.row.agent, prepared.findings)


def cancel(home: Home, session_id: str, *, reason: str = "", asker: ConnectionPeer) -> CancelResult:
    """End a delegation and all below it; not to be called where an event loop runs."""
    serving = _open_serving(home, asker)
    before = list_open(home, session_id)
    waited = asyncio.run(serving.cancel(session_id, reason=" ".join(reason.split())[:_MOST_REASON]))
    if waited.harness:
        note = f"only {waited.harness} can end it: from now on its tools are refused"
    elif waited.result is None:
        note = "it was told to end, and is not over yet"
    else:
        note = "" if before else "it had already finished"
    return CancelResult(tuple(before), note)


# --- what could be done ----------------------------------------------------------------------------------------------


def describe_actions(home: Home, row: Run) -> PossibleObject:
    """What can be done about a delegation, and why the rest cannot."""
    if row.state == "finished":
        ws = Workspace(home.root, lenient=True)
        ws.home = home
        told = {
            "cancel": "It is over.",
            "retry": _try(row, lambda: make_retry(ws, row.session_id, {})),
            "resume": _try(row, lambda: make_resume(ws, row.session_id, "", {})),
        }
    else:
        told = {"retry": "It is not over.", "resume": "It is not over."}
    why = {name: reason for name, reason in told.items() if reason}
    if row.state != "finished" and is_in_harness(row, read_clock_ms()):
        why["note"] = f"Only {row.runner} can end its agent: once cancelled, its tools are refused."
    return {"cancel": "cancel" not in why, "retry": "retry" not in why, "resume": "resume" not in why, "why": why}


def _try(row: Run, make: Callable[[], Request]) -> str:
    """Why a request cannot be made, as a sentence; empty where it can."""
    try:
        make()
    except RemitError as error:
        told = redact(str(error))
        told = f"It{told.removeprefix(row.session_id)}" if told.startswith(row.session_id) else told
        return f"{told[:1].upper()}{told[1:]}."
    return ""
