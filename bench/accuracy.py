"""How many messages a reader reads right: the score on the everyday cases."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from bench import plain
from bench.corpus.case import Case, Either, Payload, same
from bench.peers import Peer, Reader, declared

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class Score:
    """Counts, and the names of the cases behind them."""

    right: int = 0
    missed: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    false_accepts: list[str] = field(default_factory=list)


def accepted(peer: Peer, read: Reader, case: Case) -> Payload | None:
    """What the reader makes of a message, once it is through the validator.

    An error of the reader's own means that it found nothing. One that says it ran out of stack or memory, or that its
    native part panicked (which is no `Exception`), is passed on.
    """
    try:
        value = read(case.text, case.session_id)
    except (RecursionError, MemoryError):
        raise
    except Exception:
        return None
    if peer.validates:
        return cast("Payload | None", value)
    return cast("Payload", value) if plain.is_valid(value, case.session_id) else None


def is_right(peer: Peer, case: Case, payload: Payload | None) -> bool:
    """Whether that is the right reading; closed types are forgiven the members that they cannot hold."""
    if not peer.closed or payload is None or case.expected is None or isinstance(case.expected, Either):
        return case.is_right(payload)
    return any(same(payload, declared(right)) for right in (case.expected, *case.also))


def score(peer: Peer, read: Reader, cases: Iterable[Case]) -> Score:
    """The reader's result on all of `cases`."""
    right = 0
    result = Score()
    for case in cases:
        try:
            payload = accepted(peer, read, case)
        except (RecursionError, MemoryError):
            payload = None
        if case.expected is None:
            if payload is not None:
                result.false_accepts.append(case.name)
        elif case.may_refuse:
            # Counts only against a reader that reads it wrong.
            if not is_right(peer, case, payload):
                result.wrong.append(case.name)
        elif is_right(peer, case, payload):
            right += 1
        else:
            (result.missed if payload is None else result.wrong).append(case.name)
    return Score(right, result.missed, result.wrong, result.false_accepts)
