"""Returning: a subagent has given its answer, and it is judged, sent back or handed over.

Owns what becomes of an answer. It is judged by the same engine and the same evidence as every other; one that does not
hold goes back to the agent a few times, and is then let through marked as what it is. What the caller gets is the
envelope, and what was settled is settled as after `remit run`.
"""

from __future__ import annotations

import json
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from remit.delegate.company import is_shared, list_below, list_written_by_others
from remit.delegate.endings import Ended, conclude
from remit.delegate.handed_on import HandedOn, load_handed_on
from remit.delegate.judgement import Scene, judge_answer, look_around
from remit.delegate.referee import answers
from remit.delegate.referee.tools import get_operation
from remit.delegate.referee.who import MAIN, find_own, find_transcript
from remit.delegate.report import add_steps, load_report, make_report, render_report
from remit.delegate.terms import read_terms
from remit.errors import RemitError
from remit.model import Expectation
from remit.runners.protocol import Heard, ToolUse, Usage
from remit.workspace.beginnings import load_beginning
from remit.workspace.evidence.kept import load_before
from remit.workspace.ledger.activity import list_acts
from remit.workspace.ledger.delegations import (
    Attempt,
    advance,
    begin_attempt,
    count_attempts,
    load_delegation,
    record_attempt,
)
from remit.workspace.ledger.events import add_event, load_last_event, read_clock_ms
from remit.workspace.ledger.refereed import (
    bind,
    count_block,
    find_by_agent,
    find_by_call,
    has_used_since,
    leave_word,
    list_awaited,
    list_tool_uses,
)
from remit.workspace.ledger.texts import keep_texts, load_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from remit.delegate.endings import Conclusion
    from remit.delegate.envelope import Envelope
    from remit.delegate.judgement import Judgement
    from remit.delegate.referee.events import Event
    from remit.delegate.terms import Terms
    from remit.model import Finding
    from remit.workspace.evidence.comparison import Change, Comparison
    from remit.workspace.home import Home
    from remit.workspace.ledger.delegations import Delegation
    from remit.workspace.ledger.refereed import Refereed
    from remit.workspace.ledger.store import Connection

_MAX_FINDINGS = 50
_MAX_REASON = 300
_MAX_ANSWER_CHARS = 6_000
"""More than that floods a caller that gets the answer itself."""
_ACCEPTED = ("accepted", "repaired")
_TAKEN_BACK = "the answer changed after it was accepted and settled: this is of the later one"


class _Told(NamedTuple):
    """What is told of the attempts of a refereed agent."""

    usage: Usage
    answer: str | None
    turns: tuple[int, ...]

    def check_held(self) -> Sequence[Finding]:
        return ()


# --- the agent stops -------------------------------------------------------------------------------------------------


def check_stop(event: Event, home: Home, environ: Mapping[str, str]) -> answers.Answer:
    """An agent wants to stop: let it, or send it back with what is wrong."""
    with home.ledger.transaction() as db:
        own = find_own(db, event)
    own = own or _adopt(event, home, environ)
    row = None if own is None else load_delegation(home.ledger, own.session_id)
    if own is None or row is None:
        return {}
    if not own.held:
        if row.state == "running" and not own.waited:
            let_go(home, row, "exited")
        return {}
    answer = event.message if isinstance(event.message, str) else ""
    if row.state != "running" and (own.agent_id == MAIN or _is_heard(home, row, answer)):
        return {}  # a whole session may go on after its return, and that is another matter
    lose_awaited(home, event.session, row.session_id)
    judgement = _judge(home, row, event, answer)
    if own.blocks and not event.stop_active and _is_last(home, row, answer):
        return _tell_back(row, judgement)  # the same event once more: who was sent back is known as such
    if row.state == "settled":
        _overrule(home, row, answer, judgement)
        return {}
    return _let_stop(home, own, row, answer, judgement)


