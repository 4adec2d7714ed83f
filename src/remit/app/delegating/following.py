"""Following: a delegation and all below it, as they stand at this moment.

Owns what is told of a delegation while it runs. It is read from the ledger, so it is the same whoever drives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from remit.workspace.ledger.delegations import list_delegations, load_delegation
from remit.workspace.ledger.events import load_events

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.workspace.home import Home
    from remit.workspace.ledger.delegations import Delegation

_MOST_ROWS = 1000


class Seen(NamedTuple):
    """A delegation at this moment."""

    row: Delegation
    level: int
    """How far below the one that is followed."""
    said: str = ""
    """The last thing that was heard of its agent."""
    heard_ms: int | None = None
    idle_s: int = 0
    """For how long nothing was heard, once that is worth telling."""
    tokens: int | None = None
    cost_usd: float | None = None


class _Heard(NamedTuple):
    number: int = 0
    said: str = ""
    heard_ms: int | None = None
    idle_s: int = 0
    tokens: int | None = None
    cost_usd: float | None = None


class Following:
    """Follows one delegation; each look reads only what is new since the last."""

    def __init__(self, home: Home, session_id: str) -> None:
        self.home = home
        self.session_id = session_id
        self._root_id = ""
        self._heard: dict[str, _Heard] = {}

    def look(self) -> list[Seen]:
        """The delegation and all below it, each under the one that handed it on, the oldest first."""
        if not self._root_id:
            own = load_delegation(self.home.ledger, self.session_id)
            if own is None:
                return []
            self._root_id = own.root_id
        rows = list_delegations(self.home.ledger, root_id=self._root_id, limit=_MOST_ROWS)
        return [self._see(row, level) for row, level in arrange(list(reversed(rows)), self.session_id)]

    def _see(self, row: Delegation, level: int) -> Seen:
        heard = self._hear(row)
        tokens = heard.tokens if row.tokens is None else row.tokens
        cost_usd = heard.cost_usd if row.cost_usd is None else row.cost_usd
        return Seen(row, level, heard.said, heard.heard_ms, heard.idle_s, tokens, cost_usd)

    def _hear(self, row: Delegation) -> _Heard:
        """What was noted of it since the last look."""
        heard = self._heard.get(row.session_id, _Heard())
        while events := load_events(self.home.ledger, after=heard.number, session_id=row.session_id):
            for event in events:
                told = event.details
                if event.kind == "progress":
                    heard = heard._replace(
                        said=str(told.get("said") or heard.said), heard_ms=event.at_ms, idle_s=0,
                        tokens=told.get("tokens"), cost_usd=told.get("cost_usd"),
                    )  # fmt: skip
                elif event.kind == "idle":
                    heard = heard._replace(idle_s=int(told.get("seconds") or 0))
            heard = heard._replace(number=events[-1].number)
        self._heard[row.session_id] = heard
        return heard


def arrange(rows: list[Delegation], first: str) -> Iterator[tuple[Delegation, int]]:
    """The rows from one on downwards, each before those below it."""
    below: dict[str | None, list[Delegation]] = {}
    for row in rows:
        below.setdefault(row.parent_id, []).append(row)
    waiting = [(row, 0) for row in rows if row.session_id == first]
    while waiting:
        row, level = waiting.pop()
        yield row, level
        waiting += [(child, level + 1) for child in reversed(below.get(row.session_id, []))]
