"""Decide whether a caller may call an agent now: depth, cycles, allow-list, time and budget.

The functions have no side effects: clock, randomness and call chain are arguments. The call chain comes from the
ledger, never from the child's word.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.agents.definition import ANYONE, MAX_NAME
from remit.agents.profiles import DEFAULT_TIMEOUT_S
from remit.errors import RefusedError, UsageError
from remit.light_namedtuple import NamedTuple
from remit.model import MAX_DEPTH
from remit.runs.admission.limits import Budget, check_budget, check_timeout, clamp, find_exhausted
from remit.spelling import find_similar

if TYPE_CHECKING:
    from collections.abc import Iterable

ORCHESTRATOR = "orchestrator"
"""The name of the caller of a call chain's first agent: a user or a program of the user."""
MIN_LEFT_MS = 1000
"""With less time left, no run is admitted."""
_MAX_LISTED = 12
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
_RANDOM_BYTES = 6


class Caller(NamedTuple):
    """An agent that calls another one, as the ledger knows its run."""

    session_id: str
    root_id: str
    agent: str
    depth: int
    path: tuple[str, ...]
    """From the orchestrator to the agent itself."""
    deadline_ms: int
    may_call: tuple[str, ...] = ()
    """The agents that its file allowed at its admission. A star in a name stands for any text; empty: none."""
    max_depth: int = MAX_DEPTH
    """The lowest limit of the agent and its ancestors."""
    left: Budget = Budget()
    """What the agent and all its ancestors have left."""
    timeout_default_s: float | None = None
    """The default time limit of the agents that it calls, by its file."""
    timeout_max_s: float | None = None
    """The longest time limit of the agents that it calls, by its file."""


class Admission(NamedTuple):
    """The decision that a run may start: its place in the call chain and its limits."""

    session_id: str
    parent_id: str | None
    root_id: str
    agent: str
    depth: int
    path: tuple[str, ...]
    timeout_s: float
    deadline_ms: int
    budget: Budget


def admit(
    agent: str,
    caller: Caller | None,
    *,
    session_id: str,
    now_ms: int,
    timeout_s: float | None = None,
    default_timeout_s: float = DEFAULT_TIMEOUT_S,
    budget: Budget = Budget(),  # noqa: B008 - immutable
    known: frozenset[str] | None = None,
    command: str = "",
    max_depth: int = MAX_DEPTH,
) -> Admission:
    """Admit a run, or refuse it with an exception. Without a caller, the user asks.

    `timeout_s` is the time limit of the request, the settings or the agent's file; without one, the caller's file and
    then `default_timeout_s` decide (D10). `known` are the names of all agents, or None if the run needs no agent file.
    `command` is the user's command, such as `research`: the path contains it between the orchestrator and the agent,
    once. `max_depth` can only lower the standard's limit, as an agent's own does.
    """
    if timeout_s is None:
        timeout_s = (caller.timeout_default_s if caller is not None else None) or default_timeout_s
    timeout_s = check_timeout(timeout_s)
    if caller is not None and caller.timeout_max_s is not None:
        timeout_s = min(timeout_s, caller.timeout_max_s)
    check_budget(budget)
    first = (ORCHESTRATOR,) if command in ("", agent) else (ORCHESTRATOR, command)
    path = first if caller is None else caller.path
    depth = 1 if caller is None else caller.depth + 1
    _check_name(agent)
    _check_depth(depth, path, agent, allowed=min(max_depth, MAX_DEPTH), caller=caller)
    _check_cycle(agent, list_ancestors(path, depth - 1))
    _check_known(agent, known)
    if caller is not None:
        _check_allowed(agent, caller)
        budget = clamp(budget, _reserve_run(caller))
    timeout_s = timeout_s if budget.max_seconds is None else min(timeout_s, budget.max_seconds)
    deadline_ms = _find_deadline(timeout_s, caller, now_ms)
    return Admission(
        session_id,
        None if caller is None else caller.session_id,
        session_id if caller is None else caller.root_id,
        agent,
        depth,
        (*path, agent),
        (deadline_ms - now_ms) / 1000,
        deadline_ms,
        budget,
    )


def list_ancestors(path: tuple[str, ...], depth: int) -> tuple[str, ...]:
    """Return the orchestrator and the agents of a path to an agent at `depth`, without the command between them."""
    return (*path[:1], *path[len(path) - depth :])


def check_named(agent: str, known: frozenset[str] | None) -> None:
    """Refuse an unknown agent, before Remit looks for anything else that the agent would need."""
    _check_name(agent)
    _check_known(agent, known)


def make_session_id(now_ms: int, random_bytes: bytes) -> str:
    """Return the id of a new session (R2.2), made of the time and six random bytes."""
    if len(random_bytes) != _RANDOM_BYTES:
        raise ValueError(f"{_RANDOM_BYTES} random bytes are needed")
    return f"sess_{now_ms // 1000}_{''.join(_LETTERS[byte % len(_LETTERS)] for byte in random_bytes)}"


# --- one rule each ---------------------------------------------------------------------------------------------------


