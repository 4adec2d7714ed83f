"""Ids: which ids the entries of a manifest have, read from the file itself.

Owns that question, for a writer and for a judge alike. It goes without the index: the file is what counts, and a
confined process can't write to the ledger.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from jiter import from_json

from remit.light_namedtuple import NamedTuple
from remit.manifest.entries import add_number, split_id
from remit.manifest.lines import BOM
from remit.returns.formats.manifest import read_aliases
from remit.returns.manifest_lines import MAX_LINE_BYTES
from remit.storage.files import load_blocks

if TYPE_CHECKING:
    from collections.abc import Mapping

_PLAIN = re.compile(r"[A-Za-z0-9 ._-]+")
_ESCAPED = rb"\u00"
"""JSON has two ways to write such a character: as it is, or with this."""


class Taken(NamedTuple):
    """An id that another entry has."""

    line: int
    free: str
    """The first number of it that is free."""


def find_free_id(path: str, entry_id: str) -> str:
    """An id, or if an entry has it the same with the first number that is free (R4.9)."""
    stem, number = split_id(entry_id)
    return _add_free_number(stem, number, _list_entries(path, stem) if os.path.exists(path) else {})


def find_taken(path: str, entry: Mapping[str, Any]) -> Taken | None:
    """The first entry that has the id of this one; None if there is none, or if it is the same entry."""
    fields, _ = read_aliases(dict(entry))
    entry_id = fields.get("id")
    if not isinstance(entry_id, str) or not entry_id.strip():
        return None
    stem, number = split_id(entry_id)
    entries = _list_entries(path, stem)
    if entry_id not in entries or entries[entry_id][1] == fields:
        return None
    return Taken(entries[entry_id][0], _add_free_number(stem, number, entries))


def _add_free_number(stem: str, number: int, taken: Mapping[str, object]) -> str:
    while add_number(stem, number) in taken:
        number += 1
    return add_number(stem, number)


def _list_entries(path: str, stem: str) -> dict[str, tuple[int, dict[str, Any]]]:
    """The entries whose ids begin with a stem: by id, the first line with it and its fields."""
    sign = max(_PLAIN.findall(stem), key=len, default="").encode()
    found: dict[str, tuple[int, dict[str, Any]]] = {}
    above = 0
    for block in load_blocks(path, max_line_bytes=MAX_LINE_BYTES):
        if sign in block or (b"\\" in block and _ESCAPED in block):
            for number, line in enumerate(block.split(b"\n"), above + 1):
                entry = _read_loosely(line) if sign in line or _ESCAPED in line else {}
                entry_id = entry.get("id")
                if isinstance(entry_id, str) and entry_id.startswith(stem):
                    found.setdefault(entry_id, (number, entry))
        above += block.count(b"\n")
    return found


def _read_loosely(line: bytes) -> dict[str, Any]:
    """The entry on a line, also if it has a flaw such as a key that is given twice; empty if there is none."""
    try:
        entry = from_json(line.removeprefix(BOM), allow_inf_nan=False) if len(line) <= MAX_LINE_BYTES else None
    except ValueError:
        return {}
    return read_aliases(entry)[0] if isinstance(entry, dict) else {}
