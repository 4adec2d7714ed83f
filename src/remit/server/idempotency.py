"""Again: requests that are sent twice and meant once.

Owns the answers that are kept under the key that a request came with. A browser or a program that heard no answer asks
again with the same key, and is told what came of it the first time.
"""

from __future__ import annotations

import time
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from remit.server.problems import ProblemError

if TYPE_CHECKING:
    from collections.abc import Callable

    from remit.server.endpoint import Answer

KEPT_S = 600.0
MAX_KEY_CHARS = 200
_MOST_KEPT = 500


class _Once(NamedTuple):
    asked: str
    until: float
    answer: Answer | None = None
    """None as long as nobody knows."""


class Kept:
    """What was answered in the last minutes, by key."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._found: dict[str, _Once] = {}
        self._turn = Lock()

    def carry_out(self, key: str | None, asked: str, act: Callable[[], Answer]) -> Answer:
        """Do something, unless it was done under this key; `asked` tells one request from another.

        What failed was not done, and may be tried again.
        """
        if key is None:
            return act()
        if not 1 <= len(key) <= MAX_KEY_CHARS:
            hint = f"give 1 to {MAX_KEY_CHARS} characters"
            raise ProblemError(400, "BAD_REQUEST", "Idempotency-Key does not fit", hint=hint)
        known = self._begin(key, asked)
        if known is not None:
            return known
        try:
            answer = act()
        except BaseException:
            with self._turn:
                self._found.pop(key, None)
            raise
        with self._turn:
            self._found[key] = _Once(asked, self._clock() + KEPT_S, answer)
        return answer

    def _begin(self, key: str, asked: str) -> Answer | None:
        with self._turn:
            now = self._clock()
            for old in [each for each, once in self._found.items() if once.until <= now]:
                del self._found[old]
            found = self._found.get(key)
            if found is None:
                if len(self._found) >= _MOST_KEPT:
                    self._found.pop(next(iter(self._found)))
                self._found[key] = _Once(asked, now + KEPT_S)
                return None
        if found.asked != asked:
            hint = "take a new key for a new request"
            raise ProblemError(422, "KEY_TAKEN", "this Idempotency-Key came with another request", hint=hint)
        if found.answer is None:
            raise ProblemError(409, "BUSY", "the same request is being carried out", hint="ask again in a moment")
        return found.answer
