"""Idempotency keys: the answers of recent requests, so that a retry isn't carried out twice.

A client that got no answer retries with the same key and gets the answer of the first request.
"""

from __future__ import annotations

import time
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from remit.server.problems import ProblemError

if TYPE_CHECKING:
    from collections.abc import Callable

    from remit.server.endpoint import ApiAnswer

KEPT_S = 600.0
MAX_KEY_CHARS = 200
_MOST_KEPT = 500


class _Once(NamedTuple):
    asked: str
    until: float
    answer: ApiAnswer | None = None
    """None while the request is in progress."""


class Kept:
    """The answers of the last minutes, by key."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._found: dict[str, _Once] = {}
        self._turn = Lock()

    def carry_out(self, key: str | None, asked: str, act: Callable[[], ApiAnswer]) -> ApiAnswer:
        """Carry out a request once per key; `asked` identifies the request.

        A request that failed may be retried.
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

    def _begin(self, key: str, asked: str) -> ApiAnswer | None:
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
            hint = "use a new key for a new request"
            raise ProblemError(422, "KEY_TAKEN", "another request used this Idempotency-Key", hint=hint)
        if found.answer is None:
            raise ProblemError(409, "BUSY", "the same request is being carried out", hint="retry in a moment")
        return found.answer
