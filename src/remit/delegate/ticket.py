"""Tickets: how an agent that calls Remit proves which session it is.

Owns the token, its hash, and the way from an environment to the caller that the ledger knows. A ticket is a random
bearer token: it is good while its session runs, for any number of children, and only its hash is kept. Depth, path and
what is left are looked up by it, so a child cannot claim to be less than it is. Locally an agent runs as the user who
started it, and could read the ledger itself: a ticket keeps agents honest about who they are, not out of the files.
"""

from __future__ import annotations

import json
import os
from base64 import urlsafe_b64encode
from contextlib import suppress
from contextvars import ContextVar
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

from remit.agents.profiles import MAX_DEPTH
from remit.delegate.guard import Caller
from remit.delegate.limits import Budget, Spent, clamp, left, read_budget
from remit.errors import RefusedError, UsageError
from remit.lazy import lazy
from remit.model import NOTHING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from remit.workspace.home import Home

TICKET = "REMIT_TICKET"
SESSION = "REMIT_SESSION_ID"
"""What an agent finds in its environment, and hands on to whatever it starts."""
RANDOM_BYTES = 32
CARRIED: ContextVar[Mapping[str, str]] = ContextVar("remit_ticket", default=NOTHING)
"""What a function that runs in the broker's own process carries instead of an environment."""
_TOKEN = lazy(r"remit1_[A-Za-z0-9_-]{43}")
_OPEN = ("admitted", "running")
"""Its program may be running before the ledger is told so."""
_OUTSIDE: set[tuple[int, str]] = set()
"""Processes that belong to no session of a workspace. None ever will: sessions enclose only what is started in them."""
_HAND_ON = f"an agent calls Remit with the {TICKET} that it was started with"


class Ticket(NamedTuple):
    """A token for the agent, and what the ledger keeps of it."""

    token: str
    hash: str


def mint(random_bytes: bytes) -> Ticket:
    """Make a ticket of 32 random bytes."""
    if len(random_bytes) != RANDOM_BYTES:
        raise ValueError(f"{RANDOM_BYTES} bytes are needed")
    token = f"remit1_{urlsafe_b64encode(random_bytes).rstrip(b'=').decode('ascii')}"
    return Ticket(token, hash_ticket(token))


def hash_ticket(token: str) -> str:
    """What the ledger keeps of a token."""
    return sha256(token.encode()).hexdigest()


def find_caller(home: Home, environ: Mapping[str, str], *, now_ms: int) -> Caller | None:
    """Who asks, by the environment and the place of this process; None where it is a person.

    Whoever asks in one transaction with the row that is written next cannot be overtaken by a sibling.
    """
    token, named = environ.get(TICKET, ""), environ.get(SESSION, "")
    if not token:
        _check_person(home, named)
        return None
    if not _TOKEN.fullmatch(token):
        raise RefusedError(f"{TICKET} is not a ticket", hint=_HAND_ON)
    rows = {row.session_id: row for row in _load_tree(home, hash_ticket(token))}
    own = next((row for row in rows.values() if row.holds_ticket), None)
    if own is None:
        raise RefusedError(f"the ledger of '{home.root}' does not know this ticket", hint=_HAND_ON)
    if named and named != own.session_id:
        message = f"{SESSION} is '{named[:80]}', and the ticket is that of {own.session_id}"
        raise RefusedError(message, hint=f"leave {SESSION} and {TICKET} as they were when the agent was started")
    _check_open(own, now_ms)
    line = _find_line(rows, own)
    return _describe(own, line, _sum_up(rows, line))


def _check_person(home: Home, named: str) -> None:
    """Without a ticket only a person is left, or a program of theirs: nobody who belongs to a session."""
    if named:
        hint = f"{_HAND_ON}; a person has neither: unset {SESSION}"
        raise RefusedError(f"{SESSION} is set, and {TICKET} is not", hint=hint)
    here = os.getpid(), home.folder
    if here in _OUTSIDE:
        return
    from remit.workspace.sessions import find_enclosing  # noqa: PLC0415 - only where something is delegated

    enclosing = find_enclosing(home)
    if enclosing is not None:
        raise RefusedError(f"this process belongs to {enclosing} and shows no ticket", hint=_HAND_ON)
    _OUTSIDE.add(here)


