"""Subagent finish: the finish steps of a judged run, and whether its verdict is still true by then.

It doesn't judge itself, so it loads little: the harness waits.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from remit.errors import RemitError
from remit.hooks.shell_limits import close_if_idle
from remit.ledger.events import list_acts, read_clock_ms
from remit.ledger.hook_runs import has_used_since
from remit.ledger.runs import advance, count_attempts
from remit.ledger.texts import load_text, store_texts
from remit.light_hash import take_sha256
from remit.model import ACCEPTABLE, NOTHING
from remit.runs.admission.run_config import read_run_config
from remit.runs.results.full_result import add_steps, load_report, render_report

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.hooks.events import HookEvent
    from remit.ledger.home import Home
    from remit.ledger.runs import Run
    from remit.result import Result


def is_already_judged(home: Home, row: Run, answer: str) -> bool:
    """Return whether an answer is the one that was judged last, or none, and nothing was done since."""
    digest = take_sha256(answer.encode("utf-8", "surrogatepass"))
    if answer.strip() and digest != load_report(home, row.session_id)[0].answer:
        return False
    with home.ledger.reading() as db:
        return row.state == "finished" or not has_used_since(db, row.session_id, row.ended_ms or 0)


def judge_again_if_changed(
    home: Home, row: Run, event: HookEvent | None = None, environ: Mapping[str, str] = NOTHING
) -> None:
    """Judge the same answer again if a reported file has changed since the agent stopped.

    `event`: the event about this agent, if there is one; the end of a whole session isn't. `environ`: of its hook.
    """
    if _is_there(home, row):
        return
    from remit.hooks.judge_return import judge_last_message

    kept = load_text(home, row.session_id, f"answer-{count_attempts(home.ledger, row.session_id)}") or b""
    judge_last_message(home, row, event, kept.decode("utf-8", "surrogatepass"), environ)


def _is_there(home: Home, row: Run) -> bool:
    """Return whether the files of an accepted return are as they were judged, by their size and kind only."""
    report = load_report(home, row.session_id)[0]
    accepted = {each.path: each for each in report.artifacts if each.grade not in ("", "missing")}
    if report.verdict not in ACCEPTABLE or not accepted:
        return True
    from remit.evidence.artifacts import inspect_accepted

    config = read_run_config(row.details)
    found = inspect_accepted(accepted, config.root, config.workspace_root)
    return all(
        facts.state == "file" and (row.state == "finished" or facts.size_bytes == accepted[path].size_bytes)
        for path, facts in found.items()  # settling writes into some, so that their size says nothing then
    )


def run_finish_steps(home: Home, row: Run) -> Result:
    """Run the finish steps and return the result. Each step is idempotent."""
    from remit.runs.finish.finish_run import finish_run

    try:
        report = finish_run(home.root, row)
        with home.ledger.transaction() as db:
            close_if_idle(db, home.root, row.session_id)
    except RemitError as error:  # the caller gets the result all the same; a supervisor repeats what is missing
        from remit.runs.finish.finish_steps import fail

        return add_steps(load_report(home, row.session_id)[0], (fail("ledger", error),))
    return report


def end_observed(home: Home, row: Run, stop_reason: str) -> None:
    """End the run of an agent that Remit only observes, without a verdict."""
    with home.ledger.transaction() as db:
        advance(db, row.session_id, "finished", ended_ms=read_clock_ms(), stop_reason=stop_reason)
        close_if_idle(db, home.root, row.session_id)
    if list_acts(home.ledger, row.session_id, only_unreported=True):
        from remit.runs.finish.finish_steps import report_activity

        with suppress(RemitError):  # it stays in the ledger
            report_activity(home, row.session_id)


def note_tokens(home: Home, row: Run, tokens: int) -> None:
    """Record the tokens that the harness reports, also in a report that is already written."""
    with home.ledger.transaction() as db:
        db.execute("UPDATE runs SET tokens = ? WHERE session_id = ?", (tokens, row.session_id))
        if row.state == "finished" and read_run_config(row.details).finishes:
            report, conclusion = load_report(home, row.session_id)
            report = report._replace(usage=report.usage._replace(tokens=tokens))
            store_texts(home, row.session_id, {"report": render_report(report, conclusion)}, db=db)


def load_usage(home: Home, row: Run) -> tuple[int | None, int | None]:
    """Return the tokens and turns that the harness reported."""
    query = "SELECT tokens, turns FROM runs WHERE session_id = ?"
    with home.ledger.reading() as db:
        tokens, turns = db.execute(query, (row.session_id,)).fetchone()
    return tokens, turns
