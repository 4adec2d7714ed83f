"""Decide whether a caller may call an agent now: depth, cycles, allow-list, time and budget.

Owns admission: depth, cycles, who exists, who may be called, what is left of time and budget. Pure: the clock,
randomness and the caller's lineage are handed in, and the lineage is what the ledger knows, never what a child says.
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
"""Whoever starts the first agent of a tree: a person, or a program of theirs."""
MIN_LEFT_MS = 1000
"""With less time left nothing is begun."""
_MAX_LISTED = 12
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
_DRAWN = 6


class AdmissionRequest(NamedTuple):
    """What is asked for."""

    agent: str
    timeout_s: float | None
    """The time that the request, the settings or the agent's own file give; None where none of them says."""
    budget: Budget = Budget()
    known: frozenset[str] | None = None
    """The agents that there are; None where the work is done without an agent file."""
    usual_s: float = DEFAULT_TIMEOUT_S
    """The time where neither `timeout_s` nor the caller says."""
    command: str = ""
    """The command that a user gave, such as `research`: it is in the path, between the orchestrator and the agent."""


class Caller(NamedTuple):
    """Who asks, where that is an agent: what the ledger knows of its session."""

    session_id: str
    root_id: str
    agent: str
    depth: int
    path: tuple[str, ...]
    """From the orchestrator to the agent itself."""
    deadline_ms: int
    may_call: tuple[str, ...] = ()
    """As its definition said when it was admitted: names, in which a star stands for anything; none: nobody."""
    max_depth: int = MAX_DEPTH
    """The least that it and those above it allow."""
    left: Budget = Budget()
    """The least that it and those above it have left."""
    timeout_default_s: float | None = None
    """How long an agent that it calls may take where nothing else is said, as its own file has it."""
    timeout_max_s: float | None = None
    """How long an agent that it calls may take at most."""


class Admitted(NamedTuple):
    """A delegation that may begin."""

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
    asked: AdmissionRequest, caller: Caller | None, *, session_id: str, now_ms: int, max_depth: int = MAX_DEPTH
) -> Admitted:
    """Admit a delegation or refuse it. No caller: a person asks.

    `max_depth` narrows, as an agent's own does: no setting and no file allows more than the standard's three.
    """
    timeout_s, wanted = _find_timeout(asked, caller), check_budget(asked.budget)
    path = _find_path(asked, caller)
    depth = 1 if caller is None else caller.depth + 1
    _check_name(asked.agent)
    _check_depth(depth, path, asked.agent, allowed=min(max_depth, MAX_DEPTH), caller=caller)
    _check_cycle(asked.agent, list_ancestors(path, depth - 1))
    _check_known(asked.agent, asked.known)
    if caller is not None:
        _check_allowed(asked.agent, caller)
        wanted = clamp(wanted, _take_one(caller))
    timeout_s = timeout_s if wanted.max_seconds is None else min(timeout_s, wanted.max_seconds)
    deadline_ms = _find_deadline(timeout_s, caller, now_ms)
    return Admitted(
        session_id,
        None if caller is None else caller.session_id,
        session_id if caller is None else caller.root_id,
        asked.agent,
        depth,
        (*path, asked.agent),
        (deadline_ms - now_ms) / 1000,
        deadline_ms,
        wanted,
    )


def _find_timeout(asked: AdmissionRequest, caller: Caller | None) -> float:
    """The time that is asked for, within what the caller's file gives to the agents that it calls (D10)."""
    usual, most = (None, None) if caller is None else (caller.timeout_default_s, caller.timeout_max_s)
    timeout_s = check_timeout(asked.timeout_s if asked.timeout_s is not None else usual or asked.usual_s)
    return timeout_s if most is None else min(timeout_s, most)


def _find_path(asked: AdmissionRequest, caller: Caller | None) -> tuple[str, ...]:
    """The path up to the agent. Work that has no agent of its own is named after its command, which is there once."""
    if caller is not None:
        return caller.path
    return (ORCHESTRATOR,) if asked.command in ("", asked.agent) else (ORCHESTRATOR, asked.command)


def list_ancestors(path: tuple[str, ...], depth: int) -> tuple[str, ...]:
    """The orchestrator and the agents of a path to an agent of a depth, without the command between them."""
    return (*path[:1], *path[len(path) - depth :])


