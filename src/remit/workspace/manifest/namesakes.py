"""Namesakes: the entries of a manifest that share an id, short of its number, read from the file itself.

Owns that look for whoever judges. It goes without the index: to follow a file that an agent has just written would make
the ledger believe what nobody has judged yet, and a sandbox cannot write there.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from jiter import from_json

from remit.contract.dialects.manifest import read_aliases
from remit.quick_tuple import NamedTuple
from remit.workspace.files import load_lines
from remit.workspace.manifest.entries import add_number, split_id

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_MAX_LINE_BYTES = 1024 * 1024
_ESCAPED = rb"\u00"
"""A line that has this may spell any id in another way."""


class Taken(NamedTuple):
    """An id that another entry has."""

    line: int
    free: str
    """The first number of it that is free."""


def find_taken(path: str, entry: Mapping[str, Any]) -> Taken | None:
    """Whether another entry above has the id of this one. The same entry twice is no other."""
    fields, _ = read_aliases(dict(entry))
    entry_id = fields.get("id")
    if not isinstance(entry_id, str) or not entry_id.strip():
        return None
    stem, number = split_id(entry_id)
    first: dict[str, tuple[int, dict[str, Any]]] = {}
    for line, found in _walk(path, stem):
        first.setdefault(found["id"], (line, found))
    if entry_id not in first or first[entry_id][1] == fields:
        return None
    while add_number(stem, number) in first:
        number += 1
    return Taken(first[entry_id][0], add_number(stem, number))


def _walk(path: str, stem: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The entries whose id begins with a stem, with their lines."""
    spelled = {json.dumps(stem, ensure_ascii=ascii_only)[:-1] for ascii_only in (True, False)}
    signs = (_ESCAPED, *(text.encode("utf-8", "surrogatepass") for text in spelled))
    for number, (line, _) in enumerate(load_lines(path, max_bytes=_MAX_LINE_BYTES), 1):
        if not any(sign in line for sign in signs):
            continue
        try:
            entry = from_json(line.removeprefix(b"\xef\xbb\xbf"), allow_inf_nan=False)
        except ValueError:
            continue
        fields = read_aliases(entry)[0] if isinstance(entry, dict) else {}
        if isinstance(fields.get("id"), str) and fields["id"].startswith(stem):
            yield number, fields
