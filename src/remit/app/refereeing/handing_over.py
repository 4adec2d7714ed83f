"""Handing over: the harness is about to give a caller the answer of a subagent, and gives it the envelope instead.

Owns that exchange. What was judged when the agent stopped is only settled here, as after `remit run`; an answer that is
another one is judged first.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from remit.app.refereeing.settling import is_heard, let_go, look_again, settle
from remit.delegate.admission.terms import read_terms
from remit.delegate.referee import answers
from remit.delegate.referee.who import read_agent_id
from remit.delegate.reporting.report import load_report
from remit.model import ACCEPTABLE
from remit.workspace.ledger.delegations import load_delegation
from remit.workspace.ledger.refereed import bind, find_by_agent, find_by_call

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.delegate.referee.events import Event
    from remit.delegate.reporting.envelope import Envelope
    from remit.workspace.home import Home
    from remit.workspace.ledger.delegations import Delegation
    from remit.workspace.ledger.refereed import Refereed


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
        _stop_waiting(home, own, event)
        return {}
    _note_usage(home, row, response)
    answer = _read_content(response)
    if not own.held:
        if row.state == "running":
            let_go(home, row, "exited")
        return {}
    # The harness may have ended it without asking, because a limit was reached or its model failed; and where a second
    # hook has sent the agent back after it was judged, the caller would get something else.
    if row.state == "running" or not is_heard(home, row, answer):
        from remit.app.refereeing.judging import hear_last  # noqa: PLC0415 - most were judged when they stopped

        hear_last(home, row, event, answer)
    else:
        look_again(home, row, event)
    report = settle(home, row) if row.state in ("running", "settling") else load_report(home, row.session_id)[0]
    return _replace(response, report, row)


def _stop_waiting(home: Home, own: Refereed, event: Event) -> None:
    """The caller goes on at once, and hears of the answer by another way."""
    agent_id = read_agent_id(event.response)
    with home.ledger.transaction() as db:
        if own.agent_id is None and agent_id:
            bind(db, own.session_id, agent_id)
        db.execute("UPDATE refereed SET waited = 0 WHERE session_id = ?", (own.session_id,))
        db.execute("UPDATE delegations SET awaited = 0 WHERE session_id = ?", (own.session_id,))
    row = load_delegation(home.ledger, own.session_id)
    if row is not None and row.state == "settling":  # it was quicker than its call
        look_again(home, row, event)
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
    from remit.delegate.reporting.envelope import DEFAULT_TOKENS, render_envelope_json  # noqa: PLC0415 - only here
    from remit.delegate.reporting.fitting import fit_envelope  # noqa: PLC0415

    tokens = read_terms(row.details).envelope_tokens
    if not tokens and report.outcome in ACCEPTABLE:  # whole answers are wanted here; a rejected one is told anyway
        return {}
    envelope = fit_envelope(report, tokens or DEFAULT_TOKENS)
    text = json.dumps(render_envelope_json(envelope), ensure_ascii=False, separators=(",", ":"))
    return answers.replace_output({**response, "content": [{"type": "text", "text": text}]})
