"""The formats as a target: objects that nearly fit, in each format; accepted ones are converted to the other formats.

Bytes choose a sample of a format and change its values. The cases of the extractor are mostly invalid JSON, so they
seldom get that far.
"""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any, Final

from fuzz import laws
from fuzz.extractor import UNTIMED
from fuzz.target import Target, expand, need_nothing
from remit.returns import check
from remit.returns.conversion import KnownMetadata, convert_return, render_message
from remit.returns.formats import FORMATS, get_format

if TYPE_CHECKING:
    from collections.abc import Iterator

FAULT: Final = {"type": "timeout", "message": "It took too long", "recoverable": True, "recommendation": "Try again"}
SAMPLES: Final[tuple[tuple[str, dict[str, Any]], ...]] = (
    ("standard", {
        "status": "completed", "summary": "Wrote the plan. It has three phases.",
        "artifacts": [{"type": "plan", "path": "specs/1_a/plans/plan-001.md", "summary": "The plan"}],
        "metadata": {"session_id": laws.ISSUED, "duration_seconds": 4, "agent_type": "planner", "delegation_depth": 1,
                     "delegation_path": ["orchestrator", "planner"]},
        "errors": [], "next_steps": "Run it",
    }),
    ("standard", {
        "status": "partial", "summary": "Half of it is done.", "artifacts": [],
        "metadata": {"session_id": laws.ISSUED, "duration_seconds": 4.5, "agent_type": "planner",
                     "delegation_depth": 2, "delegation_path": ["orchestrator", "lead", "planner"]},
        "errors": [FAULT],
    }),
    ("hyper", {
        "meta": {"agent_name": "analyst", "status": "complete", "execution_time_ms": 12},
        "findings": {"what": ["It is so."]}, "artifacts": [{"type": "report", "path": "docs/a.md"}],
        "next_steps": [],
    }),
    ("manifest", {
        "id": "auth-2026-01-19", "file": "2026-01-19_auth.md", "title": "Auth", "date": "2026-01-19",
        "status": "complete", "topics": ["auth"], "key_findings": ["Use it.", "Not that.", "It holds."],
        "actionable": True, "needs_followup": [], "linked_tasks": ["T1"],
    }),
)  # fmt: skip
VALUES: Final[tuple[object, ...]] = (
    None, True, False, 0, -1, 1, 3, 4, 10**6, 10**30, 0.5, 1e300, "", " ", "x", "completed", "failed", "complete",
    "error", "blocked", "../a", "/etc/passwd", "~/a", "a\x00b", "\u202egpj.exe", "{{TOKEN}}", "<blank>", "x" * 5000,
    "2026-01-19", "2026-13-45", [], [[]], {}, {"": {}}, [None], ["a", "a"], [{"path": "a"}], [FAULT], laws.ISSUED,
)  # fmt: skip
KNOWN: Final = KnownMetadata(
    laws.ISSUED, "analyst", 1, ("orchestrator", "analyst"), "2026-01-05", 4800, "2026-01-05_a.md"
)


def make_payload(data: bytes) -> tuple[str, dict[str, Any]]:
    """A sample with changed values: two bytes each say where and what; what follows a zero is a text of its own."""
    which, rest = data[0], data[1:]
    name, sample = SAMPLES[which % len(SAMPLES)]
    payload: dict[str, Any] = json.loads(json.dumps(sample))
    while len(rest) > 1:
        where, what, rest = rest[0], rest[1], rest[2:]
        if what == 0:
            value: object = expand(rest, laws.FRAGMENTS)
            rest = b""
        else:
            value = deepcopy(VALUES[what % len(VALUES)])
        _set(payload, where, value, is_dropped=what == 1)
    return name, payload


def _set(payload: dict[str, Any], where: int, value: object, *, is_dropped: bool) -> None:
    """Change, add or drop one value: five bits say which key, three how deep."""
    at: Any = payload
    for _ in range(where >> 6):
        inner = [each for each in at.values() if isinstance(each, dict) and each]
        inner += [each[0] for each in at.values() if isinstance(each, list) and each and isinstance(each[0], dict)]
        inner = [each for each in inner if each]
        if not inner:
            break
        at = inner[where % len(inner)]
    keys = [*at, "extra"]
    key = keys[(where & 63) % len(keys)]
    if is_dropped:
        at.pop(key, None)
    else:
        at[key] = value


def check_payload(name: str, payload: dict[str, Any], way: int) -> None:
    """The laws of messages hold; accepted ones convert to every format, or diagnostics say what is missing."""
    text = json.dumps(payload)
    trial = laws.Trial(text, None if way & 1 else name, laws.SESSIONS[way >> 1 & 3])
    verdict = laws.check_laws(trial, max_seconds=UNTIMED)
    if verdict.returned is None:
        return
    for target in FORMATS:
        return_format = get_format(target)
        converted, findings = convert_return(verdict.returned, return_format, KNOWN)
        message = render_message(converted, return_format)
        assert message.encode("utf-8", "surrogatepass")
        if target != "manifest" and not any(finding.severity == "error" for finding in findings):
            again = check(message, return_format=target)
            assert again.payload is not None, (target, again.diagnostics)


def check_case(data: bytes) -> None:
    """Take the bytes apart, and try the laws."""
    if len(data) > 1:
        check_payload(*make_payload(data[1:]), data[0])


def list_seeds() -> Iterator[bytes]:
    """Each sample as it is, and with each of its values changed to each other one."""
    for way in range(8):
        for which in range(len(SAMPLES)):
            yield bytes([way, which])
            for where in range(0, 256, 3):
                yield bytes([way, which, where, (where * 7 + way) % 256])


TARGET = Target("formats", ("remit.returns",), laws.FRAGMENTS, list_seeds, need_nothing(check_case), max_bytes=512)