def check_named(agent: str, known: frozenset[str] | None) -> None:
    """Refuse a name that nobody has, before anything is looked for that such an agent would need."""
    _check_name(agent)
    _check_known(agent, known)


def make_session_id(now_ms: int, drawn: bytes) -> str:
    """The id of a new session (R2.2), of the time and six random bytes."""
    if len(drawn) != _DRAWN:
        raise ValueError(f"{_DRAWN} random bytes are needed")
    return f"sess_{now_ms // 1000}_{''.join(_LETTERS[byte % len(_LETTERS)] for byte in drawn)}"


# --- one rule each ---------------------------------------------------------------------------------------------------


def _check_name(agent: str) -> None:
    if not agent.strip():
        raise UsageError("no agent is named", hint="give an agent's name")
    if len(agent) > MAX_NAME or not agent.isprintable():  # it will stand in paths, tables and sentences
        hint = f"names have at most {MAX_NAME} letters, and no control characters"
        raise UsageError(f"{agent[:40]!a} cannot be an agent's name", hint=hint)


def _check_depth(depth: int, path: tuple[str, ...], agent: str, *, allowed: int, caller: Caller | None) -> None:
    """Three are allowed and a fourth is refused (R2.3, C7)."""
    own = allowed if caller is None else min(allowed, caller.max_depth)
    if depth <= own:
        return
    limit = f"{allowed} is the limit" if own == allowed else f"an agent on the way allows {max(own, 0)}"
    raise RefusedError(
        f"{draw((*path, agent))} would be depth {depth}, and {limit}",
        code="MAX_DEPTH_EXCEEDED",
        hint="do the work yourself, or return what you have and name the rest in next_steps",
        depth=depth,
        max_depth=own,
    )


def _check_cycle(agent: str, path: tuple[str, ...]) -> None:
    """Nobody on the way here is called again, however it is spelled (R2.5). The target is not on the path yet (C8)."""
    folded, wanted = [*map(fold, path)], fold(agent)
    if wanted not in folded:
        return
    hint = "do the work yourself, or return and let your caller decide: an agent cannot wait for itself"
    if wanted == ORCHESTRATOR:
        hint = f"'{ORCHESTRATOR}' is whoever starts the first agent: an agent needs another name"
    circle = draw((*path[folded.index(wanted) :], agent))
    raise RefusedError(f"{circle} is a circle", code="CYCLE_DETECTED", hint=hint, path=[*path, agent])


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
    """An agent calls those whom its file names."""
    if any(_fits(agent, pattern) for pattern in caller.may_call):
        return
    whom = f"it may call: {_list(set(caller.may_call))}" if caller.may_call else "it may call nobody"
    raise RefusedError(
        f"'{caller.agent}' may not call '{agent}'",
        hint=f"{whom}; its file says so under delegation.can_delegate_to, read when it was started",
        agent=agent,
        may_call=list(caller.may_call),
    )


def _take_one(caller: Caller) -> Budget:
    """What the caller can give to one more delegation: everything that it has left, but for that one itself."""
    exhausted = find_exhausted(caller.left)
    if exhausted is not None:
        hint = "finish without another agent, and return `partial` where that is not enough"
        raise RefusedError(exhausted, code="BUDGET_EXCEEDED", hint=hint, left=caller.left._asdict())
    count = caller.left.max_delegations
    return caller.left if count is None else caller.left._replace(max_delegations=count - 1)


def _find_deadline(timeout_s: float, caller: Caller | None, now_ms: int) -> int:
    """When it has to be over: not later than its caller."""
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
    """A name without the differences that only look like another agent: case, space around it, forms of a letter."""
    if name.isascii():
        return name.strip().lower()
    from unicodedata import normalize  # noqa: PLC0415 - names are nearly always ASCII

    return normalize("NFKC", normalize("NFKC", name).casefold()).strip()


def draw(path: Iterable[str]) -> str:
    """A path, as people read it."""
    return " → ".join(path)


def _list(names: Iterable[str]) -> str:
    """Names in a sentence, and how many there are besides."""
    every = sorted(names)
    more = f" and {len(every) - _MAX_LISTED} more" if len(every) > _MAX_LISTED else ""
    return ", ".join(every[:_MAX_LISTED]) + more


def _fits(name: str, pattern: str) -> bool:
    """Whether a name is the one that is written, where a star stands for any letters, as harnesses have it."""
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
