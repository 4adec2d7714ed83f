"""Subagent stop: accepts the return of a subagent or sends it back; and ends runs whose agent is lost.

A rejected return goes back to the agent a limited number of times, and then to the caller with its verdict.
"""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

from remit.harnesses import codex
from remit.harnesses.claude import read_return
from remit.hooks import replies
from remit.hooks.finish_subagent import (
    end_observed,
    is_already_judged,
    judge_again_if_changed,
    note_tokens,
    run_finish_steps,
)
from remit.hooks.judge_return import conclude_return, is_cancelled, judge, keep_attempt, overrule, run_checks
from remit.hooks.result_delivery import render_result, render_verdict
from remit.hooks.session_lookup import MAIN, find_own, find_transcript
from remit.ledger.events import add_event
from remit.ledger.hook_runs import (
    count_block,
    count_tokens_before,
    find_by_agent,
    find_by_call,
    find_by_session,
    find_calling_agent,
    has_message,
    leave_message,
    list_awaited,
    will_receive,
)
from remit.ledger.runs import count_attempts, load_run
from remit.ledger.texts import load_text, store_texts
from remit.model import ACCEPTABLE
from remit.runs.admission.run_config import read_run_config
from remit.runs.judging.attempt import Attempt
from remit.runs.results.full_result import load_report
from remit.storage.transcripts import load_end

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.hooks.events import HookEvent
    from remit.ledger.home import Home
    from remit.ledger.hook_runs import HookRun
    from remit.ledger.runs import Run
    from remit.ledger.store import Connection
    from remit.runs.checks.accept import CheckedTree
    from remit.runs.judging.judge import AttemptVerdict


_MAX_REASON = 300
DELAY_SECONDS = 3_000.0
"""How long Codex waits for the end of an agent: less than the hook's own time limit."""
_STEP_MS = 100
_MAX_ANSWER_CHARS = 6_000
"""A longer answer is sent back if the caller gets the answer itself."""


def check_stop(event: HookEvent, home: Home, environ: Mapping[str, str]) -> replies.Answer:
    """Let an agent stop, or send its return back with the diagnostics."""
    with home.ledger.transaction() as db:
        own = find_own(db, event)
    own = own or _adopt(event, home, environ)
    row = None if own is None else load_run(home.ledger, own.session_id)
    if own is None or row is None:
        return {}
    if not own.enforced:
        if row.state == "running" and not own.waited:
            end_observed(home, row, "exited")
        return {}
    answer = event.message if isinstance(event.message, str) else ""
    if row.state != "running" and (own.agent_id == MAIN or is_already_judged(home, row, answer)):
        return {}  # the user may continue a whole session after its return
    end_lost_children(home, event.session, row.session_id)
    _count_tokens(event, home, own, row)
    is_repeated = bool(own.blocks) and not event.stop_active and _is_last(home, row, answer)
    sends_back = is_repeated or (row.state != "finished" and _may_ask_to_shorten(own, row))
    verdict = judge(home, row, event, answer, sends_back=sends_back)
    if is_repeated:  # a second hook reports the same event
        return replies.block(_load_message(home, row) or _render_reask(row, verdict))
    if row.state == "finished":
        overrule(home, row, answer, verdict)
        _warn_caller(home, own, row)
        return {}
    return _let_stop(home, own, row, answer, verdict, event=event, environ=environ)


def _count_tokens(event: HookEvent, home: Home, own: HookRun, row: Run) -> None:
    """Record the tokens of an agent in Codex. Its session file counts the whole thread, with the earlier runs."""
    if event.harness != "codex" or own.agent_id is None:
        return
    total = codex.read_total_tokens(load_end(find_transcript(event)))
    if total is None:
        return
    with home.ledger.reading() as db:
        earlier = count_tokens_before(db, own)
    note_tokens(home, row, max(0, total - earlier))


def _let_stop(
    home: Home, own: HookRun, row: Run, answer: str, verdict: AttemptVerdict | None, *, event: HookEvent,
    environ: Mapping[str, str],
) -> replies.Answer:  # fmt: skip
    """Record the verdict on an answer, or send the answer back."""
    if is_cancelled(home, row):
        conclude_return(home, row, answer, verdict, stop_reason="cancelled")
    elif verdict is not None and verdict.accepted and row.state == "running" and _is_too_long(own, answer):
        return _ask_to_shorten(home, own, row, answer, verdict)
    else:
        checked, verdict = run_checks(home, row, event, verdict, environ)
        if checked is not None and (now := find_by_session(home.ledger.db, own.session_id)) is not None:
            own.waited = now.waited  # the caller may have stopped waiting while the checks ran
        is_final = Attempt("exited", verdict=verdict, checks=checked).is_final
        if checked is not None and is_cancelled(home, row):
            conclude_return(home, row, answer, verdict, stop_reason="cancelled")
        elif not is_final and own.blocks < read_run_config(row.details).reasks:
            message = _render_failed(row, verdict, checked) if checked is not None else ""
            if row.state == "finishing":  # the earlier, accepted return no longer counts
                conclude_return(home, row, answer, verdict, checked=checked)
            else:
                keep_attempt(home, row, answer, verdict, checked)
            if message:
                _keep_message(home, row, message)
            _count_block(home, own)
            return replies.block(message or _render_reask(row, verdict))
        else:
            conclude_return(home, row, answer, verdict, checked=checked, event=event, environ=environ)
    if not own.waited:  # else the caller's hook finishes the run when the answer arrives
        _warn_caller(home, own, row)
        run_finish_steps(home, row)
    return {}


