"""The shapes of what the API gives, as JSON Schema 2020-12.

Owns the pieces that the description of the API is made of. An object may have more than its shape names: what is added
later breaks nobody.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from remit.mcp.schemas import (
    BOOL,
    NUMBER,
    NUMBER_OR_NONE,
    OBJECT,
    OBJECT_OR_NONE,
    SEVERITY,
    TEXT,
    TEXT_OR_NONE,
    WHOLE,
    WHOLE_OR_NONE,
    many,
)
from remit.result import describe_schema

if TYPE_CHECKING:
    from remit.mcp.schemas import Schema


def shape(**properties: Schema) -> Schema:
    """An object that has all of these."""
    return {"type": "object", "properties": properties, "required": [*properties]}


def refer(name: str) -> Schema:
    """One of the shapes that have a name."""
    return {"$ref": f"#/components/schemas/{name}"}


def page(of: Schema, **more: Schema) -> Schema:
    """A part of a long list, and where the next one begins."""
    return shape(items=many(of), next_cursor=TEXT_OR_NONE, **more)


_STANDING: dict[str, Schema] = {
    "session_id": TEXT, "agent": TEXT, "state": TEXT, "standing": TEXT, "status": TEXT_OR_NONE,
    "verdict": TEXT_OR_NONE, "stop_reason": TEXT_OR_NONE, "depth": WHOLE, "path": many(TEXT), "parent_id": TEXT_OR_NONE,
    "root_id": TEXT, "task_number": WHOLE_OR_NONE, "task_id": TEXT_OR_NONE, "runner": TEXT, "work": TEXT,
    "created_ms": WHOLE,
    "started_ms": WHOLE_OR_NONE, "deadline_ms": WHOLE_OR_NONE, "ended_ms": WHOLE_OR_NONE, "left_ms": WHOLE_OR_NONE,
    "heard_ms": WHOLE_OR_NONE, "said": TEXT_OR_NONE, "idle_s": NUMBER_OR_NONE, "tokens": WHOLE_OR_NONE,
    "cost_usd": NUMBER_OR_NONE, "turns": WHOLE_OR_NONE, "driven": BOOL, "driver_pid": WHOLE_OR_NONE,
    "harness": TEXT_OR_NONE, "alive": BOOL, "waits_for": many(TEXT), "worker": TEXT_OR_NONE, "machine": OBJECT_OR_NONE,
}  # fmt: skip
_RUN_NAMES = (
    "session_id", "agent", "standing", "state", "status", "verdict", "stop_reason", "task_number", "task_id", "runner",
    "work", "created_ms", "started_ms", "ended_ms", "deadline_ms", "tokens", "cost_usd", "worker",
)  # fmt: skip
_FINDING = shape(code=TEXT, severity=SEVERITY, message=TEXT)

NAMED: dict[str, Schema] = {
    "Problem": shape(type=TEXT, title=TEXT, status=WHOLE, detail=TEXT, hint=TEXT, code=TEXT, data=OBJECT),
    "Standing": shape(**_STANDING),
    "Run": shape(
        **{name: _STANDING[name] for name in _RUN_NAMES}, children=WHOLE, open_below=WHOLE, tree_tokens=WHOLE_OR_NONE,
        tree_cost_usd=NUMBER_OR_NONE,
    ),
    "Finding": _FINDING,
    "Attempt": shape(
        number=WHOLE, started_ms=WHOLE_OR_NONE, ended_ms=WHOLE_OR_NONE, stop_reason=TEXT_OR_NONE, verdict=TEXT_OR_NONE,
        findings=many(OBJECT), repairs=many(OBJECT), claims=many(OBJECT), usage=OBJECT, answer=OBJECT_OR_NONE,
    ),
    "Node": shape(
        standing=refer("Standing"), config=OBJECT, asked=OBJECT, attempts=many(refer("Attempt")),
        result={"anyOf": [refer("Result"), {"type": "null"}]}, steps=many(OBJECT),
        unclaimed=many(OBJECT), children=many(TEXT), can=OBJECT,
        event=WHOLE,
    ),
    "Result": describe_schema(),
    "Change": shape(
        number=WHOLE, at_ms=WHOLE, session_id=TEXT_OR_NONE, root_id=TEXT_OR_NONE, kind=TEXT, details=OBJECT,
    ),
    "Line": shape(number=WHOLE, attempt=WHOLE, kind=TEXT, text=TEXT),
    "Text": shape(text=TEXT, page=WHOLE, pages=WHOLE, characters=WHOLE),
    "Worker": shape(
        worker_id=TEXT, host=TEXT, pid=WHOLE, version=TEXT, protocol=WHOLE, concurrency=WHOLE, agents=many(TEXT),
        lease_s=NUMBER, state=TEXT, started_ms=WHOLE, beat_ago_s=NUMBER, live=BOOL, running=WHOLE,
    ),
    "Lease": shape(
        session_id=TEXT, agent=TEXT, depth=WHOLE, worker=TEXT_OR_NONE, host=TEXT_OR_NONE, fence=WHOLE,
        lease_left_s=NUMBER_OR_NONE, queue=TEXT, waited_s=NUMBER, cancelled=BOOL, here=BOOL,
    ),
    "Cluster": shape(
        backend={"type": "string", "enum": ["local", "postgresql"]}, database=TEXT, trouble=TEXT_OR_NONE,
        workers=many(refer("Worker")),
        queues=many(shape(queue=TEXT, waiting=WHOLE, running=WHOLE, oldest_s=NUMBER_OR_NONE)),
        lag_s=NUMBER_OR_NONE, manned=BOOL, leases=many(refer("Lease")),
    ) | {"required": ["backend"]},
    "Verdict": shape(
        accepted=BOOL, verdict=TEXT, format=TEXT_OR_NONE, status=TEXT_OR_NONE, repairs=many(OBJECT),
        findings=many(refer("Finding")), evidence=many(OBJECT),
    ),
}  # fmt: skip
"""What several operations give."""


def list_names(schema: Schema) -> list[str]:
    """The names of an object's properties."""
    properties: dict[str, Any] = schema.get("properties", {})
    return [*properties]
