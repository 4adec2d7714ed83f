"""The tree of runs that a session belongs to, with the usage and the rest of the budget.

Owns how spending is counted. What is used below a delegation counts as used by it, so a limit holds for a whole tree,
whoever of it is at work. The rows of the ledger say what was used; of somebody who runs they are up to a second old,
and whoever has heard more of it since hands that in.
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
"""The limits that are used up while an agent works."""


class TreeRow(NamedTuple):
    """What is looked at of each delegation in a tree."""

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
    """Only of the one that is sought and those above it."""


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
    """Every delegation of a tree, as the ledger has it at one moment, seen from one of them."""

    def __init__(self, rows: Mapping[str, TreeRow], own: TreeRow) -> None:
        self.rows = rows
        self.own = own
        self.line = _find_line(rows, own)
        self.config: dict[str, Mapping[str, Any]] = {
            session_id: json.loads(row.details or "{}") for session_id, row in self.line.items()
        }
        self.budgets = {session_id: _read_budget(session_id, config) for session_id, config in self.config.items()}

    def is_limited(self) -> bool:
        """Whether anybody on the way has a limit that is used up by working."""
        return any(is_limited(budget) for budget in self.budgets.values())

    def find_left(self, heard: Mapping[str, Usage] = NOTHING, *, spare_turns: int = 0) -> Budget:
        """The least that the session and those above it have left."""
        spent = self._sum_up(heard)
        budgets = (_spare(budget, spare_turns) for budget in self.budgets.values())
        return clamp(Budget(), *map(left, budgets, spent.values()))

    def describe_exhausted(self, heard: Mapping[str, Usage] = NOTHING) -> str:
        """Whose limit is used up, and by how much; nothing where something is left of each."""
        for session_id, spent in self._sum_up(heard).items():
            budget = self.budgets[session_id]._replace(max_delegations=None)
            if find_exhausted(left(budget, spent)) is None:
                continue
            rest = left(budget, spent)
            used = {"max_turns": spent.turns, "max_tokens": spent.tokens, "max_usd": spent.usd}
            name = next(name for name in _COUNTED if getattr(rest, name) == 0)
            below = " and those below it" if spent.runs else ""
            limit = _spell(getattr(budget, name))
            return f"{name} of {self.line[session_id].agent} is {limit}, and it{below} used {_spell(used[name])}"
        return ""

    def has_open_below(self) -> bool:
        """Whether anybody that the session handed work to is not over yet."""
        return any(row.parent_id == self.own.session_id and row.state != "finished" for row in self.rows.values())

    def _sum_up(self, heard: Mapping[str, Usage]) -> dict[str, SpentBudget]:
        """What each of the line has used, with all that was done below it."""
        spent = dict.fromkeys(self.line, SpentBudget())
        for row in self.rows.values():
            own = _count(row, heard.get(row.session_id))
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
    """The tree of the session that has a ticket or an id, in one query; None where nobody has it.

    Raises `RefusedError` where the ledger does not know everybody above it, or not their limits.
    """
    if not home.is_made:
        return None
    with home.ledger.reading() as db:
        found = db.execute(_BY_TICKET if ticket else _BY_SESSION, {"key": ticket or session_id})
        rows = {row[0]: TreeRow(*row) for row in found}
    own = next((row for row in rows.values() if row.is_sought), None)
    return None if own is None else RunTree(rows, own)


def is_limited(budget: Budget) -> bool:
    """Whether a budget has a limit that is used up by working."""
    return any(getattr(budget, name) is not None for name in _COUNTED)


def _spell(number: float) -> str:
    return f"{number:,}" if isinstance(number, int) else f"{number:.4g}"


def _spare(budget: Budget, turns: int) -> Budget:
    return budget if budget.max_turns is None else budget._replace(max_turns=budget.max_turns + turns)


def _count(row: TreeRow, heard: Usage | None) -> SpentBudget:
    """What one session has used itself: what was heard of it since counts, and nothing becomes less."""
    known = SpentBudget(row.tokens or 0, row.cost_usd or 0.0, row.turns or 0)
    if heard is None:
        return known
    return SpentBudget(
        max(known.tokens, heard.tokens or 0), max(known.usd, heard.cost_usd or 0.0), max(known.turns, heard.turns or 0)
    )


def _find_line(rows: Mapping[str, TreeRow], own: TreeRow) -> dict[str, TreeRow]:
    """The session and those above it, up to the root."""
    line = {own.session_id: own}
    at = own
    while at.parent_id is not None and at.parent_id in rows and at.parent_id not in line:
        at = rows[at.parent_id]
        line[at.session_id] = at
    if at.session_id != own.root_id or at.parent_id is not None:
        message = f"the ledger does not know everybody above {own.session_id}"
        raise RefusedError(message, hint="`remit doctor` looks what is wrong with it")
    return line


def _read_budget(session_id: str, config: Mapping[str, Any]) -> Budget:
    """The budget that a session was admitted with. One that can't be read is no leave to spend without a limit."""
    given = config.get("budget") or {}
    with suppress(UsageError):
        if isinstance(given, dict):
            return read_budget(given)
    message = f"the ledger's budget of {session_id} can't be read"
    raise RefusedError(message, hint="`remit doctor` looks what is wrong with it")