def _let_stop(
    home: Home, own: Refereed, row: Delegation, answer: str, judgement: Judgement | None
) -> answers.Answer:  # fmt: skip
    """Write down what an answer is, or send it back."""
    if _is_cancelled(home, row):
        _conclude(home, row, answer, judgement, ending="cancelled")
    elif judgement is not None and judgement.accepted and row.state == "running" and _is_flood(own, answer):
        return _ask_for_less(home, own, row, answer, judgement)
    elif (judgement is None or not judgement.accepted) and own.blocks < read_terms(row.details).reasks:
        if row.state == "settling":  # what was accepted of it before counts no more
            _conclude(home, row, answer, judgement)
        else:
            _keep_attempt(home, row, answer, judgement, count_attempts(home.ledger, row.session_id) + 1)
        _count_block(home, own)
        return _tell_back(row, judgement)
    else:
        _conclude(home, row, answer, judgement)
    if not own.waited:  # else the caller's side settles it, as soon as the answer is there
        _warn_caller(home, own, settle(home, row))
    return {}


def _warn_caller(home: Home, own: Refereed, report: Envelope) -> None:
    """The caller gets this answer as it is: where it does not hold, it hears that with its next tool."""
    if report.outcome in _ACCEPTED or own.agent_id == MAIN:
        return
    told = (
        f"Remit: the return of {own.agent} ({own.session_id}) was not accepted: {report.status}, {report.outcome}. "
        f"Whatever it says, do not count on it; `remit show {own.session_id}` tells why."
    )
    with home.ledger.transaction() as db:
        leave_word(db, own, told)


def _adopt(event: Event, home: Home, environ: Mapping[str, str]) -> Refereed | None:
    """An agent that is seen for the first time when it stops: nothing is proved by files that were there before."""
    from remit.app.refereeing.admitting import adopt  # noqa: PLC0415 - rare, and it loads all that admission needs

    return adopt(event, home, environ)


def _is_last(home: Home, row: Delegation, answer: str) -> bool:
    """Whether an answer is word for word the one that was heard last."""
    number = count_attempts(home.ledger, row.session_id)
    last = load_text(home, row.session_id, f"answer-{number}") or b""
    return last == (answer.encode("utf-8", "surrogatepass") if answer.strip() else b"")


def _tell_back(row: Delegation, judgement: Judgement | None) -> answers.Answer:
    findings = () if judgement is None else judgement.findings
    from remit.delegate.briefing import render_reask  # noqa: PLC0415 - not for a return that is accepted

    return answers.block(render_reask(findings, dialect=read_terms(row.details).dialect, session_id=row.session_id))


def _count_block(home: Home, own: Refereed) -> None:
    with home.ledger.transaction() as db:
        if count_block(db, own.session_id, own.blocks):
            number = count_attempts(home.ledger, own.session_id)
            add_event(db, "sent_back", {"number": number}, session_id=own.session_id)


def _is_flood(own: Refereed, answer: str) -> bool:
    """Whether a long answer would reach its caller as it is, because the harness lets nobody replace it there."""
    return not own.waited and own.agent_id != MAIN and own.blocks == 0 and len(answer) > _MAX_ANSWER_CHARS


def _ask_for_less(
    home: Home, own: Refereed, row: Delegation, answer: str, judgement: Judgement
) -> answers.Answer:  # fmt: skip
    _keep_attempt(home, row, answer, judgement, count_attempts(home.ledger, row.session_id) + 1)
    _count_block(home, own)
    return answers.block(
        f"Your return is in order, but your caller gets the whole message, and it has {len(answer):,} characters. "
        "Send the return alone, as you had it: what belongs with it is in your files."
    )


def _is_cancelled(home: Home, row: Delegation) -> bool:
    return load_last_event(home.ledger, row.session_id, "cancel") is not None


# --- judging ---------------------------------------------------------------------------------------------------------


def _judge(home: Home, row: Delegation, event: Event, answer: str) -> Judgement | None:
    """What is to be thought of an answer; None where there is none."""
    if not answer.strip():
        return None
    terms = read_terms(row.details)
    expectation = Expectation(row.session_id, row.agent or None, terms.kind or None, row.depth, row.path)
    words: Any = terms.words
    scene = _make_scene(home, row, terms, _list_tools(home, row, event))
    return judge_answer(answer, scene, dialect=terms.dialect, expectation=expectation, words=words)


