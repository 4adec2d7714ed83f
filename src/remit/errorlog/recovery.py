"""What can be saved of a broken errors.json.

Owns the choice. The tolerant parser of returns reads every entry that is whole, also with slips of punctuation. An
entry that was cut off, or is mended and contradicts itself, is left to the original. Of a merge both sides are saved.

Linear: an entry is read once, and the attempts that fail have a limit in all.
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
"""What an attempt to read an object costs beside the characters it reads."""


def recover(text: str, now: str) -> str:
    """A file with everything that can be saved of a broken one."""
    sides = [_read_side(side) for side in split_sides(text) or (text,)]
    entries: dict[str, object] = {}
    for _, found in reversed(sides):
        entries = dict((*found.items(), *((name, entry) for name, entry in entries.items() if name not in found)))
    return render_new(now, sides[0][0], [*entries.values()])


def _read_side(text: str) -> tuple[dict[str, Any], dict[str, object]]:
    """The other members of a file, and its entries by name; of one name the later, which was written over the other."""
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
    """What an entry is known by: its id, or all of it."""
    found = entry.get("id") if isinstance(entry, dict) else None
    return found if isinstance(found, str) and found else json.dumps(entry, sort_keys=True)


def _read_broken(text: str) -> tuple[dict[str, Any], list[object]]:
    """The other members and the entries of a text that is not JSON."""
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
    """The object at a place, where it ends and where it has flaws; None if it has to be read piece by piece."""
    try:
        parsed = parse_object(text, at, held=True)
    except UnreadableError as error:
        return None, error.reached, set()
    if '\\"message\\"' in json.dumps(parsed.value):  # a stray quote has made one text of several entries
        return None, parsed.end, set()
    flawed = {flaw.pointer for flaw in parsed.flaws} | ({""} if parsed.closed == "end" else set())
    if any(flaw.kind == "conflict" for flaw in parsed.flaws):
        try:
            return DECODER.decode(text[at : parsed.end]), parsed.end, set()
        except (ValueError, RecursionError):
            return None, parsed.end, set()
    return parsed.value, parsed.end, flawed


def _list_entries(value: object, flawed: Collection[str] = (), pointer: str = "") -> list[object]:
    """The entries in a value, wherever they are: objects with a message. One with a flaw in it is left out."""
    if isinstance(value, dict) and isinstance(value.get("message"), str) and LIST_KEY not in value:
        return [] if any(f"{each}/".startswith(f"{pointer}/") for each in flawed) else [value]
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    if pointer.count("/") >= _MAX_DEPTH:
        return []
    return [entry for key, part in parts for entry in _list_entries(part, flawed, join_pointer(pointer, str(key)))]
