"""Manifest entries: parse a line into an entry, return its index columns, and write it in the standard's form.

Reading accepts any of the field names. The written form has the standard's fields in their order, an id, marked
reasons, and no empty items. No side effects.
"""

from __future__ import annotations

import json
import re
from datetime import date
from typing import TYPE_CHECKING, Any, NamedTuple

from jiter import from_json

from remit.returns.formats.manifest import read_aliases, write_reason
from remit.returns.manifest_lines import MAX_LINE_BYTES
from remit.returns.shapes import name_type

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


FIELDS = (
    "id", "file", "title", "date", "status", "topics", "key_findings", "actionable", "needs_followup", "linked_tasks",
)  # fmt: skip
"""The fields of an entry, in the standard's order (R4.7)."""
LISTS = ("topics", "key_findings", "needs_followup", "linked_tasks")
SETTLED = frozenset({"superseded", "archived", "rejected", "deprecated", "abandoned"})
"""Statuses of other tools for entries that need no more work."""
MAX_SLUG_CHARS = 60
BOM = b"\xef\xbb\xbf"

_MARKS = (b"<<<<<<<", b"=======", b">>>>>>>", b"|||||||")
_SHOWN = 160
_UNFINISHED = frozenset({"partial", "blocked"})
_NOT_SLUG = re.compile(r"[^a-z0-9]+")
_TASK = re.compile(r"(?:#|task[-_ #]{0,2}|t[-_])([0-9]{1,9})\Z")
_MAX_DIGITS = 9
_NUMBERED = re.compile(r"(?P<stem>.*-\d{4}-\d{2}-\d{2})-(?P<number>[1-9]\d{0,8})\Z", re.DOTALL)
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


class ManifestEntry(NamedTuple):
    """An entry of a manifest, with the standard's field names."""

    line: int
    fields: Mapping[str, Any]

    @property
    def id(self) -> str:
        """The id; "" if it has none."""
        return self.get_text("id")

    def get_text(self, field: str) -> str:
        """Return a string field; "" if it isn't a string."""
        value = self.fields.get(field)
        return value if isinstance(value, str) else ""

    def get_list(self, field: str) -> list[str]:
        """Return a field as a list of strings; a single string becomes a list, and other items are left out."""
        return read_texts(self.fields.get(field))


# --- reading ----------------------------------------------------------------------------------------------------------
def read_texts(value: object) -> list[str]:
    """Return the strings in a list; numbers become strings, because task ids are written as both."""
    if type(value) is list:
        for item in value:
            if type(item) is not str or not item or item.isspace():
                texts = [str(each) if type(each) is int else each for each in value]
                return [each for each in texts if isinstance(each, str) and each.strip()]
        return value
    return [value] if isinstance(value, str) and value.strip() else []


def name_task(text: str) -> str:
    """Return the search key of a task: the same for `12`, `#12`, `T12`, `T012`, `task-12`."""
    plain = text.strip().lower()
    digits = plain.removeprefix("t")
    if not (digits.isdigit() and digits.isascii() and len(digits) <= _MAX_DIGITS):
        found = _TASK.match(plain)
        if found is None:
            return plain
        digits = found[1]
    return digits.lstrip("0") or "0"


def read_day(text: object) -> str:
    """Return the day of a date as YYYY-MM-DD; "" if it isn't a date."""
    try:
        return date.fromisoformat(text[:10]).isoformat() if isinstance(text, str) else ""
    except ValueError:
        return ""


def is_pending(fields: Mapping[str, Any]) -> bool:
    """True if work is left: the entry has follow-ups, or its status is partial or blocked.

    `actionable` alone doesn't count: it describes the kind of findings, and tools never reset it.
    """
    status = fields.get("status")
    word = status.strip().lower() if isinstance(status, str) else ""
    return word not in SETTLED and (word in _UNFINISHED or bool(read_texts(fields.get("needs_followup"))))


# --- writing ----------------------------------------------------------------------------------------------------------
def make_slug(text: str) -> str:
    """Return a title for file names: lower-case letters and digits with hyphens; "" if it has none of them."""
    from unicodedata import normalize  # noqa: PLC0415 - only if a title isn't a slug already

    plain = normalize("NFKD", text[:1000]).encode("ascii", "ignore").decode("ascii").lower()
    slug = _NOT_SLUG.sub("-", plain).strip("-")
    if len(slug) <= MAX_SLUG_CHARS:
        return slug
    return slug[: MAX_SLUG_CHARS + 1].rpartition("-")[0] or slug[:MAX_SLUG_CHARS]


def split_id(entry_id: str) -> tuple[str, int]:
    """Return an id without its number, and the number; 1 if it has none."""
    found = _NUMBERED.match(entry_id)
    return (found["stem"], int(found["number"])) if found else (entry_id, 1)


def add_number(stem: str, number: int) -> str:
    """Return the id of the n-th entry on one topic and day (R4.9)."""
    return stem if number == 1 else f"{stem}-{number}"


def name_findings_file(entry_id: str, day: str) -> str:
    """Return the name of the findings file of an id: `{date}_{slug}.md`, with the number of the id."""
    stem, number = split_id(entry_id)
    slug = make_slug(stem.removesuffix(f"-{day}"))
    return f"{day}_{add_number(slug, number)}.md"


def shape_entry(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return an entry as it is written: the standard's names and order, then its other fields.

    Empty list items are dropped (C15), and follow-ups that aren't task ids are marked as reasons (C21). A value of the
    wrong type stays as it is, so that the rules can report it.
    """
    fields, _ = read_aliases(dict(given))
    shaped: dict[str, Any] = dict.fromkeys(FIELDS)
    shaped.update(fields)
    for name in LISTS:
        shaped[name] = _clean_list(shaped[name])
    if isinstance(shaped["needs_followup"], list):
        shaped["needs_followup"] = [
            write_reason(item) if isinstance(item, str) else item for item in shaped["needs_followup"]
        ]
    return {key: value for key, value in shaped.items() if value is not None}


def _clean_list(value: object) -> object:
    if value is None:
        return []
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list):
        return value
    return [
        text for item in value if (text := item.strip() if isinstance(item, str) else item) is not None and text != ""
    ]


def render_entry(fields: Mapping[str, Any]) -> bytes:
    """Return an entry as one line without a line break. A lone surrogate becomes a question mark."""
    return _ENCODER.encode(fields).encode("utf-8", "replace")


# --- lines of the file ------------------------------------------------------------------------------------------------


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


class IndexColumns(NamedTuple):
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


def list_columns(fields: Mapping[str, Any]) -> IndexColumns:
    """Return the index columns of an entry."""
    status = fields.get("status")
    return IndexColumns(
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
