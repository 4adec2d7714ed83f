"""Tickets: they identify an agent that calls Remit.

A ticket is a random bearer token, valid while its session runs, for any number of nested runs. The ledger keeps only
its hash. Remit looks up depth, path and the rest of the budget by the ticket, so an agent can't claim other values. An
unconfined agent runs as the user and could read the ledger: a ticket identifies honest agents and protects no files.
"""

from __future__ import annotations

import json
import os
from contextvars import ContextVar
from typing import TYPE_CHECKING

from remit.errors import RefusedError
from remit.lazy_regex import lazy
from remit.light_hash import take_sha256
from remit.light_namedtuple import NamedTuple
from remit.model import MAX_DEPTH, NOTHING
from remit.runs.admission.guard import Caller
from remit.runs.admission.run_tree import load_tree

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from remit.ledger.home import Home
    from remit.runners import Usage
    from remit.runs.admission.run_tree import RunTree, TreeRow

TICKET = "REMIT_TICKET"
RETURN_FILE = "REMIT_RETURN_FILE"
"""The variable with the path of the file to which an agent can write its return."""
SOCKET = "REMIT_SOCKET"
"""The variable with the path of the socket through which a confined agent's calls reach its supervisor."""
SESSION = "REMIT_SESSION_ID"
"""The variable with the session id. An agent passes its environment on to the processes that it starts."""
RANDOM_BYTES = 32
CARRIED: ContextVar[Mapping[str, str]] = ContextVar("remit_ticket", default=NOTHING)
"""The ticket of a function that runs in the supervisor's own process and has no environment of its own."""
_TOKEN = lazy(r"remit1_[A-Za-z0-9_-]{43}|remit2_[A-Za-z0-9_-]{20,4000}\.[A-Za-z0-9_-]{43}")
"""A random ticket, or one that is signed with the key of a cluster."""
_OPEN = ("admitted", "running")
"""An agent may run before the ledger says `running`."""
_OUTSIDE: set[tuple[int, str]] = set()
"""Processes that belong to no session of a workspace. They never will: a session has only processes started in it."""
_HOLDERS: set[tuple[int, str, str]] = set()
"""Processes that may use the ticket of a session, by workspace."""
_HAND_ON = f"an agent calls Remit with the {TICKET} that it was started with"


class Ticket(NamedTuple):
    """A token for the agent, and its hash for the ledger."""

    token: str
    hash: str


def mint(random_bytes: bytes) -> Ticket:
    """Make a ticket of 32 random bytes."""
    if len(random_bytes) != RANDOM_BYTES:
        raise ValueError(f"{RANDOM_BYTES} bytes are needed")
    from base64 import urlsafe_b64encode  # noqa: PLC0415 - hooks make no tickets

    token = f"remit1_{urlsafe_b64encode(random_bytes).rstrip(b'=').decode('ascii')}"
    return Ticket(token, hash_ticket(token))


def hash_ticket(token: str) -> str:
    """Return the hash of a token that the ledger keeps."""
    return take_sha256(token.encode())


def find_caller(
    home: Home,
    environ: Mapping[str, str],
    *,
    now_ms: int,
    usage: Mapping[str, Usage] = NOTHING,
    harness: str | None = "",
) -> Caller | None:
    """Return the calling agent, by the environment and the ancestors of this process; None if the user asks.

    `harness` is the mark of the process whose hook this one is; None ignores the ancestors. `usage` has newer usage
    than the ledger, by session. Call it in the transaction that writes the next row, so that no sibling comes between.
    """
    token, named = environ.get(TICKET, ""), environ.get(SESSION, "")
    if not token:
        _check_outside(home, named)
        within = None if harness is None else find_within(home, harness)
        return None if within is None else describe_session(home, within, now_ms=now_ms)
    if not _TOKEN.fullmatch(token):
        raise RefusedError(f"{TICKET} is not a ticket", hint=_HAND_ON)
    tree = load_tree(home, ticket=hash_ticket(token))
    if tree is None:
        raise RefusedError(f"the ledger of '{home.root}' doesn't have this ticket", hint=_HAND_ON)
    own = tree.own
    if named and named != own.session_id:
        message = f"{SESSION} is '{named[:80]}', and the ticket is that of {own.session_id}"
        raise RefusedError(message, hint=f"leave {SESSION} and {TICKET} as they were when the agent was started")
    _check_open(own, now_ms)
    check_holder(home, tree)
    return _describe(tree, usage)


def check_holder(home: Home, tree: RunTree, pid: int | None = None) -> None:
    """Refuse a ticket if the process that uses it belongs to another agent, or may belong to one.

    The kernel says which agent a process belongs to. The ticket of a nested run is valid in its caller's process,
    because functions and subagents of a harness run there. A process outside of all agents is the user's.
    """
    own = tree.own
    here = pid or os.getpid(), home.folder, own.session_id
    if here in _HOLDERS:
        return
    from remit.attempts.process_owner import find_all_enclosing  # noqa: PLC0415 - only for a nested run

    strangers = [each for each in find_all_enclosing(home, pid).sessions if each not in tree.line]
    if strangers:
        whose = f"that of {own.session_id}, and this process " + (
            f"belongs to {strangers[0]}" if len(strangers) == 1 else f"may belong to one of {len(strangers)} others"
        )
        raise RefusedError(f"the {TICKET} is {whose}", hint=f"{_HAND_ON}, in its own processes")
    if pid is None:
        _HOLDERS.add(here)


