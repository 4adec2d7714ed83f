"""Counting: a manifest in numbers, and what in it cannot be found as it should.

Owns the questions that are about the manifest as a whole: how much of what is in it, which lines are no entries, which
entries have to share an id.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from remit.contract.manifest_lines import MAX_LINE_BYTES
from remit.workspace.manifest.entries import MAX_DAY, write_day
from remit.workspace.manifest.rows import LINE_BITS, LINE_MASK, explain_bad_line

if TYPE_CHECKING:
    from sqlite3 import Connection

    from remit.workspace.manifest.index import Index, Known

_TOP_TOPICS = 10
_MOST_DOUBLES = 500


class BadLine(NamedTuple):
    """A line that is no entry."""

    line: int
    reason: str


class Statistics(NamedTuple):
    """A manifest in numbers."""

    lines: int
    entries: int
    pending: int
    actionable: int
    bad_lines: int
    doubled_ids: tuple[tuple[str, int], ...]
    """Ids that several entries have, and how many; the first of them."""
    without_id: int
    first_day: str | None
    last_day: str | None
    statuses: tuple[tuple[str, int], ...]
    topics: tuple[tuple[str, int], ...]
    """The most frequent ones."""
    is_torn: bool
    """Whether the last line is cut off: no entry, and not ended."""


def find_doubles(index: Index, entry_id: str) -> tuple[int, ...]:
    """The lines of all entries that have an id. The first keeps it; the others are only found by line."""

    def ask(db: Connection, known: Known) -> tuple[int, ...]:
        statement = "SELECT number FROM manifest_entries WHERE id = ? AND number >= ? AND number < ?"
        return tuple(sorted(number & LINE_MASK for (number,) in db.execute(statement, (entry_id, *known.bounds))))

    return index.consult(ask)


def find_bad_lines(index: Index, *, limit: int = 100) -> tuple[BadLine, ...]:
    """The first lines that are no entries, with the reason; one that is cut off is the last of them."""

    def ask(db: Connection, known: Known) -> tuple[BadLine, ...]:
        statement = "SELECT line, reason FROM manifest_bad_lines WHERE manifest = ? ORDER BY line LIMIT ?"
        found = [BadLine(*row) for row in db.execute(statement, (known.number, limit))]
        torn = find_torn_line(index, known) if len(found) < limit else None
        return (*found, torn) if torn is not None else tuple(found)

    return index.consult(ask)


def find_torn_line(index: Index, known: Known) -> BadLine | None:
    """The line behind what was indexed, where it is cut off; None where nothing is there that nobody has ended."""
    if known.offset >= known.size_bytes:
        return None
    text = index.read_bytes(known.offset, min(known.size_bytes - known.offset, MAX_LINE_BYTES + 1))
    if b"\n" in text or not text.strip():  # a moment ago somebody has added to it, or there is nothing to lose
        return None
    return BadLine(known.lines + 1, f"{explain_bad_line(text)}, and no line feed ends it")


def count_entries(index: Index) -> Statistics:
    """Count what is in a manifest."""

    def ask(db: Connection, known: Known) -> Statistics:
        bounds = known.bounds
        inside = "number >= ? AND number < ?"
        totals = f"""
            SELECT count(*), total(pending), total(actionable), count(*) - count(id), min(number), max(number)
            FROM manifest_entries WHERE {inside}
        """  # noqa: S608 - constants
        entries, pending, actionable, nameless, _, last = db.execute(totals, bounds).fetchone()
        dated = (bounds[0] + (1 << LINE_BITS), bounds[1])
        first = db.execute(f"SELECT min(number) FROM manifest_entries WHERE {inside}", dated).fetchone()[0]  # noqa: S608 - constants
        doubled = f"""
            SELECT id, count(*) FROM manifest_entries WHERE id IS NOT NULL AND +number >= ? AND +number < ?
            GROUP BY id HAVING count(*) > 1 ORDER BY min(number & {LINE_MASK}) LIMIT {_MOST_DOUBLES}
        """  # noqa: S608 - constants
        statuses = f"SELECT status, count(*) FROM manifest_entries WHERE {inside} GROUP BY status ORDER BY 2 DESC, 1"  # noqa: S608 - constants
        topics = f"""
            SELECT topic, count(*) FROM manifest_topics WHERE entry >= ? AND entry < ?
            GROUP BY topic ORDER BY 2 DESC, 1 LIMIT {_TOP_TOPICS}
        """  # noqa: S608 - constants
        bad = db.execute("SELECT count(*) FROM manifest_bad_lines WHERE manifest = ?", (known.number,)).fetchone()[0]
        return Statistics(
            known.lines,
            entries,
            int(pending),
            int(actionable),
            bad,
            tuple(db.execute(doubled, bounds).fetchall()),
            nameless,
            None if first is None else _write_day(first),
            None if first is None else _write_day(last),
            tuple(db.execute(statuses, bounds).fetchall()),
            tuple(db.execute(topics, bounds).fetchall()),
            find_torn_line(index, known) is not None,
        )

    return index.consult(ask)


def _write_day(number: int) -> str:
    return write_day(number >> LINE_BITS & MAX_DAY)
