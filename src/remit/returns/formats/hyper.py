"""The `hyper` format: meta, artifacts, next_steps, and an optional error (R3)."""

from __future__ import annotations

from typing import Any

from remit.model import AgentError, Artifact, Return, Status
from remit.returns.formats.base import Format, split
from remit.returns.formats.standard import AFTER_WORK, paths
from remit.returns.shapes import ListShape, NumberShape, ObjectShape, PathShape, TextShape, WordShape

STATUSES: dict[str, Status] = {"complete": "completed", "partial": "partial", "error": "failed"}
KINDS = ("document", "code", "data")
START_MARKER = "<!-- AGENT_OUTPUT_START -->"
END_MARKER = "<!-- AGENT_OUTPUT_END -->"

META = ObjectShape(
    required={
        "agent_name": TextShape("The name of the agent: its file name without the ending."),
        "status": WordShape(tuple(STATUSES), "How the work ended."),
        "execution_time_ms": NumberShape("How long the work took, in milliseconds."),
    },
)
ARTIFACT = ObjectShape(
    required={
        "type": WordShape(KINDS, "What kind of file it is."),
        "path": PathShape("Where it is, relative to the workspace root."),
        "summary": TextShape("What is in it, in one or two sentences."),
        "key_points": ListShape(TextShape(), "Three to five points worth knowing."),
    },
)
ERROR = ObjectShape(
    required={"code": TextShape("A stable code."), "message": TextShape("What went wrong, for people.")},
    optional={"details": TextShape("What else is known of it.")},
)
SHAPE = ObjectShape(
    required={
        "meta": META,
        "artifacts": ListShape(ARTIFACT, "The files that were made, on disk before they are reported."),
        "next_steps": ListShape(TextShape(), "What to do next, in the imperative."),
    },
    optional={"error": ERROR},
    description="What a subagent reports at the end of its final message.",
)


def read(payload: dict[str, Any]) -> Return:
    """Build the canonical return from a `hyper` object."""
    meta = payload["meta"]
    steps = tuple(payload["next_steps"])
    artifacts = tuple(_read_artifact(item) for item in payload["artifacts"])
    errors = _read_errors(payload, steps)
    return Return(
        status=STATUSES.get(meta["status"], "failed"),
        summary=_derive_summary(artifacts, errors, steps),
        artifacts=artifacts,
        errors=errors,
        next_steps=steps,
        agent=meta.get("agent_name"),  # Remit fills in both in a run
        duration_ms=meta.get("execution_time_ms"),
        format="hyper",
        word=meta["status"],
        metadata=split(meta, META.known),
        extra=split(payload, SHAPE.known),
    )


def write(returned: Return) -> dict[str, Any]:
    """Write a canonical return as a `hyper` object."""
    meta = {"agent_name": returned.agent, "status": returned.word, "execution_time_ms": returned.duration_ms}
    payload: dict[str, Any] = {
        "meta": {key: value for key, value in meta.items() if value is not None} | dict(returned.metadata),
        "artifacts": [_write_artifact(item) for item in returned.artifacts],
        "next_steps": list(returned.next_steps),
    }
    for agent_error in returned.errors:
        if "message" not in agent_error.derived:
            payload["error"] = {"code": agent_error.code, "message": agent_error.message}
            if agent_error.details is not None:
                payload["error"]["details"] = agent_error.details
            payload["error"] |= agent_error.extra
            break
    return payload | dict(returned.extra)


def _read_artifact(item: dict[str, Any]) -> Artifact:
    return Artifact(
        kind=item["type"],
        path=item["path"],
        summary=item["summary"],
        key_points=tuple(item["key_points"]),
        word=item["type"],
        extra=split(item, ARTIFACT.known),
    )


def _write_artifact(artifact: Artifact) -> dict[str, Any]:
    item: dict[str, Any] = {"type": artifact.word or artifact.kind, "path": artifact.path}
    if artifact.summary is not None:
        item["summary"] = artifact.summary
    return item | {"key_points": list(artifact.key_points or ())} | dict(artifact.extra)


def _read_errors(payload: dict[str, Any], steps: tuple[str, ...]) -> tuple[AgentError, ...]:
    """Return the errors of a return. Fields that the format lacks are derived and marked as derived (C22)."""
    advice = steps[0] if steps else "Look at the agent's answer and retry."
    left_out = frozenset({"type", "recoverable", "recommendation"})
    error = payload.get("error")
    if error is not None:
        return (
            AgentError(
                type="execution",
                message=error["message"],
                code=error["code"],
                recoverable=False,
                recommendation=advice,
                details=error.get("details"),
                derived=left_out,
                extra=split(error, ERROR.known),
            ),
        )
    if payload["meta"]["status"] != "partial":
        return ()
    return (AgentError("execution", advice, "UNKNOWN_ERROR", recoverable=False, recommendation=advice,
                       derived=left_out | {"message", "code"}),)  # fmt: skip


def _derive_summary(artifacts: tuple[Artifact, ...], errors: tuple[AgentError, ...], steps: tuple[str, ...]) -> str:
    """Return a summary, which the format lacks, from the texts on files, error or next step."""
    said = (
        [item.summary for item in artifacts if item.summary]
        or [agent_error.message for agent_error in errors]
        or list(steps[:1])
    )
    sentences = [text if text.endswith((".", "!", "?")) else f"{text}." for text in map(str.strip, said)]
    return clip(" ".join(sentences), 400)


def clip(text: str, max_chars: int) -> str:
    """Shorten a text after a word, with an ellipsis."""
    return text if len(text) <= max_chars else text[: max_chars - 1].rsplit(" ", 1)[0] + "…"


FORMAT = Format(
    name="hyper",
    title="Sub-agent output",
    shape=SHAPE,
    statuses=STATUSES,
    status_at=("meta", "status"),
    essential=frozenset({"meta", "artifacts", "next_steps", "error"}),
    read=read,
    write=write,
    paths=paths,
    schema_extras={
        "allOf": [
            {
                "if": {"properties": {"meta": {"properties": {"status": {"const": "error"}}}}},
                "then": {"required": ["error"], "properties": {"error": {"type": "object"}}},
            },
            {
                "if": {"properties": {"meta": {"properties": {"status": {"const": "complete"}}}}},
                "then": {"properties": {"error": {"properties": {"code": {"enum": list(AFTER_WORK)}}}}},
            },
            {
                "if": {"properties": {"meta": {"properties": {"status": {"const": "partial"}}}}},
                "then": {"properties": {"next_steps": {"minItems": 1}}},
            },
        ],
    },
)
