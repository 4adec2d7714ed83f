"""The tools on runs and returns: delegate, status, result, cancel, check_return and submit_return.

Each does what a command of the command line does, for a caller that the environment of this process identifies.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from remit.errors import UsageError
from remit.ledger.events import read_clock_ms
from remit.mcp.catalog import PAGE_CHARS
from remit.mcp.output_limits import Bounds, fit_diagnostics
from remit.views.json_builders import build_checked_return
from remit.views.render import count, render_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.mcp.tools import Call
    from remit.result import Result
    from remit.runs.progress import RunProgress
    from remit.runs.submit_return import OwnVerdict
    from remit.schemas import ResultAnswerObject, RunAnswerObject, RunListObject, RunObject, TextPageObject

_MAX_LISTED = 50
_MAX_OUTPUT_CHARS = 200


async def delegate(call: Call) -> RunAnswerObject:
    """Start a run, and wait for its result unless it is detached."""
    from remit.runs.request import build_request
    from remit.views.json_builders import build_request_diagnostics, build_result

    given = call.given
    if given.get("detach") and "wait_seconds" in given:
        raise UsageError("detach doesn't wait, but wait_seconds does", hint="pass only one of them")
    caller = given.get("caller", "")
    if given.get("detach"):
        prepared, result = call.hosted.detach(lambda ws: build_request(ws, given), caller=caller), None
    else:
        prepared, result = await call.hosted.delegate(
            lambda ws: build_request(ws, given),
            caller=caller,
            wait_s=given.get("wait_seconds"),
            report_progress=call.report_progress,
            on_begun=call.on_begun,
        )
    answer: RunAnswerObject = {
        "session_id": prepared.row.session_id, "agent": prepared.row.agent, "finished": result is not None,
    }  # fmt: skip
    if "schema" in given:  # the output schema describes the data of a named agent by that agent's own schema
        del answer["agent"]
    if prepared.diagnostics:
        answer["request_diagnostics"] = build_request_diagnostics(prepared.diagnostics)
    if result is None:
        answer["run"] = _load_run(prepared.row.session_id)
    else:
        answer["result"] = build_result(result)
    return answer


def _load_run(session_id: str) -> RunObject:
    from remit.views.json_builders import build_runs
    from remit.views.run_snapshots import open_home
    from remit.views.run_tree import list_subtree

    home = open_home()
    try:
        (run,) = build_runs(home, list_subtree(home, session_id)[:1])
    finally:
        home.close()
    fitted: RunObject = Bounds().fit(run)
    return fitted


def status(call: Call) -> RunListObject:
    """List runs."""
    from remit.views.json_builders import build_runs
    from remit.views.run_snapshots import find_session, list_snapshots, open_home
    from remit.views.run_tree import list_subtree

    home = open_home()
    try:
        if "session_id" in call.given:
            found = list_subtree(home, find_session(home, call.given["session_id"]))
        else:
            found = list_snapshots(home, everything=call.given.get("all", False))
        shown = build_runs(home, found[:_MAX_LISTED])
    finally:
        home.close()
    return {"items": Bounds().fit_each(shown), "total": len(found)}


async def result(call: Call) -> ResultAnswerObject:
    """Get the result of a run."""
    session_id = await asyncio.to_thread(_find_session, call.given["session_id"])
    wait_s = call.given.get("wait_seconds", 0)
    if wait_s:
        if call.on_begun is not None:
            call.on_begun()
        await call.hosted.wait(session_id, wait_s=wait_s, report_progress=call.report_progress)
    return await asyncio.to_thread(_load_result, session_id, call.given)


def _find_session(word: str) -> str:
    from remit.views.run_snapshots import find_session, open_home

    home = open_home()
    try:
        return find_session(home, word)
    finally:
        home.close()


def _load_result(session_id: str, given: Mapping[str, Any]) -> ResultAnswerObject:
    from remit.runs.text_pages import load_answer
    from remit.views.json_builders import build_result, build_text_page
    from remit.views.run_details import load_record
    from remit.views.run_snapshots import open_home

    part, page = given.get("part", "result"), given.get("page", 1)
    home = open_home()
    try:
        record = load_record(home, session_id)
        answer = load_answer(home, session_id) if part == "answer" else ""
    finally:
        home.close()
    report = record.report if not record.snapshot.is_open else None
    if part == "answer":
        cut = build_text_page(answer, page, size=PAGE_CHARS)
        return _build_text_answer(session_id, part, cut, over=report is not None)
    if report is None:
        return {"session_id": session_id, "finished": False, "run": _load_run(session_id)}
    if part == "report":
        cut = build_text_page(render_json(build_result(report), indent=1), page, size=PAGE_CHARS)
        return _build_text_answer(session_id, part, cut, over=True)
    result = build_result(_fit_short(report, record.config.result_tokens))
    return {"session_id": session_id, "finished": True, "result": result}


def _build_text_answer(session_id: str, part: str, cut: TextPageObject, *, over: bool) -> ResultAnswerObject:
    return {
        "session_id": session_id, "finished": over, "part": part, "text": cut["text"], "page": cut["page"],
        "pages": cut["pages"], "characters": cut["characters"],
    }  # fmt: skip


def _fit_short(report: Result, max_tokens: int) -> Result:
    from remit.result import DEFAULT_TOKENS
    from remit.runs.results.fit_budget import fit_result

    return fit_result(report, max_tokens=max_tokens or DEFAULT_TOKENS)


def load_result(session_id: str) -> ResultAnswerObject:
    """The short result of a run, or the run if it hasn't finished."""
    return _load_result(_find_session(session_id), {})