def _make_scene(home: Home, row: Delegation, terms: Terms, tools: tuple[ToolUse, ...] | None) -> Scene:
    digest = (load_text(home, row.session_id, "before") or b"").decode()
    before = load_before(home, row.session_id, digest) if terms.evidence else None
    since = _list_resumed(home, terms)
    shared = is_shared(home.ledger, row, terms.root, since=since)
    others = list_written_by_others(home.ledger, row, terms.root, since=since) if shared else frozenset()
    return Scene(
        terms.root, before, tools, shared, terms.manifest, terms.manifest_bytes, terms.topic, row.task_number,
        list_below(home.ledger, row.session_id), terms.evidence and before is None, others,
    )  # fmt: skip


def _list_resumed(home: Home, terms: Terms) -> dict[str, int]:
    """The delegations that this one goes on with, and when each began."""
    found: dict[str, int] = {}
    earlier = terms.resume_of
    while earlier and earlier not in found:
        row = load_delegation(home.ledger, earlier)
        found[earlier] = 0 if row is None else row.started_ms or row.created_ms
        earlier = "" if row is None else read_terms(row.details).resume_of
    return found


def _list_tools(home: Home, row: Delegation, event: Event) -> tuple[ToolUse, ...] | None:
    """What the agent used, as its hooks told; None where the harness knows of tools that they did not tell of."""
    sessions = (row.session_id, *_list_resumed(home, read_terms(row.details)))
    with home.ledger.reading() as db:
        told = [use for session_id in sessions for use in list_tool_uses(db, session_id)]
    if not told and _has_used(event):
        return None
    return tuple(ToolUse(tool, _get_operation(tool), path, failed, ran=failed) for tool, path, failed in told)


def _get_operation(tool: str) -> Any:  # noqa: ANN401 - one of the protocol's words
    return get_operation(tool)


def _has_used(event: Event) -> bool:
    """Whether the harness knows of tools that the agent used."""
    agent_id = event.agent_id
    if event.kind == "PostToolUse":  # it comes from the caller, and tells of the agent
        told = event.response if isinstance(event.response, dict) else {}
        count, agent_id = told.get("totalToolUseCount"), _read_agent_id(told)
        if type(count) is int:
            return count > 0
    text = load_beginning(find_transcript(event, agent_id)) if agent_id or event.agent else ""
    return '"tool_use"' in text or '"function_call"' in text or '"custom_tool_call"' in text


# --- concluding ------------------------------------------------------------------------------------------------------


def _conclude(
    home: Home, row: Delegation, answer: str, judgement: Judgement | None, *, ending: str = "exited", reason: str = ""
) -> None:
    """Write down what became of it; what follows from it on disk is settled afterwards."""
    terms = read_terms(row.details)
    number = count_attempts(home.ledger, row.session_id) + 1
    _keep_attempt(home, row, answer, judgement, number)
    scene = _make_scene(home, row, terms, None)
    grades = {} if judgement is None else judgement.grades
    written = _list_written(home, row)
    handed_on = HandedOn()
    comparison: Comparison | None = None
    unclaimed: tuple[Change, ...] = ()
    with suppress(RemitError):  # the folder is gone: there is nothing to tell of it
        handed_on = load_handed_on(home, (row.session_id, *_list_resumed(home, terms)), terms.root)
        is_below = partial(handed_on.has, written=written)
        comparison, unclaimed = look_around(scene, grades, _list_own_files(home), is_below)
    conclusion = conclude(
        Ended(
            ending, row.agent, Heard(answer or None), judgement, comparison, unclaimed, reason=reason,
            written=written, shared=scene.shared,
        )
    )  # fmt: skip
    now_ms = read_clock_ms()
    told = _Told(_load_usage(home, row), answer or None, tuple(range(number)))
    report = make_report(row, told, conclusion, ended_ms=now_ms)
    with home.ledger.transaction(durable=True) as db:
        keep_texts(home, row.session_id, {"report": render_report(report, conclusion)}, db=db)
        if row.state == "running":
            advance(
                db, row.session_id, "settling", ended_ms=now_ms, ending=conclusion.ending, outcome=conclusion.outcome,
                status=conclusion.status,
            )  # fmt: skip
        else:
            _write_over(db, row, conclusion)


