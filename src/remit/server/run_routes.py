"""Handlers of the operations on runs."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from remit.server.endpoint import ApiAnswer
from remit.server.operations import BASE
from remit.server.parameters import USUAL
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
    """The workspace, for one request: what it opens is not shared between threads."""
    from remit.views.run_snapshots import open_home

    return closing(open_home())


# --- what can be seen ------------------------------------------------------------------------------------------------


def list_runs(asked: ApiRequest) -> RunPageObject:
    """List runs."""
    from remit.views import run_list

    wanted = run_list.RunQuery(**_read_task({name: asked.query[name] for name in _FILTERS if name in asked.query}))
    with open_workspace() as home:
        return run_list.list_runs(
            home, wanted, limit=asked.query.get("limit", USUAL), cursor=asked.query.get("cursor", "")
        )


def get_run(asked: ApiRequest) -> RunDetailsObject:
    """Get a run."""
    from remit.views.run_details import load_run_details

    with open_workspace() as home, missing():
        return load_run_details(home, asked.path["id"], result_format=asked.query.get("format", ""))


def get_tree(asked: ApiRequest) -> TreeObject:
    """Get the tree of a run."""
    from remit.views.run_tree import load_tree

    with open_workspace() as home, missing():
        return load_tree(home, asked.path["id"])


def get_prompt(asked: ApiRequest) -> TextPageObject:
    """Get the first message of an agent."""
    from remit.views.run_details import load_prompt_page

    with open_workspace() as home, missing():
        return load_prompt_page(home, asked.path["id"], page=asked.query.get("page", 1))


def get_answer(asked: ApiRequest) -> AnswerPageObject:
    """Get an answer of an agent."""
    from remit.views.run_details import load_answer_page

    with open_workspace() as home, missing():
        return load_answer_page(home, asked.path["id"], asked.path["number"], page=asked.query.get("page", 1))


def get_diff(asked: ApiRequest) -> DiffObject:
    """Compare a file with its state when the run began."""
    from remit.views.diffs import load_diff

    with open_workspace() as home, missing():
        return load_diff(home, asked.path["id"], asked.query["path"])


def get_log(asked: ApiRequest) -> LogObject:
    """Get lines of a log."""
    from remit.views.logs import load_log

    given = {name: asked.query[name] for name in ("after", "attempt", "limit") if name in asked.query}
    with missing():
        return load_log(asked.path["id"], **given)


# --- what can be done ------------------------------------------------------------------------------------------------


def start_run(asked: ApiRequest) -> ApiAnswer:
    """Start a run in its own process."""
    from remit.views import run_actions

    given = asked.body
    return _begin(asked, "delegate", lambda home, asker: run_actions.delegate(home, given, asker=asker))


def retry_run(asked: ApiRequest) -> ApiAnswer:
    """Start a run from the request of a finished one."""
    from remit.views import run_actions

    session_id, timeout_s = _find_session(asked.path["id"]), asked.body.get("timeout")
    return _begin(
        asked,
        f"retry {session_id}",
        lambda home, asker: run_actions.retry(home, session_id, timeout_s=timeout_s, asker=asker),
    )


def resume_run(asked: ApiRequest) -> ApiAnswer:
    """Start a run that continues the session of a finished one."""
    from remit.views import run_actions

    session_id, prompt = _find_session(asked.path["id"]), asked.body["prompt"]
    return _begin(
        asked, f"resume {session_id}", lambda home, asker: run_actions.resume(home, session_id, prompt, asker=asker)
    )


def cancel_run(asked: ApiRequest) -> CancelledObject:
    """Cancel a run and its nested runs."""
    from remit.views import run_actions

    session_id = _find_session(asked.path["id"])
    with open_workspace() as home:
        ended = run_actions.cancel(home, session_id, reason=asked.body.get("reason", ""), asker=_name_asker(asked))
    return {"cancelled": [*ended.cancelled], "note": ended.note}


def _read_task(given: Mapping[str, Any]) -> dict[str, Any]:
    """The same with the task as the command line reads it."""
    if "task" not in given:
        return dict(given)
    from remit.runs.tasks.task_numbers import parse_task

    return {**given, "task": parse_task(str(given["task"]))}


def _find_session(word: str) -> str:
    from remit.views.run_snapshots import load_row

    with open_workspace() as home, missing():
        return load_row(home, word).session_id


def _name_asker(asked: ApiRequest) -> ConnectionPeer:
    """Who is at the other end of the connection, as far as it is of this machine."""
    ticket = asked.headers.get("remit-ticket") or ""
    return name_ends(asked.desk, asked.own, asked.peer)._replace(ticket=ticket, is_browser=asked.guest.kind == "cookie")


def name_ends(desk: ServerContext, own: tuple[str, int] | None, peer: tuple[str, int] | None) -> ConnectionPeer:
    """The two ends of a connection; one that was broken off before it was taken has no other."""
    from remit.storage.peers import ConnectionEnd
    from remit.views.run_actions import ConnectionPeer

    return ConnectionPeer(
        ConnectionEnd(*(own or (desk.place.host, desk.place.port))), None if peer is None else ConnectionEnd(*peer)
    )


def check_person(asked: ApiRequest) -> None:
    """Refuse what only people ask for, where an agent does."""
    from remit.views import run_actions

    with open_workspace() as home:
        run_actions.check_person(home, _name_asker(asked))


def _begin(asked: ApiRequest, what: str, begin: Callable[[Home, ConnectionPeer], StartedRun]) -> ApiAnswer:
    """Begin some work, once for each key that it is asked for with."""
    from remit.views.json_objects import build_started_run

    def act() -> ApiAnswer:
        with open_workspace() as home:
            begun = begin(home, _name_asker(asked))
            started = build_started_run(home, begun.session_id, begun.findings)
        return ApiAnswer(started, 201, {"Location": f"{BASE}/runs/{quote(begun.session_id)}"})

    fingerprint = f"{asked.guest.id} {what} {render_json(dict(asked.body))}"
    return asked.desk.kept.carry_out(asked.headers.get("idempotency-key"), fingerprint, act)