def _warn_caller(home: Home, own: HookRun, row: Run) -> None:
    """Store the verdict for a caller that gets unchanged an answer that was rejected or isn't completed.

    This precedes the finish steps: a hook of the caller may ask for the verdict just before the harness delivers the
    answer, and the harness delivers it as soon as this hook has ended.
    """
    report = load_report(home, row.session_id)[0]
    if (report.verdict in ACCEPTABLE and not report.is_lowered_by_checks) or own.agent_id == MAIN:
        return
    with home.ledger.transaction() as db:
        leave_message(db, own, render_verdict(row, report))


# --- tools that return -----------------------------------------------------------------------------------------------
def check_return(event: HookEvent, home: Home, environ: Mapping[str, str]) -> replies.Answer:
    """Let an agent return by a tool, or deny the call with the diagnostics."""
    found = _find_returning(event, home, environ)
    if found is None:
        return {}
    own, row, answer = found
    verdict = judge(home, row, event, answer, sends_back=_may_ask_to_shorten(own, row))
    if is_cancelled(home, row) or own.blocks >= read_run_config(row.details).reasks:
        return {}
    checked, verdict = run_checks(home, row, event, verdict, environ)
    if Attempt("exited", verdict=verdict, checks=checked).is_final:
        return {}
    keep_attempt(home, row, answer, verdict, checked)
    _count_block(home, own)
    message = _render_reask(row, verdict) if checked is None else _render_failed(row, verdict, checked)
    return replies.deny(f"{message.rstrip()} Send it with {event.tool} again.")


def keep_return(event: HookEvent, home: Home, environ: Mapping[str, str]) -> replies.Answer:
    """Judge the return that an agent gave by a tool and that the harness delivers."""
    found = _find_returning(event, home, environ)
    if found is None:
        return {}
    own, row, answer = found
    stop_reason = "cancelled" if is_cancelled(home, row) else "exited"
    verdict = judge(home, row, event, answer)
    conclude_return(home, row, answer, verdict, stop_reason=stop_reason, event=event, environ=environ)
    if not own.waited:
        _warn_caller(home, own, row)
        run_finish_steps(home, row)
    return {}


def _find_returning(
    event: HookEvent, home: Home, environ: Mapping[str, str]
) -> tuple[HookRun, Run, str] | None:  # fmt: skip
    """Return the agent that returns by a tool, its run and its return; None if Remit only observes the agent."""
    with home.ledger.transaction() as db:
        own = find_own(db, event)
    own = own or _adopt(event, home, environ)
    row = None if own is None else load_run(home.ledger, own.session_id)
    if own is None or row is None or not own.enforced or row.state != "running":
        return None
    returned = read_return(event.tool, event.tool_input)
    return own, row, returned if isinstance(returned, str) else json.dumps(returned, ensure_ascii=False)


def _adopt(event: HookEvent, home: Home, environ: Mapping[str, str]) -> HookRun | None:
    """Admit an agent that Remit first sees when it stops. Files that exist by then prove nothing."""
    from remit.hooks.start_subagent import adopt

    return adopt(event, home, environ)


def _is_last(home: Home, row: Run, answer: str) -> bool:
    """Return whether an answer equals the last one that was judged."""
    number = count_attempts(home.ledger, row.session_id)
    last = load_text(home, row.session_id, f"answer-{number}") or b""
    return last == (answer.encode("utf-8", "surrogatepass") if answer.strip() else b"")


def _render_reask(row: Run, verdict: AttemptVerdict | None) -> str:
    from remit.runs.instructions import render_reask

    diagnostics = () if verdict is None else verdict.diagnostics
    used = None if verdict is None else verdict.format
    config = read_run_config(row.details)
    return render_reask(
        diagnostics, format=used or config.format, session_id=row.session_id, has_data=bool(config.data_schema)
    )


def _render_failed(row: Run, verdict: AttemptVerdict | None, checked: CheckedTree) -> str:
    from remit.runs.instructions import render_failed_checks

    used = None if verdict is None else verdict.format
    return render_failed_checks(checked, format=used or read_run_config(row.details).format, session_id=row.session_id)


def _name_message(home: Home, row: Run) -> str:
    return f"check-message-{count_attempts(home.ledger, row.session_id)}"


def _keep_message(home: Home, row: Run, message: str) -> None:
    """Store the message about failed checks, for a second hook of the same event."""
    store_texts(home, row.session_id, {_name_message(home, row): message.encode("utf-8", "surrogatepass")})


