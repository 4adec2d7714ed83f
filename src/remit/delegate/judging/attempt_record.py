"""Attempt record: what is written down of one attempt, beside the answer itself.

Owns the JSON shapes of findings, repairs and claims in the ledger. By them people see later which line of an answer was
wrong, and which of the files that it names were really made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from remit.workspace.ledger.delegations import Attempt
from remit.workspace.ledger.events import read_clock_ms

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.delegate.judging.judgement import Judgement
    from remit.model import Finding, Place, Repair
    from remit.workspace.ledger.delegations import Delegation

_MOST = 50
"""Of findings, repairs and claims each: who needs more has the answer."""


def describe_attempt(
    row: Delegation, number: int, judgement: Judgement | None, *, ending: str, usage: Mapping[str, Any]
) -> Attempt:
    """An attempt that has ended just now, as the ledger keeps it."""
    kept = Attempt(
        number, row.started_ms or 0, read_clock_ms(), ending,
        None if judgement is None else judgement.outcome, f"answer-{number}", usage=usage,
    )  # fmt: skip
    if judgement is None:
        return kept
    verdict = judgement.verdict
    return kept._replace(
        findings=[_shape_finding(each) for each in judgement.findings[:_MOST]],
        repairs=[] if verdict is None else [_shape_repair(each) for each in verdict.repairs[:_MOST]],
        claims=list_claims(judgement),
    )


def list_claims(judgement: Judgement) -> list[dict[str, Any]]:
    """The files that a return names, and what was found of each."""
    claims = []
    for path, grade in [*judgement.grades.items()][:_MOST]:
        told: dict[str, Any] = {"path": path, "state": grade.facts.state, "grade": grade.grade, "reason": grade.reason}
        rest = {"sha256": grade.sha256, "size_bytes": grade.facts.size_bytes, "by_session": grade.by_session}
        claims.append(told | {name: value for name, value in rest.items() if value is not None})
    return claims


def _shape_finding(finding: Finding) -> dict[str, Any]:
    rare = {"hint": finding.hint, "pointer": finding.pointer, "place": _shape_place(finding.place)}
    told = {"code": finding.code, "severity": finding.severity, "message": finding.message}
    return told | {name: value for name, value in rare.items() if value}


def _shape_repair(repair: Repair) -> dict[str, Any]:
    place = _shape_place(repair.place)
    return {"kind": repair.kind, "message": repair.message} | ({"place": place} if place else {})


def _shape_place(place: Place | None) -> list[int] | None:
    """Line and column where it begins, line and column where it ends."""
    return None if place is None else [*place]