async def cancel(call: Call) -> RunAnswerObject:
    """Cancel a run and its nested runs."""
    from remit.views.json_builders import build_result

    session_id = await asyncio.to_thread(_find_session, call.given["session_id"])
    reason = " ".join(call.given.get("reason", "").split())
    waited = await call.hosted.cancel(session_id, reason=reason, caller=call.given.get("caller", ""))
    if waited.result is not None:
        result = build_result(waited.result)
        return {"session_id": session_id, "agent": waited.result.agent, "finished": True, "result": result}
    answer: RunAnswerObject = {"session_id": session_id, "finished": False, "run": _load_run(session_id)}
    if waited.harness:
        from remit.runs.run_control import describe_open

        answer["harness"], answer["message"] = waited.harness, describe_open(waited)
    return answer


# --- returns ---------------------------------------------------------------------------------------------------------


def check_return(call: Call) -> dict[str, Any]:
    """Check a final message before the agent sends it."""
    from remit.runs.submit_return import ClaimedIdentity, check_own
    from remit.runs.workspace import Workspace

    given = call.given
    claimed = ClaimedIdentity(given.get("format"), given.get("session_id"), given.get("agent"))
    ws = Workspace.open(environ=call.hosted.speak_for(given.get("caller", "")))
    try:
        verdict = check_own(ws, given["message"], claimed)
    finally:
        ws.home.close()
    return _build_own_verdict(verdict)


def submit_return(call: Call) -> dict[str, Any]:
    """Check a return and submit it as the return of the caller's run."""
    from remit.runs.submit_return import submit_own
    from remit.runs.workspace import Workspace

    ws = Workspace.open(environ=call.hosted.speak_for(call.given.get("caller", "")), lenient=True)
    try:
        verdict, is_kept = submit_own(ws, call.given["message"])
    finally:
        ws.home.close()
    return {"submitted": is_kept} | _build_own_verdict(verdict)


def _build_own_verdict(verdict: OwnVerdict) -> dict[str, Any]:
    fitted: dict[str, Any] = Bounds().fit({**build_checked_return(verdict._replace(diagnostics=()), "message")})
    return fitted | fit_diagnostics([(diagnostic, "message") for diagnostic in verdict.diagnostics])


def render_progress(seen: list[RunProgress]) -> str:
    """The progress of a run and its nested runs in one line."""
    if not seen:
        return "at work"
    open_ones = [each for each in seen if each.row.state != "finished"] or seen[:1]
    last = max(open_ones, key=lambda each: each.activity_ms or 0)
    state = "waits for a free place" if last.is_queued else "at work"
    doing = last.activity if last.check is None else last.check.describe(read_clock_ms())
    said = " ".join(Bounds().text(doing, _MAX_OUTPUT_CHARS).split())
    others = f" ({count(len(open_ones), 'agent')} at work)" if len(open_ones) > 1 else ""
    return f"{last.row.agent}: {said or state}{others}"
