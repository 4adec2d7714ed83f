"""A good entry of a manifest, and changes to it."""

import json
from typing import Any

from remit.returns.manifest_lines import MAX_LINE_BYTES

FINDINGS_FILE = "2026-01-19_auth.md"
ENTRY: dict[str, Any] = {
    "id": "auth-2026-01-19",
    "file": FINDINGS_FILE,
    "title": "Authentication",
    "date": "2026-01-19",
    "status": "complete",
    "topics": ["auth"],
    "key_findings": ["Use sessions on the server.", "Drop the tokens.", "Rotate the keys each month."],
    "actionable": True,
    "needs_followup": ["T12"],
    "linked_tasks": ["T11"],
}


def make_entry(*, without: tuple[str, ...] = (), **changes: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON value
    """The good entry, changed."""
    return {key: value for key, value in {**ENTRY, **changes}.items() if key not in without}


def make_line(*, without: tuple[str, ...] = (), **changes: Any) -> str:  # noqa: ANN401 - any JSON value
    """The good entry, changed, as a line."""
    return json.dumps(make_entry(without=without, **changes), separators=(",", ":")) + "\n"


TOO_LONG = f"the line has more than {MAX_LINE_BYTES:,} bytes"
