"""Rate limits: a token bucket for each session."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

PER_SECOND, BURST = 50.0, 200.0
_MOST_KEPT = 128


class Rates:
    """The token buckets of all clients."""

    def __init__(
        self, *, per_second: float = PER_SECOND, burst: float = BURST, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._per_second = per_second
        self._burst = burst
        self._clock = clock
        self._left: dict[str, tuple[float, float]] = {}

    def take(self, client_id: str) -> float:
        """Count a request of a client; return the seconds to wait if its bucket is empty, else 0."""
        now = self._clock()
        left, at = self._left.pop(client_id, (self._burst, now))
        left = min(self._burst, left + (now - at) * self._per_second)
        wait_s = 0.0 if left >= 1 else (1 - left) / self._per_second
        self._left[client_id] = (left if wait_s else left - 1, now)
        if len(self._left) > _MOST_KEPT:  # the bucket of the client that was silent longest is full again
            del self._left[next(iter(self._left))]
        return wait_s
