"""Shims: words to whoever keeps a living agent, and how such a process is known."""

from __future__ import annotations

import os
import stat

from remit.attempts.folders import SMALL_BYTES, find_control

SHIM = "import sys; sys.path.append(sys.argv[1]); import shim; shim.main()"
"""As a module, not as a script: of a module Python keeps the compiled form, and to compile it takes 10 ms. The folder
goes last, so that nothing in it can be taken for a module of Python's own."""


def send_control(folder: str, word: str) -> bool:
    """Ask a shim to end its agent: `cancel`, or `stop REASON`. Whether there is one to read it."""
    try:
        handle = os.open(find_control(folder), os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:  # nobody reads, or there is none
        return False
    try:
        if not stat.S_ISFIFO(os.fstat(handle).st_mode):
            return False
        return os.write(handle, word.replace("\n", " ").encode() + b"\n") > 0
    except OSError:
        return False
    finally:
        os.close(handle)


def read_shim_folder(pid: int) -> str:
    """The attempt's folder that a shim was given; "" where the process is none."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            words = file.read(SMALL_BYTES).split(b"\0")
    except OSError:
        return ""
    if SHIM.encode() not in words:
        return ""
    return os.fsdecode(b"".join(words[words.index(SHIM.encode()) + 2 :][:1]))
