"""Shapes: a delegation and a finding as JSON, the same wherever they are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from remit.result import KEY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from remit.manifest.entries import ManifestEntry
    from remit.model import Diagnostic
    from remit.result import Result
    from remit.views.run_details import Standing


def shape_standing(each: Standing) -> dict[str, Any]:
    """A delegation as it stands, as JSON."""
    row, seen = each.row, each.seen
    left_ms = None if row.deadline_ms is None or not each.is_open else max(0, row.deadline_ms - each.now_ms)
    return {
        "session_id": row.session_id,
        "agent": row.agent,
        "state": row.state,
        "standing": each.word,
        "status": row.status,
        "verdict": row.verdict,
        "stop_reason": row.stop_reason,
        "depth": row.depth,
        "path": [*row.path],
        "parent_id": row.parent_id,
        "root_id": row.root_id,
        "task_number": row.task_number,
        "task_id": row.details.get("outside") or None,
        "runner": row.runner,
        "work": each.work,
        "created_ms": row.created_ms,
        "started_ms": row.started_ms,
        "deadline_ms": row.deadline_ms,
        "ended_ms": row.ended_ms,
        "left_ms": left_ms,
        "heard_ms": seen.heard_ms,
        "said": seen.said,
        "idle_s": seen.idle_s,
        "tokens": seen.tokens,
        "cost_usd": seen.cost_usd,
        "turns": row.turns,
        "driven": each.is_driven,
        "driver_pid": each.driver_pid,
        "harness": each.harness or None,
        "alive": each.is_alive,
        "waits_for": [*each.waits_for],
        "worker": seen.worker or None,
        "machine": None if each.place is None else each.place._asdict(),
    }


def shape_finding(finding: Diagnostic) -> dict[str, Any]:
    """What is said of a text: as the ledger keeps it of attempts, and without its secrets."""
    from remit.storage.secrets import redact

    told = {"code": finding.code, "severity": finding.severity, "message": redact(finding.message)}
    rare = {"hint": redact(finding.hint), "pointer": finding.pointer, "place": finding.place and [*finding.place]}
    return told | {name: value for name, value in rare.items() if value}


def shape_entry(entry: ManifestEntry) -> dict[str, Any]:
    """An entry's one JSON shape: its line, and its fields under the names of the standard."""
    return {"line": entry.line, **entry.fields}


def shape_result(result: Result, diagnostics: Sequence[Diagnostic] = (), **more: object) -> dict[str, Any]:
    """A result as JSON, with the diagnostics of the request itself and what else a command knows under `remit`."""
    shaped = result.to_dict()
    added: dict[str, Any] = {**shaped[KEY]}
    known = added.get("diagnostics", [])
    rest = [each for each in shape_asides(diagnostics) if each not in known]
    return shaped | {KEY: added | ({"diagnostics": [*known, *rest]} if rest else {}) | more}


def shape_asides(diagnostics: Sequence[Diagnostic]) -> list[dict[str, Any]]:
    """The diagnostics of a request, as JSON."""
    return [{"code": each.code, "severity": each.severity, "message": each.message} for each in diagnostics]
