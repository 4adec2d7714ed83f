"""What can be saved of a broken errors.json.

Owns the choice. Every entry that is whole is saved, word for word; one that only needs a comma is mended; half a one
is left to the original, which is kept beside. Of a merge both sides are saved.

Linear: brackets are counted in one pass, and an entry is read at most as often as it is deep.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from remit.workspace.error_log.document import (
    LIST_KEY,
    add_entries,
    parse_document,
    render_new,
)
from remit.workspace.json_edit import DECODER, Change, Source, apply, set_list, walk_items, walk_members
from remit.workspace.merge_conflicts import split_sides

if TYPE_CHECKING:
    from collections.abc import Iterable

    from remit.workspace.error_log.document import Document
    from remit.workspace.json_edit import Member

_MAX_DEPTH = 6
_MAX_MENDS = 50
_MAX_MENDED_CHARS = 20_000
_MESSAGE = '"message"'

_TOKEN = re.compile(r'"(?:[^"\\\x00-\x1f]++|\\[^\x00-\x1f])*+"?+|[{}\[\]]')
"""A bracket, or a text, which ends with its line where nobody ended it."""
_SLIPS = frozenset({"comment", "trailing_comma", "extra_comma", "missing_comma", "single_quotes", "unquoted_key"})
"""The repairs after which an entry says what its writer meant, without a doubt."""


def recover(text: str, now: str) -> str:
    """A file with everything that can be saved of a broken one."""
    sides = split_sides(text)
    if sides is None:
        return _recover_one(text, now)
    ours, theirs = (parse_document(_recover_one(side, now)) for side in sides)
    known = {_name(item.value, _slice(ours, item)) for item in ours.items}
    missing = [_slice(theirs, item) for item in theirs.items if _name(item.value, _slice(theirs, item)) not in known]
    return apply(ours.text, add_entries(ours, [*map(Source, missing)])) if missing else ours.text


def _recover_one(text: str, now: str) -> str:
    document = parse_document(text)
    if not document.broken:
        return text
    if document.span is not None:
        return _join_lists(text)
    return render_new(now, [*_keep_last(_find_entries(text))])


def _slice(document: Document, item: Member) -> str:
    return document.text[item.start : item.end]


def _name(value: object, text: str) -> str:
    """What an entry is known by: its id, or all of it."""
    found = value.get("id") if isinstance(value, dict) else None
    return found if isinstance(found, str) and found else text


# A list that is none, or two of them


def _join_lists(text: str) -> str:
    """One list with the entries of all values that the file gives for it."""
    members = [*walk_members(text, text.index("{"))]
    places = [place for place, member in enumerate(members) if member.key == LIST_KEY]
    entries = [entry for place in places for entry in _take_entries(text, members[place])]
    edits = [Change(members[place].key_start, members[place + 1].key_start, "") for place in places[:-1]]
    last = members[places[-1]]
    return apply(text, [*edits, set_list(text, (last.start, last.end), [*map(Source, _keep_last(entries))])])


def _take_entries(text: str, member: Member) -> list[tuple[str, str]]:
    """The entries of a list, whatever they are, or those in another value."""
    if not isinstance(member.value, list):
        return _find_entries(text[member.start : member.end])
    return [
        (_name(item.value, source := text[item.start : item.end]), source) for item in walk_items(text, member.start)
    ]


# Entries in a text that is no JSON


def _find_entries(text: str) -> list[tuple[str, str]]:
    """The entries of a text, each with its name; whatever stands around them."""
    opened = _Opened()
    found: list[tuple[int, str, str]] = []
    mends_left = _MAX_MENDS
    for token in _TOKEN.finditer(text):
        char = token[0]
        if char in "{[":
            opened.add(char, token.start())
        elif char in "}]":
            start = opened.close("{" if char == "}" else "[")
            if start is None or char == "]" or opened.depth >= _MAX_DEPTH:
                continue
            source = text[start : token.end()]
            value = _read(source)
            if value is None and mends_left and _MESSAGE in source and len(source) <= _MAX_MENDED_CHARS:
                mends_left -= 1
                value = _mend(source)
                source = json.dumps(value, ensure_ascii=False)
            if _is_entry(value):
                while found and found[-1][0] > start:  # one inside another
                    found.pop()
                found.append((start, _name(value, source), source))
    return [(name, source) for _, name, source in found]


class _Opened:
    """The brackets that are open."""

    def __init__(self) -> None:
        self.places: list[tuple[str, int]] = []
        self.counts = {"{": 0, "[": 0}

    @property
    def depth(self) -> int:
        return len(self.places)

    def add(self, char: str, place: int) -> None:
        self.places.append((char, place))
        self.counts[char] += 1

    def close(self, opener: str) -> int | None:
        """Where the bracket was opened that is closed now; those that nobody closed are forgotten."""
        if not self.counts[opener]:
            return None
        while True:
            char, place = self.places.pop()
            self.counts[char] -= 1
            if char == opener:
                return place


def _read(source: str) -> object | None:
    """An object with a message in it; None where it has none, or is no JSON."""
    if _MESSAGE not in source:
        return None
    try:
        value, _ = DECODER.raw_decode(source)
    except (ValueError, RecursionError):
        return None
    return value  # type: ignore[no-any-return] # any JSON value


def _mend(source: str) -> dict[str, Any] | None:
    """An object with a comma too many or too few; None where more is wrong with it."""
    from remit.contract.tolerant_json import UnreadableError, parse_object  # noqa: PLC0415 - only for broken files

    try:
        parsed = parse_object(source, 0, held=True)
    except UnreadableError:
        return None
    return None if parsed.flaws or not _SLIPS.issuperset(parsed.repairs) else parsed.value


def _is_entry(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("message"), str)


def _keep_last(entries: Iterable[tuple[str, str]]) -> Iterable[str]:
    """Of two entries with one name the later one: it was written over the other."""
    return dict(entries).values()
