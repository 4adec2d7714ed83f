"""The `standard` format: status, summary, artifacts, metadata; errors unless completed (R0, R2.8)."""

from __future__ import annotations

from sys import float_info
from typing import Any

from remit.model import ERROR_CODES, STATUSES, AgentError, Artifact, Return
from remit.returns.formats.base import Format, split
from remit.returns.shapes import (
    AnyShape,
    FlagShape,
    ListShape,
    NumberShape,
    ObjectShape,
    PathShape,
    TextListShape,
    TextShape,
    WordShape,
)

KINDS = {
    "research": "research",
    "report": "research",
    "plan": "plan",
    "implementation": "implementation",
    "summary": "summary",
    "documentation": "documentation",
    "review": "review",
}
"""The format's artifact types and their canonical kinds (C5)."""

ARTIFACT = ObjectShape(
    required={
        "type": WordShape(tuple(KINDS), "What kind of file it is."),
        "path": PathShape("Where it is, relative to the project root."),
    },
    expected={"summary": TextShape("What is in it, in one sentence.")},
)
AGENT_ERROR = ObjectShape(
    required={
        "type": TextShape("The family of the error: timeout, validation, execution, permission, …"),
        "message": TextShape("What went wrong, for people."),
        "recoverable": FlagShape("Whether trying again can help."),
        "recommendation": TextShape("What to do next."),
    },
    optional={"code": TextShape("A stable code such as TIMEOUT.")},
)
METADATA = ObjectShape(
    required={},
    expected={
        "agent_type": TextShape("The name of the agent that answers."),
        "delegation_depth": NumberShape("How deep in the call chain it ran.", whole=True),
        "delegation_path": ListShape(TextShape(), "The agents from the orchestrator to this one."),
        "duration_seconds": NumberShape("How long the work took."),
    },
    optional={
        "session_id": TextShape("The id that the caller issued for this run."),
        "phase_count": AnyShape("Phases of a plan."),
        "estimated_hours": AnyShape("Effort of a plan."),
        "findings_count": AnyShape("Findings of a research."),
    },
)
SHAPE = ObjectShape(
    required={
        "status": WordShape(STATUSES, "How the work ended."),
        "summary": TextShape("What came out of it, in 2 to 5 sentences and under 100 tokens.", max_chars=500),
        "artifacts": ListShape(ARTIFACT, "The files that were made; all of them exist when the work is completed."),
        "metadata": METADATA,
    },
    optional={
        "errors": ListShape(
            AGENT_ERROR,
            "What went wrong: at least one unless completed; if completed, only errors of steps after the work.",
        ),
        "next_steps": TextListShape("What the caller should do next."),
        "session_id": TextShape("Accepted here too; metadata is its place."),
    },
    description="What a subagent sends back, as one JSON object.",
)


def read(payload: dict[str, Any]) -> Return:
    """Build the canonical return from a `standard` object."""
    metadata = payload["metadata"]
    word = payload["status"]
    return Return(
        status=word,
        summary=payload["summary"],
        artifacts=tuple(_read_artifact(item) for item in payload["artifacts"]),
        errors=tuple(_read_error(item) for item in payload.get("errors") or ()),
        next_steps=_read_steps(payload.get("next_steps")),
        agent=metadata.get("agent_type"),
        session_id=metadata.get("session_id") or payload.get("session_id"),
        depth=metadata.get("delegation_depth"),
        path=tuple(metadata["delegation_path"]) if metadata.get("delegation_path") is not None else None,
        duration_ms=_to_ms(metadata.get("duration_seconds")),
        format="standard",
        word=word,
        metadata=split(metadata, {**METADATA.expected, "session_id": 0}),
        extra=split(payload, SHAPE.known),
        form=_read_form(payload),
    )


def write(returned: Return) -> dict[str, Any]:
    """Write a canonical return as a `standard` object."""
    form = returned.form if returned.format == "standard" else {}
    metadata: dict[str, Any] = {}
    if returned.session_id is not None and form.get("session_id") != "top":
        metadata["session_id"] = returned.session_id
    if returned.duration_ms is not None:
        seconds = form.get("duration_seconds")
        metadata["duration_seconds"] = (
            seconds if _to_ms(seconds) == returned.duration_ms else _to_s(returned.duration_ms)
        )
    named = {"agent_type": returned.agent, "delegation_depth": returned.depth,
             "delegation_path": None if returned.path is None else list(returned.path)}  # fmt: skip
    metadata |= {key: value for key, value in named.items() if value is not None}
    payload: dict[str, Any] = {
        "status": returned.word or returned.status,
        "summary": returned.summary,
        "artifacts": [_write_artifact(item) for item in returned.artifacts],
        "metadata": metadata | dict(returned.metadata),
    }
    if returned.errors or "errors" in form:
        payload["errors"] = [_write_error(item) for item in returned.errors]
    if "next_steps" in form and _read_steps(form["next_steps"]) == returned.next_steps:
        payload["next_steps"] = form["next_steps"]
    elif returned.next_steps:
        payload["next_steps"] = " ".join(returned.next_steps)
    if form.get("session_id") in ("top", "both"):
        payload["session_id"] = returned.session_id
    return payload | dict(returned.extra)


