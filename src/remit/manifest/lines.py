"""Lines: what a line of the manifest says, and what the index keeps of it.

Owns the way from the bytes of a line to an entry, or to the reason why it is none, and from an entry to its columns.
Pure.
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
    """The entry on a line, its fields under the standard's names; None if the line isn't one object."""
    if len(text) > MAX_LINE_BYTES:
        return None
    try:
        entry = from_json(text, allow_inf_nan=False, catch_duplicate_keys=True)
    except ValueError:
        return None
    return read_aliases(entry)[0] if type(entry) is dict else None


def explain_bad_line(text: bytes) -> str:
    """Why a line is no entry."""
    if len(text) > MAX_LINE_BYTES:
        return f"the line has more than {MAX_LINE_BYTES:,} bytes"
    if text.rstrip(b"\r")[:8].rstrip(b" ") in _MARKS:
        return "the mark of an unfinished merge"
    try:
        text.decode("utf-8")
    except UnicodeDecodeError:
        return "the line is not UTF-8"
    try:
        value = from_json(text, allow_inf_nan=False, catch_duplicate_keys=True)
    except ValueError as error:
        reason = str(error).replace(" at line 1 column ", " at column ")
        if reason.startswith("Detected duplicate key"):
            return f"a key is given twice{reason[reason.rfind(' at column ') :]}"
        return f"the line is not JSON: {reason[:_SHOWN]}"
    return f"the line holds {name_type(value)}, not an object"


class Columns(NamedTuple):
    """What an entry is found by, besides its words."""

    day: str
    id: str | None
    status: str
    actionable: bool
    pending: bool
    topics: str
    tasks: str


def read_id(fields: Mapping[str, Any]) -> str | None:
    """The key under which an entry is looked up; None if it has none."""
    value = fields.get("id")
    return value if isinstance(value, str) and value.strip() else None


def list_columns(fields: Mapping[str, Any]) -> Columns:
    """The columns of an entry."""
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
    """The texts that an entry is searched in: id, title, topics and key findings.

    A summary, which isn't the standard's, counts as a finding: many manifests say all in it.
    """
    title = fields.get("title")
    findings = read_texts(fields.get("key_findings")) + read_texts(fields.get("summary"))
    topics = " ".join(read_texts(fields.get("topics")))
    return read_id(fields) or "", title if isinstance(title, str) else "", topics, "\n".join(findings)


def name_topic(text: str) -> str:
    """A topic as it is looked up."""
    return text.strip().lower()


def write_items(items: Iterable[str]) -> str:
    """Topics or tasks as one text, in which each stands on a line of its own."""
    lines = [item.replace("\n", " ") for item in items]
    return "\n".join(("", *lines, "")) if lines else ""
