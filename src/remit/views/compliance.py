"""Compliance: how often agents returned accepted results, by agent and by day.

Every finished run is in exactly one class, as `list_finished` defines; open runs aren't counted.
"""

from __future__ import annotations

import time
from datetime import date, timedelta
from statistics import median
from typing import TYPE_CHECKING

from remit.errors import UsageError
from remit.ledger.events import read_clock_ms
from remit.ledger.queries import list_finished
from remit.result import DEFAULT_TOKENS
from remit.views.run_snapshots import has_ledger

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from remit.ledger.home import Home
    from remit.ledger.queries import FinishedRun
    from remit.schemas import ComplianceCountsObject, CompliancePageObject, ComplianceTotalObject

MOST_DAYS, USUAL_DAYS = 366, 30
_BYTES_A_TOKEN = 4
"""An approximation, so `kept_out_tokens` is an estimate."""


def load_compliance(home: Home, *, days: int = USUAL_DAYS, agent: str | None = None) -> CompliancePageObject:
    """Return how many runs ended in each class, by day and by agent; see `ComplianceCountsObject`."""
    if not 1 <= days <= MOST_DAYS:
        raise UsageError(f"can't show {days} days", hint=f"ask for 1 to {MOST_DAYS}")
    today = date.fromtimestamp(read_clock_ms() / 1000)  # noqa: DTZ012 - the user's time zone
    first = today - timedelta(days=days - 1)
    since_ms = int(time.mktime(first.timetuple())) * 1000
    found = list_finished(home.ledger, since_ms=since_ms, agent=agent) if has_ledger(home) else []
    by_agent = _group(found, (each.agent for each in found))
    by_day = _group(found, (each.day for each in found))
    shown = [(first + timedelta(days=number)).isoformat() for number in range(days)]
    return {
        "agents": [{"agent": name, **_sum_up(own)} for name, own in sorted(by_agent.items())],
        "days": [{"day": day, **_count(by_day.get(day, ()))} for day in shown],
        "total": _sum_up(found),
        "kept_out_estimated": True,
    }


def _group(found: Sequence[FinishedRun], names: Iterable[str]) -> dict[str, list[FinishedRun]]:
    groups: dict[str, list[FinishedRun]] = {}
    for name, each in zip(names, found, strict=True):
        groups.setdefault(name, []).append(each)
    return groups


def _count(found: Sequence[FinishedRun]) -> ComplianceCountsObject:
    kinds = [each.kind for each in found]
    return {
        "total": len(kinds),
        "at_once": kinds.count("at_once"),
        "repaired": kinds.count("repaired"),
        "reasked": kinds.count("reasked"),
        "unproven": kinds.count("unproven"),
        "rejected": kinds.count("rejected"),
        "timed_out": kinds.count("timed_out"),
        "false_claim": kinds.count("false_claim"),
        "cancelled": kinds.count("cancelled"),
        "other": kinds.count("other"),
    }


def _sum_up(found: Sequence[FinishedRun]) -> ComplianceTotalObject:
    """The counts, the median time, tokens and cost, and the tokens that the callers did not have to read."""
    times = [each.duration_ms for each in found if each.duration_ms is not None]
    tokens = [each.tokens for each in found if each.tokens is not None]
    costs = [each.cost_usd for each in found if each.cost_usd is not None]
    return {
        **_count(found),
        "median_ms": round(median(times)) if times else None,
        "tokens": sum(tokens) if tokens else None,
        "cost_usd": sum(costs) if costs else None,
        "kept_out_tokens": sum(map(_estimate_kept_out, found)),
    }


def _estimate_kept_out(each: FinishedRun) -> int:
    """The tokens of an answer beyond those of the result that the caller got."""
    return max(0, each.answered_bytes // _BYTES_A_TOKEN - (each.result_tokens or DEFAULT_TOKENS))
