"""Counts of a manifest: its entries by status and topic, lines that aren't entries, and duplicate ids."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from remit.manifest.entries import BOM, is_pending, read_entry, read_id
from remit.manifest.index import ManifestIndex
from remit.storage.files import load_bytes

if TYPE_CHECKING:
    from sqlite3 import Connection

    from remit.ledger.home import Home
    from remit.manifest.index import IndexedPrefix

_TOP_TOPICS = 10
_MAX_DUPLICATES = 500


class BadLine(NamedTuple):
    """A line that isn't an entry."""

    line: int
    reason: str


class ManifestStatistics(NamedTuple):
    """The statistics of a manifest."""

    lines: int
    entries: int
    pending: int
    actionable: int
    bad_lines: int
    doubled_ids: tuple[tuple[str, int], ...]
    """The first duplicate ids, with the number of their entries."""
    without_id: int
    first_day: str | None
    last_day: str | None
    statuses: tuple[tuple[str, int], ...]
    topics: tuple[tuple[str, int], ...]
    """The most frequent topics."""
    is_torn: bool
    """True if the last line is truncated: not an entry, and without a line feed."""


class ManifestCounts(NamedTuple):
    """The counts of a manifest for one line of output."""

    entries: int
    pending: int
    bad_lines: int
    """The number of lines that aren't entries, including a truncated one."""
    doubled_ids: int
    """The number of duplicate ids."""
    is_whole: bool
    """False if only the start of the manifest was read."""


def find_duplicates(index: ManifestIndex, entry_id: str) -> tuple[int, ...]:
    """Return the lines of all entries with an id. The first one has the id; others are found only by line."""

    def query(db: Connection, known: IndexedPrefix) -> tuple[int, ...]:
        statement = "SELECT line FROM manifest_lines WHERE manifest = ? AND id = ? ORDER BY line"
        return tuple(line for (line,) in db.execute(statement, (known.number, entry_id)))

    return index.query(query)


def find_bad_lines(index: ManifestIndex, *, limit: int = 100) -> tuple[BadLine, ...]:
    """Return the first lines that aren't entries, with the reason; a truncated line is the last."""

    def query(db: Connection, known: IndexedPrefix) -> tuple[BadLine, ...]:
        statement = "SELECT line, reason FROM manifest_lines WHERE manifest = ? AND day IS NULL ORDER BY line LIMIT ?"
        return tuple(BadLine(*row) for row in db.execute(statement, (known.number, limit)))

    return index.query(query)


def count_entries(index: ManifestIndex) -> ManifestStatistics:
    """Return the statistics of a manifest."""

    def query(db: Connection, known: IndexedPrefix) -> ManifestStatistics:
        entries = "SELECT day, id, status, actionable, pending, topics FROM manifest_lines"
        rows = db.execute(
            f"{entries} WHERE manifest = ? AND day IS NOT NULL ORDER BY number", (known.number,)
        ).fetchall()
        bad_lines = "SELECT count(*), coalesce(max(line), 0) FROM manifest_lines WHERE manifest = ? AND day IS NULL"
        bad, last_bad = db.execute(bad_lines, (known.number,)).fetchone()
        is_torn = last_bad > known.lines
        days = {row[0] for row in rows} - {""}
        ids, statuses = Counter(row[1] for row in rows), Counter(row[2] for row in rows)
        without_id = ids.pop(None, 0)
        topics = Counter(topic for row in rows for topic in set(row[5][1:-1].split("\n")) if row[5])
        return ManifestStatistics(
            known.lines,
            len(rows),
            sum(row[4] for row in rows),
            sum(row[3] for row in rows),
            bad - is_torn,
            tuple(item for item in ids.items() if item[1] > 1)[:_MAX_DUPLICATES],
            without_id,
            min(days, default=None),
            max(days, default=None),
            _rank(statuses),
            _rank(topics)[:_TOP_TOPICS],
            is_torn,
        )

    return index.query(query)


def _rank(counted: Counter[str]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(counted.items(), key=lambda item: (-item[1], item[0])))


def count_quickly(home: Home, file: str, *, max_bytes: int) -> ManifestCounts:
    """Return the counts of a manifest from at most `max_bytes` of it, without creating an index."""
    if os.path.isfile(home.ledger_file):
        index = ManifestIndex(home, file)
        size = index.stat_file().st_size
        with home.ledger.reading() as db:
            known = index.load_prefix(db)
        if size - (known.offset if known else 0) <= max_bytes:
            return index.query(_count)
    data = load_bytes(file, max_bytes=max_bytes)
    is_whole = len(data) <= max_bytes
    lines = data[:max_bytes].removeprefix(BOM).split(b"\n")
    entries = [(read_entry(line), line) for line in (lines if is_whole else lines[:-1])]
    found = [fields for fields, _ in entries if fields is not None]
    ids = Counter(entry_id for fields in found if (entry_id := read_id(fields)) is not None)
    bad = sum(fields is None and bool(line.strip()) for fields, line in entries)
    return ManifestCounts(
        len(found), sum(map(is_pending, found)), bad, sum(number > 1 for number in ids.values()), is_whole
    )


def _count(db: Connection, known: IndexedPrefix) -> ManifestCounts:
    totals = "SELECT count(day), total(pending), count(reason) FROM manifest_lines WHERE manifest = ?"
    entries, pending, bad = db.execute(totals, (known.number,)).fetchone()
    doubled = """
        SELECT count(*) FROM (
            SELECT 1 FROM manifest_lines WHERE manifest = ? AND id IS NOT NULL GROUP BY id HAVING count(*) > 1
        )
    """
    return ManifestCounts(entries, int(pending), bad, db.execute(doubled, (known.number,)).fetchone()[0], is_whole=True)
