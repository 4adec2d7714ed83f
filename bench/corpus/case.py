"""What a labelled message is, and when a reading of it is right.

Owns `Case`, the sentinel `EITHER` and the type-aware comparison; nothing else here knows how messages are made.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, TypeAlias

Payload: TypeAlias = dict[str, Any]


class Either(Enum):
    """The one value that says: accepting and refusing are both defensible."""

    EITHER = "either"


EITHER: Final = Either.EITHER


@dataclass(frozen=True, slots=True)
class Case:
    """One final message and the object that must be found in it; None where nothing may be accepted."""

    name: str
    category: str
    text: str
    return_format: str
    session_id: str | None
    expected: Payload | Either | None
    # Other readings that lose nothing: an unknown escape may keep or drop its backslash.
    also: tuple[Payload, ...] = ()
    # So unusual that refusing it is as good as reading it right; reading it wrong is not.
    may_refuse: bool = False

    def is_right(self, payload: Payload | None) -> bool:
        """Whether `payload` (None: nothing was accepted) is what this message says."""
        if isinstance(self.expected, Either):
            return True
        if payload is None:
            return self.expected is None or self.may_refuse
        if self.expected is None:
            return False
        return any(same(payload, right) for right in (self.expected, *self.also))


def same(left: object, right: object) -> bool:
    """Equality that tells 1 from 1.0 and from True, which `==` does not; walks with a stack, not by recursion."""
    pending: list[tuple[object, object]] = [(left, right)]
    while pending:
        one, other = pending.pop()
        if type(one) is not type(other):
            return False
        if isinstance(one, dict) and isinstance(other, dict):
            if one.keys() != other.keys():
                return False
            pending.extend((one[key], other[key]) for key in one)
        elif isinstance(one, list) and isinstance(other, list):
            if len(one) != len(other):
                return False
            pending.extend(zip(one, other, strict=True))
        elif one != other:
            return False
    return True
