"""Registry of the supervisors that drive runs, and a check whether one is alive.

A supervisor locks its file in `.remit/supervisors` as long as it lives. The kernel releases the lock when the process
ends, so another supervisor can take over its runs at once.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from typing import TYPE_CHECKING

from remit.storage.files import storage_error
from remit.storage.locks import find_lock_holder

if TYPE_CHECKING:
    from remit.ledger.home import Home


class Presence:
    """The registration of this process as a supervisor; costs one open file."""

    def __init__(self, home: Home) -> None:
        self.id = f"{os.getpid()}-{os.urandom(6).hex()}"
        self._file = _find_file(home, self.id)
        try:
            self.handle = _open_locked(self._file)
        except OSError as error:
            raise storage_error(self._file, error) from error

    def end(self) -> None:
        """Unregister this supervisor. Another supervisor takes its runs over."""
        with suppress(OSError):  # another process may have removed it
            os.unlink(self._file)
        self.hand_over()

    def hand_over(self) -> None:
        """Close the file in this process. A child process that inherited it keeps the supervisor registered."""
        with suppress(OSError):
            os.close(self.handle)


def _open_locked(file: str) -> int:
    """Create the file and lock it; start over if a cleanup removed the file between the two."""
    while True:
        handle = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        fcntl.flock(handle, fcntl.LOCK_EX)
        if os.fstat(handle).st_nlink:
            return handle
        os.close(handle)


def is_present(home: Home, supervisor: str | None) -> bool:
    """Return False if a supervisor is known to be gone; True if it lives or if that is unknown."""
    return supervisor is not None and find_lock_holder(_find_file(home, supervisor)) is not None


def find_process(home: Home, supervisor: str | None) -> int | None:
    """Return the process of a supervisor if it is visible here: in another namespace its pid is another process."""
    pid = (supervisor or "").partition("-")[0]
    if supervisor is None or not (pid.isascii() and pid.isdecimal()):
        return None
    if not os.path.exists("/proc/self/fd"):  # a system without namespaces
        return int(pid)
    with suppress(OSError):
        own = os.stat(_find_file(home, supervisor))
        for name in os.listdir(f"/proc/{pid}/fd"):
            with suppress(OSError):  # it has been closed
                if os.path.samestat(own, os.stat(f"/proc/{pid}/fd/{name}")):
                    return int(pid)
    return None


def clear_departed(home: Home) -> None:
    """Remove the files of supervisors that were killed."""
    for file in _list_files(home):
        _clear(file)


def count_departed(home: Home) -> int:
    """Return the number of supervisors that were killed and left their file."""
    return sum(find_lock_holder(file) is None for file in _list_files(home))


def _list_files(home: Home) -> list[str]:
    folder = home.make_folder("supervisors")
    try:
        return [f"{folder}/{name}" for name in os.listdir(folder) if name.endswith(".lock")]
    except OSError as error:
        raise storage_error(folder, error) from error


def _clear(file: str) -> None:
    """Remove a file that no process has locked, under its lock, so that no supervisor registers meanwhile."""
    with suppress(OSError):  # another process removed it, or its supervisor lives
        handle = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.unlink(file)
        finally:
            os.close(handle)


def _find_file(home: Home, supervisor: str) -> str:
    return f"{home.make_folder('supervisors')}/{supervisor.replace('/', '_')}.lock"
