"""Notices: Claude Code brings its caller the answer of an agent in the background, and Remit puts the result beside it.

Owns that exchange. In the background the harness delivers an answer word for word, as a notification, and calls
UserPromptSubmit with it: between two turns of the session and in the middle of one, in a terminal and without. What the
hook adds there is in the same request of the caller's model. An answer can't be replaced on this way. To ask the agent
itself for another last message instead was rejected: whether the caller gets the verdict would then depend on the agent
that has just been found wrong, and it costs every rejected run one more turn.

A notification goes to the session if the agent's own caller is over, so the run is looked up by the agent's id alone. A
caller that is itself an agent gets its notification without an event: it gets the sentence with its next tool, and is
not let stop without it (`leave_message`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.harnesses.claude import read_notices
from remit.hooks import replies
from remit.hooks.finish_subagent import judge_again_if_changed, note_tokens, run_finish_steps
from remit.hooks.result_text import render_result, render_verdict
from remit.ledger.hook_runs import drop_message, find_by_agent, take_messages
from remit.ledger.runs import load_run
from remit.runs.results.full_result import load_report

if TYPE_CHECKING:
    from remit.harnesses.claude import Notice
    from remit.hooks.events import HookEvent
    from remit.ledger.home import Home

_UNKNOWN = "Remit doesn't know the agent of this notification, so its answer wasn't checked: don't rely on it."


def report_notices(event: HookEvent, home: Home) -> replies.Answer:
    """Give the caller the result of every agent that a prompt brings the answer of."""
    told = [_report(notice, event, home) for notice in read_notices(event.prompt)]
    with home.ledger.transaction() as db:
        told.append(take_messages(db, event.session, None))
    text = "\n\n".join(dict.fromkeys(filter(None, told)))
    return replies.add_context(event.kind, text) if text else {}


def _report(notice: Notice, event: HookEvent, home: Home) -> str:
    """The verdict and result of one agent; empty for a command, a workflow or an observed agent."""
    with home.ledger.reading() as db:
        own = find_by_agent(db, event.session, notice.task_id)
    row = None if own is None else load_run(home.ledger, own.session_id)
    if own is None or row is None:
        return _UNKNOWN if notice.is_agent else ""
    if notice.tokens is not None:
        note_tokens(home, row, notice.tokens)
    if not own.enforced:
        return ""
    if row.state == "running":  # it ended without an event for Remit
        if notice.answer is None:
            return f"Remit didn't see {row.agent} ({row.session_id}) stop, so it wasn't checked: don't rely on it."
        from remit.hooks.judge_return import judge_last_message

        judge_last_message(home, row, None, notice.answer)
        row = load_run(home.ledger, own.session_id) or row
    elif row.state == "finishing":
        judge_again_if_changed(home, row)
    report = load_report(home, row.session_id)[0] if row.state == "finished" else run_finish_steps(home, row)
    with home.ledger.transaction() as db:
        drop_message(db, own)
    return "\n".join(filter(None, (render_verdict(row, report), render_result(row, report))))
