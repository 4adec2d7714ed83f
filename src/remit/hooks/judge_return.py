"""Return judging: the verdict on a subagent's answer, and what the ledger records of it.

The verdict and the evidence are made as for every other run. Loaded only for a new answer: the caller gets the result
of a judged answer without this module.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from remit.errors import RemitError
from remit.evidence.tree import BEFORE, Before, read_before
from remit.harnesses import claude, codex
from remit.hooks.finish_subagent import load_usage
from remit.hooks.protected_changes import QUARANTINED, check_left
from remit.hooks.resume_subagent import list_resumed
from remit.hooks.session_lookup import find_transcript, read_agent_id
from remit.ledger.events import add_event, load_last_event, read_clock_ms
from remit.ledger.hook_runs import end_commands, list_tool_uses
from remit.ledger.runs import advance, begin_attempt, count_attempts, load_run, record_attempt
from remit.ledger.texts import load_text, store_texts
from remit.model import ACCEPTABLE, NOTHING, Expectation
from remit.runners.protocol import RunOutput, Usage
from remit.runs.admission.run_config import read_run_config
from remit.runs.judging.attempt import Attempt, shape_attempt
from remit.runs.judging.conclusion import conclude
from remit.runs.judging.concurrent_writers import is_recorded, list_seen, read_tool_uses
from remit.runs.judging.judge import gather_evidence, judge_answer, protected_name
from remit.runs.judging.judging_context import JudgingContext, load_context
from remit.runs.judging.other_runs import NestedArtifacts, find_shared_tree, load_nested_artifacts
from remit.runs.results.full_result import load_report, make_report, render_report
from remit.storage.protected_files import list_new_protected
from remit.storage.transcripts import load_beginning

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from remit.evidence.tree import Comparison
    from remit.hooks.events import HookEvent
    from remit.ledger.home import Home
    from remit.ledger.runs import Run
    from remit.ledger.store import Connection
    from remit.model import Diagnostic
    from remit.runners.protocol import ToolUse
    from remit.runs.admission.run_config import RunConfig
    from remit.runs.checks.accept import CheckedTree
    from remit.runs.judging.conclusion import Conclusion
    from remit.runs.judging.judge import AttemptVerdict

_WITHDRAWN = "the answer changed after its run was finished: this result is of the later answer"


def judge_last_message(
    home: Home, row: Run, event: HookEvent | None, answer: str, environ: Mapping[str, str]
) -> None:  # fmt: skip
    """Judge the answer that the caller would get, and record the verdict."""
    verdict = judge(home, row, event, answer)
    if row.state == "finished":
        overrule(home, row, answer, verdict)
        return
    stop_reason = "cancelled" if is_cancelled(home, row) else "exited"
    conclude_return(home, row, answer, verdict, stop_reason=stop_reason, event=event, environ=environ)


def judge(
    home: Home, row: Run, event: HookEvent | None, answer: str, *, sends_back: bool = False
) -> AttemptVerdict | None:  # fmt: skip
    """Return the verdict on an answer; None if there is no answer.

    `sends_back`: the agent can be asked for a shorter summary. Otherwise Remit shortens a summary that is too long.
    """
    _check_protected(home, row)
    # An attempt is counted when it ends. A return that was submitted for an ended attempt still counts.
    number = count_attempts(home.ledger, row.session_id) + (row.state == "running")
    kept = (load_text(home, row.session_id, f"submitted-{number}") or b"").decode("utf-8", "surrogatepass")
    submitted = (kept,) if kept else ()
    if not answer.strip() and not submitted:
        return None
    config = read_run_config(row.details)
    expectation = Expectation(row.session_id, row.agent or None, config.kind or None, row.depth, row.path,
                              shortens=not sends_back)  # fmt: skip
    words: Any = config.words
    context = _make_context(home, row, config, _list_tools(home, row, event))
    return judge_answer(
        answer, context, format=config.format, any_format=config.any_format, expectation=expectation, words=words,
        submitted=submitted,
    )  # fmt: skip


def _check_protected(home: Home, row: Run) -> None:
    """Quarantine or restore protected names before a claim about one of them is judged."""
    with home.ledger.transaction() as db:
        check_left(db, row.session_id, home.root, agent=row.agent)


def _list_new_names(home: Home, row: Run, root: str, comparison: Comparison | None) -> tuple[Diagnostic, ...]:
    """Return the diagnostics on protected names that appeared during a run."""
    with home.ledger.reading() as db:
        query = "SELECT json_extract(details, '$.sentence') FROM events WHERE session_id = ? AND kind = ?"
        known = [sentence for (sentence,) in db.execute(query, (row.session_id, QUARANTINED))]
    created = [] if comparison is None else [change.path for change in comparison.created]
    new = list_new_protected(created, root, agent=row.agent, known="".join(known))
    return tuple(map(protected_name, (*known, *new)))


def _make_context(home: Home, row: Run, config: RunConfig, tools: tuple[ToolUse, ...] | None) -> JudgingContext:
    kept = (load_text(home, row.session_id, BEFORE) or b"").decode("utf-8", "replace")
    before = read_before(kept) if config.evidence else Before()
    since = list_resumed(home, config.resume_of)
    shared_tree = find_shared_tree(home, row, config.root, since=since)
    return load_context(home, row, before, tools=tools, shared_tree=shared_tree)


def _list_tools(home: Home, row: Run, event: HookEvent | None) -> tuple[ToolUse, ...] | None:
    """Return the tools that the agent's hooks reported; None if the harness counts tools that they didn't report.

    For a resumed agent the harness also counts the earlier tools, so its count proves nothing. Without an event of the
    agent, the harness's count isn't known.
    """
    earlier = read_run_config(row.details).resume_of
    uses = _list_used(home, (row.session_id, *list_resumed(home, earlier)))
    return None if not uses and not earlier and (event is None or _has_used(event)) else uses


def _list_used(home: Home, sessions: Iterable[str]) -> tuple[ToolUse, ...]:
    with home.ledger.reading() as db:
        return tuple(use for session_id in sessions for use in read_tool_uses(list_tool_uses(db, session_id)))


def _has_used(event: HookEvent) -> bool:
    """Return whether the harness counts tools that the agent used."""
    agent_id = event.agent_id
    if event.kind == claude.AFTER_TOOL:  # the caller's event, whose response describes the agent
        response = event.response if isinstance(event.response, dict) else {}
        count, agent_id = claude.read_tool_count(response), read_agent_id(response)
        if count is not None:
            return count > 0
    text = load_beginning(find_transcript(event, agent_id)) if agent_id or event.agent else ""
    return any(mark in text for mark in ('"tool_use"', *codex.USED_TOOL_MARKS))


# --- concluding ------------------------------------------------------------------------------------------------------


def conclude_return(
    home: Home,
    row: Run,
    answer: str,
    verdict: AttemptVerdict | None,
    *,
    stop_reason: str = "exited",
    reason: str = "",
    checked: CheckedTree | None = None,
    event: HookEvent | None = None,
    environ: Mapping[str, str] = NOTHING,
) -> None:
    """Record how a run ended; its finish steps follow later.

    `checked`: the answers of the acceptance checks. Without them, checks run if the hook of `event` has time for them.
    """
    _check_protected(home, row)
    if checked is None and stop_reason == "exited":
        checked, verdict = run_checks(home, row, event, verdict, environ)
    config = read_run_config(row.details)
    number = keep_attempt(home, row, answer, verdict, checked)
    context = _make_context(home, row, config, None)
    used = _list_used(home, (row.session_id,))
    written = frozenset(use.path for use in used if use.path and not use.failed and use.operation == "write")
    nested = NestedArtifacts()
    with suppress(RemitError):  # it can't be read, so nothing counts as made by nested runs
        nested = load_nested_artifacts(home, (row.session_id, *list_resumed(home, config.resume_of)), config.root)
    evidence = gather_evidence(
        context, verdict, written=written, seen=list_seen(used), is_recorded=is_recorded(used), nested=nested,
        own_files=_list_own_files(home),
    )  # fmt: skip
    attempt = Attempt(stop_reason, RunOutput(answer or None), verdict, number, reason=reason, checks=checked)
    conclusion = conclude(row, [attempt], evidence)
    conclusion = conclusion._replace(
        diagnostics=(*conclusion.diagnostics, *_list_new_names(home, row, config.root, evidence.comparison))
    )
    now_ms = read_clock_ms()
    usage = _load_usage(home, row)
    report = make_report(row, conclusion, ended_ms=now_ms, usage=usage, answer=answer or None, attempts=number)
    with home.ledger.transaction(durable=True) as db:
        is_usable = conclusion.verdict in (*ACCEPTABLE, "unproven")
        now = load_run(home.ledger, row.session_id)
        if row.state == "finishing" and is_usable and now is not None and now.state == "finished":
            return  # another process has finished the run
        store_texts(home, row.session_id, {"report": render_report(report, conclusion)}, db=db)
        end_commands(db, row.session_id)
        if row.state == "running":
            advance(
                db, row.session_id, "finishing", ended_ms=now_ms, stop_reason=conclusion.stop_reason,
                verdict=conclusion.verdict, status=conclusion.status,
            )  # fmt: skip
        else:
            _replace_verdict(db, row, conclusion)


def _replace_verdict(db: Connection, row: Run, conclusion: Conclusion) -> None:
    """Replace the verdict and status of a run in the ledger."""
    db.execute(
        "UPDATE runs SET ended_ms = ?, stop_reason = ?, verdict = ?, status = ? WHERE session_id = ?",
        (read_clock_ms(), conclusion.stop_reason, conclusion.verdict, conclusion.status, row.session_id),
    )
    details = {"status": conclusion.status, "verdict": conclusion.verdict}
    add_event(db, "overruled", details, session_id=row.session_id)


def overrule(home: Home, row: Run, answer: str, verdict: AttemptVerdict | None) -> None:
    """Record the verdict on an answer after the end of the run: it may withdraw an acceptance, never improve a verdict.

    A second hook may have sent the agent back after Remit accepted its return.
    """
    report = load_report(home, row.session_id)[0]
    returned = None if verdict is None else verdict.returned
    if report.verdict not in ACCEPTABLE or (returned is not None and returned.status in ("completed", report.status)):
        return
    number = keep_attempt(home, row, answer, verdict)
    conclusion = conclude(row, [Attempt("exited", RunOutput(answer), verdict, number)])
    usage = _load_usage(home, row)
    later = make_report(row, conclusion, ended_ms=read_clock_ms(), usage=usage, answer=answer, attempts=number)
    later = later._replace(notes=(_WITHDRAWN, *report.notes))
    with home.ledger.transaction(durable=True) as db:
        store_texts(home, row.session_id, {"report": render_report(later, conclusion)}, db=db)
        _replace_verdict(db, row, conclusion)


def run_checks(
    home: Home, row: Run, event: HookEvent | None, verdict: AttemptVerdict | None, environ: Mapping[str, str]
) -> tuple[CheckedTree | None, AttemptVerdict | None]:
    """Run the acceptance checks of a return that would be `completed`; return their answers with the verdict.

    The verdict then has the tree as it was before the checks. Without checks, there are no answers.
    """
    is_completed = Attempt("exited", verdict=verdict).is_completed
    if verdict is None or not is_completed or not read_run_config(row.details).checks:
        return None, verdict
    from remit.hooks.acceptance_checks import check_work

    return check_work(home, row, event, verdict, environ)


def keep_attempt(
    home: Home, row: Run, answer: str, verdict: AttemptVerdict | None, checked: CheckedTree | None = None
) -> int:
    """Store the unchanged answer with its verdict, before anything depends on it; return the number of the attempt."""
    number = count_attempts(home.ledger, row.session_id) + 1
    begin_attempt(home.ledger, row.session_id, number)
    attempt = shape_attempt(row, Attempt("exited", verdict=verdict, number=number, checks=checked))._replace(usage={})
    with home.ledger.transaction() as db:
        if answer.strip():
            store_texts(home, row.session_id, {f"answer-{number}": answer.encode("utf-8", "surrogatepass")}, db=db)
        record_attempt(db, row.session_id, attempt)
    return number


def is_cancelled(home: Home, row: Run) -> bool:
    """Return whether the run was cancelled."""
    return load_last_event(home.ledger, row.session_id, "cancel") is not None


def _load_usage(home: Home, row: Run) -> Usage:
    tokens, turns = load_usage(home, row)
    return Usage(output_tokens=tokens, turns=turns)


def _list_own_files(home: Home) -> tuple[str, ...]:
    from remit.hooks.roster import load_workspace_folders
    from remit.runs.own_files import FilePlaces, list_own_files

    return list_own_files(home.root, FilePlaces(*load_workspace_folders(home)))
