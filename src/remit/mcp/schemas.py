"""The shapes of what goes in and comes out, as JSON Schema 2020-12.

Owns the pieces that the tools' schemas are made of. An answer is either what a tool gives or an `error`: harnesses
check both against the one schema that a tool has.
"""

from __future__ import annotations

from typing import Any

from remit.result import describe_schema

Schema = dict[str, Any]

MAX_PROMPT = 4 * 1024 * 1024
MAX_WORD, MAX_TEXT, MAX_MESSAGE = 200, 4_000, 2 * 1024 * 1024
MAX_WAIT_S = 3600
MAX_TASK = 10**9
_TASK_ID = r"^#?\w[\w.:/#@+-]{0,199}$"
"""What the commands of an outside task system take for an id; a number may have a `#` before it."""

TEXT: Schema = {"type": "string"}
TEXT_OR_NONE: Schema = {"type": ["string", "null"]}
WHOLE: Schema = {"type": "integer"}
WHOLE_OR_NONE: Schema = {"type": ["integer", "null"]}
NUMBER: Schema = {"type": "number"}
NUMBER_OR_NONE: Schema = {"type": ["number", "null"]}
BOOL: Schema = {"type": "boolean"}
OBJECT: Schema = {"type": "object"}
OBJECT_OR_NONE: Schema = {"type": ["object", "null"]}
SEVERITY: Schema = {"type": "string", "enum": ["error", "warning", "note"]}


def text(about: str = "", *, most: int = MAX_WORD, least: int = 1) -> Schema:
    """A text of at most so many characters."""
    return _tell(about, {"type": "string", "minLength": least, "maxLength": most})


def texts(about: str, *, most: int = 50, each: int = MAX_WORD) -> Schema:
    """A list of texts."""
    return {"type": "array", "items": text(most=each), "maxItems": most, "description": about}


def flag(about: str) -> Schema:
    """Yes or no."""
    return {"type": "boolean", "description": about}


def count(about: str, *, least: int = 0, most: int | None = None) -> Schema:
    """A whole number."""
    return _tell(about, {"type": "integer", "minimum": least} | ({} if most is None else {"maximum": most}))


def task(about: str) -> Schema:
    """A task: its number, or its id in an outside task system such as `T1234`."""
    name = text("letters, digits and . : / # @ + - _") | {"pattern": _TASK_ID}
    kinds = [count("", least=1, most=MAX_TASK), name]
    return {"anyOf": kinds, "description": f"{about} Its number, or its id in an outside system: T1234."}


def seconds(about: str, *, most: float | None = None) -> Schema:
    """A duration."""
    return _tell(about, {"type": "number", "minimum": 0} | ({} if most is None else {"maximum": most}))


def choice(about: str, *words: str) -> Schema:
    """One of a few words."""
    return {"type": "string", "enum": [*words], "description": about}


def takes(required: tuple[str, ...] = (), **properties: Schema) -> Schema:
    """What a tool takes: these arguments and no others."""
    return {"type": "object", "properties": properties, "required": [*required], "additionalProperties": False}


def gives(required: tuple[str, ...], **properties: Schema) -> Schema:
    """What a tool gives: these values, or an error instead of them."""
    return {
        "type": "object",
        "properties": properties | {"error": ERROR},
        "anyOf": [{"required": [*required]}, {"required": ["error"]}],
    }


def _tell(about: str, schema: Schema) -> Schema:
    return schema | ({"description": about} if about else {})


def _object(required: tuple[str, ...] = (), **properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "required": [*required]}


def many(of: Schema) -> Schema:
    """A list."""
    return {"type": "array", "items": of}


