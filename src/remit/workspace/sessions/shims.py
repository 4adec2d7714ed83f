"""Shims: words to whoever keeps a living agent, and how such a process is known."""

from __future__ import annotations

import os
import stat
from contextlib import suppress

from remit.workspace.sessions.folders import SMALL_BYTES, is_alive

SHIM = "import sys; sys.path.append(sys.argv[1]); import shim; shim.main()"
"""As a module, not as a script: of a module Python keeps the compiled form, and to compile it takes 10 ms. The folder
goes last, so that nothing in it can be taken for a module of Python's own."""
DEAF_SECONDS = 2.0
"""A shim that has not ended its agent so long after it was told has not heard it."""


def send_control(folder: str, word: str) -> bool:
    """Tell a shim to end its agent: `cancel`, or `stop REASON`. Whether there is one to hear it.

    An agent can remove the pipe: then its shim is told by a signal, without the word.
    """
    return _write_control(folder, word) or (is_alive(folder) and end_shim(folder))


def _write_control(folder: str, word: str) -> bool:
    try:
        handle = os.open(f"{folder}/control", os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
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


def end_shim(folder: str) -> bool:
    """Tell a shim by a signal to end its agent; whether there is one. For who does not hear: its pipe may be forged.

    Found by its command line, for what is in the folder was perhaps written by its agent. The keeper, which has the
    same, does not hear this signal.
    """
    import signal  # noqa: PLC0415 - only where an agent hides

    told = False
    for name in os.listdir("/proc") if os.path.exists("/proc/self/stat") else ():
        if name.isdecimal() and read_shim_folder(int(name)) == folder:
            with suppress(OSError):
                handle = os.pidfd_open(int(name))  # from here on the number is nobody else's
                try:
                    if read_shim_folder(int(name)) == folder:
                        signal.pidfd_send_signal(handle, signal.SIGTERM)
                        signal.pidfd_send_signal(handle, signal.SIGCONT)  # without a namespace its agent can stop it
                        told = True
                finally:
                    os.close(handle)
    return told


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
