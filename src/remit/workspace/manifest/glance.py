"""A glance at a manifest: how much is in it, for a line on a screen.

Owns the few numbers that can be had at once. Where the index is behind by too much, the glance does not wait for it,
and says that it saw only a part.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from remit.errors import InputError
from remit.workspace.files import load_bytes
from remit.workspace.manifest.index import Index
from remit.workspace.manifest.rows import read_block

if TYPE_CHECKING:
    from sqlite3 import Connection

    from remit.workspace.home import Home
    from remit.workspace.manifest.index import Known

MAX_COUNTED = 200_000
"""From here on an entry is a line that is not bad: to count a million takes a while, and blank lines are rare."""


class Glance(NamedTuple):
    """What was seen of a manifest."""

    entries: int
    pending: int
    bad_lines: int
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
                return index.consult(_count)
        finally:
            index.close()
    return _read_beginning(file, max_bytes)


def _count(db: Connection, known: Known) -> Glance:
    pending = db.execute(
        "SELECT count(*) FROM manifest_entries WHERE pending AND number >= ? AND number < ?", known.bounds
    ).fetchone()[0]
    bad = db.execute("SELECT count(*) FROM manifest_bad_lines WHERE manifest = ?", (known.number,)).fetchone()[0]
    entries = known.lines - bad
    if known.lines <= MAX_COUNTED:
        entries = db.execute(
            "SELECT count(*) FROM manifest_entries WHERE number >= ? AND number < ?", known.bounds
        ).fetchone()[0]
    return Glance(entries, pending, bad, is_whole=True)


def _read_beginning(file: str, max_bytes: int) -> Glance:
    if not os.path.isfile(file):
        raise InputError(f"'{file}' is not a file", hint="name the manifest's file")
    data = load_bytes(file, max_bytes=max_bytes)
    is_whole = len(data) <= max_bytes
    rows = read_block(data[: data.rfind(b"\n", 0, max_bytes) + 1], manifest=0, line=0, offset=0)
    return Glance(len(rows.entries), sum(row[4] for row in rows.entries), len(rows.bad_lines), is_whole)