# --- from the ledger -------------------------------------------------------------------------------------------------


class _Row(NamedTuple):
    """What is looked at of each delegation in a tree."""

    session_id: str
    parent_id: str | None
    root_id: str
    agent: str
    depth: int
    path: str
    state: str
    deadline_ms: int | None
    tokens: int | None
    cost_usd: float | None
    turns: int | None
    holds_ticket: int | None
    details: str | None
    """Only of the caller and those above it: a prompt may be in it."""


_TREE = """
WITH RECURSIVE line (session_id, parent_id, root_id) AS (
    SELECT session_id, parent_id, root_id FROM delegations WHERE ticket = :hash
    UNION
    SELECT above.session_id, above.parent_id, above.root_id
    FROM delegations AS above JOIN line ON above.session_id = line.parent_id
)
SELECT session_id, parent_id, root_id, agent, depth, path, state, deadline_ms, tokens, cost_usd, turns, ticket = :hash,
    CASE WHEN session_id IN (SELECT session_id FROM line) THEN details END
FROM delegations WHERE root_id = (SELECT root_id FROM line LIMIT 1)
"""


def _load_tree(home: Home, ticket: str) -> Iterable[_Row]:
    """Every delegation of the tree that a ticket belongs to; none where nobody was given it."""
    if not home.is_made:
        return []
    with home.ledger.reading() as db:
        return [_Row(*row) for row in db.execute(_TREE, {"hash": ticket})]


def _check_open(own: _Row, now_ms: int) -> None:
    hint = "nothing more is done for this session: a new delegation has a ticket of its own"
    if own.state not in _OPEN:
        raise RefusedError(f"the session {own.session_id} of this ticket is over", hint=hint)
    if own.deadline_ms is None or own.deadline_ms <= now_ms:
        raise RefusedError(f"the session {own.session_id} is past its deadline", code="TIMEOUT", hint=hint)


def _find_line(rows: Mapping[str, _Row], own: _Row) -> dict[str, _Row]:
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


def _sum_up(rows: Mapping[str, _Row], line: Mapping[str, _Row]) -> dict[str, Spent]:
    """What each of a line has used, with all that was done below it."""
    spent = dict.fromkeys(line, Spent())
    for row in rows.values():
        at: str | None = row.session_id
        for _ in range(MAX_DEPTH):
            if at is None or at not in rows:
                break
            if at in spent:
                sofar, is_below = spent[at], at != row.session_id
                spent[at] = Spent(
                    sofar.tokens + (row.tokens or 0),
                    sofar.usd + (row.cost_usd or 0.0),
                    sofar.turns + (row.turns or 0),
                    sofar.delegations + is_below,
                )
            at = rows[at].parent_id
    return spent


def _describe(own: _Row, line: Mapping[str, _Row], spent: Mapping[str, Spent]) -> Caller:
    frozen = {session_id: json.loads(row.details or "{}") for session_id, row in line.items()}
    depths = [terms.get("max_depth") for terms in frozen.values()]
    budgets = (left(_read_budget(name, terms), spent[name]) for name, terms in frozen.items())
    may_call = frozen[own.session_id].get("may_call")
    return Caller(
        session_id=own.session_id,
        root_id=own.root_id,
        agent=own.agent,
        depth=own.depth,
        path=tuple(json.loads(own.path)),
        deadline_ms=own.deadline_ms or 0,
        may_call=tuple(filter(_is_text, may_call)) if isinstance(may_call, list) else (),
        max_depth=min([MAX_DEPTH, *(depth for depth in depths if type(depth) is int)]),
        left=clamp(Budget(), *budgets),
    )


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _read_budget(session_id: str, terms: Mapping[str, Any]) -> Budget:
    """The budget that a session was admitted with. One that cannot be read is no leave to spend without a limit."""
    given = terms.get("budget") or {}
    with suppress(UsageError):
        if isinstance(given, dict):
            return read_budget(given)
    message = f"the ledger's budget of {session_id} cannot be read"
    raise RefusedError(message, hint="`remit doctor` looks what is wrong with it")
