"""Rates: how often somebody may ask.

Owns the buckets, one for each session: full at first, refilled steadily, one taken out by each request.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

PER_SECOND, BURST = 50.0, 200.0
_MOST_KEPT = 128


class Rates:
    """How much everybody has left."""

    def __init__(
        self, *, per_second: float = PER_SECOND, burst: float = BURST, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._per_second = per_second
        self._burst = burst
        self._clock = clock
        self._left: dict[str, tuple[float, float]] = {}

    def take(self, who: str) -> float:
        """Take one request out of somebody's bucket; for how many seconds there is none left, else 0."""
        now = self._clock()
        left, at = self._left.pop(who, (self._burst, now))
        left = min(self._burst, left + (now - at) * self._per_second)
        wait_s = 0.0 if left >= 1 else (1 - left) / self._per_second
        self._left[who] = (left if wait_s else left - 1, now)
        if len(self._left) > _MOST_KEPT:  # who has not asked for the longest time has a full one by now
            del self._left[next(iter(self._left))]
        return wait_s