def _write_over(db: Connection, row: Delegation, conclusion: Conclusion) -> None:
    """Put another word in the place of what the ledger says of a delegation."""
    db.execute(
        "UPDATE delegations SET ended_ms = ?, ending = ?, outcome = ?, status = ? WHERE session_id = ?",
        (read_clock_ms(), conclusion.ending, conclusion.outcome, conclusion.status, row.session_id),
    )
    told = {"status": conclusion.status, "outcome": conclusion.outcome}
    add_event(db, "overruled", told, session_id=row.session_id)


def _is_heard(home: Home, row: Delegation, answer: str) -> bool:
    """Whether an answer is the one that was judged last, or none, and nothing was done since."""
    from hashlib import sha256  # noqa: PLC0415 - once for each

    digest = sha256(answer.encode("utf-8", "surrogatepass")).hexdigest()
    if answer.strip() and digest != load_report(home, row.session_id)[0].answer:
        return False
    with home.ledger.reading() as db:
        return row.state == "settled" or not has_used_since(db, row.session_id, row.ended_ms or 0)


def _overrule(home: Home, row: Delegation, answer: str, judgement: Judgement | None) -> None:
    """Something else was said after all was settled. That can take back what is said of it, and never improve it.

    An agent that a second hook has sent back after it was accepted has said something else since.
    """
    report = load_report(home, row.session_id)[0]
    returned = None if judgement is None else judgement.returned
    if report.outcome not in _ACCEPTED or (returned is not None and returned.status in ("completed", report.status)):
        return
    told = conclude(Ended("exited", row.agent, Heard(answer), judgement))
    number = count_attempts(home.ledger, row.session_id) + 1
    _keep_attempt(home, row, answer, judgement, number)
    turns = _Told(_load_usage(home, row), answer, tuple(range(number)))
    later = make_report(row, turns, told, ended_ms=read_clock_ms())._replace(notes=(_TAKEN_BACK, *report.notes))
    with home.ledger.transaction(durable=True) as db:
        keep_texts(home, row.session_id, {"report": render_report(later, told)}, db=db)
        _write_over(db, row, told)


def _keep_attempt(home: Home, row: Delegation, answer: str, judgement: Judgement | None, number: int) -> None:
    """Keep the answer word for word before anything follows from it, and what was found in it."""
    findings = () if judgement is None else judgement.findings
    begin_attempt(home.ledger, row.session_id, number)
    attempt = Attempt(
        number, row.started_ms or 0, read_clock_ms(), "exited", None if judgement is None else judgement.outcome,
        f"answer-{number}",
        [{"code": each.code, "severity": each.severity, "message": each.message} for each in findings[:_MAX_FINDINGS]],
    )  # fmt: skip
    with home.ledger.transaction() as db:
        if answer.strip():
            keep_texts(home, row.session_id, {f"answer-{number}": answer.encode("utf-8", "surrogatepass")}, db=db)
        record_attempt(db, row.session_id, attempt)


def _list_written(home: Home, row: Delegation) -> frozenset[str]:
    with home.ledger.reading() as db:
        uses = list_tool_uses(db, row.session_id)
    return frozenset(path for tool, path, failed in uses if path and not failed and get_operation(tool) == "write")


def _list_own_files(home: Home) -> tuple[str, ...]:
    from remit.app.own_files import Kept, list_own_files  # noqa: PLC0415 - only for a return that is not sent back
    from remit.app.refereeing.roster import load_kept  # noqa: PLC0415

    return list_own_files(home.root, Kept(*load_kept(home)))


