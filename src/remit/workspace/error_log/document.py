"""errors.json as text: its entries with their places, and edits that leave everything else as it is.

Owns the file's dialects (an object with `errors`, or a bare list), the findings about it (ERR…), and what can be saved
of a broken one. The documentation of each finding is the docstring of the function that makes it.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from remit.model import Edit, Finding
from remit.places import Lines
from remit.workspace.json_text import DECODER, explain_breakage, skip_space, walk_items, walk_members

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from remit.model import Place, Severity
    from remit.workspace.json_text import Member

LIST_KEY, UPDATED_KEY = "errors", "_last_updated"
SCHEMA_VERSION = "2.0.0"
MAX_FLAWS = 20

_FIRST_INDENT = re.compile(r'\n([ \t]{1,16}+)["{\[]')


class Document(NamedTuple):
    """What errors.json holds. `broken` is one that has to be written anew before anything can be added to it."""

    text: str
    items: tuple[Member, ...] = ()
    span: tuple[int, int] | None = None
    """Where the list stands; None where there is none yet."""
    updated: tuple[int, int] | None = None
    """Where the date of the last change stands."""
    last_end: int | None = None
    """Where the last member of the object ends."""
    findings: tuple[Finding, ...] = ()
    broken: bool = False


# What there is to say about the file


def log_broken(message: str, hint: str, place: Place | None) -> Finding:
    """errors.json is not JSON.

    Why: nobody can read which errors are open, and a tool that begins it anew loses all of them.

    Bad: a file that was cut off, two objects one after the other, the marks of a merge.

    Good: one JSON object with a list of errors. The next `remit errors mark`, or the next error, writes what can be
    saved of it and keeps the original in `.remit/recovered`.
    """
    return Finding("ERR001", "error", message, hint, "S8", place=place)


def no_list(message: str, place: Place | None) -> Finding:
    """The errors are not a list.

    Why: that is where every tool looks for them and adds new ones.

    Bad: `{"errors": {"err_1": {…}}}`

    Good: `{"errors": [{"id": "err_1", …}]}`
    """
    return Finding("ERR002", "error", message, "Make errors a list of objects.", "S8", place=place)


def no_entry(place: Place | None) -> Finding:
    """Something in the list is no error.

    Why: an error is an object with a message. What is none is left where it is, and nobody sees it.

    Bad: `{"errors": ["it failed"]}`

    Good: `{"errors": [{"id": "err_1", "type": "execution", "message": "it failed"}]}`
    """
    return Finding("ERR003", "warning", "an entry is not an object", "Make it one, or remove it.", "S8", place=place)


def list_twice(place: Place | None) -> Finding:
    """The file has two lists of errors.

    Why: most readers see only the last one.

    Bad: `{"errors": [{…}], "errors": []}`

    Good: one list with all of them.
    """
    return Finding("ERR004", "warning", "errors is given twice", "Join the two lists.", "S8", place=place)


TOLD: dict[str, tuple[Callable[..., Finding], Severity, str]] = {
    "ERR001": (log_broken, "error", "S8"),
    "ERR002": (no_list, "error", "S8"),
    "ERR003": (no_entry, "warning", "S8"),
    "ERR004": (list_twice, "warning", "S8"),
}


# Reading


def parse_document(text: str) -> Document:
    """Read errors.json."""
    start = 1 if text.startswith("\ufeff") else 0
    try:
        value, end = DECODER.raw_decode(text, skip_space(text, start))
        if (rest := skip_space(text, end)) < len(text):
            raise json.JSONDecodeError("Extra data", text, rest)
    except (ValueError, RecursionError) as error:
        return Document(text, findings=(_tell_broken(error, text),), broken=True)
    lines = Lines(text)
    start = skip_space(text, start)
    if isinstance(value, list):
        items = tuple(walk_items(text, start))
        return Document(text, items, (start, end), findings=_check_items(items, lines))
    if isinstance(value, dict):
        return _read_object(text, start, lines)
    told = no_list("errors.json is neither an object nor a list", lines.locate(start, end))
    return Document(text, findings=(told,), broken=True)


def _tell_broken(error: Exception, text: str) -> Finding:
    told = explain_breakage(error, text, "errors.json")
    return log_broken(told.message, told.hint, told.span and Lines(text).locate(*told.span))


def _read_object(text: str, start: int, lines: Lines) -> Document:
    document = Document(text)
    for member in walk_members(text, start, apart=LIST_KEY):
        document = document._replace(last_end=member.end)
        if member.key == UPDATED_KEY:
            document = document._replace(updated=(member.start, member.end))
        if member.key != LIST_KEY:
            continue
        place = lines.locate(member.start, member.end)
        findings, items = list(document.findings), document.items
        if document.span is not None:
            findings.append(list_twice(place))
        if isinstance(member.value, tuple):
            items += member.value
        elif member.value is not None:
            findings.append(no_list("errors is not a list", place))
        document = document._replace(items=items, span=(member.start, member.end), findings=tuple(findings))
    findings = [*document.findings, *_check_items(document.items, lines)]
    return document._replace(broken=bool(document.findings), findings=tuple(findings))


def _check_items(items: Sequence[Member], lines: Lines) -> tuple[Finding, ...]:
    wrong = [item for item in items if not isinstance(item.value, dict)]
    return tuple(no_entry(lines.locate(item.start, item.end)) for item in wrong[:MAX_FLAWS])


# Editing


def apply(text: str, edits: Sequence[Edit]) -> str:
    """A text with edits that do not overlap; those at one place in their order."""
    parts, at = [], 0
    for edit in sorted(edits, key=lambda each: each.start):
        parts += [text[at : edit.start], edit.content]
        at = edit.end
    return "".join((*parts, text[at:]))


Entry = str | dict[str, Any]
"""An entry to be written: a text is taken as it is."""


class _Style(NamedTuple):
    """How a file is laid out. Without an indent everything stands on one line."""

    newline: str
    step: str

    def begin(self, indent: str | None) -> str:
        """What stands before a value."""
        return " " if indent is None else f"{self.newline}{indent}"

    def render(self, entry: Entry, indent: str | None) -> str:
        """An entry whose first line is indented so."""
        if isinstance(entry, str):
            return entry
        lines = json.dumps(entry, ensure_ascii=False, indent=None if indent is None else self.step).split("\n")
        return self.begin(indent).join(lines)

    def render_list(self, entries: Sequence[Entry], outer: str | None) -> str:
        """A list of entries that stands on a line with this indent."""
        if outer is None:
            return f"[{', '.join(self.render(entry, None) for entry in entries)}]"
        indent = outer + self.step
        lines = ",".join(f"{self.begin(indent)}{self.render(entry, indent)}" for entry in entries)
        return f"[{lines}{self.begin(outer)}]" if entries else "[]"


def _find_style(text: str) -> _Style:
    found = _FIRST_INDENT.search(text)
    return _Style(_find_newline(text, text.find("\n")), found[1] if found else "  ")


def _find_newline(text: str, at: int) -> str:
    """How the line ends whose end is at a place."""
    return "\r\n" if at > 0 and text[at - 1] == "\r" else "\n"


def _find_indent(text: str, at: int) -> str | None:
    """The indent of a value that begins a line; None where something stands before it."""
    line = text.rfind("\n", 0, at) + 1
    return text[line:at] if line and not text[line:at].strip() else None


def _find_outer(text: str, at: int) -> str | None:
    """The indent of the line that a place is in; None in a file that is one line."""
    if "\n" not in text.strip():
        return None
    before = text[text.rfind("\n", 0, at) + 1 : at]
    return before[: len(before) - len(before.lstrip())]


def add_items(document: Document, entries: Sequence[Entry]) -> Edit:
    """The edit that puts entries at the end of the list, in the manner of the file."""
    text, style = document.text, _find_style(document.text)
    if document.items:
        indent = _find_indent(text, document.items[-1].start)
        told = "".join(f",{style.begin(indent)}{style.render(entry, indent)}" for entry in entries)
        return Edit(document.items[-1].end, document.items[-1].end, told)
    if document.span is not None:
        return replace_list(text, document.span, entries)
    outer = None if _find_outer(text, len(text)) is None else style.step
    told = f'{style.begin(outer)}"{LIST_KEY}": {style.render_list(entries, outer)}'
    if document.last_end is not None:
        return Edit(document.last_end, document.last_end, f",{told}")
    return Edit(text.index("{") + 1, text.rindex("}"), f"{told}{style.begin(None if outer is None else '')}")


def replace_list(text: str, span: tuple[int, int], entries: Sequence[Entry]) -> Edit:
    """The edit that puts a list of entries where another value stands."""
    return Edit(*span, _find_style(text).render_list(entries, _find_outer(text, span[0])))


def set_members(text: str, item: Member, values: Mapping[str, Any]) -> list[Edit]:
    """The edits that give an entry these values; a key that is None is only set where it stands already."""
    members = {member.key: member for member in walk_members(text, item.start)}
    edits = []
    for key, value in values.items():
        found = members.get(key)
        if found is not None and found.value != value:
            edits.append(Edit(found.start, found.end, json.dumps(value, ensure_ascii=False)))
    missing = [(key, value) for key, value in values.items() if key not in members and value is not None]
    if missing and members:
        last = max(members.values(), key=lambda member: member.end)
        newline = _find_newline(text, text.rfind("\n", 0, last.key_start))
        line = _Style(newline, "").begin(_find_indent(text, last.key_start))
        told = "".join(f",{line}{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in missing)
        edits.append(Edit(last.end, last.end, told))
    return edits


def remove_items(document: Document, positions: set[int]) -> list[Edit]:
    """The edits that take entries out of the list; the last one always stays."""
    items = document.items
    return [
        Edit(items[place].start, items[place + 1].start, "") for place in sorted(positions) if place + 1 < len(items)
    ]


def render_new(now: str, items: Sequence[str] = ()) -> str:
    """A file that begins anew."""
    head = f'{{\n  "_schema_version": "{SCHEMA_VERSION}",\n  "{UPDATED_KEY}": "{now}",\n  "{LIST_KEY}": ['
    body = ",".join(f"\n    {item}" for item in items)
    return f"{head}{body}\n  ]\n}}\n" if items else f"{head}]\n}}\n"
