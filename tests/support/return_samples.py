"""Returns and messages that tests start from: each one is clean, and a change is named by its JSON Pointer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from copy import deepcopy
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from remit.returns.formats.hyper import END_MARKER, START_MARKER
from remit.returns.formats.manifest import SENTENCES

if TYPE_CHECKING:
    from remit.model import TextSpan

Payload: TypeAlias = dict[str, Any]

ISSUED: Final = "sess_1763200000_k3x9qz"
OTHER: Final = "sess_1735460684_a1b2c3"
DROP: Final = object()
"""As a change: leave the key out."""
FORM_RULES = frozenset({
    "RET020", "RET021", "RET022", "RET023", "RET024", "RET026", "RET030", "RET050", "RET060", "RET061", "RET074",
})  # fmt: skip
"""What a schema says as well."""

_STANDARD: Final[Payload] = {
    "status": "completed",
    "summary": "Wrote the plan in 3 phases. Phase 2 needs a decision on the cache.",
    "artifacts": [{"type": "plan", "path": "specs/7_cache/plans/implementation-001.md", "summary": "Plan in 3 phases"}],
    "metadata": {
        "session_id": ISSUED,
        "duration_seconds": 312,
        "agent_type": "planner",
        "delegation_depth": 1,
        "delegation_path": ["orchestrator", "plan", "planner"],
    },
    "errors": [],
}
_FAULT: Final[Payload] = {
    "type": "timeout",
    "message": "The time limit was reached in phase 3",
    "recoverable": True,
    "recommendation": "Run it again to resume at phase 3",
}
_HYPER: Final[Payload] = {
    "meta": {"agent_name": "analyst", "status": "complete", "execution_time_ms": 4821},
    "artifacts": [
        {
            "type": "document",
            "path": "research/uploads.md",
            "summary": "Where upload sizes are limited.",
            "key_points": ["The proxy stops at 20 MB", "The application stops at 25 MB", "No test covers it"],
        }
    ],
    "next_steps": ["Move the limit into one setting"],
}
_ENTRY: Final[Payload] = {
    "id": "search-freshness-2026-01-05",
    "file": "2026-01-05_search-freshness.md",
    "title": "How fresh the search index is",
    "date": "2026-01-05",
    "status": "complete",
    "topics": ["search"],
    "key_findings": ["Alert on a lag of five minutes.", "Reindex deletions too.", "Drop the nightly rebuild."],
    "actionable": True,
    "needs_followup": ["T312"],
    "linked_tasks": ["T300"],
}

Changes: TypeAlias = Mapping[str, object]


def standard(changes: Changes | None = None) -> Payload:
    """A completed return of the `standard` format."""
    return alter(_STANDARD, changes or {})


def stopped(status: str = "partial", changes: Changes | None = None) -> Payload:
    """A `standard` return of work that did not complete; nothing usable was left."""
    return alter(_STANDARD, {"/status": status, "/artifacts": [], "/errors": [fault()], **(changes or {})})


def fault(changes: Changes | None = None) -> Payload:
    """An error as the `standard` format spells it."""
    return alter(_FAULT, changes or {})


def hyper(changes: Changes | None = None) -> Payload:
    """A complete return of the `hyper` format."""
    return alter(_HYPER, changes or {})


def entry(changes: Changes | None = None) -> Payload:
    """A complete entry of the manifest."""
    return alter(_ENTRY, changes or {})


def alter(payload: Payload, changes: Changes) -> Payload:
    """A deep copy with the values at some JSON Pointers replaced, added or left out."""
    result = deepcopy(payload)
    for pointer, value in changes.items():
        *parents, last = pointer[1:].split("/")
        place: Any = result
        for name in parents:
            place = place[int(name)] if isinstance(place, list) else place[name]
        key: Any = int(last) if isinstance(place, list) else last
        if value is DROP:
            del place[key]
        else:
            place[key] = deepcopy(value)
    return result


def pretty(payload: object) -> str:
    """The way most models write it."""
    return json.dumps(payload, indent=2, ensure_ascii=False)


def line(payload: object) -> str:
    """On one line, as a manifest wants it."""
    return json.dumps(payload, ensure_ascii=False, separators=(",", ":"))


def fenced(payload: Payload | str, before: str = "The work is done.\n\n") -> str:
    """In a code fence at the end of a message; a text is taken as it stands."""
    text = payload if isinstance(payload, str) else pretty(payload)
    return f"{before}```json\n{text}\n```\n"


def marked(payload: Payload | str, before: str = "The work is done.\n\n") -> str:
    """In a code fence between the output markers."""
    return f"{before}{START_MARKER}\n{fenced(payload, before='')}{END_MARKER}\n"


def sentence(word: str = "complete") -> str:
    """The reply of the `manifest` format."""
    return SENTENCES[word]


def cut_out(text: str, place: TextSpan) -> str:
    """The characters that a place covers."""
    lines = text.split("\n")
    if place.line == place.end_line:
        return lines[place.line - 1][place.column - 1 : place.end_column - 1]
    first, *between = lines[place.line - 1 : place.end_line - 1]
    return "\n".join([first[place.column - 1 :], *between, lines[place.end_line - 1][: place.end_column - 1]])
