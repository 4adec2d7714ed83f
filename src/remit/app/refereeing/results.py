"""Results: what the caller of an agent is given, in the place of the agent's answer or beside it.

Owns both texts. A harness presents a replaced answer as the agent's own words, so the sentence that says what Remit
found goes beside it, as Remit's.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from remit.delegate.admission.terms import read_terms
from remit.model import ACCEPTABLE

if TYPE_CHECKING:
    from remit.delegate.reporting.envelope import Envelope
    from remit.workspace.ledger.delegations import Delegation


def render_result(row: Delegation, report: Envelope) -> str:
    """The result as JSON, cut to the caller's budget; empty if the workspace wants whole answers and it is accepted."""
    from remit.delegate.reporting.envelope import DEFAULT_TOKENS, render_envelope_json  # noqa: PLC0415 - only here
    from remit.delegate.reporting.fitting import fit_envelope  # noqa: PLC0415

    tokens = read_terms(row.details).envelope_tokens
    if not tokens and report.outcome in ACCEPTABLE:
        return ""
    envelope = fit_envelope(report, tokens or DEFAULT_TOKENS)
    return json.dumps(render_envelope_json(envelope), ensure_ascii=False, separators=(",", ":"))


def render_verdict(row: Delegation, report: Envelope) -> str:
    """What Remit found, in a sentence or two."""
    if report.outcome in ACCEPTABLE:
        return f"Remit checked the return of {row.agent} ({row.session_id}): {report.status}, {report.outcome}."
    if report.outcome == "unproven":
        why = "".join(f" {fault.message}. {fault.recommendation}." for fault in report.errors[:1])
        return f"Remit: the return of {row.agent} ({row.session_id}) is {report.status}, unproven:{why}"
    return (
        f"Remit: the return of {row.agent} ({row.session_id}) was not accepted: {report.status}, {report.outcome}. "
        f"Do not rely on what it says; `remit show {row.session_id}` shows why."
    )
