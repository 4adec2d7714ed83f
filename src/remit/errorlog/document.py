"""Parse errors.json into entries with their places, and edit its text without changing the rest.

Accepts an object with `errors`, or a bare list. Also has the diagnostics about the file (ERR…): the documentation of a
code is the docstring of the function that makes its diagnostic.
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
    """A parsed errors.json. A `broken` one has to be rewritten before entries can be added."""

    text: str
    members: tuple[Member, ...] = ()
    """The members of the object, if the file has one."""
    items: tuple[Member, ...] = ()
    start: int | None = None
    """The start of the list; None if there is none."""
    diagnostics: tuple[Diagnostic, ...] = ()
    broken: bool = False


# Diagnostics


def log_broken(message: str, hint: str, place: TextSpan | None) -> Diagnostic:
    """errors.json isn't valid JSON.

    Why: no tool can read which errors are open, and a tool that starts over with an empty file loses all of them.

    Bad: a truncated file, two objects one after the other, the conflict markers of a merge.

    Good: one JSON object with a list of errors. The next `remit errors resolve`, or the next recorded error, writes all
    entries that can be recovered, and keeps the original in `.remit/recovered`.
    """
    return Diagnostic("ERR001", "error", message, hint, place=place)


def no_list(message: str, place: TextSpan | None) -> Diagnostic:
    """`errors` isn't a list.

    Why: every tool reads errors from this list and appends new ones.

    Bad: `{"errors": {"err_1": {…}}}`

    Good: `{"errors": [{"id": "err_1", …}]}`
    """
    return Diagnostic("ERR002", "error", message, "Make errors a list of objects.", place=place)


def no_entry(place: TextSpan | None) -> Diagnostic:
    """An item in the list isn't an error.

    Why: an error is an object with a message. Any other item stays in the file, but no tool shows it.

    Bad: `{"errors": ["it failed"]}`

    Good: `{"errors": [{"id": "err_1", "type": "execution", "message": "it failed"}]}`
    """
    return Diagnostic("ERR003", "warning", "an entry isn't an object", "Make it an object, or remove it.", place=place)


def list_twice(place: TextSpan | None) -> Diagnostic:
    """The file has two lists of errors.

    Why: most readers use only the last one.

    Bad: `{"errors": [{…}], "errors": []}`

    Good: one list with all of them.
    """
    return Diagnostic("ERR004", "warning", "duplicate key errors", "Join the two lists.", place=place)


DIAGNOSTICS: dict[str, tuple[Callable[..., Diagnostic], Severity]] = {
    "ERR001": (log_broken, "error"),
    "ERR002": (no_list, "error"),
    "ERR003": (no_entry, "warning"),
    "ERR004": (list_twice, "warning"),
}


# Reading


def parse_document(text: str) -> ErrorsDocument:
    """Parse errors.json."""
    start = skip_space(text, 1 if text.startswith("\ufeff") else 0)
    try:
        value, end = DECODER.raw_decode(text, start)
        if (rest := skip_space(text, end)) < len(text):
            raise json.JSONDecodeError("Extra data", text, rest)
    except (ValueError, RecursionError) as error:
        why = explain_breakage(error, text, "errors.json")
        broken = log_broken(why.message, why.hint, why.span and LineIndex(text).locate(*why.span))
        return ErrorsDocument(text, diagnostics=(broken,), broken=True)
    lines = LineIndex(text)
    if not isinstance(value, (dict, list)):
        broken = no_list("errors.json is neither an object nor a list", lines.locate(start, end))
        return ErrorsDocument(text, diagnostics=(broken,), broken=True)
    members = tuple(walk_members(text, start)) if isinstance(value, dict) else ()
    given = [(each.start, each.end, each.value) for each in members if each.key == LIST_KEY and each.value is not None]
    given = given if isinstance(value, dict) else [(start, end, value)]
    lists = [at for at, _, each in given if isinstance(each, list)]
    wrong = [
        *(no_list("errors isn't a list", lines.locate(*place)) for *place, each in given if not isinstance(each, list)),
        *(list_twice(lines.locate(*place)) for *place, _ in given[1:]),
    ]
    items = tuple(item for at in lists for item in walk_items(text, at))
    odd = [item for item in items if not isinstance(item.value, dict)][:MAX_FLAWS]
    diagnostics = (*wrong, *(no_entry(lines.locate(item.start, item.end)) for item in odd))
    return ErrorsDocument(text, members, items, lists[-1] if lists else None, diagnostics, bool(wrong))


# Editing


def add_entries(document: ErrorsDocument, entries: Sequence[Mapping[str, object]]) -> list[TextChange]:
    """Return the changes that append entries to the list, in the style of the file."""
    if document.start is not None:
        return [add_items(document.text, document.start, document.items, entries)]
    return set_members(document.text, document.text.index("{"), {LIST_KEY: [*entries]})


def set_date(document: ErrorsDocument, time: str) -> list[TextChange]:
    """Return the changes that update the file's time of last change, if it has one."""
    known = any(member.key == UPDATED_KEY for member in document.members)
    return set_members(document.text, document.text.index("{"), {UPDATED_KEY: time}) if known else []


def mark_entry(text: str, item: Member, values: Mapping[str, object]) -> list[TextChange]:
    """Return the changes that set values of an entry; None is only set if the key exists."""
    return set_members(text, item.start, {k: v for k, v in values.items() if v is not None or k in item.value})


def remove_entries(document: ErrorsDocument, positions: set[int]) -> list[TextChange]:
    """Return the changes that remove entries from the list; the last one always stays."""
    return remove_parts(document.text, document.items, sorted(positions - {len(document.items) - 1}))


def render_new(now: str, rest: Mapping[str, object] | None = None, entries: Sequence[object] = ()) -> str:
    """Return a new file, with the other members and the entries of a broken one."""
    value = {**(rest or {"_schema_version": SCHEMA_VERSION, UPDATED_KEY: now}), LIST_KEY: [*entries]}
    text = json.dumps(value, ensure_ascii=False, indent=2) + "\n"
    try:
        text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # a lone surrogate can only be written as an escape
        return json.dumps(value, indent=2) + "\n"
    return text
