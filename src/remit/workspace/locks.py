"""Locks: one process at a time.

Owns `flock`, the only kind of lock in the house: another kind would not exclude it. A lock is held on a file of its
own, because what it protects is replaced by renaming. The file stays: to remove it would give two processes two locks.
A lock ends with its process, however that ends, so none is ever left behind.
"""

from __future__ import annotations

import fcntl
import os
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from remit.errors import BusyError, StorageError
from remit.workspace.files import tell_failure

if TYPE_CHECKING:
    from collections.abc import Iterator

PATIENCE_SECONDS = 30.0
_FIRST_PAUSE, _LONGEST_PAUSE = 0.0005, 0.02


@contextmanager
def hold(file: str, *, seconds: float = PATIENCE_SECONDS) -> Iterator[None]:
    """Hold the lock of a file, waiting for it for a while; the folder must be there."""
    handle = _open(file)
    try:
        _wait(handle, file, seconds)
        yield
    finally:
        _let_go(handle)


@contextmanager
def try_hold(file: str) -> Iterator[bool]:
    """Hold the lock of a file if it is free at this moment; whether it is held."""
    handle = _open(file)
    try:
        yield _take(handle, file)
    finally:
        _let_go(handle)


def find_holder(file: str) -> int | None:
    """The process that holds a lock now; 0 where it did not say, None where the lock is free or was never taken."""
    try:
        handle = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            told = os.pread(handle, 20, 0).strip(b"\0\n ")
            return int(told) if told.isdigit() else 0
        return None
    finally:
        os.close(handle)


def _open(file: str) -> int:
    try:
        return os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise tell_failure(file, error) from error


def _take(handle: int, file: str) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        hint = "keep the workspace on a disk that knows locks: some network disks do not"
        raise StorageError(f"'{file}' cannot be locked: {reason}", hint=hint) from error
    with suppress(OSError):  # only for people who ask who has it
        os.pwrite(handle, b"%-10d\n" % os.getpid(), 0)
    return True


def _let_go(handle: int) -> None:
    with suppress(OSError):  # the descriptor is gone whatever is said, and the lock with it
        os.close(handle)


def _wait(handle: int, file: str, seconds: float) -> None:
    """Ask again and again: a blocking flock could not be given up."""
    deadline = time.monotonic() + seconds
    pause = _FIRST_PAUSE
    while not _take(handle, file):
        if time.monotonic() >= deadline:
            holder = os.pread(handle, 20, 0).strip(b"\0\n ").decode("ascii", "replace")
            raise BusyError(
                f"process {holder or 'unknown'} has held {os.path.basename(file)} for more than {seconds:.0f} s",
                hint="wait for it, or end it, and try again",
            )
        time.sleep(pause)
        pause = min(pause * 1.5, _LONGEST_PAUSE)
