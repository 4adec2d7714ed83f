"""Handlers of the operations on runs."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from remit.server.endpoint import ApiAnswer
from remit.server.operations import BASE
from remit.server.parameters import DEFAULT_LIMIT
from remit.server.problems import missing
from remit.views.render import render_json

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from remit.ledger.home import Home
    from remit.schemas import (
        AnswerPageObject,
        CancelledObject,
        DiffObject,
        LogObject,
        RunDetailsObject,
        RunPageObject,
        TextPageObject,
        TreeObject,
    )
    from remit.server.endpoint import ApiRequest
    from remit.server.state import ServerContext
    from remit.views.run_actions import ConnectionPeer, StartedRun

_FILTERS = ("state", "agent", "verdict", "status", "stop_reason", "task", "q", "roots")


def open_workspace() -> closing[Home]:
    """Open the workspace for one request, because an open ledger can't be shared between threads."""
    from remit.views.run_snapshots import open_home

    return closing(open_home())


# --- views ------------------------------------------------------------------------------------------------


def list_runs(request: ApiRequest) -> RunPageObject:
    """List runs."""
    from remit.views import run_list

    wanted = run_list.RunQuery(**_read_task({name: request.query[name] for name in _FILTERS if name in request.query}))
    with open_workspace() as home:
        return run_list.list_runs(
            home, wanted, limit=request.query.get("limit", DEFAULT_LIMIT), cursor=request.query.get("cursor", "")
        )


def get_run(request: ApiRequest) -> RunDetailsObject:
    """Get a run."""
    from remit.views.run_details import load_run_details

    with open_workspace() as home, missing():
        return load_run_details(home, request.path["id"], result_format=request.query.get("format", ""))


def get_tree(request: ApiRequest) -> TreeObject:
    """Get the tree of a run."""
    from remit.views.run_tree import load_tree

    with open_workspace() as home, missing():
        return load_tree(home, request.path["id"])


def get_prompt(request: ApiRequest) -> TextPageObject:
    """Get the first message of an agent."""
    from remit.views.run_details import load_prompt_page

    with open_workspace() as home, missing():
        return load_prompt_page(home, request.path["id"], page=request.query.get("page", 1))


def get_answer(request: ApiRequest) -> AnswerPageObject:
    """Get an answer of an agent."""
    from remit.views.run_details import load_answer_page

    with open_workspace() as home, missing():
        return load_answer_page(home, request.path["id"], request.path["number"], page=request.query.get("page", 1))


def get_diff(request: ApiRequest) -> DiffObject:
    """Compare a file with its state when the run began."""
    from remit.views.diffs import load_diff

    with open_workspace() as home, missing():
        return load_diff(home, request.path["id"], request.query["path"])


def get_log(request: ApiRequest) -> LogObject:
    """Get lines of a log."""
    from remit.views.logs import load_log

    given = {name: request.query[name] for name in ("after", "attempt", "limit") if name in request.query}
    with missing():
        return load_log(request.path["id"], **given)


# --- what can be done ------------------------------------------------------------------------------------------------


def start_run(request: ApiRequest) -> ApiAnswer:
    """Start a run in its own process."""
    from remit.views import run_actions

    given = request.body
    return _start_run(request, "delegate", lambda home, asker: run_actions.delegate(home, given, asker=asker))


def retry_run(request: ApiRequest) -> ApiAnswer:
    """Start a run from the request of a finished one."""
    from remit.views import run_actions

    session_id, timeout_s = _find_session(request.path["id"]), request.body.get("timeout")
    return _start_run(
        request,
        f"retry {session_id}",
        lambda home, asker: run_actions.retry(home, session_id, timeout_s=timeout_s, asker=asker),
    )


def resume_run(request: ApiRequest) -> ApiAnswer:
    """Start a run that continues the session of a finished one."""
    from remit.views import run_actions

    session_id, prompt = _find_session(request.path["id"]), request.body["prompt"]
    return _start_run(
        request, f"resume {session_id}", lambda home, asker: run_actions.resume(home, session_id, prompt, asker=asker)
    )


def cancel_run(request: ApiRequest) -> CancelledObject:
    """Cancel a run and its nested runs."""
    from remit.views import run_actions

    session_id = _find_session(request.path["id"])
    with open_workspace() as home:
        ended = run_actions.cancel(home, session_id, reason=request.body.get("reason", ""), asker=_find_peer(request))
    return {"cancelled": [*ended.cancelled], "note": ended.note}


def _read_task(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields with the task number parsed as on the command line."""
    if "task" not in given:
        return dict(given)
    from remit.runs.tasks.task_numbers import parse_task

    return {**given, "task": parse_task(str(given["task"]))}


def _find_session(word: str) -> str:
    from remit.views.run_snapshots import load_row

    with open_workspace() as home, missing():
        return load_row(home, word).session_id


def _find_peer(request: ApiRequest) -> ConnectionPeer:
    """Return the peer of the connection, to find its process if it is on this machine."""
    ticket = request.headers.get("remit-ticket") or ""
    return make_peer(request.context, request.own, request.peer)._replace(
        ticket=ticket, is_browser=request.guest.kind == "cookie"
    )


def make_peer(context: ServerContext, own: tuple[str, int] | None, peer: tuple[str, int] | None) -> ConnectionPeer:
    """Return both ends of a connection; the other end is None if the client has already disconnected."""
    from remit.storage.peers import ConnectionEnd
    from remit.views.run_actions import ConnectionPeer

    return ConnectionPeer(
        ConnectionEnd(*(own or (context.place.host, context.place.port))),
        None if peer is None else ConnectionEnd(*peer),
    )


def check_user(request: ApiRequest) -> None:
    """Refuse a request of an agent that only the user may make."""
    from remit.views import run_actions

    with open_workspace() as home:
        run_actions.check_user(home, _find_peer(request))


def _start_run(request: ApiRequest, what: str, begin: Callable[[Home, ConnectionPeer], StartedRun]) -> ApiAnswer:
    """Begin some work, once for each key that it is request for with."""
    from remit.views.json_builders import build_started_run

    def act() -> ApiAnswer:
        with open_workspace() as home:
            begun = begin(home, _find_peer(request))
            started = build_started_run(home, begun.session_id, begun.diagnostics)
        return ApiAnswer(started, 201, {"Location": f"{BASE}/runs/{quote(begun.session_id)}"})

    fingerprint = f"{request.guest.id} {what} {render_json(dict(request.body))}"
    return request.context.kept.answer_once(request.headers.get("idempotency-key"), fingerprint, act)