ERROR = _object(
    ("code", "message", "hint", "recoverable"), code=TEXT, message=TEXT, hint=TEXT, recoverable=BOOL, data=OBJECT,
)  # fmt: skip
FINDING = _object(
    ("code", "severity", "message"), code=TEXT, severity=SEVERITY, message=TEXT, hint=TEXT,
    pointer=TEXT_OR_NONE, filename=TEXT, location=OBJECT_OR_NONE,
)  # fmt: skip
FINDINGS = many(FINDING)
ASIDES = many(_object(("code", "severity", "message"), code=TEXT, severity=SEVERITY, message=TEXT))
STATUS: Schema = {"type": "string", "enum": ["completed", "partial", "failed", "blocked"]}
STANDING = _object(
    ("session_id", "agent", "standing", "depth"),
    session_id=TEXT,
    agent=TEXT,
    standing=TEXT,
    status=TEXT_OR_NONE,
    verdict=TEXT_OR_NONE,
    stop_reason=TEXT_OR_NONE,
    depth=WHOLE,
    path=many(TEXT),
    parent_id=TEXT_OR_NONE,
    task_number=WHOLE_OR_NONE,
    task_id=TEXT_OR_NONE,
    runner=TEXT,
    work=TEXT,
    said=TEXT,
    left_ms=WHOLE_OR_NONE,
    idle_s=NUMBER,
    tokens=WHOLE_OR_NONE,
    cost_usd=NUMBER_OR_NONE,
    turns=WHOLE_OR_NONE,
    driven=BOOL,
    alive=BOOL,
)
STANDINGS = many(STANDING)
DELEGATION = gives(
    ("session_id", "over"), session_id=TEXT, agent=TEXT, over=BOOL, result=describe_schema(), standing=STANDING,
    request_findings=ASIDES, harness=TEXT, message=TEXT,
)  # fmt: skip
PAGE: dict[str, Schema] = {
    "part": TEXT,
    "text": TEXT,
    "page": WHOLE,
    "pages": WHOLE,
    "characters": WHOLE,
}
RESULT = gives(("session_id", "over"), session_id=TEXT, over=BOOL, result=describe_schema(), standing=STANDING, **PAGE)
WORK = gives(("delegations", "more"), runs=STANDINGS, more=WHOLE)
_VERDICT = ("accepted", "verdict", "findings")
_OF_VERDICT: dict[str, Schema] = {
    "accepted": BOOL, "verdict": TEXT, "format": TEXT_OR_NONE, "status": TEXT_OR_NONE, "session_id": TEXT_OR_NONE,
    "findings": FINDINGS, "more_findings": WHOLE,
    "artifacts": many(_object(("path",), path=TEXT, grade=TEXT, reason=TEXT)), "repairs": many(TEXT),
}  # fmt: skip
VERDICT = gives(_VERDICT, **_OF_VERDICT)
SUBMITTED = gives(("submitted", *_VERDICT), submitted=BOOL, **_OF_VERDICT)
ENTRIES = gives(
    ("entries", "page", "more"), entries=many(OBJECT), page=WHOLE, more=BOOL,
    manifest=TEXT_OR_NONE,
)  # fmt: skip
ADDED = gives(
    ("added", "id", "findings"), added=BOOL, id=TEXT, manifest=TEXT, entry=OBJECT,
    findings_file=TEXT_OR_NONE, findings=FINDINGS,
)  # fmt: skip
TASK = gives(
    ("task",), task=TEXT, number=WHOLE_OR_NONE, title=TEXT, marker=TEXT_OR_NONE, closed=BOOL,
    priority=TEXT_OR_NONE, linkedResearch=many(TEXT), section=TEXT, fields=OBJECT,
    plan=OBJECT_OR_NONE, entries=many(TEXT), moves=many(TEXT), focused=BOOL,
)  # fmt: skip
MOVED = gives(
    ("number", "before", "after", "files"), number=WHOLE, before=TEXT_OR_NONE, after=TEXT_OR_NONE,
    files=many(TEXT), taken_in=many(TEXT), findings=FINDINGS,
)  # fmt: skip
LINTED = gives(
    ("failed", "files", "findings"), failed=BOOL, files=WHOLE, findings=FINDINGS,
    counts=_object(), more_findings=WHOLE, known=WHOLE,
)  # fmt: skip
