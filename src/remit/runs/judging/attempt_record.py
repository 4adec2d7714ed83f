"""The record of an attempt in the ledger, without the answer itself.

Owns the JSON shapes of findings, repairs and claims in the ledger. By them people see later which line of an answer was
wrong, and which of the files that it names were really made; and the next attempt is held to what was claimed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from remit.ledger.events import read_clock_ms
from remit.ledger.runs import AttemptRow, list_attempts
from remit.runs.judging.judge import EarlierClaims

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.ledger.runs import Run
    from remit.ledger.store import Ledger
    from remit.model import Diagnostic, JsonRepair, TextSpan
    from remit.runs.judging.judge import AttemptVerdict

_MOST = 50
"""Of findings, repairs and claims each: who needs more has the answer."""
_READ = ("fabricated", "invalid")
"""Outcomes of answers that do not hold, and whose claims are meant: a template that nobody filled in has none."""
_NOT_THERE = ("missing", "empty", "unreadable")


def describe_attempt(
    row: Run, number: int, judgement: AttemptVerdict | None, *, stop_reason: str, usage: Mapping[str, Any]
) -> AttemptRow:
    """An attempt that has ended just now, as the ledger keeps it."""
    kept = AttemptRow(
        number, row.started_ms or 0, read_clock_ms(), stop_reason,
        None if judgement is None else judgement.name, f"answer-{number}", usage=usage,
    )  # fmt: skip
    if judgement is None:
        return kept
    verdict = judgement.verdict
    return kept._replace(
        diagnostics=[_shape_finding(each) for each in judgement.findings[:_MOST]],
        repairs=[] if verdict is None else [_shape_repair(each) for each in verdict.repairs[:_MOST]],
        claims=list_claims(judgement),
    )


def list_claims(judgement: AttemptVerdict) -> list[dict[str, Any]]:
    """The files that a return names, and what was found of each."""
    claims, graded = [], [*judgement.grades.items()]
    if len(graded) > _MOST:  # what is not there is remembered first, or a lie could hide behind fifty truths
        graded.sort(key=lambda each: each[1].facts.state not in _NOT_THERE)
    for path, grade in graded[:_MOST]:
        told: dict[str, Any] = {"path": path, "state": grade.facts.state, "grade": grade.grade, "reason": grade.reason}
        rest = {"sha256": grade.sha256, "size_bytes": grade.facts.size_bytes, "by_session": grade.by_session}
        claims.append(told | {name: value for name, value in rest.items() if value is not None})
    return claims


def load_earlier(ledger: Ledger, session_id: str, *, until: int | None = None) -> EarlierClaims:
    """What the attempts of a session have claimed and not made. `until`: the last of them that counts."""
    tried = [each for each in list_attempts(ledger, session_id) if until is None or each.number <= until]
    claims = [each.claims for each in tried if each.verdict in _READ]
    missing = [each for each in claims if any(claim["state"] in _NOT_THERE for claim in each)]
    if not missing:
        return EarlierClaims()
    missed = (claim["path"] for each in missing for claim in each if claim["state"] in _NOT_THERE)
    known = frozenset(claim["path"] for claim in missing[0]) if len(missing[0]) < _MOST else None
    return EarlierClaims(tuple(dict.fromkeys(missed)), known)


def _shape_finding(finding: Diagnostic) -> dict[str, Any]:
    rare = {"hint": finding.hint, "pointer": finding.pointer, "place": _shape_place(finding.place)}
    told = {"code": finding.code, "severity": finding.severity, "message": finding.message}
    return told | {name: value for name, value in rare.items() if value}


def _shape_repair(repair: JsonRepair) -> dict[str, Any]:
    place = _shape_place(repair.place)
    return {"kind": repair.kind, "message": repair.message} | ({"place": place} if place else {})


def _shape_place(place: TextSpan | None) -> list[int] | None:
    """Line and column where it begins, line and column where it ends."""
    return None if place is None else [*place]
