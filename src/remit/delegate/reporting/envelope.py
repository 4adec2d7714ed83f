"""Envelope: what the caller of a delegation gets back.

Owns the shape of the envelope and its JSON names. It says what it left out to fit into its budget of tokens, and names
the command that shows all of it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from remit.quick_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from remit.evidence.grades import ArtifactGrade
    from remit.model import Artifact, Fault, Finding

DEFAULT_TOKENS = 400
MIN_TOKENS = 320
"""Status, session and the first error fit into so many, whatever they say."""
HASH_DIGITS = 12


class EnvelopeArtifact(NamedTuple):
    """A file that the agent made, and how far what is on disk bears that out."""

    path: str
    kind: str = ""
    """In the agent's own word, where it gave one."""
    summary: str = ""
    grade: str = ""
    """claimed, unchanged, unknown, changed or attributed."""
    reason: str = ""
    """Why the grade is not higher."""
    sha256: str = ""
    size_bytes: int | None = None


class Spending(NamedTuple):
    """What the work has cost; None where nobody knows."""

    tokens: int | None = None
    cost_usd: float | None = None
    turns: int | None = None
    seconds: float | None = None


class Unsettled(NamedTuple):
    """A step of settling that failed: manifest, task, errors, activity or git."""

    step: str
    message: str = ""


class Envelope(NamedTuple):
    """What became of a delegation, for whoever asked for it."""

    session_id: str
    agent: str
    status: str
    summary: str
    outcome: str
    """The verdict: accepted, repaired, missing, malformed, invalid, ambiguous, degenerate, fabricated or unproven."""
    ending: str
    """exited, timeout, cancelled, crashed, refused, orphaned or budget."""
    artifacts: tuple[EnvelopeArtifact, ...] = ()
    unclaimed: tuple[str, ...] = ()
    """Files that changed and that the agent did not name; of many, the first."""
    unclaimed_count: int = 0
    findings: tuple[Finding, ...] = ()
    errors: tuple[Fault, ...] = ()
    next_steps: tuple[str, ...] = ()
    usage: Spending = Spending()
    attempts: int = 1
    depth: int = 1
    path: tuple[str, ...] = ()
    unsettled: tuple[Unsettled, ...] = ()
    notes: tuple[str, ...] = ()
    answer: str = ""
    """The hash under which the agent's last answer is kept word for word."""
    person_needed: bool = False
    """Whether an error can be put right by a person only, also one that gave way (R2.18)."""
    left_out: tuple[str, ...] = ()
    """What was shortened or dropped, each in a few words."""
    tokens: int | None = None
    """How many the envelope has as JSON; a bound where it is estimated."""
    estimated: bool = False

    @property
    def show(self) -> str:
        """The command that shows all of it."""
        return f"remit show {self.session_id} --full"


def gather_artifacts(
    artifacts: Sequence[Artifact], grades: Mapping[str, ArtifactGrade]
) -> tuple[EnvelopeArtifact, ...]:
    """The artifacts of a return with what was found out about each."""
    gathered = []
    for artifact in artifacts:
        grade = grades.get(artifact.path)
        told = EnvelopeArtifact(artifact.path, artifact.word or artifact.kind, artifact.summary or "")
        if grade is not None:
            told = told._replace(
                grade=grade.grade, reason=grade.reason, sha256=grade.sha256 or "", size_bytes=grade.facts.size_bytes
            )
        gathered.append(told)
    return tuple(gathered)


# --- JSON ------------------------------------------------------------------------------------------------------------


def render_envelope_json(envelope: Envelope, *, whole: bool = False) -> dict[str, Any]:
    """The envelope as JSON. The names of its main parts are always there, also where they are empty.

    Hashes have as many digits as are needed to compare them, unless all is to be shown.
    """
    digits = None if whole else HASH_DIGITS
    unclaimed = {"count": envelope.unclaimed_count, "paths": [*envelope.unclaimed]}
    rare: dict[str, Any] = {
        "unsettled": [_drop_empty(each._asdict()) for each in envelope.unsettled],
        "unclaimed": unclaimed if envelope.unclaimed_count else None,
        "notes": [*envelope.notes],
        "attempts": envelope.attempts if envelope.attempts > 1 else None,
        "depth": envelope.depth if envelope.depth > 1 else None,
        "path": [*envelope.path],
        "answer": envelope.answer[:digits],
        "person_needed": envelope.person_needed,
    }
    return {
        "session_id": envelope.session_id,
        "agent": envelope.agent,
        "status": envelope.status,
        "summary": envelope.summary,
        "outcome": envelope.outcome,
        "ending": envelope.ending,
        "artifacts": [_drop_empty(each._asdict() | {"sha256": each.sha256[:digits]}) for each in envelope.artifacts],
        "findings": [
            {"code": each.code, "severity": each.severity, "message": each.message} for each in envelope.findings
        ],
        "errors": [_shape_fault(fault) for fault in envelope.errors],
        "next_steps": [*envelope.next_steps],
        "usage": _drop_empty(envelope.usage._asdict()),
        **{name: value for name, value in rare.items() if value},
        "show": envelope.show,
        "left_out": [*envelope.left_out],
        "tokens": envelope.tokens,
        "estimated": envelope.estimated,
    }


def _drop_empty(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value not in (None, "")}


def _shape_fault(fault: Fault) -> dict[str, Any]:
    shaped = {"type": fault.type, "code": fault.code, "message": fault.message, "recoverable": fault.recoverable}
    return shaped | _drop_empty({"recommendation": fault.recommendation})


def render_text(envelope: Envelope) -> str:
    """The JSON of an envelope on one line: what its tokens are counted of."""
    return json.dumps(render_envelope_json(envelope), ensure_ascii=False, separators=(",", ":"))
