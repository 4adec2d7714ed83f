"""Brokers: the processes that drive delegations, and whether they still live.

Owns `.remit/brokers`. A broker holds a lock as long as it lives: it ends with its process, however that ends, so that
a delegation whose broker is gone is known at once and taken over by another.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from typing import TYPE_CHECKING

from remit.workspace.files import tell_failure
from remit.workspace.locks import find_holder

if TYPE_CHECKING:
    from remit.workspace.home import Home


class Presence:
    """This process as a broker. To be present costs one open file."""

    def __init__(self, home: Home) -> None:
        self.id = f"{os.getpid()}-{os.urandom(6).hex()}"
        self._file = _find_file(home, self.id)
        try:
            self._handle = os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            fcntl.flock(self._handle, fcntl.LOCK_EX)
        except OSError as error:
            raise tell_failure(self._file, error) from error

    def end(self) -> None:
        """Go. What was driven is taken over by whoever comes next."""
        with suppress(OSError):  # somebody may have cleared it away
            os.unlink(self._file)
        with suppress(OSError):
            os.close(self._handle)


def is_present(home: Home, broker: str | None) -> bool:
    """Whether a broker lives."""
    return broker is not None and find_holder(_find_file(home, broker)) is not None


def clear_departed(home: Home) -> None:
    """Remove what brokers have left that were killed."""
    folder = home.make_folder("brokers")
    for name in os.listdir(folder):
        broker = name.removesuffix(".lock")
        if broker != name and not is_present(home, broker):
            with suppress(OSError):
                os.unlink(f"{folder}/{name}")


def _find_file(home: Home, broker: str) -> str:
    return f"{home.make_folder('brokers')}/{broker.replace('/', '_')}.lock"
