"""Find which ids of manifest entries are taken, from the file itself.

The index isn't used: the file is the source of truth, and a confined process can't write to the ledger. A judge loads
this module without the code that appends.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from jiter import from_json

from remit.light_namedtuple import NamedTuple
from remit.manifest.entries import BOM, add_number, split_id
from remit.returns.formats.manifest import read_aliases
from remit.returns.manifest_lines import MAX_LINE_BYTES
from remit.storage.files import load_blocks

if TYPE_CHECKING:
    from collections.abc import Mapping

_PLAIN = re.compile(r"[A-Za-z0-9 ._-]+")
_ESCAPED = rb"\u00"
"""JSON may also write a plain character as an escape that starts with these bytes."""


class TakenId(NamedTuple):
    """An id of another entry."""

    line: int
    free: str
    """The id with the first free number."""


def find_free_id(path: str, entry_id: str) -> str:
    """Return an id, with the first free number if it is taken (R4.9)."""
    stem, number = split_id(entry_id)
    return _add_free_number(stem, number, _list_entries(path, stem) if os.path.exists(path) else {})


def find_taken(path: str, entry: Mapping[str, Any]) -> TakenId | None:
    """Return the first other entry with the same id; None if there is none, or if it is the same entry."""
    fields, _ = read_aliases(dict(entry))
    entry_id = fields.get("id")
    if not isinstance(entry_id, str) or not entry_id.strip():
        return None
    stem, number = split_id(entry_id)
    entries = _list_entries(path, stem)
    if entry_id not in entries or entries[entry_id][1] == fields:
        return None
    return TakenId(entries[entry_id][0], _add_free_number(stem, number, entries))


def _add_free_number(stem: str, number: int, taken: Mapping[str, object]) -> str:
    while add_number(stem, number) in taken:
        number += 1
    return add_number(stem, number)


def _list_entries(path: str, stem: str) -> dict[str, tuple[int, dict[str, Any]]]:
    """Return the first line and the fields of each id that starts with a stem."""
    sign = max(_PLAIN.findall(stem), key=len, default="").encode()
    found: dict[str, tuple[int, dict[str, Any]]] = {}
    above = 0
    for block in load_blocks(path, max_line_bytes=MAX_LINE_BYTES):
        if sign in block or (b"\\" in block and _ESCAPED in block):
            for number, line in enumerate(block.split(b"\n"), above + 1):
                entry = _read_line(line) if sign in line or _ESCAPED in line else {}
                entry_id = entry.get("id")
                if isinstance(entry_id, str) and entry_id.startswith(stem):
                    found.setdefault(entry_id, (number, entry))
        above += block.count(b"\n")
    return found


def _read_line(line: bytes) -> dict[str, Any]:
    """Return the entry on a line, also if it has a duplicate key; {} if it isn't an object."""
    try:
        entry = from_json(line.removeprefix(BOM), allow_inf_nan=False) if len(line) <= MAX_LINE_BYTES else None
    except ValueError:
        return {}
    return read_aliases(entry)[0] if isinstance(entry, dict) else {}
