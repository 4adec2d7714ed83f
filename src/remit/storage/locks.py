"""File locks (`flock`) between processes, with a timeout.

All locks in Remit are flocks: another kind wouldn't exclude them. A lock has its own file, because the protected file
is replaced by renaming. The lock file is never removed, because two processes could then lock two different files. The
kernel releases a lock when its process ends, so no stale lock is left.
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
    """Lock a file, with a timeout. Its folder has to exist, or `make_folder` creates it."""
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
    """True if the locked file is still the one under this name, which other processes lock."""
    try:
        return os.path.samestat(os.fstat(handle), os.lstat(file))
    except FileNotFoundError:
        return False
    except OSError as error:
        raise storage_error(file, error) from error


@contextmanager
def try_lock(file: str) -> Iterator[bool]:
    """Lock a file without waiting; yield whether it worked."""
    handle = _open(file)
    try:
        yield _take(handle, file)
    finally:
        close_handle(handle)


def find_lock_holder(file: str) -> int | None:
    """Return the process that has a lock; 0 if that isn't known, None if the lock is free or was never taken.

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
            pid = os.pread(handle, 20, 0).strip(b"\0\n ")
            return int(pid) if pid.isdigit() else 0
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
        hint = "move the workspace to a file system with file locks; some network file systems have none"
        raise StorageError(f"'{file}' can't be locked: {reason}", hint=hint) from error
    own = b"%-10d\n" % os.getpid()
    with suppress(OSError):  # only for users who look up its owner; an unchanged pid saves a write in the next fsync
        if os.pread(handle, len(own) + 1, 0) != own:
            os.pwrite(handle, own, 0)
    return True


def _wait(handle: int, file: str, seconds: float) -> None:
    """Wait in the kernel's queue: polling could lose the race again and again.

    A blocking flock can't time out, so a thread waits with its own descriptor for the same lock. If it gets the lock
    too late, it closes the last descriptor, which releases the lock.
    """
    if _take(handle, file):
        return
    from threading import Thread  # noqa: PLC0415 - only if the lock is taken

    waiter = Thread(target=_queue_up, args=(os.dup(handle),), daemon=True)
    waiter.start()
    waiter.join(seconds)
    if waiter.is_alive() or not _take(handle, file):
        holder = os.pread(handle, 20, 0).strip(b"\0\n ").decode("ascii", "replace")
        raise BusyError(
            f"{os.path.basename(file)} is still locked after {seconds:.0f} s by process {holder or 'unknown'}",
            hint="wait for that process or end it, then try again",
        )


def _queue_up(handle: int) -> None:
    with suppress(OSError):  # the waiting thread retries and reports the error
        fcntl.flock(handle, fcntl.LOCK_EX)
    os.close(handle)
