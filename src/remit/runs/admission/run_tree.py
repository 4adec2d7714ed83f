"""The tree of runs that a session belongs to, with the usage and what is left of each budget.

The usage of nested runs counts as usage of their ancestors, so a limit applies to the whole tree below it. The usage
comes from the ledger, where a running agent's row may be a second old; a caller with newer numbers passes them as
`usage`.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from remit.errors import RefusedError, UsageError
from remit.light_namedtuple import NamedTuple
from remit.model import MAX_DEPTH, NOTHING
from remit.runs.admission.limits import Budget, SpentBudget, clamp, find_exhausted, left, read_budget

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.ledger.home import Home
    from remit.runners import Usage

_COUNTED = ("max_turns", "max_tokens", "max_usd")
"""The limits that an agent's work uses up."""


class TreeRow(NamedTuple):
    """The columns of each run in a tree."""

    session_id: str
    parent_id: str | None
    root_id: str
    agent: str
    depth: int
    path: str
    state: str
    deadline_ms: int | None
    runner: str
    tokens: int | None
    cost_usd: float | None
    turns: int | None
    is_sought: int | None
    details: str | None
    """Only of the sought run and its ancestors."""


_TREE = """
WITH RECURSIVE line (session_id, parent_id, root_id) AS (
    SELECT session_id, parent_id, root_id FROM runs WHERE {column} = :key
    UNION
    SELECT above.session_id, above.parent_id, above.root_id
    FROM runs AS above JOIN line ON above.session_id = line.parent_id
)
SELECT session_id, parent_id, root_id, agent, depth, path, state, deadline_ms, runner, tokens, cost_usd, turns,
    {column} = :key, CASE WHEN session_id IN (SELECT session_id FROM line) THEN details END
FROM runs WHERE root_id = (SELECT root_id FROM line LIMIT 1)
"""
_BY_TICKET, _BY_SESSION = _TREE.format(column="ticket"), _TREE.format(column="session_id")


class RunTree:
    """A snapshot of all runs of a tree, seen from one of them."""

    def __init__(self, rows: Mapping[str, TreeRow], own: TreeRow) -> None:
        self.rows = rows
        self.own = own
        self.line = _find_line(rows, own)
        self.config: dict[str, Mapping[str, Any]] = {
            session_id: json.loads(row.details or "{}") for session_id, row in self.line.items()
        }
        self.budgets = {session_id: _read_budget(session_id, config) for session_id, config in self.config.items()}

    def is_limited(self) -> bool:
        """Whether the run or one of its ancestors has a limit that work uses up."""
        return any(is_limited(budget) for budget in self.budgets.values())

    def find_left(self, usage: Mapping[str, Usage] = NOTHING, *, spare_turns: int = 0) -> Budget:
        """Return what the run and all its ancestors have left."""
        spent = self._sum_up(usage)
        budgets = (_spare(budget, spare_turns) for budget in self.budgets.values())
        return clamp(Budget(), *map(left, budgets, spent.values()))

    def describe_exhausted(self, usage: Mapping[str, Usage] = NOTHING) -> str:
        """Return a sentence on a limit that is used up, and its agent; empty if something is left of each."""
        for session_id, spent in self._sum_up(usage).items():
            budget = self.budgets[session_id]._replace(max_delegations=None)
            if find_exhausted(left(budget, spent)) is None:
                continue
            rest = left(budget, spent)
            used = {"max_turns": spent.turns, "max_tokens": spent.tokens, "max_usd": spent.usd}
            name = next(name for name in _COUNTED if getattr(rest, name) == 0)
            below = " and its nested runs" if spent.runs else ""
            limit = _spell(getattr(budget, name))
            return f"{name} of {self.line[session_id].agent} is {limit}, and it{below} used {_spell(used[name])}"
        return ""

    def has_open_below(self) -> bool:
        """Whether a nested run that the session started is unfinished."""
        return any(row.parent_id == self.own.session_id and row.state != "finished" for row in self.rows.values())

    def _sum_up(self, usage: Mapping[str, Usage]) -> dict[str, SpentBudget]:
        """Return the usage of the run and each ancestor, with all their nested runs."""
        spent = dict.fromkeys(self.line, SpentBudget())
        for row in self.rows.values():
            own = _count(row, usage.get(row.session_id))
            at: str | None = row.session_id
            for _ in range(MAX_DEPTH):
                if at is None or at not in self.rows:
                    break
                if at in spent:
                    sofar, is_below = spent[at], at != row.session_id
                    spent[at] = SpentBudget(
                        sofar.tokens + own.tokens,
                        sofar.usd + own.usd,
                        sofar.turns + own.turns,
                        sofar.runs + is_below,
                    )
                at = self.rows[at].parent_id
        return spent


def load_tree(home: Home, *, ticket: str = "", session_id: str = "") -> RunTree | None:
    """Load the tree of the session with a ticket hash or an id, in one query; None if there is no such session.

    Raises `RefusedError` if the ledger lacks an ancestor, or its limits.
    """
    if not home.is_made:
        return None
    with home.ledger.reading() as db:
        found = db.execute(_BY_TICKET if ticket else _BY_SESSION, {"key": ticket or session_id})
        rows = {row[0]: TreeRow(*row) for row in found}
    own = next((row for row in rows.values() if row.is_sought), None)
    return None if own is None else RunTree(rows, own)


def is_limited(budget: Budget) -> bool:
    """Whether a budget has a limit that work uses up."""
    return any(getattr(budget, name) is not None for name in _COUNTED)


def _spell(number: float) -> str:
    return f"{number:,}" if isinstance(number, int) else f"{number:.4g}"


def _spare(budget: Budget, turns: int) -> Budget:
    return budget if budget.max_turns is None else budget._replace(max_turns=budget.max_turns + turns)


def _count(row: TreeRow, newer: Usage | None) -> SpentBudget:
    """Return the usage of one run without its nested runs; newer numbers count if they are larger."""
    known = SpentBudget(row.tokens or 0, row.cost_usd or 0.0, row.turns or 0)
    if newer is None:
        return known
    return SpentBudget(
        max(known.tokens, newer.tokens or 0), max(known.usd, newer.cost_usd or 0.0), max(known.turns, newer.turns or 0)
    )


def _find_line(rows: Mapping[str, TreeRow], own: TreeRow) -> dict[str, TreeRow]:
    """Return the run and its ancestors, up to the root."""
    line = {own.session_id: own}
    at = own
    while at.parent_id is not None and at.parent_id in rows and at.parent_id not in line:
        at = rows[at.parent_id]
        line[at.session_id] = at
    if at.session_id != own.root_id or at.parent_id is not None:
        message = f"the ledger lacks an ancestor of {own.session_id}"
        raise RefusedError(message, hint="check the ledger: remit doctor")
    return line


def _read_budget(session_id: str, config: Mapping[str, Any]) -> Budget:
    """Return the budget of an admitted run. An unreadable budget is refused, so that no run is without its limits."""
    given = config.get("budget") or {}
    with suppress(UsageError):
        if isinstance(given, dict):
            return read_budget(given)
    message = f"the ledger's budget of {session_id} can't be read"
    raise RefusedError(message, hint="check the ledger: remit doctor")