def _load_message(home: Home, row: Run) -> str:
    """Return the message about failed checks with which the last answer was sent back; empty for none."""
    if not read_run_config(row.details).checks:
        return ""
    return (load_text(home, row.session_id, _name_message(home, row)) or b"").decode("utf-8", "surrogatepass")


def _count_block(home: Home, own: HookRun) -> None:
    with home.ledger.transaction() as db:
        if count_block(db, own.session_id, own.blocks):
            number = count_attempts(home.ledger, own.session_id)
            add_event(db, "sent_back", {"number": number}, session_id=own.session_id)


def _may_ask_to_shorten(own: HookRun, row: Run) -> bool:
    """Return whether a summary that is too long is sent back. The second time, Remit shortens it."""
    return own.blocks == 0 and read_run_config(row.details).reasks > 0


def _is_too_long(own: HookRun, answer: str) -> bool:
    """Return whether a caller would get the whole of a long answer, because the harness can't replace it."""
    return not own.waited and own.agent_id != MAIN and own.blocks == 0 and len(answer) > _MAX_ANSWER_CHARS


def _ask_to_shorten(
    home: Home, own: HookRun, row: Run, answer: str, verdict: AttemptVerdict
) -> replies.Answer:  # fmt: skip
    keep_attempt(home, row, answer, verdict)
    _count_block(home, own)
    return replies.block(
        f"Your return is valid, but your caller gets the whole message, and it has {len(answer):,} characters. "
        "Send the return alone, unchanged: the details are in your files."
    )


def delay_stop(event: HookEvent, db: Connection, seconds: float | None = None) -> replies.Answer:
    """Wait until the caller of a rejected agent in Codex is sure to get the verdict; then let the agent end.

    Codex puts the last message of an agent into the next request of its caller, and no hook can change or delay that
    message. But the agent isn't over before the hook of its end has answered. After the time limit, the agent is sent
    back.
    """
    import select

    own = find_by_agent(db, event.session, event.agent_id)
    until = time.monotonic() + (DELAY_SECONDS if seconds is None else seconds)
    reader = select.poll()
    reader.register(1, 0)
    while own is not None and has_message(db, own) and not will_receive(db, event.session, find_calling_agent(db, own)):
        if time.monotonic() > until:
            return replies.block(
                "Your caller hasn't received the verdict on your return yet. Send the same return again."
            )
        if reader.poll(_STEP_MS):  # the harness has ended, and reads no answer
            break
    return {}


# --- runs whose agent is lost ----------------------------------------------------------------------------------------
def end_lost(home: Home, row: Run, reason: str, *, stop_reason: str = "orphaned") -> None:
    """End a run whose agent sends no more events."""
    if row.state == "running" and not read_run_config(row.details).finishes:
        end_observed(home, row, stop_reason)
        return
    if row.state == "running":
        conclude_return(home, row, "", None, stop_reason=stop_reason, reason=reason)
    elif row.state == "finishing":  # accepted, but the caller hasn't got the result yet
        judge_again_if_changed(home, row)
    if row.state in ("running", "finishing"):
        run_finish_steps(home, row)


def end_lost_children(home: Home, harness_session: str, parent_id: str | None) -> None:
    """End the runs that a stopping caller waited for: other hooks refused their calls, or the calls were aborted.

    If an agent called them and they sent events, only the end of the harness's session ends them.
    """
    with home.ledger.reading() as db:
        left = list_awaited(db, harness_session, parent_id)
    for each in left:
        row = load_run(home.ledger, each.session_id)
        if row is not None and (parent_id is None or each.agent_id is None):
            end_lost(home, row, "its call never returned")


def end_failed_call(event: HookEvent, home: Home) -> replies.Answer:
    """End the run of an agent that couldn't start or whose model failed; return the verdict for the caller."""
    with home.ledger.reading() as db:
        own = find_by_call(db, event.session, event.tool_use_id)
    row = None if own is None else load_run(home.ledger, own.session_id)
    if own is None or row is None:
        return {}
    reason = " ".join(event.error.split())[:_MAX_REASON] or "the harness gave no reason"
    end_lost(home, row, reason, stop_reason="orphaned" if own.agent_id is None else "crashed")
    if own.agent_id is None or not own.enforced:
        return {}
    report = load_report(home, row.session_id)[0]
    return replies.add_context(event.kind, f"{render_verdict(row, report)}\n{render_result(row, report)}")


def end_failed_agent(event: HookEvent, home: Home) -> None:
    """End the run of an agent whose model failed."""
    with home.ledger.transaction() as db:
        own = find_own(db, event)
    row = None if own is None else load_run(home.ledger, own.session_id)
    if own is not None and row is not None and not own.waited:
        why = event.message if isinstance(event.message, str) else event.error
        end_lost(home, row, " ".join(why.split())[:_MAX_REASON] or "its model failed", stop_reason="crashed")
