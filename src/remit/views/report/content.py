"""The words of a report that HTML and Markdown share: badges, facts, times and sums.

A foreign word is shown unchanged; its CSS class and mark come from fixed tables.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from remit.model import ACCEPTABLE
from remit.result import CheckResult
from remit.sentences import format_duration
from remit.views.checks import AttemptCheck, describe_answer, describe_execution
from remit.views.render import count
from remit.views.report.record import name_state

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_LAST_MS = 253_402_300_799_000
"""The end of the year 9999: no calendar here goes further."""


class StatusBadge(NamedTuple):
    """A word, a mark for it, and the class of its colour."""

    word: str
    mark: str
    tone: str


_STATES = {
    "completed": ("✓", "good"), "partial": ("◐", "warn"), "blocked": ("■", "warn"), "failed": ("✗", "bad"),
    "running": ("▶", "live"), "waiting": ("…", "wait"), "queued": ("○", "wait"), "starting": ("…", "wait"),
    "finishing": ("…", "live"), "abandoned": ("!", "bad"),
}  # fmt: skip
_STOP_REASONS = {"timeout": StatusBadge("timed out", "◷", "warn"), "cancelled": StatusBadge("cancelled", "⊘", "off")}
_FALSE_CLAIM = StatusBadge("false claim", "⚑", "false_claim")
_UNPROVEN = StatusBadge("unproven", "?", "warn")
_FILE_STATES = {
    "missing": StatusBadge("reported, missing", "⚑", "false_claim"),
    "outside": StatusBadge("reported, outside the root", "⚑", "false_claim"),
    "empty": StatusBadge("claimed, but empty", "✗", "bad"),
    "special": StatusBadge("claimed, but no plain file", "✗", "bad"),
    "unreadable": StatusBadge("claimed, can't be read", "✗", "bad"),
}
_GRADES = {
    "missing": StatusBadge("claimed, no such artifact", "✗", "bad"),
    "unchanged": StatusBadge("there, but not changed", "!", "warn"),
    "unknown": StatusBadge("there, not verified", "?", "warn"),
    "changed": StatusBadge("there, changed since dispatch", "✓", "good"),
    "attributed": StatusBadge("there, written by this agent", "✓", "good"),
}
_CHECKS = {
    "passed": StatusBadge("passed", "✓", "good"),
    "failed": StatusBadge("failed", "✗", "bad"),
    "not run": StatusBadge("not run", "!", "warn"),
}
_SEVERITIES = {"error": ("✗", "bad"), "warning": ("!", "warn"), "note": ("i", "live")}


def describe(row: Mapping[str, Any]) -> StatusBadge:
    """The badge of a run."""
    word = name_state(row)
    mark, tone = _STATES.get(word, ("·", "off"))
    if row["state"] == "finished":
        if row["verdict"] == "fabricated":
            return _FALSE_CLAIM
        if row["verdict"] == "unproven":
            return _UNPROVEN
        if word != "completed" and row["stop_reason"] in _STOP_REASONS:
            return _STOP_REASONS[row["stop_reason"]]
    return StatusBadge(word, mark, tone)


def describe_attempt(attempt: Mapping[str, Any]) -> StatusBadge:
    """The badge of an attempt."""
    if attempt["ended_ms"] is None:
        return StatusBadge("running", "▶", "live")
    word = str(attempt["verdict"] or attempt["stop_reason"] or "ended")
    if word == "fabricated":
        return _FALSE_CLAIM
    if word == "unproven":
        return _UNPROVEN
    if word in ACCEPTABLE:
        return StatusBadge(word, "✓", "good")
    return _STOP_REASONS.get(word, StatusBadge(word, "✗", "bad"))


def describe_claim(claim: Mapping[str, Any]) -> StatusBadge:
    """The badge of a reported file."""
    found = _FILE_STATES.get(str(claim.get("state"))) or _GRADES.get(str(claim.get("grade")))
    return found or StatusBadge(str(claim.get("grade") or claim.get("state") or "claimed"), "!", "warn")


def describe_check(check: Mapping[str, Any]) -> StatusBadge:
    """The badge of an acceptance check."""
    if not check.get("needed", True):
        return StatusBadge("not needed", "·", "off")
    return _CHECKS.get(str(check.get("answer")), _CHECKS["not run"])


def format_check(check: Mapping[str, Any]) -> str:
    """The name of an acceptance check, and its answer with time and reason."""
    result = CheckResult(
        str(check["name"]), str(check["answer"]), check.get("reason", ""), duration_ms=check.get("duration_ms", 0),
        is_cached=check.get("cached", False), is_flaky=check.get("flaky", False),
        is_needed=check.get("needed", True), before=check.get("before", ""), tests=check.get("tests"),
        skipped=check.get("skipped"),
    )  # fmt: skip
    return f"{result.name} {describe_answer(result, in_full=True)}"


def format_attempt_checks(node: Mapping[str, Any], attempt: Mapping[str, Any]) -> list[str]:
    """How the acceptance checks ended after an attempt; those after the last one are shown with the result."""
    if node["checks"] and attempt is node["attempts"][-1]:
        return []
    executed = [
        AttemptCheck(str(each["name"]), each["answer"], each["reason"], each["duration_ms"], "", each["repeated"])
        for each in attempt["checks"]
    ]
    return [f"{each.name} {describe_execution(each)}" for each in executed]


def describe_severity(diagnostic: Mapping[str, Any]) -> StatusBadge:
    """The badge of a diagnostic."""
    severity = str(diagnostic.get("severity"))
    mark, tone = _SEVERITIES.get(severity, ("·", "off"))
    return StatusBadge(severity, mark, tone)


# --- times and sums --------------------------------------------------------------------------------------------------


def format_time(at_ms: int | None) -> str:
    """A moment, the same for every reader: `2026-11-16 10:54:31 UTC`."""
    if at_ms is None:
        return ""
    return f"{datetime.fromtimestamp(max(0, min(at_ms, _LAST_MS)) / 1000, UTC):%Y-%m-%d %H:%M:%S} UTC"


def format_span(begin_ms: int | None, end_ms: int | None) -> str:
    """The time between two moments; empty if one is unknown."""
    return "" if begin_ms is None or end_ms is None else format_duration(max(0, end_ms - begin_ms) / 1000)


def format_usage(usage: Mapping[str, Any]) -> str:
    """Tokens and money, as far as they are known."""
    tokens, cost = usage.get("tokens"), usage.get("cost_usd")
    parts = ["" if tokens is None else f"{tokens:,} tokens", "" if cost is None else f"${cost:,.2f}"]
    return ", ".join(part for part in parts if part)


def format_headline(report: Mapping[str, Any]) -> str:
    """What the run is, in one line."""
    totals = report["totals"]
    words = ", ".join(f"{number} {word}" for word, number in totals["states"].items())
    return f"{count(totals['runs'], 'run')}: {words}"


def format_as_of(report: Mapping[str, Any]) -> str:
    """The time of the report."""
    time = format_time(report["made_ms"])
    return (
        f"The run hasn't finished. This report is from {time}."
        if report["open"]
        else f"The run has finished. This report is from {time}."
    )


def list_facts(report: Mapping[str, Any], node: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The facts of a run: names and values."""
    run, config = node["run"], node["config"]
    end_ms = report["made_ms"] if run["ended_ms"] is None else run["ended_ms"]
    facts = (
        ("Session", run["session_id"]),
        ("Path", f"{' → '.join(map(str, run['path']))}, depth {run['depth']}"),
        ("Task", run["task_number"]),
        ("Runner", ", ".join(str(each) for each in (run["runner"], config["model"]) if each)),
        ("Kind", config["kind"]),
        ("Asked", format_time(run["created_ms"])),
        ("Begun", format_time(run["started_ms"])),
        ("Took", format_span(run["started_ms"], end_ms)),
        ("Time given", format_duration(config["timeout_s"]) if config["timeout_s"] else ""),
        ("Spent", format_usage(run)),
        ("Budget", ", ".join(f"{name} {value}" for name, value in (config["budget"] or {}).items())),
        ("Resumes", config["resume_of"]),
        ("Retries", config["retry_of"]),
    )
    yield from ((name, str(value)) for name, value in facts if value not in (None, ""))


