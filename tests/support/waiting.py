"""Waits for what other processes do."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def wait_until(holds: Callable[[], Any], what: str, *, patience_s: float = 60.0) -> Any:  # noqa: ANN401 - what holds
    """Wait for something that comes soon, or never; what came."""
    last = time.monotonic() + patience_s
    while not (found := holds()):
        assert time.monotonic() < last, f"it never came: {what}"
        time.sleep(0.02)
    return found
