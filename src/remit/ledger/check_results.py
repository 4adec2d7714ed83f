"""The results of acceptance checks by tree, command and environment, so that a check doesn't run twice on one tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.ledger.events import read_clock_ms
from remit.light_namedtuple import NamedTuple

if TYPE_CHECKING:
    from remit.ledger.store import Ledger

_KEPT_MS = 30 * 86_400_000


class KnownResult(NamedTuple):
    """How a check ended on a tree."""

    answer: str
    """passed or failed."""
    duration_ms: int
    tests: int | None = None
    """How many tests ran, by the check's JUnit report; None if it wrote none."""
    skipped: int | None = None


def find_result(ledger: Ledger, key: str) -> KnownResult | None:
    """Return the last result that was kept under a key."""
    query = "SELECT answer, duration_ms, tests, skipped FROM check_results WHERE key = ? AND at_ms > ?"
    with ledger.reading() as db:
        row = db.execute(query, (key, read_clock_ms() - _KEPT_MS)).fetchone()
    return None if row is None else KnownResult(*row)


def keep_result(ledger: Ledger, key: str, result: KnownResult) -> None:
    """Keep a result instead of an earlier one, and remove what is too old to be used."""
    now_ms = read_clock_ms()
    with ledger.transaction() as db:
        db.execute("DELETE FROM check_results WHERE at_ms <= ?", (now_ms - _KEPT_MS,))
        db.execute(
            "INSERT OR REPLACE INTO check_results (key, answer, duration_ms, tests, skipped, at_ms) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            (key, *result, now_ms),
        )