def _load_usage(home: Home, row: Delegation) -> Usage:
    with home.ledger.reading() as db:
        tokens, turns = db.execute(
            "SELECT tokens, turns FROM delegations WHERE session_id = ?", (row.session_id,)
        ).fetchone()
    return Usage(output_tokens=tokens, turns=turns)


def settle(home: Home, row: Delegation) -> Envelope:
    """Do on disk what follows from it: each step does only what is missing, so it may be done again."""
    from remit.app.delegating.settling import make_settle  # noqa: PLC0415 - 40 ms, and not for a return that is sent back
    from remit.app.settings import load_settings  # noqa: PLC0415
    from remit.workspace.settle import Step  # noqa: PLC0415

    report, conclusion = load_report(home, row.session_id)
    try:
        steps: tuple[Step, ...] = make_settle(home.root, load_settings(home.root))(row, conclusion)
    except RemitError as error:  # told with the rest, and no reason to have no result
        steps = (Step("settle", "failed", str(error)),)
    usage = _load_usage(home, row)  # the harness tells it after the agent has stopped
    report = add_steps(report._replace(usage=report.usage._replace(tokens=usage.tokens, turns=usage.turns)), steps)
    with home.ledger.transaction(durable=True) as db:
        now = load_delegation(home.ledger, row.session_id)
        if now is not None and now.state != "settled":
            keep_texts(home, row.session_id, {"report": render_report(report, conclusion)}, db=db)
            advance(db, row.session_id, "settled")
    return report


def let_go(home: Home, row: Delegation, ending: str) -> None:
    """An agent that was only looked on is over: nothing is said of what it answered."""
    with home.ledger.transaction() as db:
        advance(db, row.session_id, "settled", ended_ms=read_clock_ms(), ending=ending)
    if list_acts(home.ledger, row.session_id, only_untold=True):
        from remit.workspace.settle import tell_activity  # noqa: PLC0415 - only for one that has written

        with suppress(RemitError):  # it stays in the ledger
            tell_activity(home, row.session_id)


def lose(home: Home, row: Delegation, reason: str) -> None:
    """Bring a delegation to its end whose agent will not be heard of any more."""
    if row.state == "running" and not read_terms(row.details).settles:
        let_go(home, row, "orphaned")
        return
    if row.state == "running":
        _conclude(home, row, "", None, ending="orphaned", reason=reason)
    if row.state in ("running", "settling"):
        settle(home, row)


def lose_awaited(home: Home, harness_session: str, parent_id: str | None) -> None:
    """Whoever stops waits for nobody: a call that has not come back by then was refused by others, or broken off.

    Of an agent that was heard of only its harness's end says that much, where another agent has called it.
    """
    with home.ledger.reading() as db:
        left = list_awaited(db, harness_session, parent_id)
    for each in left:
        row = load_delegation(home.ledger, each.session_id)
        if row is not None and (parent_id is None or each.agent_id is None):
            lose(home, row, "its call never came back")


# --- the caller gets it ----------------------------------------------------------------------------------------------


def hand_over(event: Event, home: Home) -> answers.Answer:
    """The harness is about to give the answer to the caller: give it the envelope instead."""
    response: Mapping[str, Any] = event.response if isinstance(event.response, dict) else {}
    with home.ledger.reading() as db:
        own = find_by_call(db, event.session, event.tool_use_id)
        if own is None and isinstance(response.get("agentId"), str):
            own = find_by_agent(db, event.session, response["agentId"])
    row = None if own is None else load_delegation(home.ledger, own.session_id)
    if own is None or row is None:
        return {}
    if response.get("isAsync") is True or "content" not in response:  # the caller goes on, and the answer comes later
        _stop_waiting(home, own, _read_agent_id(event.response))
        return {}
    _note_usage(home, row, response)
    answer = _read_content(response)
    if not own.held:
        if row.state == "running":
            let_go(home, row, "exited")
        return {}
    # The harness may have ended it without asking, because a limit was reached or its model failed; and where a second
    # hook has sent the agent back after it was judged, the caller would get something else.
    if row.state == "running" or not _is_heard(home, row, answer):
        _hear_last(home, row, event, answer)
    report = settle(home, row) if row.state in ("running", "settling") else load_report(home, row.session_id)[0]
    return _replace(response, report, row)


