"""Rows: what the index keeps of each line.

Owns the way from the bytes of a manifest to the rows of its index. Pure. An entry's number is made of the manifest's
number, the day and the line, so that everything that is kept by number comes out by date, without sorting.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from jiter import from_json

from remit.contract.dialects.manifest import ALIASES, read_aliases
from remit.contract.manifest_lines import MAX_LINE_BYTES
from remit.contract.schemas import name_type
from remit.workspace.manifest.entries import is_pending, name_task, read_day, read_texts

LINE_BITS, DAY_BITS = 30, 16
LINE_MASK = (1 << LINE_BITS) - 1
MANIFEST_SHIFT = LINE_BITS + DAY_BITS
TOO_LONG = f"the line has more than {MAX_LINE_BYTES:,} bytes"
MAX_ITEMS = 1000
"""Topics or tasks of one entry that it is found by: a megabyte of them would become a hundred."""

BOM = b"\xef\xbb\xbf"
_MARKS = (b"<<<<<<<", b"=======", b">>>>>>>", b"|||||||")
_SHOWN = 160
_NAMES = ALIASES.keys()


class Rows(NamedTuple):
    """The rows of some lines, table by table."""

    entries: list[tuple[int, str | None, str, int, int, int, int]]
    topics: list[tuple[str, int]]
    tasks: list[tuple[str, int]]
    words: list[tuple[int, str, str, str, str]]
    bad_lines: list[tuple[int, int, str]]
    lines: int
    """How many lines there were, blank ones included."""


def read_block(data: bytes, *, manifest: int, line: int, offset: int) -> Rows:
    """The rows of lines, of which the first comes after `line` others and begins at `offset` in the file.

    The last one need not be ended.
    """
    rows = Rows([], [], [], [], [], data.count(b"\n") + (data[-1:] not in (b"\n", b"")))
    base, days = manifest << MANIFEST_SHIFT, dict[str, int]()
    if line == 0 and data.startswith(BOM):
        offset, data = offset + len(BOM), data[len(BOM) :]
    for text in data.split(b"\n"):
        line += 1
        length = len(text)
        if length <= MAX_LINE_BYTES:
            try:
                entry = from_json(text, allow_inf_nan=False, catch_duplicate_keys=True)
            except ValueError:
                entry = None
        else:
            entry = None
        if type(entry) is dict:
            # Blanks at its end may be followed by more of them while the line is not ended: none of them belong to it.
            _add(rows, entry, base | line, (offset, len(text.rstrip(b" \t\r"))), days)
        elif text.strip():
            rows.bad_lines.append((manifest, line, explain_bad_line(text)))
        offset += length + 1
    rows.words.sort()  # the days of a merged file go up and down, and the words would be written out at each turn
    return rows


def _add(rows: Rows, entry: dict[str, Any], number: int, place: tuple[int, int], days: dict[str, int]) -> None:
    """The rows of one entry."""
    if not _NAMES.isdisjoint(entry):
        entry, _ = read_aliases(entry)
    get = entry.get
    day = get("date")
    if isinstance(day, str):
        if day not in days:
            days[day] = read_day(day) << LINE_BITS
        number |= days[day]
    entry_id, title, status = get("id"), get("title"), get("status")
    if not isinstance(entry_id, str) or not entry_id.strip():
        entry_id = None
    word = status.strip().lower() if isinstance(status, str) else ""
    topics = read_texts(get("topics"))
    for topic in topics[:MAX_ITEMS]:
        rows.topics.append((topic.strip().lower(), number))
    for task in read_texts(get("linked_tasks"))[:MAX_ITEMS]:
        rows.tasks.append((name_task(task), number))
    rows.entries.append((number, entry_id, word, get("actionable") is True, is_pending(entry), *place))
    findings = read_texts(get("key_findings"))
    if "summary" in entry:  # not the standard's, and all that many manifests say
        findings = findings + read_texts(get("summary"))
    rows.words.append(
        (number, entry_id or "", title if isinstance(title, str) else "", " ".join(topics), "\n".join(findings))
    )


def is_entry(text: bytes, *, is_first: bool = False) -> bool:
    """Whether a line is an entry; before the first of a file may be a mark of its encoding."""
    text = text.removeprefix(BOM) if is_first else text
    if not text or len(text) > MAX_LINE_BYTES:
        return False
    try:
        return type(from_json(text, allow_inf_nan=False, catch_duplicate_keys=True)) is dict
    except ValueError:
        return False


def explain_bad_line(text: bytes) -> str:
    """Why a line is no entry."""
    if len(text) > MAX_LINE_BYTES:
        return TOO_LONG
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
