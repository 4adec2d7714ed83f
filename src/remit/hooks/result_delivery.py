"""Result delivery: the caller of a subagent gets the verified result in place of the subagent's answer, or beside it.

A return that was judged when the agent stopped only gets its finish steps here; any other answer is judged first. A
harness presents a replaced answer as the agent's own words, so Remit's verdict goes beside it.

Claude Code delivers the answer of an agent in the background as a notification, which Remit can't replace. It calls
UserPromptSubmit with the notification, and the text that the hook adds is in the same request of the caller's model.
Asking the agent itself for another last message was rejected: the verdict would depend on the agent that has just been
found wrong, and each rejected run would cost one more turn.

If the agent's own caller is over, the session gets the notification, so the run is looked up by the agent's id alone. A
caller that is an agent gets its notification without an event: it gets the verdict after its next tool call, and can't
stop without it (`leave_message`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from remit.harnesses import claude
from remit.harnesses.claude import read_notifications
from remit.hooks import replies
from remit.hooks.finish_subagent import (
    end_observed,
    is_already_judged,
    judge_again_if_changed,
    note_tokens,
    run_finish_steps,
)
from remit.hooks.session_lookup import read_agent_id
from remit.ledger.hook_runs import bind, drop_message, find_by_agent, find_by_call, take_messages
from remit.ledger.runs import load_run
from remit.model import ACCEPTABLE, NOTHING
from remit.runs.admission.run_config import read_run_config
from remit.runs.results.full_result import load_report, render_sentence

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.harnesses.claude import Notification
    from remit.hooks.events import HookEvent
    from remit.ledger.home import Home
    from remit.ledger.hook_runs import HookRun
    from remit.ledger.runs import Run
    from remit.result import Result


def render_result(row: Run, report: Result) -> str:
    """Return the result within the token budget; empty if the workspace wants whole answers and it is accepted.

    In the `manifest` format, the result is the sentence of the return, with a line of Remit's if it was not accepted.
    """
    from remit.result import DEFAULT_TOKENS
    from remit.runs.results.fit_budget import fit_result, render_text

    config = read_run_config(row.details)
    if not config.result_tokens and report.verdict in ACCEPTABLE and not report.is_lowered_by_checks:
        return ""
    sentence = render_sentence(report)
    return sentence or render_text(fit_result(report, config.result_tokens or DEFAULT_TOKENS).to_dict())


def render_verdict(row: Run, report: Result) -> str:
    """Remit's verdict on a return, in a sentence or two."""
    if report.is_lowered_by_checks:
        why = "".join(f" {error.message}. {error.recommendation}." for error in report.errors[:1])
        return f"Remit: the return of {row.agent} ({row.session_id}) is {report.status}, not completed:{why}"
    if report.verdict in ACCEPTABLE:
        return f"Remit checked the return of {row.agent} ({row.session_id}): {report.status}, {report.verdict}."
    if report.verdict == "unproven":
        why = "".join(f" {error.message}. {error.recommendation}." for error in report.errors[:1])
        return f"Remit: the return of {row.agent} ({row.session_id}) is {report.status}, unproven:{why}"
    return (
        f"Remit: the return of {row.agent} ({row.session_id}) was not accepted: {report.status}, {report.verdict}. "
        f"Don't rely on it; `remit show {row.session_id}` shows why."
    )


_UNKNOWN = (
    "Remit doesn't know this form of answer, so it hasn't checked the return of {}: don't rely on it until Remit "
    "reports the verdict."
)


def deliver_result(event: HookEvent, home: Home, environ: Mapping[str, str]) -> replies.Answer:
    """Return the result that replaces the answer in the harness's response to the caller."""
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
        _stop_waiting(home, own, event, environ)
        is_known = event.harness != "claude" or claude.is_launched(response)
        return {} if is_known or not own.enforced else replies.add_context(event.kind, _UNKNOWN.format(own.agent))
    tokens = claude.read_tokens(response)
    if tokens is not None:
        note_tokens(home, row, tokens)
    if not own.enforced:
        if row.state == "running":
            end_observed(home, row, "exited")
        return {}
    # The harness may have ended the agent without a hook, because of a limit or a failed model. A second hook may also
    # have sent the agent back after its return was judged, so the answer is another one.
    if row.state == "running" or not is_already_judged(home, row, answer):
        from remit.hooks.judge_return import judge_last_message

        judge_last_message(home, row, event, answer, environ)
    else:
        judge_again_if_changed(home, row, event, environ)
    report = (
        run_finish_steps(home, row) if row.state in ("running", "finishing") else load_report(home, row.session_id)[0]
    )
    text = render_result(row, report)
    if not text:  # the settings ask for whole answers, and the return was accepted
        return {}
    beside = render_verdict(row, report) if event.harness == "claude" else ""
    return replies.replace_output(claude.replace_answer(response, text), beside)


def _stop_waiting(home: Home, own: HookRun, event: HookEvent, environ: Mapping[str, str]) -> None:
    """Record that the caller continues at once and gets the answer in another way."""
    agent_id = read_agent_id(event.response)
    with home.ledger.transaction() as db:
        if own.agent_id is None and agent_id:
            bind(db, own.session_id, agent_id)
        db.execute("UPDATE hook_runs SET waited = 0 WHERE session_id = ?", (own.session_id,))
        db.execute("UPDATE runs SET awaited = 0 WHERE session_id = ?", (own.session_id,))
    row = load_run(home.ledger, own.session_id)
    if row is not None and row.state == "finishing":  # the agent ended before the call returned
        judge_again_if_changed(home, row, event, environ)
        run_finish_steps(home, row)


_UNKNOWN_NOTICE = "Remit doesn't know the agent of this notification, so its answer wasn't checked: don't rely on it."


def deliver_notifications(event: HookEvent, home: Home) -> replies.Answer:
    """Return the results of all agents whose answers are in a prompt."""
    texts = [_render_notification(notification, event, home) for notification in read_notifications(event.prompt)]
    with home.ledger.transaction() as db:
        texts.append(take_messages(db, event.session, None))
    text = "\n\n".join(dict.fromkeys(filter(None, texts)))
    return replies.add_context(event.kind, text) if text else {}


def _render_notification(notification: Notification, event: HookEvent, home: Home) -> str:
    """Finish an agent's run and return its verdict and result; empty for a command, a workflow or an observed agent."""
    with home.ledger.reading() as db:
        own = find_by_agent(db, event.session, notification.task_id)
    row = None if own is None else load_run(home.ledger, own.session_id)
    if own is None or row is None:
        return _UNKNOWN_NOTICE if notification.is_agent else ""
    if notification.tokens is not None:
        note_tokens(home, row, notification.tokens)
    if not own.enforced:
        return ""
    if row.state == "running":  # it ended without an event
        if notification.answer is None:
            return f"Remit didn't see {row.agent} ({row.session_id}) stop, so it wasn't checked: don't rely on it."
        from remit.hooks.judge_return import judge_last_message

        judge_last_message(home, row, None, notification.answer, NOTHING)
        row = load_run(home.ledger, own.session_id) or row
    elif row.state == "finishing":
        judge_again_if_changed(home, row)
    report = load_report(home, row.session_id)[0] if row.state == "finished" else run_finish_steps(home, row)
    with home.ledger.transaction() as db:
        drop_message(db, own)
    return "\n".join(filter(None, (render_verdict(row, report), render_result(row, report))))
