"""The shapes of what goes in and comes out, as JSON Schema 2020-12.

Owns the pieces that the tools' schemas are made of. An answer is either what a tool gives or an `error`: harnesses
check both against the one schema that a tool has.
"""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]

MAX_PROMPT = 4 * 1024 * 1024
MAX_WORD, MAX_TEXT, MAX_MESSAGE = 200, 4_000, 2 * 1024 * 1024
MAX_WAIT_S = 3600


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


def _list(of: Schema) -> Schema:
    return {"type": "array", "items": of}


_TEXT: Schema = {"type": "string"}
_TEXT_OR_NONE: Schema = {"type": ["string", "null"]}
_NUMBER_OR_NONE: Schema = {"type": ["number", "null"]}
_WHOLE_OR_NONE: Schema = {"type": ["integer", "null"]}
_BOOL: Schema = {"type": "boolean"}
_SEVERITY: Schema = {"type": "string", "enum": ["error", "warning", "note"]}
_PLACE: Schema = {"type": ["object", "null"]}

ERROR = _object(
    ("code", "message", "hint", "recoverable"), code=_TEXT, message=_TEXT, hint=_TEXT, recoverable=_BOOL,
    data={"type": "object"},
)  # fmt: skip
FINDING = _object(
    ("code", "severity", "message"), code=_TEXT, severity=_SEVERITY, message=_TEXT, hint=_TEXT, requirement=_TEXT,
    pointer=_TEXT_OR_NONE, filename=_TEXT, location=_PLACE,
)  # fmt: skip
FINDINGS = _list(FINDING)
ASIDES = _list(_object(("code", "severity", "message"), code=_TEXT, severity=_SEVERITY, message=_TEXT))
STATUS: Schema = {"type": "string", "enum": ["completed", "partial", "failed", "blocked"]}
ENVELOPE = _object(
    ("session_id", "agent", "status", "summary", "outcome", "ending", "artifacts", "findings", "errors", "next_steps"),
    session_id=_TEXT,
    agent=_TEXT,
    status=STATUS,
    summary=_TEXT,
    outcome=_TEXT,
    ending=_TEXT,
    artifacts=_list(_object(("path",), path=_TEXT, kind=_TEXT, summary=_TEXT, grade=_TEXT, reason=_TEXT, sha256=_TEXT,
                            size_bytes={"type": "integer"})),
    findings=ASIDES,
    errors=_list(
        _object(
            ("type", "code", "message", "recoverable"), type=_TEXT, code=_TEXT, message=_TEXT, recoverable=_BOOL,
            recommendation=_TEXT,
        )
    ),
    next_steps=_list(_TEXT),
    usage=_object(tokens={"type": "integer"}, cost_usd={"type": "number"}, turns={"type": "integer"},
                  seconds={"type": "number"}),
    unsettled=_list(_object(("step",), step=_TEXT, message=_TEXT)),
    unclaimed=_object(("count", "paths"), count={"type": "integer"}, paths=_list(_TEXT)),
    notes=_list(_TEXT),
    attempts={"type": "integer"},
    depth={"type": "integer"},
    path=_list(_TEXT),
    answer=_TEXT,
    person_needed=_BOOL,
    request_findings=ASIDES,
    show=_TEXT,
    left_out=_list(_TEXT),
    tokens=_WHOLE_OR_NONE,
    estimated=_BOOL,
)  # fmt: skip
STANDING = _object(
    ("session_id", "agent", "standing", "depth"),
    session_id=_TEXT,
    agent=_TEXT,
    standing=_TEXT,
    status=_TEXT_OR_NONE,
    outcome=_TEXT_OR_NONE,
    ending=_TEXT_OR_NONE,
    depth={"type": "integer"},
    path=_list(_TEXT),
    parent_id=_TEXT_OR_NONE,
    task_number=_WHOLE_OR_NONE,
    runner=_TEXT,
    work=_TEXT,
    said=_TEXT,
    left_ms=_WHOLE_OR_NONE,
    idle_s={"type": "number"},
    tokens=_WHOLE_OR_NONE,
    cost_usd=_NUMBER_OR_NONE,
    turns=_WHOLE_OR_NONE,
    driven=_BOOL,
    alive=_BOOL,
)
STANDINGS = _list(STANDING)
DELEGATION = gives(
    ("session_id", "over"), session_id=_TEXT, agent=_TEXT, over=_BOOL, envelope=ENVELOPE, standing=STANDING,
    request_findings=ASIDES, harness=_TEXT, message=_TEXT,
)  # fmt: skip
PAGE: dict[str, Schema] = {
    "part": _TEXT,
    "text": _TEXT,
    "page": {"type": "integer"},
    "pages": {"type": "integer"},
    "characters": {"type": "integer"},
}
RESULT = gives(("session_id", "over"), session_id=_TEXT, over=_BOOL, envelope=ENVELOPE, standing=STANDING, **PAGE)
WORK = gives(("delegations", "more"), delegations=STANDINGS, more={"type": "integer"})
VERDICT = gives(
    ("accepted", "outcome", "findings"), accepted=_BOOL, outcome=_TEXT, dialect=_TEXT_OR_NONE, status=_TEXT_OR_NONE,
    session_id=_TEXT_OR_NONE, findings=FINDINGS, more_findings={"type": "integer"},
    artifacts=_list(_object(("path",), path=_TEXT, grade=_TEXT, reason=_TEXT)), repairs=_list(_TEXT),
)  # fmt: skip
ENTRIES = gives(
    ("entries", "page", "more"), entries=_list({"type": "object"}), page={"type": "integer"}, more=_BOOL,
    manifest=_TEXT_OR_NONE,
)  # fmt: skip
ADDED = gives(
    ("added", "id", "findings"), added=_BOOL, id=_TEXT, manifest=_TEXT, entry={"type": "object"},
    findings_file=_TEXT_OR_NONE, findings=FINDINGS,
)  # fmt: skip
TASK = gives(
    ("task",), task=_TEXT, number=_WHOLE_OR_NONE, title=_TEXT, marker=_TEXT_OR_NONE, closed=_BOOL,
    priority=_TEXT_OR_NONE, links=_list(_TEXT), section=_TEXT, fields={"type": "object"},
    plan={"type": ["object", "null"]}, entries=_list(_TEXT), moves=_list(_TEXT), focused=_BOOL,
)  # fmt: skip
MOVED = gives(
    ("number", "before", "after", "files"), number={"type": "integer"}, before=_TEXT_OR_NONE, after=_TEXT_OR_NONE,
    files=_list(_TEXT), taken_in=_list(_TEXT), findings=FINDINGS,
)  # fmt: skip
LINTED = gives(
    ("failed", "files", "findings"), failed=_BOOL, files={"type": "integer"}, findings=FINDINGS,
    counts=_object(), more_findings={"type": "integer"}, known={"type": "integer"},
)  # fmt: skip
