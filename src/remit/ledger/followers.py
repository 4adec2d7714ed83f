"""Readers of finished runs, such as telemetry, and their cursors.

A batch is recorded before it is returned. So a follower that dies before it moved its cursor gets exactly the same
batch again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from remit.ledger.store import Ledger

PAGE = 200
_MAX_SKIPPED = 1000
"""After this many events without a finished run, the cursor moves on, so that they aren't read again."""
_NOTE = "follower "


class Cursor(NamedTuple):
    """The position of a follower in the event log."""

    number: int
    """The last event that the follower has processed."""
    at_ms: int
    """The time until which the follower has reported."""
    taken: int = 0
    """The last event of the batch that was taken and may not be finished; 0 if there is none."""


class FinishedEvent(NamedTuple):
    """The event of a finished run."""

    number: int
    at_ms: int
    session_id: str


class FinishedBatch(NamedTuple):
    """The runs that finished between two events, as a follower took them."""

    follower: str
    cursor: Cursor
    finished: tuple[FinishedEvent, ...]

    @property
    def until_ms(self) -> int:
        """The time of the last event; always later than the cursor's, even if the clock was set back."""
        return max(self.finished[-1].at_ms, self.cursor.at_ms + 1)


def take_batch(ledger: Ledger, follower: str, *, since_ms: int) -> FinishedBatch | None:
    """Return the next batch of a follower; None if there is none. A new follower starts at `since_ms`.

    Only one process at a time may follow by one name.
    """
    cursor = _load(ledger, follower) or _begin(ledger, follower, since_ms)
    last = cursor.taken or _find_last(ledger)  # before the finished runs are listed: more may finish meanwhile
    finished = _list_finished(ledger, cursor.number, last)
    if not finished:
        if cursor.taken or last - cursor.number > _MAX_SKIPPED:
            _store(ledger, follower, cursor._replace(number=last, taken=0))
        return take_batch(ledger, follower, since_ms=since_ms) if cursor.taken else None
    taken = finished[-1].number if len(finished) == PAGE else last
    cursor = cursor._replace(taken=taken)
    _store(ledger, follower, cursor)
    return FinishedBatch(follower, cursor, tuple(finished))


def finish_batch(ledger: Ledger, batch: FinishedBatch) -> None:
    """Move the cursor of a follower behind its batch."""
    _store(ledger, batch.follower, Cursor(batch.cursor.taken, batch.until_ms))


def measure_tree(ledger: Ledger, root_id: str) -> tuple[int, int]:
    """Return the number of runs in a tree, and when the last of them ended."""
    query = "SELECT count(*), coalesce(max(ended_ms), 0) FROM runs WHERE root_id = ?"
    with ledger.reading() as db:
        count, ended_ms = db.execute(query, (root_id,)).fetchone()
    return count, ended_ms


def _begin(ledger: Ledger, follower: str, since_ms: int) -> Cursor:
    query = "SELECT number FROM events WHERE at_ms < ? ORDER BY number DESC LIMIT 1"
    with ledger.reading() as db:
        row = db.execute(query, (since_ms,)).fetchone()
    cursor = Cursor(0 if row is None else row[0], since_ms)
    _store(ledger, follower, cursor)  # at once: a follower that starts again later would miss the events until then
    return cursor


def _find_last(ledger: Ledger) -> int:
    with ledger.reading() as db:
        last: int = db.execute("SELECT coalesce(max(number), 0) FROM events").fetchone()[0]
    return last


def _list_finished(ledger: Ledger, after: int, until: int) -> list[FinishedEvent]:
    query = """
        SELECT number, at_ms, session_id FROM events
        WHERE number > ? AND number <= ? AND kind = 'finished' AND session_id IS NOT NULL ORDER BY number LIMIT ?
    """
    with ledger.reading() as db:
        return [FinishedEvent(*row) for row in db.execute(query, (after, until, PAGE))]


def _load(ledger: Ledger, follower: str) -> Cursor | None:
    words = (ledger.get_note(f"{_NOTE}{follower}") or "").split()
    numbers = [int(word) for word in words if word.isascii() and word.isdigit()]
    return Cursor(*numbers) if len(numbers) == len(Cursor._fields) else None


def _store(ledger: Ledger, follower: str, cursor: Cursor) -> None:
    ledger.set_note(f"{_NOTE}{follower}", " ".join(map(str, cursor)))
