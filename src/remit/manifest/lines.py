"""Parse a line of the manifest into an entry, explain invalid lines, and return the index columns of an entry.

No side effects.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from jiter import from_json

from remit.manifest.entries import is_pending, name_task, read_day, read_texts
from remit.returns.formats.manifest import read_aliases
from remit.returns.manifest_lines import MAX_LINE_BYTES
from remit.returns.shapes import name_type

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

BOM = b"\xef\xbb\xbf"
_MARKS = (b"<<<<<<<", b"=======", b">>>>>>>", b"|||||||")
_SHOWN = 160


def read_entry(text: bytes) -> dict[str, Any] | None:
    """Return the entry on a line with the standard's field names; None if the line isn't one object."""
    if len(text) > MAX_LINE_BYTES:
        return None
    try:
        entry = from_json(text, allow_inf_nan=False, catch_duplicate_keys=True)
    except ValueError:
        return None
    return read_aliases(entry)[0] if type(entry) is dict else None


def explain_bad_line(text: bytes) -> str:
    """Return why a line isn't an entry."""
    if len(text) > MAX_LINE_BYTES:
        return f"the line has more than {MAX_LINE_BYTES:,} bytes"
    if text.rstrip(b"\r")[:8].rstrip(b" ") in _MARKS:
        return "a conflict marker of an unfinished merge"
    try:
        text.decode("utf-8")
    except UnicodeDecodeError:
        return "the line isn't UTF-8"
    try:
        value = from_json(text, allow_inf_nan=False, catch_duplicate_keys=True)
    except ValueError as error:
        reason = str(error).replace(" at line 1 column ", " at column ")
        if reason.startswith("Detected duplicate key"):
            return f"duplicate key{reason[reason.rfind(' at column ') :]}"
        return f"the line isn't valid JSON: {reason[:_SHOWN]}"
    return f"the line is {name_type(value)}, not an object"


class Columns(NamedTuple):
    """The index columns of an entry, without its words."""

    day: str
    id: str | None
    status: str
    actionable: bool
    pending: bool
    topics: str
    tasks: str


def read_id(fields: Mapping[str, Any]) -> str | None:
    """Return the id of an entry; None if it has none."""
    value = fields.get("id")
    return value if isinstance(value, str) and value.strip() else None


def list_columns(fields: Mapping[str, Any]) -> Columns:
    """Return the index columns of an entry."""
    status = fields.get("status")
    return Columns(
        read_day(fields.get("date")),
        read_id(fields),
        status.strip().lower() if isinstance(status, str) else "",
        fields.get("actionable") is True,
        is_pending(fields),
        write_items(map(name_topic, read_texts(fields.get("topics")))),
        write_items(map(name_task, read_texts(fields.get("linked_tasks")))),
    )


def list_words(fields: Mapping[str, Any]) -> tuple[str, str, str, str]:
    """Return the texts for full-text search: id, title, topics and key findings.

    A `summary` isn't in the standard but counts as a finding: many manifests have their content there.
    """
    title = fields.get("title")
    findings = read_texts(fields.get("key_findings")) + read_texts(fields.get("summary"))
    topics = " ".join(read_texts(fields.get("topics")))
    return read_id(fields) or "", title if isinstance(title, str) else "", topics, "\n".join(findings)


def name_topic(text: str) -> str:
    """Return the search key of a topic."""
    return text.strip().lower()


def write_items(items: Iterable[str]) -> str:
    """Return topics or tasks as one text with each on its own line."""
    lines = [item.replace("\n", " ") for item in items]
    return "\n".join(("", *lines, "")) if lines else ""