def _check_name(agent: str) -> None:
    if not agent.strip():
        raise UsageError("no agent is named", hint="give an agent's name")
    if len(agent) > MAX_NAME or not agent.isprintable():  # names are part of paths, tables and sentences
        hint = f"names have at most {MAX_NAME} letters, and no control characters"
        raise UsageError(f"{agent[:40]!a} cannot be an agent's name", hint=hint)


def _check_depth(depth: int, path: tuple[str, ...], agent: str, *, allowed: int, caller: Caller | None) -> None:
    """Allow three levels and refuse a fourth (R2.3, C7)."""
    own = allowed if caller is None else min(allowed, caller.max_depth)
    if depth <= own:
        return
    limit = f"{allowed} is the limit" if own == allowed else f"an agent on the way allows {max(own, 0)}"
    raise RefusedError(
        f"{format_path((*path, agent))} would be depth {depth}, and {limit}",
        code="MAX_DEPTH_EXCEEDED",
        hint="do the work yourself, or return what you have and name the rest in next_steps",
        depth=depth,
        max_depth=own,
    )


def _check_cycle(agent: str, path: tuple[str, ...]) -> None:
    """Refuse an agent that is an ancestor, in any spelling (R2.5). The target isn't on the path yet (C8)."""
    folded, wanted = [*map(fold, path)], fold(agent)
    if wanted not in folded:
        return
    hint = "do the work yourself, or return and let your caller decide: an agent cannot wait for itself"
    if wanted == ORCHESTRATOR:
        hint = f"'{ORCHESTRATOR}' is the name of the first caller: rename the agent"
    cycle = format_path((*path[folded.index(wanted) :], agent))
    raise RefusedError(f"{cycle} is a cycle", code="CYCLE_DETECTED", hint=hint, path=[*path, agent])


def _check_known(agent: str, known: frozenset[str] | None) -> None:
    if known is None or agent in known:
        return
    meant = find_similar(agent, sorted(known))
    if not known:
        hint = "there are no agent files yet: `remit agent new` makes one, and the agent `-` needs none"
    else:
        hint = f"available: {_list(known)}" if meant is None else f"did you mean '{meant}'?"
    raise RefusedError(f"there is no agent '{agent}'", hint=hint, agent=agent)


def _check_allowed(agent: str, caller: Caller) -> None:
    """Refuse an agent that the caller's file doesn't allow."""
    if any(_matches(agent, pattern) for pattern in caller.may_call):
        return
    allowed = f"it may call: {_list(set(caller.may_call))}" if caller.may_call else "it may call no agent"
    raise RefusedError(
        f"'{caller.agent}' may not call '{agent}'",
        hint=f"{allowed}; its file says so under delegation.can_delegate_to, read when it was started",
        agent=agent,
        may_call=list(caller.may_call),
    )


def _reserve_run(caller: Caller) -> Budget:
    """Return the budget that the caller can give to one more run: all it has left, minus that run itself."""
    exhausted = find_exhausted(caller.left)
    if exhausted is not None:
        hint = "finish without another agent, and return `partial` if that isn't enough"
        raise RefusedError(exhausted, code="BUDGET_EXCEEDED", hint=hint, left=caller.left._asdict())
    count = caller.left.max_delegations
    return caller.left if count is None else caller.left._replace(max_delegations=count - 1)


def _find_deadline(timeout_s: float, caller: Caller | None, now_ms: int) -> int:
    """Return the deadline of the run: not later than its caller's."""
    own = now_ms + max(1, int(timeout_s * 1000))
    if caller is None:
        return own
    left_ms = caller.deadline_ms - now_ms
    if left_ms < MIN_LEFT_MS:
        has = "is past its deadline" if left_ms <= 0 else f"has {left_ms} ms left"
        hint = "return what there is now: no agent is started with less than a second left"
        raise RefusedError(f"'{caller.agent}' {has}", code="TIMEOUT", hint=hint, deadline_ms=caller.deadline_ms)
    return min(own, caller.deadline_ms)


# --- names -----------------------------------------------------------------------------------------------------------


def fold(name: str) -> str:
    """Return a name without differences of case, surrounding space and Unicode form."""
    if name.isascii():
        return name.strip().lower()
    from unicodedata import normalize  # noqa: PLC0415 - names are nearly always ASCII

    return normalize("NFKC", normalize("NFKC", name).casefold()).strip()


def format_path(path: Iterable[str]) -> str:
    """Return a path for a message, with arrows."""
    return " → ".join(path)


def _list(names: Iterable[str]) -> str:
    """Return names for a sentence; of a long list, only the first names and the number of the others."""
    every = sorted(names)
    more = f" and {len(every) - _MAX_LISTED} more" if len(every) > _MAX_LISTED else ""
    return ", ".join(every[:_MAX_LISTED]) + more


def _matches(name: str, pattern: str) -> bool:
    """Whether a name matches a pattern in which a star stands for any text, as in harnesses."""
    head, *rest = pattern.split(ANYONE)
    if not rest:
        return name == pattern
    *middle, tail = rest
    if len(name) < len(head) + len(tail) or not (name.startswith(head) and name.endswith(tail)):
        return False
    inside = name[len(head) : len(name) - len(tail)]
    at = 0
    for part in middle:
        found = inside.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return True
