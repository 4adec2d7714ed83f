"""Locks: one process at a time.

Owns `flock`, the only kind of lock in the house: another kind would not exclude it. A lock is held on a file of its
own, because what it protects is replaced by renaming. The file stays: to remove it would give two processes two locks.
A lock ends with its process, however that ends, so none is ever left behind.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from remit.errors import BusyError, StorageError
from remit.storage.files import close_handle, storage_error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

WAIT_SECONDS = 30.0


@contextmanager
def hold_lock(
    file: str, *, seconds: float = WAIT_SECONDS, make_folder: Callable[[], object] | None = None
) -> Iterator[None]:
    """Hold the lock of a file, waiting for it for a while; the folder must be there, or `make_folder` makes it."""
    while True:
        handle = _open(file, make_folder)
        try:
            _wait(handle, file, seconds)
            if _is_current(handle, file):
                yield
                return
        finally:
            close_handle(handle)


def _is_current(handle: int, file: str) -> bool:
    """Whether a lock's file is still the one that others find under its name, and lock."""
    try:
        return os.path.samestat(os.fstat(handle), os.lstat(file))
    except FileNotFoundError:
        return False
    except OSError as error:
        raise storage_error(file, error) from error


@contextmanager
def try_lock(file: str) -> Iterator[bool]:
    """Hold the lock of a file if it is free at this moment; whether it is held."""
    handle = _open(file)
    try:
        yield _take(handle, file)
    finally:
        close_handle(handle)


def find_lock_holder(file: str) -> int | None:
    """The process that has a lock now; 0 if that isn't known, None if the lock is free or was never taken.

    Only a missing file proves that a lock is free. If the file can't be opened (too many open files, no permission, a
    failing disk), its holder isn't known: to call it free would let two processes do the same work.
    """
    try:
        handle = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    except OSError:
        return 0
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            told = os.pread(handle, 20, 0).strip(b"\0\n ")
            return int(told) if told.isdigit() else 0
        return None
    finally:
        os.close(handle)


def _open(file: str, make_folder: Callable[[], object] | None = None) -> int:
    try:
        return os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        if make_folder is None or not isinstance(error, FileNotFoundError):
            raise storage_error(file, error) from error
    make_folder()
    return _open(file)


def _take(handle: int, file: str) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        hint = "keep the workspace on a disk that knows locks: some network disks do not"
        raise StorageError(f"'{file}' can't be locked: {reason}", hint=hint) from error
    own = b"%-10d\n" % os.getpid()
    with suppress(OSError):  # only for people who ask who has it; what is changed has to be stored with the next fsync
        if os.pread(handle, len(own) + 1, 0) != own:
            os.pwrite(handle, own, 0)
    return True


def _wait(handle: int, file: str, seconds: float) -> None:
    """Queue up in the kernel: who only asks now and then finds that another was quicker, again and again.

    A flock that waits cannot be given up, so a thread of its own waits, with a descriptor of its own for the same lock:
    should it come too late, it closes the last one, and the lock is free again.
    """
    if _take(handle, file):
        return
    from threading import Thread  # noqa: PLC0415 - only where there is a queue

    waiter = Thread(target=_queue_up, args=(os.dup(handle),), daemon=True)
    waiter.start()
    waiter.join(seconds)
    if waiter.is_alive() or not _take(handle, file):
        holder = os.pread(handle, 20, 0).strip(b"\0\n ").decode("ascii", "replace")
        raise BusyError(
            f"{os.path.basename(file)} could not be had for {seconds:.0f} s, and process {holder or 'unknown'} has it",
            hint="wait for it, or end it, and try again",
        )


def _queue_up(handle: int) -> None:
    with suppress(OSError):  # whoever waits for this asks once more, and tells what is wrong
        fcntl.flock(handle, fcntl.LOCK_EX)
    os.close(handle)
