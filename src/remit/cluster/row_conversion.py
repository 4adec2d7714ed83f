"""Row conversion: a run of the ledger as a row of the cluster's tables, and such a row as a run of the ledger."""

from __future__ import annotations

from typing import Any

from remit.cluster.database import session_rows, submissions
from remit.ledger.events import read_clock_ms
from remit.ledger.runs import Run

SIGNED = "remit2_"
"""Prefix of tickets that are valid on each machine of the cluster."""
STATES = {"admitted": "admitted", "posted": "admitted", "queued": "admitted", "running": "running", "done": "finished"}
"""The state in the ledger for each state in the database."""
_MAX_ATTEMPTS = 1000
_CONFIG_FIELDS = ("budget", "may_call", "max_depth", "timeout_s", "timeout_default_s", "timeout_max_s", "retry")


def make_posted(row: Run, order: bytes) -> submissions.Posted:
    """Convert a run of the ledger into a row to post."""
    terms: dict[str, Any] = {name: row.details[name] for name in _CONFIG_FIELDS if name in row.details}
    return submissions.Posted(
        row.session_id, row.root_id, row.parent_id, row.agent, row.depth, row.path, row.runner, terms, order
    )  # fmt: skip


def make_run(row: session_rows.SessionRow) -> Run:
    """Convert a row of the database into a run of the ledger, with deadlines by this machine's clock."""
    now_ms = read_clock_ms()
    left_ms, state = row.deadline_left_ms, STATES[row.state]
    return Run(
        row.session_id, row.agent, row.depth, tuple(row.path), row.parent_id, row.root_id, None, state,
        row.posted_ms, row.taken_ms, None if left_ms is None else now_ms + left_ms,
        row.done_ms, row.stop_reason, None, row.status,
        awaited=True, runner=row.runner, tokens=row.tokens, cost_usd=row.cost_usd, turns=row.turns,
        details=dict(row.terms),
    )  # fmt: skip


def read_attempt(row: session_rows.SessionRow) -> int:
    """Return the number of the current attempt; 0 if the value, which isn't sealed, is implausible."""
    attempt = row.live.get("attempt")
    return attempt if isinstance(attempt, int) and 0 < attempt <= _MAX_ATTEMPTS else 0
