"""The report of a delegation: all that is told of it, kept whole.

Owns how an envelope is made of a conclusion, and how both are kept until they are settled and shown. What a caller gets
is this envelope, cut down to its budget; what people get is all of it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Protocol

from remit.delegate.judging.endings import Conclusion, Writes
from remit.delegate.reporting.envelope import Envelope, EnvelopeArtifact, Spending, Unsettled, gather_artifacts
from remit.errors import StateError
from remit.model import Artifact, Fault, Finding
from remit.quick_hash import take_sha256
from remit.workspace.ledger.texts import load_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from remit.evidence.changes import Change
    from remit.runners import Usage
    from remit.workspace.home import Home
    from remit.workspace.ledger.delegations import Delegation
    from remit.workspace.settle import Step

_MOST_UNCLAIMED = 200
_NOTED = ("worktree", "preflight", "follow-ups", "outside", "pending", "phases", "status", "summary")
"""The steps of settling that the caller wants to know of, also where they went well."""


class Told(Protocol):
    """What is told of the attempts of a delegation by whoever followed them."""

    @property
    def usage(self) -> Usage:
        """What they used."""
        ...

    @property
    def answer(self) -> str | None:
        """The last answer, word for word."""
        ...

    @property
    def turns(self) -> Sequence[object]:
        """The attempts."""
        ...

    def check_held(self) -> Sequence[Finding]:
        """What is to be said of limits that could not be held."""
        ...


def make_report(row: Delegation, drive: Told | None, conclusion: Conclusion, *, ended_ms: int) -> Envelope:
    """All that is told of a delegation, before it is settled."""
    from remit.runners.protocol import Usage  # noqa: PLC0415 - whoever has judged has it already

    usage = Usage() if drive is None else drive.usage
    answer = None if drive is None else drive.answer
    seconds = None if row.started_ms is None else (ended_ms - row.started_ms) / 1000
    return Envelope(
        row.session_id,
        row.agent,
        conclusion.status,
        conclusion.summary,
        conclusion.outcome,
        conclusion.ending,
        gather_artifacts(conclusion.artifacts, conclusion.grades),
        tuple(change.path for change in conclusion.unclaimed[:_MOST_UNCLAIMED]),
        len(conclusion.unclaimed),
        (*conclusion.findings, *(() if drive is None else drive.check_held())),
        conclusion.faults,
        conclusion.next_steps,
        Spending(usage.tokens, usage.cost_usd, usage.turns, seconds),
        max(1, 0 if drive is None else len(drive.turns)),
        row.depth,
        row.path,
        notes=conclusion.notes,
        answer="" if answer is None else take_sha256(answer.encode("utf-8", "surrogatepass")),
        person_needed=not all(fault.recoverable for fault in conclusion.faults),
    )


def add_steps(report: Envelope, steps: Sequence[Step]) -> Envelope:
    """The report of a delegation that is settled: what failed then is told, and changes nothing about the work."""
    failed = [step for step in steps if step.state == "failed"]
    unsettled = tuple(Unsettled(step.name, _tell_step(step)) for step in failed)
    told = tuple(finding for step in steps for finding in step.findings if finding.severity != "note")
    notes = tuple(f"{step.name}: {step.message}" for step in steps if step.name in _NOTED and step.state == "done")
    return report._replace(unsettled=unsettled, findings=(*report.findings, *told), notes=(*notes, *report.notes))


def _tell_step(step: Step) -> str:
    return step.message or "; ".join(finding.message for finding in step.findings[:3])


# --- kept ------------------------------------------------------------------------------------------------------------


def render_report(report: Envelope, conclusion: Conclusion) -> bytes:
    """Both as bytes. Of the conclusion, what settling needs."""
    kept: dict[str, Any] = {
        "envelope": {
            **report._asdict(),
            "artifacts": [each._asdict() for each in report.artifacts],
            "findings": [[*finding[:6]] for finding in report.findings],
            "errors": [_shape_fault(fault) for fault in report.errors],
            "usage": report.usage._asdict(),
            "unsettled": [each._asdict() for each in report.unsettled],
        },
        "artifacts": [
            [artifact.kind, artifact.path, artifact.summary, artifact.word] for artifact in conclusion.artifacts
        ],
        "unclaimed": [[change.path, change.kind] for change in conclusion.unclaimed[:_MOST_UNCLAIMED]],
        "entry": conclusion.entry,
        "unsure": [*conclusion.unsure],
        "made": [*conclusion.made],
    }
    writes = conclusion.writes
    if writes is not None:
        kept["writes"] = [writes.changed, sorted(writes.seen), writes.is_recorded]
    return json.dumps(kept, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def _shape_fault(fault: Fault) -> list[Any]:
    return [*fault[:6]]


def load_report(home: Home, session_id: str) -> tuple[Envelope, Conclusion]:
    """The report of a delegation whose agent has ended, and what is settled of it."""
    kept = _load_kept(home, session_id)
    if kept is None:
        raise _tell_nothing_kept(home, session_id)
    return read_report(kept)


def read_report(kept: dict[str, Any]) -> tuple[Envelope, Conclusion]:
    """A report as it was kept, here or by another machine."""
    report = _read_envelope(kept["envelope"])
    artifacts = tuple(Artifact(kind, path, summary, word=word) for kind, path, summary, word in kept["artifacts"])
    unclaimed = _read_unclaimed(kept["unclaimed"]) if kept["unclaimed"] else ()
    status: Any = report.status
    conclusion = Conclusion(
        report.ending, report.outcome, status, report.summary, artifacts, {}, unclaimed, report.errors,
        report.next_steps, report.findings, report.notes, kept["entry"], tuple(kept.get("unsure", ())),
        _read_made(kept), _read_writes(kept) if "writes" in kept else None,
    )  # fmt: skip
    return report, conclusion


def _read_unclaimed(told: list[Any]) -> tuple[Change, ...]:
    from remit.evidence.changes import Change  # noqa: PLC0415 - only where there are some

    return tuple(Change(path, kind) for path, kind in told)


def _tell_nothing_kept(home: Home, session_id: str) -> StateError:
    from remit.workspace.ledger.delegations import load_delegation  # noqa: PLC0415 - only to say why

    row = load_delegation(home.ledger, session_id)
    if row is not None and row.state == "settled":  # a harness's own agent
        message = f"the delegation {session_id} was only looked on, so nothing is kept of its answer"
        return StateError(message, hint="remit ps --all shows how it ended")
    return StateError(f"the delegation {session_id} is not over", hint=f"remit wait {session_id} waits for it")


def load_made(home: Home, session_id: str) -> tuple[tuple[str, str], ...]:
    """What was accepted of an agent, by place and hash; nothing where it is not over, or not kept any more."""
    kept = _load_kept(home, session_id)
    return () if kept is None else _read_made(kept)


def load_writes(home: Home, session_id: str) -> Writes:
    """What shows which files an agent wrote that has ended; unknown if that isn't kept."""
    return _read_writes(_load_kept(home, session_id) or {})


def _read_writes(kept: dict[str, Any]) -> Writes:
    changed, seen, is_recorded = kept.get("writes", (None, (), False))
    return Writes(changed, frozenset(seen), is_recorded)


def _load_kept(home: Home, session_id: str) -> Any:  # noqa: ANN401 - JSON
    data = load_text(home, session_id, "report")
    return None if data is None else json.loads(data.decode("utf-8", "surrogatepass"))


def _read_made(kept: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple((place, digest) for place, digest in kept.get("made", ()))


def _read_envelope(values: dict[str, Any]) -> Envelope:
    known: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
    known |= {
        "artifacts": tuple(EnvelopeArtifact(**each) for each in values["artifacts"]),
        "findings": tuple(Finding(*each) for each in values["findings"]),
        "errors": tuple(Fault(*each) for each in values["errors"]),
        "usage": Spending(**values["usage"]),
        "unsettled": tuple(Unsettled(**each) for each in values["unsettled"]),
    }
    return Envelope(**known)