def describe_session(home: Home, session_id: str, *, now_ms: int) -> Caller:
    """Return the caller with a session id that its harness reported. Raises if the session is over."""
    tree = load_tree(home, session_id=session_id)
    if tree is None:
        raise RefusedError(f"the ledger of '{home.root}' doesn't have {session_id}", hint="start the agent again")
    _check_open(tree.own, now_ms)
    return _describe(tree, NOTHING)


def _check_outside(home: Home, named: str) -> None:
    """Refuse a process of an agent that has no ticket: without one, only the user or the user's programs may call."""
    if named:
        hint = f"{_HAND_ON}; outside of agents, unset {SESSION}"
        raise RefusedError(f"{SESSION} is set, but {TICKET} isn't", hint=hint)
    here = os.getpid(), home.folder
    if here in _OUTSIDE:
        return
    from remit.attempts.process_owner import find_doubt, find_enclosing  # noqa: PLC0415 - only for a nested run

    enclosing = find_enclosing(home)
    if enclosing is not None:
        raise RefusedError(f"this process belongs to {enclosing} and has no ticket", hint=_HAND_ON)
    doubt = find_doubt()
    if doubt:
        hint = f"{_HAND_ON}; a user calls it from a shell outside of that namespace, with /proc mounted"
        raise RefusedError(f"Remit can't tell whether an agent started this process: {doubt}", hint=hint)
    _OUTSIDE.add(here)


def check_user(home: Home, refusal: str) -> None:
    """Refuse an agent, with or without a ticket, an action that only the user may take."""
    from time import time_ns  # noqa: PLC0415 - only for this

    environ, harness = os.environ, "" if os.path.exists(home.ledger_file) else None  # a lookup creates no ledger
    now_ms = time_ns() // 1_000_000
    if environ.get(TICKET) or find_caller(home, environ, now_ms=now_ms, harness=harness) is not None:
        raise RefusedError(refusal, hint="return what you have, and say what the user has to do")


def find_within(
    home: Home, harness: str = "", *, marks: Sequence[str] | None = None, message: str = ""
) -> str | None:  # fmt: skip
    """Return the session of the harness's agent that started this process, because the harness waits for it.

    None if the process is the user's. Raises if it may belong to several agents. `marks` are those of another process
    and its ancestors. `message` is a text in which the agent names its session, to identify it among the others.
    """
    if not home.is_made:
        return None
    from remit.ledger.hook_runs import MAIN, list_below  # noqa: PLC0415
    from remit.storage.process_ancestry import list_above  # noqa: PLC0415 - only for a nested run

    with home.ledger.reading() as db:
        found = list_below(db, list_above(harness) if marks is None else [*marks])
    named = [each.session_id for each in found if each.session_id in message]
    if len(named) == 1:
        return named[0]
    if not any(each.waited or each.agent_id == MAIN for each in found):
        return None
    busy = {each.parent_id for each in found}
    left = [each.session_id for each in found if each.session_id not in busy]
    if len(left) == 1:
        return left[0]
    hint = "call agents with the harness's own tool, or name your session as `caller`"
    raise RefusedError(f"one of {len(left)} agents of a harness is the caller, and Remit can't tell which", hint=hint)


def _check_open(own: TreeRow, now_ms: int) -> None:
    hint = "a finished session can't start runs; a new run has a ticket of its own"
    if own.state not in _OPEN:
        raise RefusedError(f"the session {own.session_id} of this ticket is finished", hint=hint)
    if own.deadline_ms is None or own.deadline_ms <= now_ms:
        raise RefusedError(f"the session {own.session_id} is past its deadline", code="TIMEOUT", hint=hint)


def _describe(tree: RunTree, usage: Mapping[str, Usage]) -> Caller:
    own = tree.own
    depths = [config.get("max_depth") for config in tree.config.values()]
    config = tree.config[own.session_id]
    may_call = config.get("may_call")
    return Caller(
        session_id=own.session_id,
        root_id=own.root_id,
        agent=own.agent,
        depth=own.depth,
        path=tuple(json.loads(own.path)),
        deadline_ms=own.deadline_ms or 0,
        may_call=tuple(filter(_is_text, may_call)) if isinstance(may_call, list) else (),
        max_depth=min([MAX_DEPTH, *(depth for depth in depths if type(depth) is int)]),
        left=tree.find_left(usage),
        timeout_default_s=_read_seconds(config.get("timeout_default_s")),
        timeout_max_s=_read_seconds(config.get("timeout_max_s")),
    )


def _read_seconds(value: object) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) and value > 0 else None


def _is_text(value: object) -> bool:
    return isinstance(value, str)