def paths(payload: dict[str, Any]) -> list[tuple[str, str]]:
    """Return each claimed file, also for objects of another shape."""
    artifacts = payload.get("artifacts")
    if not isinstance(artifacts, list):
        return []
    return [
        (f"/artifacts/{index}/path", item["path"])
        for index, item in enumerate(artifacts)
        if isinstance(item, dict) and isinstance(item.get("path"), str)
    ]


AFTER_WORK = ("GIT_COMMIT_FAILED", "STATUS_SYNC_FAILED")
"""Errors of steps that follow the work: a completed return may report them (D6)."""

AFTER_WORK_TYPES = [kind for kind, code in ERROR_CODES.items() if code in AFTER_WORK] + [*map(str.lower, AFTER_WORK)]


def derive_code(error_type: str) -> str:
    """Return the code for an error's type. The type may be the code itself in lower case."""
    code = error_type.upper()
    return ERROR_CODES.get(error_type) or (code if code in ERROR_CODES.values() else "UNKNOWN_ERROR")


def is_after_work(error_type: object, code: object = None) -> bool:
    """Whether an error is one of a step after the work, by its code or, without one, by its type."""
    return code in AFTER_WORK if code else error_type in AFTER_WORK_TYPES


def _read_artifact(item: dict[str, Any]) -> Artifact:
    return Artifact(
        kind=KINDS.get(item["type"], item["type"]),
        path=item["path"],
        summary=item.get("summary"),
        word=item["type"],
        extra=split(item, ARTIFACT.known),
    )


def _write_artifact(artifact: Artifact) -> dict[str, Any]:
    item: dict[str, Any] = {"type": artifact.word or artifact.kind, "path": artifact.path}
    if artifact.summary is not None:
        item["summary"] = artifact.summary
    return item | dict(artifact.extra)


def _read_error(item: dict[str, Any]) -> AgentError:
    return AgentError(
        type=item["type"],
        message=item["message"],
        code=item.get("code") or derive_code(item["type"]),
        recoverable=item["recoverable"],
        recommendation=item["recommendation"],
        derived=frozenset() if item.get("code") is not None else frozenset({"code"}),
        extra=split(item, AGENT_ERROR.known),
    )


def _write_error(agent_error: AgentError) -> dict[str, Any]:
    item: dict[str, Any] = {"type": agent_error.type, "message": agent_error.message}
    if "code" not in agent_error.derived:
        item["code"] = agent_error.code
    item |= {"recoverable": agent_error.recoverable, "recommendation": agent_error.recommendation}
    return item | dict(agent_error.extra)


def _read_steps(value: str | list[str] | None) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,) if value.strip() else ()
    return tuple(value or ())


def _read_form(payload: dict[str, Any]) -> dict[str, Any]:
    form = {"next_steps": payload["next_steps"]} if payload.get("next_steps") is not None else {}
    if payload.get("errors") is not None:
        form["errors"] = "given"
    if payload["metadata"].get("duration_seconds") is not None:
        form["duration_seconds"] = payload["metadata"]["duration_seconds"]
    if payload.get("session_id") is not None:
        form["session_id"] = "both" if payload["metadata"].get("session_id") is not None else "top"
    return form


def _to_ms(seconds: float | None) -> float | None:
    """Convert seconds, capped at the largest float. The agent's own number is kept for writing."""
    return None if seconds is None else min(seconds * 1000, float_info.max)


def _to_s(duration_ms: float) -> float:
    return int(duration_ms // 1000) if duration_ms % 1000 == 0 else duration_ms / 1000


FORMAT = Format(
    name="standard",
    title="Subagent return",
    shape=SHAPE,
    statuses={word: word for word in STATUSES},
    status_at=("status",),
    essential=frozenset({"status", "summary", "artifacts", "metadata", "errors", "error", "session_id"}),
    read=read,
    write=write,
    paths=paths,
    schema_extras={
        "anyOf": [
            {"properties": {"metadata": {"required": ["session_id"]}}},
            {"required": ["session_id"]},
        ],
        "if": {"properties": {"status": {"const": "completed"}}},
        "then": {
            "properties": {
                "errors": {
                    "items": {
                        "if": {"required": ["code"], "properties": {"code": {"type": "string"}}},
                        "then": {"properties": {"code": {"enum": list(AFTER_WORK)}}},
                        "else": {"properties": {"type": {"enum": AFTER_WORK_TYPES}}},
                    }
                },
                "error": {"enum": [None, False, 0, "", [], {}]},
            }
        },
        "else": {"required": ["errors"], "properties": {"errors": {"type": "array", "minItems": 1}}},
    },
)
