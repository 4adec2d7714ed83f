"""Read the start or the end of a file that another program writes, such as a harness's transcript.

Imports almost nothing: hooks use it and have to start fast.
"""

from __future__ import annotations

import os
import stat

MAX_BYTES = 512 * 1024


def load_beginning(file: str, *, max_bytes: int = MAX_BYTES) -> str:
    """Return the start of a file as text; empty if it can't be read or isn't a file."""
    return _load(file, max_bytes, from_end=False)


def load_end(file: str) -> str:
    """Return the end of a file as text; empty if it can't be read or isn't a file."""
    return _load(file, MAX_BYTES, from_end=True)


def _load(file: str, max_bytes: int, *, from_end: bool) -> str:
    try:
        handle = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return ""
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            return ""
        if from_end:
            os.lseek(handle, max(0, found.st_size - max_bytes), os.SEEK_SET)
        return os.read(handle, max_bytes).decode("utf-8", "replace")
    except OSError:
        return ""
    finally:
        os.close(handle)
