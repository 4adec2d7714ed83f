"""The `manifest` format: one fixed sentence as the reply, everything else in one manifest line (R4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from remit.lazy_regex import lazy
from remit.model import AgentError, Artifact, Return, Status
from remit.returns.formats.base import Format, split
from remit.returns.formats.hyper import clip
from remit.returns.shapes import FlagShape, ListShape, ObjectShape, PathShape, TextShape, WordShape

if TYPE_CHECKING:
    from collections.abc import Mapping

STATUSES: dict[str, Status] = {"complete": "completed", "partial": "partial", "blocked": "blocked"}
SENTENCES = {
    "complete": "Research complete. See MANIFEST.jsonl for summary.",
    "partial": "Research partial. See MANIFEST.jsonl for details.",
    "blocked": "Research blocked. See MANIFEST.jsonl for blocker details.",
}
REASON_MARK = "BLOCKED:"
_TASK_ID = lazy(r"#?(?:[A-Za-z]{1,10}[-_]?)?\d{1,9}(?:\.\d{1,4})*\Z")

SHAPE = ObjectShape(
    required={
        "id": TextShape("{topic-slug}-{date}; the key under which the entry is looked up."),
        "file": PathShape("The findings file, named {date}_{topic-slug}.md, beside the manifest."),
        "title": TextShape("The topic, for people."),
        "date": TextShape("The day, YYYY-MM-DD."),
        "status": WordShape(tuple(STATUSES), "How the work ended."),
        "key_findings": ListShape(TextShape(), "Three to seven findings, one sentence each, that a reader can act on."),
        "actionable": FlagShape("Whether the findings ask for action."),
    },
    expected={
        "topics": ListShape(TextShape(), "Tags to find it by."),
        "needs_followup": ListShape(TextShape(), "Task ids to look at, or reasons written as BLOCKED:reason."),
        "linked_tasks": ListShape(TextShape(), "Ids of the tasks it was made for."),
    },
    description="One line of MANIFEST.jsonl.",
)
ALIASES: Mapping[str, str] = {
    "output_file": "file", "outputFile": "file", "output": "file", "artifact": "file",
    "timestamp": "date", "createdAt": "date",
    "task_id": "linked_tasks", "taskId": "linked_tasks", "task": "linked_tasks", "tasks": "linked_tasks",
    "task_ids": "linked_tasks", "linkedTasks": "linked_tasks", "relatedTasks": "linked_tasks",
    "keyFindings": "key_findings", "needsFollowup": "needs_followup",
}  # fmt: skip
"""Keys that existing manifests use instead of a field's own name (C14). For reading only."""
_DAY = lazy(r"\d{4}-\d{2}-\d{2}(?=T|\Z| \d)")
_IN_METADATA = ("id", "title", "date", "topics", "actionable", "linked_tasks")


def read_aliases(entry: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the entry with aliases replaced by field names, and the alias of each replaced field (C14).

    An existing field has priority over its aliases, and an alias with an unsuitable value stays as it is.
    """
    taken: dict[str, str] = {}
    if entry.keys().isdisjoint(ALIASES):
        return entry, taken
    read_as = dict(entry)
    for key, field in ALIASES.items():
        value = _read_alias(field, entry[key]) if key in entry and read_as.get(field) is None else None
        if value is not None:
            read_as[field], taken[field] = value, key
            del read_as[key]
    return read_as, taken


def _read_alias(field: str, value: object) -> object:
    if field in ("linked_tasks", "needs_followup", "key_findings"):
        return [value] if isinstance(value, str) else value if isinstance(value, list) else None
    if not isinstance(value, str):
        return None
    day = _DAY.match(value) if field == "date" else None
    return day[0] if day else value


def read(payload: dict[str, Any]) -> Return:
    """Build the canonical return from a manifest entry."""
    findings = tuple(payload["key_findings"])
    followup = tuple(payload.get("needs_followup") or ())
    return Return(
        status=STATUSES.get(payload["status"], "blocked"),
        summary=clip(" ".join(findings) or payload["title"], 400),
        artifacts=(Artifact("research", payload["file"], payload["title"], findings),),
        errors=_derive_errors(payload["status"], followup),
        next_steps=followup,
        format="manifest",
        word=payload["status"],
        metadata={key: payload[key] for key in _IN_METADATA if key in payload},
        extra=split(payload, SHAPE.known),
        form={"needs_followup": "given"} if payload.get("needs_followup") is not None else {},
    )


def write(returned: Return) -> dict[str, Any]:
    """Write a canonical return as a manifest entry."""
    artifact = returned.artifacts[0] if returned.artifacts else None
    known = returned.metadata
    payload: dict[str, Any] = {
        "id": known.get("id"),
        "file": artifact.path if artifact else None,
        "title": known.get("title"),
        "date": known.get("date"),
        "status": returned.word,
        "topics": known.get("topics"),
        "key_findings": list((artifact.key_points if artifact else None) or ()),
        "actionable": known.get("actionable"),
    }
    if returned.next_steps or "needs_followup" in returned.form:
        payload["needs_followup"] = [step for step in returned.next_steps if step]
    payload["linked_tasks"] = known.get("linked_tasks")
    return {key: value for key, value in payload.items() if value is not None} | dict(returned.extra)


def paths(payload: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the findings file as the only claimed path."""
    file = payload.get("file")
    return [("/file", file)] if isinstance(file, str) else []


def is_task_id(text: str) -> bool:
    """Whether a follow-up names a task, rather than a reason (C21)."""
    return _TASK_ID.match(text) is not None


def write_reason(text: str) -> str:
    """Write a reason so that it can't be mistaken for a task id."""
    return text if text.startswith(REASON_MARK) or is_task_id(text) else f"{REASON_MARK}{text}"


def _derive_errors(word: str, followup: tuple[str, ...]) -> tuple[AgentError, ...]:
    """Return the error of a partial or blocked entry, from the reason in its follow-ups (C21)."""
    if word == "complete":
        return ()
    reasons = [item.removeprefix(REASON_MARK).strip() for item in followup if not is_task_id(item)]
    message = reasons[0] if reasons else f"the work is {word}"
    return (AgentError("execution", message, "UNKNOWN_ERROR", recoverable=True, recommendation="See the findings file.",
                       derived=frozenset({"type", "message", "code", "recoverable", "recommendation"})),)  # fmt: skip


FORMAT = Format(
    name="manifest",
    title="Manifest entry",
    shape=SHAPE,
    statuses=STATUSES,
    status_at=("status",),
    essential=frozenset(SHAPE.required),
    read=read,
    write=write,
    paths=paths,
    schema_extras={},
)
