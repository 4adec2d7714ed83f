"""A process that is killed in the middle of something, at a place that is counted.

Python tells an audit hook of every file that is opened, renamed or removed. The child kills itself with SIGKILL at the
n-th of these; nothing of Python's own clean-up runs. The kernel's view, syscall by syscall, is the torture's.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_EVENTS = {"open", "os.rename", "os.remove", "os.mkdir", "os.truncate", "fcntl.flock", "sqlite3.connect"}


def run_and_die(action: Callable[[], object], *, at: int) -> bool:
    """Run an action in a child that is killed at its n-th step; whether it came to that."""
    child = os.fork()
    if child == 0:
        steps = 0

        def watch(event: str, args: object) -> None:
            nonlocal steps
            del args
            if event in _EVENTS:
                steps += 1
                if steps == at:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(watch)
        try:
            action()
        except BaseException:  # noqa: BLE001 - the parent says that it failed
            os._exit(3)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return True
    assert os.WEXITSTATUS(status) == 0, "the action failed by itself"
    return False
