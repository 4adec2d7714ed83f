"""The beginning of a file that somebody else writes, such as a harness's record of what its agents say.

Imports next to nothing: a hook reads it, and has no time.
"""

from __future__ import annotations

import os
import stat

MAX_BYTES = 512 * 1024


def load_beginning(file: str, *, max_bytes: int = MAX_BYTES) -> str:
    """The beginning of a file as text; nothing where it cannot be read, or is no file."""
    try:
        handle = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return ""
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return ""
        return os.read(handle, max_bytes).decode("utf-8", "replace")
    except OSError:
        return ""
    finally:
        os.close(handle)
