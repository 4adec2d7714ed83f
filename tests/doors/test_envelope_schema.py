"""The schema of an envelope, which MCP and the API give out, names everything that an envelope can have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from remit.delegate.reporting.envelope import Envelope, EnvelopeArtifact, Spending, Unsettled
from remit.doors.cli.envelopes import shape_envelope
from remit.doors.mcp.schemas import ENVELOPE
from remit.model import Fault, Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

FULL = Envelope(
    "sess_1",
    "scribe",
    "partial",
    "Half of it.",
    "accepted",
    "exited",
    artifacts=(EnvelopeArtifact("a.md", "report", "All of it.", "changed", "nobody saw it", "0" * 64, 7),),
    unclaimed=("b.md",),
    unclaimed_count=1,
    findings=(Finding("RET001", "warning", "It is long.", "Make it short.", "R0.1"),),
    errors=(Fault("timeout", "TIMEOUT", "The time is over.", recoverable=True, recommendation="Go on."),),
    next_steps=("Go on.",),
    usage=Spending(1, 0.5, 2, 3.5),
    attempts=2,
    depth=2,
    path=("orchestrator", "scribe"),
    unsettled=(Unsettled("task", "It is gone."),),
    notes=("It was late.",),
    answer="f" * 64,
    person_needed=True,
    left_out=("two findings",),
    tokens=300,
    estimated=True,
)


def test_everything_in_a_full_envelope_is_in_its_schema() -> None:
    shaped = shape_envelope(FULL, asides=(Finding("CFG001", "note", "It is old.", "Renew it.", "R0.1"),))
    assert all(shaped.values()), "a part is empty, and would be missed"
    assert sorted(find_unnamed(ENVELOPE, shaped)) == []
    assert set(ENVELOPE["properties"]) == set(shaped), "the schema names what no envelope has"


def find_unnamed(schema: dict[str, Any], value: object, at: str = "") -> Iterator[str]:
    """The places of a value that its schema does not name."""
    if isinstance(value, list):
        for each in value:
            yield from find_unnamed(schema["items"], each, f"{at}[]")
    elif isinstance(value, dict):
        for name, inner in value.items():
            if name in schema["properties"]:
                yield from find_unnamed(schema["properties"][name], inner, f"{at}/{name}")
            else:
                yield f"{at}/{name}"
