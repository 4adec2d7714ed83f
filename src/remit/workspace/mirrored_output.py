"""What an agent on another machine prints, copied to where the output of agents of this one is.

Owns the copying, so that whoever reads a log need not know where the agent runs.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from remit.workspace.files import tell_failure, write_all

if TYPE_CHECKING:
    from typing import Literal

    from remit.workspace.sessions.folders import Attempt


def measure_copy(attempt: Attempt, stream: Literal["out", "err"]) -> int:
    """How much of a stream is here."""
    try:
        return os.lstat(f"{attempt.folder}/{stream}").st_size
    except OSError:
        return 0


def add_copy(attempt: Attempt, stream: Literal["out", "err"], at: int, data: bytes) -> None:
    """Add what was printed next. What is here already stays: two who follow the same write it once."""
    folder = attempt.folder
    flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        handle = os.open(f"{folder}/{stream}", flags, 0o600)
        try:
            found = os.fstat(handle)
            if stat.S_ISREG(found.st_mode) and found.st_size >= at:
                os.lseek(handle, at, os.SEEK_SET)  # the same bytes over the same bytes, where another was quicker
                write_all(handle, data)
        finally:
            os.close(handle)
    except OSError as error:
        raise tell_failure(folder, error) from error
