"""Result handover: the caller of a subagent gets the verified result in place of the subagent's answer.

A return that was judged when the agent stopped is only finished here, as after `remit run`; another answer is judged
first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from remit.harnesses import claude
from remit.hooks import replies
from remit.hooks.finish_subagent import (
    end_observed,
    is_already_judged,
    judge_again_if_changed,
    note_tokens,
    run_finish_steps,
)
from remit.hooks.result_text import render_result, render_verdict
from remit.hooks.session_lookup import read_agent_id
from remit.ledger.hook_runs import bind, find_by_agent, find_by_call
from remit.ledger.runs import load_run
from remit.runs.results.full_result import load_report

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.hooks.events import HookEvent
    from remit.ledger.home import Home
    from remit.ledger.hook_runs import HookRun


_UNKNOWN = (
    "Remit doesn't know this form of answer, so it hasn't checked the return of {}: don't rely on it until Remit "
    "reports the verdict."
)


def hand_over(event: HookEvent, home: Home) -> replies.Answer:
    """Return the result that replaces the answer which the harness is about to give to the caller."""
    response: Mapping[str, Any] = event.response if isinstance(event.response, dict) else {}
    with home.ledger.reading() as db:
        own = find_by_call(db, event.session, event.tool_use_id)
        if own is None and (agent_id := read_agent_id(response)):
            own = find_by_agent(db, event.session, agent_id)
    row = None if own is None else load_run(home.ledger, own.session_id)
    if own is None or row is None:
        return {}
    answer = None if claude.is_launched(response) else claude.read_answer(response)
    if answer is None:  # the caller continues, and the answer comes later
        _stop_waiting(home, own, event)
        is_known = event.harness != "claude" or claude.is_launched(response)
        return {} if is_known or not own.enforced else replies.add_context(event.kind, _UNKNOWN.format(own.agent))
    tokens = claude.read_tokens(response)
    if tokens is not None:
        note_tokens(home, row, tokens)
    if not own.enforced:
        if row.state == "running":
            end_observed(home, row, "exited")
        return {}
    # The harness may have ended it without asking, because a limit was reached or its model failed; and where a second
    # hook has sent the agent back after it was judged, the caller would get something else.
    if row.state == "running" or not is_already_judged(home, row, answer):
        from remit.hooks.judge_return import judge_last_message

        judge_last_message(home, row, event, answer)
    else:
        judge_again_if_changed(home, row, event)
    report = (
        run_finish_steps(home, row) if row.state in ("running", "finishing") else load_report(home, row.session_id)[0]
    )
    text = render_result(row, report)
    if not text:  # the settings ask for whole answers, and it is accepted
        return {}
    beside = render_verdict(row, report) if event.harness == "claude" else ""
    return replies.replace_output(claude.replace_answer(response, text), beside)


def _stop_waiting(home: Home, own: HookRun, event: HookEvent) -> None:
    """Record that the caller continues at once and gets the answer in another way."""
    agent_id = read_agent_id(event.response)
    with home.ledger.transaction() as db:
        if own.agent_id is None and agent_id:
            bind(db, own.session_id, agent_id)
        db.execute("UPDATE hook_runs SET waited = 0 WHERE session_id = ?", (own.session_id,))
        db.execute("UPDATE runs SET awaited = 0 WHERE session_id = ?", (own.session_id,))
    row = load_run(home.ledger, own.session_id)
    if row is not None and row.state == "finishing":  # it was quicker than its call
        judge_again_if_changed(home, row, event)
        run_finish_steps(home, row)
