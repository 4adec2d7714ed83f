"""Live updates: what changed in the ledger and in the output of an agent since a number.

Owns what is told of an event, when who follows has missed something that is gone, and the numbers of log lines.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from remit.errors import UsageError
from remit.ledger.queries import has_gap, load_changes, load_last_number
from remit.runs.agent_lookup import load_settings_or_usual
from remit.views.json_objects import build_event, build_log_line
from remit.views.logs import RunLog
from remit.views.run_snapshots import has_ledger, load_row, open_home

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.ledger.home import Home
    from remit.schemas import EventObject, LogLineObject, LogObject
    from remit.views.logs import LogLine

MOST_EVENTS = 500
MOST_LINES = 500
MOST_BEHIND = 10_000
"""Who is further behind than so many events does better to load everything anew."""
_MOST_LINE = 4_000


# --- events ----------------------------------------------------------------------------------------------------------


class LedgerChanges(NamedTuple):
    """What happened after a number."""

    items: list[EventObject]
    next: int
    """The number to go on from."""
    last: int
    """The number of the last event that there is."""
    is_reset: bool = False
    """Whether something after the number is gone, or it is too much: who follows loads everything anew."""


def find_last(home: Home) -> int:
    """The number of the last event, to follow from."""
    return load_last_number(home.ledger) if has_ledger(home) else 0


def list_changes(home: Home, *, after: int, session: str = "", limit: int = MOST_EVENTS) -> LedgerChanges:
    """What happened after a number, oldest first; with a session, only in the run that it is in."""
    if not 1 <= limit <= MOST_EVENTS:
        raise UsageError(f"a page has no {limit} events", hint=f"ask for 1 to {MOST_EVENTS}")
    if not has_ledger(home):
        return LedgerChanges([], 0, 0, is_reset=after > 0)
    root_id = load_row(home, session).root_id if session else None
    last = load_last_number(home.ledger)
    if has_gap(home.ledger, after=after, most=MOST_BEHIND):
        return LedgerChanges([], last, last, is_reset=True)
    found = load_changes(home.ledger, after=after, limit=limit, root_id=root_id)
    is_all = len(found) < limit
    at = max(last, found[-1].event.number if found else 0) if is_all else found[-1].event.number
    return LedgerChanges([build_event(each) for each in found], at, max(last, at))


# --- logs ------------------------------------------------------------------------------------------------------------


class LogTail:
    """Follows what an agent prints; each reading gives what is new, from whichever thread it is asked.

    The lines are numbered from 1 on. To begin after a number, all before it are read and passed over.
    """

    def __init__(self, word: str, *, after: int = 0, attempt: int | None = None) -> None:
        home = open_home()
        try:
            self.session_id = load_row(home, word).session_id
            settings, _ = load_settings_or_usual(home.root)
            self._log = RunLog(home, settings, self.session_id, attempt=attempt)
        finally:
            home.close()
        self._new: Iterator[LogLine] = iter(())
        self._number = 0
        self._after = after

    def read(self, limit: int = MOST_LINES) -> LogObject:
        """The lines that are new, so many at most."""
        home = open_home()
        try:
            self._log.move(home)
            is_over = self._log.is_over or self._log.is_abandoned  # before the reading: nothing comes after the last
            shown: list[LogLineObject] = []
            is_all = False
            while len(shown) < limit and not is_all:
                found = [*islice(self._new, limit - len(shown))]
                is_all = not found
                if is_all:
                    self._new = self._log.read()
                    found = [*islice(self._new, limit - len(shown))]
                    is_all = not found
                shown += [*self._number_lines(found)]
        finally:
            home.close()
        return {"items": shown, "over": is_over and is_all, "next": self._number}

    def _number_lines(self, found: list[LogLine]) -> Iterator[LogLineObject]:
        for line in found:
            self._number += 1
            if self._number > self._after:
                yield build_log_line(line._replace(text=line.text[:_MOST_LINE]), self._number)


def load_log(word: str, *, after: int = 0, attempt: int | None = None, limit: int = MOST_LINES) -> LogObject:
    """The lines of a log after a number."""
    return LogTail(word, after=after, attempt=attempt).read(limit)
