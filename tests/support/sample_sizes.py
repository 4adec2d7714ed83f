"""How much of one kind a test tries: a sample on every day, and the whole of it with `make test-all`."""

import os

IS_WHOLE = bool(os.environ.get("REMIT_TEST_ALL"))


def choose(daily: int, whole: int) -> int:
    """A number for every day, or the one for the whole."""
    return whole if IS_WHOLE else daily


STRIDE = choose(8, 1)
"""From one step at which something is killed to the next that is tried."""
