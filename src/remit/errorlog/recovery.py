"""Recover the entries of a broken errors.json.

The tolerant parser of returns reads every complete entry, also with punctuation errors. Truncated entries, and repaired
ones that contradict themselves, stay only in the copy of the file. Both sides of a merge are recovered.

Linear: each entry is parsed once, and failed attempts have a total limit.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from remit.errorlog.document import LIST_KEY, parse_document, render_new
from remit.returns.tolerant_json import UnreadableError, join_pointer, parse_object
from remit.storage.json_edit import DECODER
from remit.storage.merge_conflicts import split_sides

if TYPE_CHECKING:
    from collections.abc import Collection

_MAX_DEPTH = 8
_FREE_CHARS = 100_000
_ATTEMPT_CHARS = 50
"""The fixed cost of an attempt to parse an object, in addition to the characters it reads."""


def recover(text: str, now: str) -> str:
    """Return a valid file with everything that can be recovered from a broken one."""
    sides = [_read_side(side) for side in split_sides(text) or (text,)]
    entries: dict[str, object] = {}
    for _, found in reversed(sides):
        entries = dict((*found.items(), *((name, entry) for name, entry in entries.items() if name not in found)))
    return render_new(now, sides[0][0], [*entries.values()])


def _read_side(text: str) -> tuple[dict[str, Any], dict[str, object]]:
    """Return the other members of a file, and its entries by id; of entries with one id, the last."""
    document = parse_document(text)
    if document.broken and not document.members:
        rest, entries = _read_broken(text)
    else:
        rest = {member.key: member.value for member in document.members if member.key != LIST_KEY}
        others = [each.value for each in document.members if each.key == LIST_KEY and not isinstance(each.value, list)]
        entries = [
            *(item.value for item in document.items),
            *(entry for each in others for entry in _list_entries(each)),
        ]
    return rest, {_name(entry): entry for entry in entries}


def _name(entry: object) -> str:
    """Return the key of an entry: its id, or its whole content."""
    found = entry.get("id") if isinstance(entry, dict) else None
    return found if isinstance(found, str) and found else json.dumps(entry, sort_keys=True)


def _read_broken(text: str) -> tuple[dict[str, Any], list[object]]:
    """Return the other members and the entries of a text that isn't valid JSON."""
    rest: dict[str, Any] = {}
    entries: list[object] = []
    at, chars_left = text.find("{"), len(text) + _FREE_CHARS
    while at >= 0 and chars_left > 0:
        value, end, flawed = _read_object(text, at)
        if value is None:
            chars_left -= end - at + _ATTEMPT_CHARS
        else:
            entries += _list_entries(value, flawed)
            rest = rest or ({key: each for key, each in value.items() if key != LIST_KEY} if LIST_KEY in value else {})
        at = text.find("{", at + 1 if value is None else end)
    return rest, entries


def _read_object(text: str, at: int) -> tuple[dict[str, Any] | None, int, set[str]]:
    """Return the object at an offset, its end and its repaired places; None if only its parts can be parsed."""
    try:
        parsed = parse_object(text, at, held=True)
    except UnreadableError as error:
        return None, error.reached, set()
    if '\\"message\\"' in json.dumps(parsed.value):  # a stray quote has joined several entries into one string
        return None, parsed.end, set()
    flawed = {flaw.pointer for flaw in parsed.flaws} | ({""} if parsed.closed == "end" else set())
    if any(flaw.kind == "conflict" for flaw in parsed.flaws):
        try:
            return DECODER.decode(text[at : parsed.end]), parsed.end, set()
        except (ValueError, RecursionError):
            return None, parsed.end, set()
    return parsed.value, parsed.end, flawed


def _list_entries(value: object, flawed: Collection[str] = (), pointer: str = "") -> list[object]:
    """Return the entries in a value, at any depth: objects with a message, without those that were repaired."""
    if isinstance(value, dict) and isinstance(value.get("message"), str) and LIST_KEY not in value:
        return [] if any(f"{each}/".startswith(f"{pointer}/") for each in flawed) else [value]
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    if pointer.count("/") >= _MAX_DEPTH:
        return []
    return [entry for key, part in parts for entry in _list_entries(part, flawed, join_pointer(pointer, str(key)))]
