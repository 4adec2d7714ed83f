"""Markdown elements of TODO.md and plans: code fences, field lines (`- **Status**: [PLANNED]`), and escaped text.

Offsets are offsets in the whole text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

from remit.tasks.task import MARKERS, spell_marker

if TYPE_CHECKING:
    from collections.abc import Iterator

Span = tuple[int, int]

_HEADER = re.compile(r"\ufeff?---[^\S\n]*\n(?:(?!---[^\S\n]*(?:\n|\Z))[^\n]*\n)*+---[^\S\n]*(?:\n|\Z)")
_FENCE = re.compile(r"[ \t]{0,8}(`{3,20}|~{3,20})([^\n]*)")
_FENCE_BELOW = re.compile("\n" + _FENCE.pattern)  # faster to search than the start of a line
_FIELD = re.compile(r"\n([ \t]{0,8}(?:[-*+][ \t]{1,4})?)\*\*([^*:\n]{1,60})(\*\*[ \t]{0,4}:|:\*\*)[ \t]{0,8}")
BRACKETS = re.compile(r"\[([^\]\[\n]{1,40})\]")
_KNOWN = re.compile(rf"(?:{'|'.join(MARKERS)})(?![A-Za-z])".replace(" ", "[ _-]"), re.IGNORECASE)
_WORDS = re.compile(r"[A-Za-z](?:[A-Za-z _-]{0,38}[A-Za-z])?")
_RULE = re.compile(r"-{3,}[ \t]*\r?")
_CONTROL = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff\ufff9-\ufffb]"
)
_BLOCK_MARKS = "#>-*+`~=_| \t"


class Field(NamedTuple):
    """A field line: its name and value with their positions. `prefix` and `colon` are its style."""

    name: str
    value: str
    prefix: str
    colon: str
    start: int
    """The start of the line."""
    value_start: int
    value_end: int


class Status(NamedTuple):
    """A marker as a line gives it, and its position including the brackets."""

    word: str
    start: int
    end: int


def find_fences(text: str) -> list[Span]:
    """Return the spans of code fences with their opening and closing lines. A fence that isn't closed is ignored."""
    if "```" not in text and "~~~" not in text:
        return []
    spans: list[Span] = []
    opened, mark = 0, ""
    first = _FENCE.match(text)
    for found in (*((first,) if first is not None else ()), *_FENCE_BELOW.finditer(text)):
        if not mark:
            if "`" not in found[1] or "`" not in found[2]:  # otherwise it is inline code
                opened, mark = found.start() + (found is not first), found[1]
        elif found[1].startswith(mark) and not found[2].strip():
            spans.append((opened, found.end()))
            mark = ""
    return spans


def is_within(at: int, spans: list[Span]) -> bool:
    """Whether an offset is in one of the spans, which are in ascending order."""
    index = bisect_right(spans, at, key=lambda span: span[0]) if spans else 0
    return index > 0 and at < spans[index - 1][1]


def find_header_end(text: str) -> int:
    """Return the end of the YAML header of a text; 0 if it has none."""
    found = _HEADER.match(text)
    return found.end() if found is not None else 0


def walk_lines(text: str, start: int, end: int) -> Iterator[Span]:
    """Yield the start and the end of each line of a span, without its line break."""
    while start < end:
        stop = text.find("\n", start, end)
        stop = end if stop < 0 else stop
        yield start, stop - 1 if stop > start and text[stop - 1] == "\r" else stop
        start = stop + 1


def walk_fields(text: str, start: int, end: int, fences: list[Span]) -> Iterator[Field]:
    """Yield the field lines of a span outside of code fences. The span starts at the start of a line."""
    if start >= end:
        return
    if start == 0 or text[start - 1] != "\n":
        text, shift = "\n" + text[start:end], start - 1
    else:
        shift = 0
    for found in _FIELD.finditer(text, max(start - 1 - shift, 0), end - shift):
        line = found.start() + 1 + shift
        if not is_within(line, fences):
            value_start = found.end() + shift
            value = text[found.end() : find_line_end(text, found.end(), end - shift)].rstrip()
            yield Field(found[2], value, found[1], found[3], line, value_start, value_start + len(value))


def find_line_end(text: str, at: int, end: int) -> int:
    """Return the end of the line at an offset, before its line break."""
    stop = text.find("\n", at, end)
    return end if stop < 0 else stop


def read_status(text: str, start: int, end: int) -> Status | None:
    """Return the status at the start of a span of a line: text in brackets, a marker, or other words."""
    found = BRACKETS.match(text, start, end)
    if found is not None:
        return Status(found[1].strip(), *found.span())
    found = _KNOWN.match(text, start, end) or _WORDS.match(text, start, end)
    return Status(found[0], *found.span()) if found is not None else None


def render_status(marker: str, old: str = "[NOT STARTED]") -> str:
    """Return a marker in the spelling of another one, in brackets if the other has them."""
    word = spell_marker(marker, [old.strip("[] \t"), "NOT STARTED"])
    return f"[{word}]" if old.startswith("[") else word


def is_rule(text: str, start: int, end: int) -> bool:
    """Whether a line is `---`."""
    return _RULE.fullmatch(text, start, end) is not None


def find_content_end(text: str, start: int, end: int) -> int:
    """Return the end of the last non-empty line of a span, after its line break."""
    last = len(text[start:end].rstrip()) + start
    stop = text.find("\n", last, end)
    return end if stop < 0 else stop + 1


def read_line_break(text: str) -> str:
    """Return the line break of a text's first line."""
    return "\r\n" if text[: text.find("\n") + 1].endswith("\r\n") else "\n"


def clean_line(value: str, limit: int = 1000) -> str:
    """Return a text as part of one line: no line breaks or invisible characters, single spaces, a limited length."""
    return " ".join(_CONTROL.sub(" ", value[: 4 * limit]).split())[:limit].rstrip()


def clean_title(value: str, limit: int = 200) -> str:
    """Return a title as one line that can't start a heading, a list or a code fence."""
    return clean_line(value, limit).lstrip(_BLOCK_MARKS)
