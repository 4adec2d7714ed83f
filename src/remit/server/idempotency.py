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


class _KeptAnswer(NamedTuple):
    fingerprint: str
    until: float
    answer: ApiAnswer | None = None
    """None while the request is in progress."""


class Kept:
    """The answers of the last minutes, by key."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._found: dict[str, _KeptAnswer] = {}
        self._lock = Lock()

    def answer_once(self, key: str | None, fingerprint: str, act: Callable[[], ApiAnswer]) -> ApiAnswer:
        """Execute a request once per key and return its answer; `fingerprint` identifies the request.

        A request that failed may be retried.
        """
        if key is None:
            return act()
        if not 1 <= len(key) <= MAX_KEY_CHARS:
            hint = f"use 1 to {MAX_KEY_CHARS} characters"
            raise ProblemError(400, "BAD_REQUEST", "Idempotency-Key is empty or too long", hint=hint)
        known = self._begin(key, fingerprint)
        if known is not None:
            return known
        try:
            answer = act()
        except BaseException:
            with self._lock:
                self._found.pop(key, None)
            raise
        with self._lock:
            self._found[key] = _KeptAnswer(fingerprint, self._clock() + KEPT_S, answer)
        return answer

    def _begin(self, key: str, fingerprint: str) -> ApiAnswer | None:
        with self._lock:
            now = self._clock()
            for old in [each for each, once in self._found.items() if once.until <= now]:
                del self._found[old]
            found = self._found.get(key)
            if found is None:
                if len(self._found) >= _MOST_KEPT:
                    self._found.pop(next(iter(self._found)))
                self._found[key] = _KeptAnswer(fingerprint, now + KEPT_S)
                return None
        if found.fingerprint != fingerprint:
            hint = "use a new key for a new request"
            raise ProblemError(422, "KEY_TAKEN", "another request used this Idempotency-Key", hint=hint)
        if found.answer is None:
            raise ProblemError(409, "BUSY", "the same request is in progress", hint="retry in a moment")
        return found.answer