def _hear_last(home: Home, row: Delegation, event: Event, answer: str) -> None:
    """Judge the answer that the caller would get."""
    judgement = _judge(home, row, event, answer)
    if row.state == "settled":
        _overrule(home, row, answer, judgement)
        return
    _conclude(home, row, answer, judgement, ending="cancelled" if _is_cancelled(home, row) else "exited")


def drop_call(event: Event, home: Home) -> None:
    """The harness could not start the agent, or lost it."""
    with home.ledger.reading() as db:
        own = find_by_call(db, event.session, event.tool_use_id)
    row = None if own is None else load_delegation(home.ledger, own.session_id)
    if row is not None:
        lose(home, row, " ".join(event.error.split())[:_MAX_REASON] or "the harness gave no reason")


def drop_broken(event: Event, home: Home) -> None:
    """The model of an agent failed, and it will not be heard of any more."""
    with home.ledger.transaction() as db:
        own = find_own(db, event)
    row = None if own is None else load_delegation(home.ledger, own.session_id)
    if own is not None and row is not None and not own.waited:
        why = event.message if isinstance(event.message, str) else event.error
        lose(home, row, " ".join(why.split())[:_MAX_REASON] or "its model failed")


def _read_agent_id(response: object) -> str:
    """What the harness calls the agent that it has started; Codex tells it in a text."""
    from remit.quick_json import parse_json  # noqa: PLC0415 - only here

    if isinstance(response, str):
        with suppress(ValueError):
            response = parse_json(response)
    told = response if isinstance(response, dict) else {}
    found = next((told[key] for key in ("agentId", "agent_id") if isinstance(told.get(key), str)), "")
    return found[:_MAX_REASON]


def _stop_waiting(home: Home, own: Refereed, agent_id: str) -> None:
    """The caller goes on at once, and hears of the answer by another way."""
    with home.ledger.transaction() as db:
        if own.agent_id is None and agent_id:
            bind(db, own.session_id, agent_id)
        db.execute("UPDATE refereed SET waited = 0 WHERE session_id = ?", (own.session_id,))
        db.execute("UPDATE delegations SET awaited = 0 WHERE session_id = ?", (own.session_id,))
    row = load_delegation(home.ledger, own.session_id)
    if row is not None and row.state == "settling":  # it was quicker than its call
        settle(home, row)


def _note_usage(home: Home, row: Delegation, response: Mapping[str, Any]) -> None:
    tokens = response.get("totalTokens")
    if type(tokens) is int and 0 <= tokens < 1 << 60:
        with home.ledger.transaction() as db:
            db.execute("UPDATE delegations SET tokens = ? WHERE session_id = ?", (tokens, row.session_id))


def _read_content(response: Mapping[str, Any]) -> str:
    """The words of an answer, as the harness gives them to the caller."""
    content = response.get("content")
    parts = content if isinstance(content, list) else []
    texts = [part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)]
    return content if isinstance(content, str) else "\n".join(texts)


def _replace(response: Mapping[str, Any], report: Envelope, row: Delegation) -> answers.Answer:
    """The answer of the tool with the envelope in its place."""
    from remit.delegate.envelope import DEFAULT_TOKENS, fit_envelope, render_envelope_json  # noqa: PLC0415 - only here

    tokens = read_terms(row.details).envelope_tokens
    if (
        not tokens and report.outcome in _ACCEPTED
    ):  # the workspace wants whole answers; a rejected one is told all the same
        return {}
    envelope = fit_envelope(report, tokens or DEFAULT_TOKENS)
    text = json.dumps(render_envelope_json(envelope), ensure_ascii=False, separators=(",", ":"))
    return answers.replace_output({**response, "content": [{"type": "text", "text": text}]})
