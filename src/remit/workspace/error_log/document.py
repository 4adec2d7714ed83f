"""errors.json as text: its entries with their places, and edits that leave everything else as it is.

Owns the file's dialects (an object with `errors`, or a bare list), the findings about it (ERR…), and what can be saved
of a broken one. The documentation of each finding is the docstring of the function that makes it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from remit.model import Finding
from remit.places import Lines
from remit.workspace.json_edit import (
    DECODER,
    add_items,
    explain_breakage,
    remove_parts,
    set_list,
    set_members,
    skip_space,
    walk_items,
    walk_members,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from remit.model import Place, Severity
    from remit.workspace.json_edit import Change, Member, Source

LIST_KEY, UPDATED_KEY = "errors", "_last_updated"
SCHEMA_VERSION = "2.0.0"
MAX_FLAWS = 20


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


def add_entries(document: Document, entries: Sequence[Mapping[str, object] | Source]) -> list[Change]:
    """The changes that put entries at the end of the list, in the manner of the file."""
    if document.items and document.span is not None:
        return [add_items(document.text, document.span[0], document.items, entries)]
    if document.span is not None:
        return [set_list(document.text, document.span, entries)]
    return set_members(document.text, document.text.index("{"), {LIST_KEY: [*entries]})


def mark_entry(text: str, item: Member, values: Mapping[str, object]) -> list[Change]:
    """The changes that give an entry these values; a key that is None is only set where it stands already."""
    return set_members(text, item.start, {k: v for k, v in values.items() if v is not None or k in item.value})


def remove_entries(document: Document, positions: set[int]) -> list[Change]:
    """The changes that take entries out of the list; the last one always stays."""
    return remove_parts(document.items, sorted(positions - {len(document.items) - 1}))


def render_new(now: str, items: Sequence[str] = ()) -> str:
    """A file that begins anew."""
    head = f'{{\n  "_schema_version": "{SCHEMA_VERSION}",\n  "{UPDATED_KEY}": "{now}",\n  "{LIST_KEY}": ['
    body = ",".join(f"\n    {item}" for item in items)
    return f"{head}{body}\n  ]\n}}\n" if items else f"{head}]\n}}\n"