def list_claims(node: Mapping[str, Any], attempt: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The files that an attempt reported; if the last attempt has no record of them, those of the result."""
    is_last = attempt is node["attempts"][-1]
    graded = node["result"]["remit"]["grades"] if is_last and node["result"] else []
    return attempt["claims"] or graded


def format_cut(text: Mapping[str, Any], name: str) -> str:
    """Return the note below a text that is cut; empty for a whole text."""
    return f"Cut: {len(text['text']):,} of {text['characters']:,} characters of the {name}." if text["cut"] else ""


def format_diagnostic(diagnostic: Mapping[str, Any]) -> str:
    """The message of a diagnostic with its position and hint."""
    location = diagnostic.get("location")
    where = (
        f" (line {location['row']})" if location else f" ({diagnostic['pointer']})" if diagnostic.get("pointer") else ""
    )
    hint = f". {diagnostic['hint']}" if diagnostic.get("hint") else ""
    return f"{diagnostic.get('message', '')}{where}{hint}"


def format_context(context: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the context of an agent: each file with its length, or with the reason why it is missing."""
    lines = []
    for each in context:
        size = f"{each['chars']:,} characters" if isinstance(each.get("chars"), int) else each.get("reason") or ""
        lines.append(f"{each.get('name', '')}{f' ({size})' if size else ''}")
    return lines


def format_steps(steps: Iterable[Mapping[str, Any]]) -> list[str]:
    """The finish steps that had something to do."""
    return [
        f"{each['name']}: {each['state']}{', ' if each['message'] else ''}{each['message']}"
        for each in steps
        if each["state"] != "nothing"
    ]


def format_error(error: Mapping[str, Any]) -> str:
    """An agent error with its recommendation."""
    advice = error.get("recommendation")
    return f"{error.get('code') or error.get('type')}: {error.get('message', '')}{f' ({advice})' if advice else ''}"
