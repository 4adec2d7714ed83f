"""The events of the ledger after a number, for clients that follow runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from remit.errors import UsageError
from remit.ledger.queries import has_gap, load_changes, load_last_number
from remit.views.json_builders import build_event
from remit.views.run_snapshots import has_ledger, load_row

if TYPE_CHECKING:
    from remit.ledger.home import Home
    from remit.schemas import EventObject


MOST_EVENTS = 500
MOST_BEHIND = 10_000
"""A client that missed more events than this loads everything again."""


class LedgerChanges(NamedTuple):
    """The events after a number."""

    items: list[EventObject]
    next: int
    """The value of `after` for the next page."""
    last: int
    """The number of the last event in the ledger."""
    is_reset: bool = False
    """Whether events were deleted or are too many, so that the client has to load everything again."""


def find_last(home: Home) -> int:
    """The number of the last event; clients follow from it."""
    return load_last_number(home.ledger) if has_ledger(home) else 0


def list_changes(home: Home, *, after: int, session: str = "", limit: int = MOST_EVENTS) -> LedgerChanges:
    """The events after a number, oldest first; with a session, only those of its tree."""
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
