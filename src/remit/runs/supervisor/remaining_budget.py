"""The remaining budget of a run, by its own limits and those of its callers.

Owns the question while it is driven. What all of its tree have used is read from the ledger; of itself it knows more.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from remit.errors import RefusedError
from remit.ledger.events import read_clock_ms
from remit.ledger.runs import set_usage
from remit.runners import Usage
from remit.runs.admission.limits import Budget, SpentBudget, find_exhausted, left
from remit.runs.admission.run_tree import is_limited, load_tree

if TYPE_CHECKING:
    from remit.ledger.home import Home
    from remit.ledger.store import Connection
    from remit.runs.admission.run_tree import RunTree

_TREE_EVERY_MS = 1000


class RemainingBudget:
    """What one delegation may still use. It is told what that has used by now."""

    def __init__(self, home: Home, session_id: str, budget: Budget) -> None:
        self._home = home
        self._session_id = session_id
        self._budget = budget
        self._tree: RunTree | None = None
        self._tree_ms = 0

    def is_exhausted(self, usage: Usage, *, is_running: bool) -> bool:
        """Whether its budget is used up, or that of one above it. Who is at its last turn may finish that one."""
        if not is_limited(self._budget):  # those above it have no limit either
            return False
        rest = self.find_left(usage, spare_turns=1 if is_running else 0, is_running=is_running)
        return find_exhausted(rest._replace(max_delegations=None)) is not None

    def find_left(self, usage: Usage, *, spare_turns: int = 0, is_running: bool = False) -> Budget:
        """What it may still use: the least that is left of its own budget and of those above it."""
        if not is_limited(self._budget):
            return self._budget
        tree = self._load_tree(every_ms=_TREE_EVERY_MS if is_running else 0)
        if tree is None:
            return left(self._budget, SpentBudget(usage.tokens or 0, usage.cost_usd or 0.0, usage.turns or 0))
        return tree.find_left({self._session_id: usage}, spare_turns=spare_turns)

    def describe_exhausted(self, usage: Usage) -> str:
        """Whose limit ended it; nothing where that is not known any more."""
        tree = self._load_tree()
        return "" if tree is None else tree.describe_exhausted({self._session_id: usage})

    def has_open_below(self) -> bool:
        """Whether somebody whom it handed work to is still held to the same."""
        return self._tree is not None and self._tree.has_open_below()

    def note_usage(self, db: Connection, usage: Usage) -> None:
        """Let the ledger know what it has used by now: those below it and above it are held to that."""
        if usage != Usage():
            set_usage(db, self._session_id, tokens=usage.tokens, cost_usd=usage.cost_usd, turns=usage.turns)

    def _load_tree(self, *, every_ms: int = 0) -> RunTree | None:
        """What all of its tree have used, as the ledger has it; while it runs, not asked for at every look."""
        now_ms = read_clock_ms()
        if not 0 <= now_ms - self._tree_ms < every_ms:
            self._tree, self._tree_ms = None, now_ms
            with suppress(RefusedError):  # a tree with a gap: what is known of itself counts
                self._tree = load_tree(self._home, session_id=self._session_id)
        return self._tree
