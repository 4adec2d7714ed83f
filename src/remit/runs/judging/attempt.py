"""An attempt of a run: how it ended, what its agent returned, and its record in the ledger.

The record has the JSON of diagnostics, repairs and claims, but not the answer itself. It shows which line of an answer
was wrong and which of the reported files exist; and a later attempt can't silently drop what an earlier one claimed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from remit.ledger.events import read_clock_ms
from remit.ledger.runs import AttemptRow, list_attempts
from remit.light_namedtuple import NamedTuple
from remit.runners.protocol import RunOutput

if TYPE_CHECKING:
    from remit.ledger.runs import Run
    from remit.ledger.store import Ledger
    from remit.model import Diagnostic, JsonRepair, TextSpan
    from remit.runs.checks.accept import CheckedTree
    from remit.runs.judging.judge import AttemptVerdict

HANDBACK, BUDGET, TIMEOUT, ANSWERED = "handback", "budget", "timeout", "answered"
"""Why the supervisor stops an agent; answered: its program only waits for commands that it left in the background."""
OWN_END = ("exited", "crashed")
"""The stop reasons of an agent that ended by itself."""
_MAX_RECORDED = 50
"""Of diagnostics, repairs and claims each; the stored answer has all of them."""
_WITH_CLAIMS = ("fabricated", "invalid")
"""Verdicts on rejected returns whose claims count: an unfilled template claims nothing."""
_NOT_THERE = ("missing", "empty", "unreadable")


class Attempt(NamedTuple):
    """One attempt that has ended, or that could not start."""

    stop_reason: str
    """exited, crashed, timeout, cancelled, handback, budget, orphaned or rejected."""
    output: RunOutput = RunOutput()
    verdict: AttemptVerdict | None = None
    """None if the agent returned nothing."""
    number: int = 0
    """0 if no attempt of the run started."""
    exit_code: int | None = None
    reason: str = ""
    """Why it ended so, if that is known."""
    code: str = ""
    """The code of the error that kept it from starting."""
    trace: str = ""
    """The end of its stack trace, or of what its program printed on standard error before it failed."""
    checks: CheckedTree | None = None
    """The answers of the acceptance checks, if they ran."""

    @property
    def is_completed(self) -> bool:
        """Whether the result would be `completed`, but for acceptance checks."""
        returned = None if self.verdict is None else self.verdict.returned
        has_exited = self.stop_reason == "exited" and not self.output.cause and self.exit_code in (0, None)
        return has_exited and returned is not None and returned.status == "completed"

    @property
    def is_final(self) -> bool:
        """Whether the return goes to the caller instead of back to the agent."""
        is_accepted = self.verdict is not None and self.verdict.is_final
        return is_accepted and not (self.checks is not None and self.checks.is_correctable)


class EarlierClaims(NamedTuple):
    """What was claimed in earlier attempts of the same run and was missing."""

    missed: tuple[str, ...] = ()
    known: frozenset[str] | None = frozenset()
    """All claims of the first attempt that missed a file: none of them replaces it. None: too many to know."""


def shape_attempt(row: Run, attempt: Attempt) -> AttemptRow:
    """Return the row of the ledger for an attempt that has just ended."""
    verdict = attempt.verdict
    kept = AttemptRow(
        attempt.number, row.started_ms or 0, read_clock_ms(), attempt.stop_reason,
        None if verdict is None else verdict.name, f"answer-{attempt.number}", usage=attempt.output.usage._asdict(),
    )  # fmt: skip
    if verdict is None:
        return kept
    message = verdict.verdict
    diagnostics = (*(() if attempt.checks is None else attempt.checks.diagnostics), *verdict.diagnostics)
    return kept._replace(
        diagnostics=[_shape_diagnostic(each) for each in diagnostics[:_MAX_RECORDED]],
        repairs=[] if message is None else [_shape_repair(each) for each in message.repairs[:_MAX_RECORDED]],
        claims=list_claims(verdict),
    )


def list_claims(verdict: AttemptVerdict) -> list[dict[str, Any]]:
    """The files that a return names, and the evidence on each."""
    claims, graded = [], [*verdict.grades.items()]
    if len(graded) > _MAX_RECORDED:  # missing files come first, or a lie could hide behind fifty true claims
        graded.sort(key=lambda each: each[1].facts.state not in _NOT_THERE)
    for path, grade in graded[:_MAX_RECORDED]:
        claim: dict[str, Any] = {"path": path, "state": grade.facts.state, "grade": grade.grade, "reason": grade.reason}
        rest = {"sha256": grade.sha256, "size_bytes": grade.facts.size_bytes, "by_session": grade.by_session}
        claims.append(claim | {name: value for name, value in rest.items() if value is not None})
    return claims


def load_earlier_claims(ledger: Ledger, session_id: str, *, until: int | None = None) -> EarlierClaims:
    """What the attempts of a run claimed and didn't make. `until`: the last attempt that counts."""
    rows = [each for each in list_attempts(ledger, session_id) if until is None or each.number <= until]
    claims = [each.claims for each in rows if each.verdict in _WITH_CLAIMS]
    missing = [each for each in claims if any(claim["state"] in _NOT_THERE for claim in each)]
    if not missing:
        return EarlierClaims()
    missed = (claim["path"] for each in missing for claim in each if claim["state"] in _NOT_THERE)
    known = frozenset(claim["path"] for claim in missing[0]) if len(missing[0]) < _MAX_RECORDED else None
    return EarlierClaims(tuple(dict.fromkeys(missed)), known)


def _shape_diagnostic(diagnostic: Diagnostic) -> dict[str, Any]:
    rare = {"hint": diagnostic.hint, "pointer": diagnostic.pointer, "place": _shape_place(diagnostic.place)}
    shaped = {"code": diagnostic.code, "severity": diagnostic.severity, "message": diagnostic.message}
    return shaped | {name: value for name, value in rare.items() if value}


def _shape_repair(repair: JsonRepair) -> dict[str, Any]:
    place = _shape_place(repair.place)
    return {"kind": repair.kind, "message": repair.message} | ({"place": place} if place else {})


def _shape_place(place: TextSpan | None) -> list[int] | None:
    """The line and column of the start, then of the end."""
    return None if place is None else [*place]
