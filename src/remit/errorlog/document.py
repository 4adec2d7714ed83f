"""errors.json as text: its entries with their places, and edits that leave everything else as it is.

Owns the file's dialects (an object with `errors`, or a bare list) and the findings about it (ERR…). The documentation
of each finding is the docstring of the function that makes it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from remit.model import Diagnostic
from remit.positions import LineIndex
from remit.storage.json_edit import (
    DECODER,
    add_items,
    explain_breakage,
    remove_parts,
    set_members,
    skip_space,
    walk_items,
    walk_members,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from remit.model import Severity, TextSpan
    from remit.storage.json_edit import Member, TextChange

LIST_KEY, UPDATED_KEY = "errors", "_last_updated"
SCHEMA_VERSION = "2.0.0"
MAX_FLAWS = 20


class ErrorsDocument(NamedTuple):
    """What errors.json holds. `broken` is one that has to be written anew before anything can be added to it."""

    text: str
    members: tuple[Member, ...] = ()
    """Those of the object, if it is one."""
    items: tuple[Member, ...] = ()
    start: int | None = None
    """Where the list begins; None if there is none yet."""
    findings: tuple[Diagnostic, ...] = ()
    broken: bool = False


# What there is to say about the file


def log_broken(message: str, hint: str, place: TextSpan | None) -> Diagnostic:
    """errors.json is not JSON.

    Why: nobody can read which errors are open, and a tool that begins it anew loses all of them.

    Bad: a file that was cut off, two objects one after the other, the marks of a merge.

    Good: one JSON object with a list of errors. The next `remit errors resolve`, or the next error, writes what can be
    saved of it and keeps the original in `.remit/recovered`.
    """
    return Diagnostic("ERR001", "error", message, hint, place=place)


def no_list(message: str, place: TextSpan | None) -> Diagnostic:
    """The errors are not a list.

    Why: that is where every tool looks for them and adds new ones.

    Bad: `{"errors": {"err_1": {…}}}`

    Good: `{"errors": [{"id": "err_1", …}]}`
    """
    return Diagnostic("ERR002", "error", message, "Make errors a list of objects.", place=place)


def no_entry(place: TextSpan | None) -> Diagnostic:
    """Something in the list is no error.

    Why: an error is an object with a message. What is none is left where it is, and nobody sees it.

    Bad: `{"errors": ["it failed"]}`

    Good: `{"errors": [{"id": "err_1", "type": "execution", "message": "it failed"}]}`
    """
    return Diagnostic("ERR003", "warning", "an entry is not an object", "Make it one, or remove it.", place=place)


def list_twice(place: TextSpan | None) -> Diagnostic:
    """The file has two lists of errors.

    Why: most readers see only the last one.

    Bad: `{"errors": [{…}], "errors": []}`

    Good: one list with all of them.
    """
    return Diagnostic("ERR004", "warning", "errors is given twice", "Join the two lists.", place=place)


DIAGNOSTICS: dict[str, tuple[Callable[..., Diagnostic], Severity]] = {
    "ERR001": (log_broken, "error"),
    "ERR002": (no_list, "error"),
    "ERR003": (no_entry, "warning"),
    "ERR004": (list_twice, "warning"),
}


# Reading


def parse_document(text: str) -> ErrorsDocument:
    """Read errors.json."""
    start = skip_space(text, 1 if text.startswith("\ufeff") else 0)
    try:
        value, end = DECODER.raw_decode(text, start)
        if (rest := skip_space(text, end)) < len(text):
            raise json.JSONDecodeError("Extra data", text, rest)
    except (ValueError, RecursionError) as error:
        why = explain_breakage(error, text, "errors.json")
        told = log_broken(why.message, why.hint, why.span and LineIndex(text).locate(*why.span))
        return ErrorsDocument(text, findings=(told,), broken=True)
    lines = LineIndex(text)
    if not isinstance(value, (dict, list)):
        told = no_list("errors.json is neither an object nor a list", lines.locate(start, end))
        return ErrorsDocument(text, findings=(told,), broken=True)
    members = tuple(walk_members(text, start)) if isinstance(value, dict) else ()
    given = [(each.start, each.end, each.value) for each in members if each.key == LIST_KEY and each.value is not None]
    given = given if isinstance(value, dict) else [(start, end, value)]
    lists = [at for at, _, each in given if isinstance(each, list)]
    wrong = [
        *(
            no_list("errors is not a list", lines.locate(*place))
            for *place, each in given
            if not isinstance(each, list)
        ),
        *(list_twice(lines.locate(*place)) for *place, _ in given[1:]),
    ]
    items = tuple(item for at in lists for item in walk_items(text, at))
    odd = [item for item in items if not isinstance(item.value, dict)][:MAX_FLAWS]
    findings = (*wrong, *(no_entry(lines.locate(item.start, item.end)) for item in odd))
    return ErrorsDocument(text, members, items, lists[-1] if lists else None, findings, bool(wrong))


# Editing


def add_entries(document: ErrorsDocument, entries: Sequence[Mapping[str, object]]) -> list[TextChange]:
    """The changes that put entries at the end of the list, in the manner of the file."""
    if document.start is not None:
        return [add_items(document.text, document.start, document.items, entries)]
    return set_members(document.text, document.text.index("{"), {LIST_KEY: [*entries]})


def set_date(document: ErrorsDocument, time: str) -> list[TextChange]:
    """The changes that give the time of the last change, if the file has one."""
    known = any(member.key == UPDATED_KEY for member in document.members)
    return set_members(document.text, document.text.index("{"), {UPDATED_KEY: time}) if known else []


def mark_entry(text: str, item: Member, values: Mapping[str, object]) -> list[TextChange]:
    """The changes that give an entry these values; a key that is None is only set where it stands already."""
    return set_members(text, item.start, {k: v for k, v in values.items() if v is not None or k in item.value})


def remove_entries(document: ErrorsDocument, positions: set[int]) -> list[TextChange]:
    """The changes that take entries out of the list; the last one always stays."""
    return remove_parts(document.text, document.items, sorted(positions - {len(document.items) - 1}))


def render_new(now: str, rest: Mapping[str, object] | None = None, entries: Sequence[object] = ()) -> str:
    """A file that begins anew, with the other members and the entries of one that was broken."""
    value = {**(rest or {"_schema_version": SCHEMA_VERSION, UPDATED_KEY: now}), LIST_KEY: [*entries]}
    text = json.dumps(value, ensure_ascii=False, indent=2) + "\n"
    try:
        text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half a pair can only be written as an escape
        return json.dumps(value, indent=2) + "\n"
    return text
