"""A glance at a manifest: how much is in it, for a line on a screen.

Owns the few numbers that can be had at once. Where the index is behind by too much, the glance does not wait for it,
and says that it saw only a part.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from remit.errors import InputError
from remit.workspace.files import load_bytes
from remit.workspace.manifest.counts import find_torn_line
from remit.workspace.manifest.index import Index
from remit.workspace.manifest.rows import is_entry, read_block

if TYPE_CHECKING:
    from sqlite3 import Connection

    from remit.workspace.home import Home
    from remit.workspace.manifest.index import Known

MAX_COUNTED = 200_000
"""From here on an entry is a line that is not bad: to count a million takes a while, and blank lines are rare."""
_DOUBLED = """
    SELECT count(*) FROM (
        SELECT 1 FROM manifest_entries WHERE id IS NOT NULL AND +number >= ? AND +number < ?
        GROUP BY id HAVING count(*) > 1
    )
"""
"""With a plus the index of the ids is gone through, which is sorted already, and not the table by number."""


class Glance(NamedTuple):
    """What was seen of a manifest."""

    entries: int
    pending: int
    bad_lines: int
    """Lines that are no entries; one that is cut off is among them."""
    doubled_ids: int
    """How many ids are not one entry's alone."""
    is_whole: bool
    """False where only its beginning was read."""


def glance(home: Home, file: str, *, max_bytes: int) -> Glance:
    """Look at a manifest, reading no more of it than `max_bytes`; nothing is made that was not there."""
    if os.path.isfile(home.ledger_file):
        index = Index(home, file)
        try:
            size = index.look().st_size
            with home.ledger.reading() as db:
                known = index.load_known(db)
            if size - (known.offset if known else 0) <= max_bytes:
                return index.consult(lambda db, known: _count(index, db, known))
        finally:
            index.close()
    return _read_beginning(file, max_bytes)


def _count(index: Index, db: Connection, known: Known) -> Glance:
    pending = db.execute(
        "SELECT count(*) FROM manifest_entries WHERE pending AND number >= ? AND number < ?", known.bounds
    ).fetchone()[0]
    bad = db.execute("SELECT count(*) FROM manifest_bad_lines WHERE manifest = ?", (known.number,)).fetchone()[0]
    entries = known.lines - bad
    if known.lines <= MAX_COUNTED:
        entries = db.execute(
            "SELECT count(*) FROM manifest_entries WHERE number >= ? AND number < ?", known.bounds
        ).fetchone()[0]
    doubled = db.execute(_DOUBLED, known.bounds).fetchone()[0]
    bad += find_torn_line(index, known) is not None
    return Glance(entries, pending, bad, doubled, is_whole=True)


def _read_beginning(file: str, max_bytes: int) -> Glance:
    if not os.path.isfile(file):
        raise InputError(f"'{file}' is not a file", hint="name the manifest's file")
    data = load_bytes(file, max_bytes=max_bytes)
    is_whole = len(data) <= max_bytes
    end = data.rfind(b"\n", 0, max_bytes) + 1
    is_torn = is_whole and bool(data[end:].strip()) and not is_entry(data[end:], is_first=end == 0)
    rows = read_block(data[:end] if is_torn or not is_whole else data, manifest=0, line=0, offset=0)
    ids = Counter(row[1] for row in rows.entries if row[1] is not None)
    doubled = sum(number > 1 for number in ids.values())
    pending = sum(row[4] for row in rows.entries)
    return Glance(len(rows.entries), pending, len(rows.bad_lines) + is_torn, doubled, is_whole)
