"""Result texts: what the caller of an agent gets in place of the agent's answer, and beside it.

A harness presents a replaced answer as the agent's own words, so Remit's verdict goes beside it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.model import ACCEPTABLE
from remit.runs.admission.run_config import read_run_config
from remit.runs.results.manifest_sentence import render_sentence

if TYPE_CHECKING:
    from remit.ledger.runs import Run
    from remit.result import Result


def render_result(row: Run, report: Result) -> str:
    """The result within the caller's token budget; empty if the workspace wants whole answers and it is accepted.

    A caller of the `manifest` format gets the sentence, and a line of Remit's if the return was not accepted.
    """
    from remit.result import DEFAULT_TOKENS
    from remit.runs.results.fit_budget import fit_result, render_text

    config = read_run_config(row.details)
    if not config.result_tokens and report.verdict in ACCEPTABLE:
        return ""
    sentence = render_sentence(report)
    return sentence or render_text(fit_result(report, config.result_tokens or DEFAULT_TOKENS).to_dict())


def render_verdict(row: Run, report: Result) -> str:
    """Remit's verdict on a return, in a sentence or two."""
    if report.verdict in ACCEPTABLE:
        return f"Remit checked the return of {row.agent} ({row.session_id}): {report.status}, {report.verdict}."
    if report.verdict == "unproven":
        why = "".join(f" {fault.message}. {fault.recommendation}." for fault in report.errors[:1])
        return f"Remit: the return of {row.agent} ({row.session_id}) is {report.status}, unproven:{why}"
    return (
        f"Remit: the return of {row.agent} ({row.session_id}) was not accepted: {report.status}, {report.verdict}. "
        f"Don't rely on it; `remit show {row.session_id}` shows why."
    )
