"""The folders and control pipes of attempts, and whether an attempt is alive."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from contextlib import suppress
from typing import TYPE_CHECKING

from remit.errors import BusyError, StorageError, UsageError
from remit.light_namedtuple import NamedTuple
from remit.storage.files import storage_error

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.ledger.home import Home


FIRST_CHECK = 1000
"""The executions of acceptance checks after attempt N have the folders from 1000 * N on; attempts have lower ones."""
NO_AGENT = "check-"
"""How the sessions begin in which Remit runs checks for the user: no process in them belongs to an agent."""
SESSIONS, LIVING, CONTROL = "sessions", "living", "control"
SMALL_BYTES = 4096
_MAX_RETURN_BYTES = 2 * 1024 * 1024
_RETURN = "return"
_MAX_ID_CHARS = 128
_NO_FILE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})
"""The file doesn't exist, or a link is in its place."""
_NO_RESOURCES = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM})


class AttemptFolder(NamedTuple):
    """The folder of one attempt."""

    session_id: str
    number: int
    folder: str


def find_folder(home: Home, session_id: str, number: int) -> str:
    """Return the folder of an attempt, whether it exists or not."""
    if not _is_id(session_id) or number < 1:
        raise UsageError(f"{session_id!r} isn't a session id", hint="see the ids with: remit ps --all")
    return f"{os.path.abspath(home.folder)}/{SESSIONS}/{session_id}/{number}"


def find_control(folder: str) -> str:
    """Return the control pipe of an attempt's shim.

    A mount hides the folder of the pipes from confined processes. A pipe on a read-only mount can be written, so the
    pipe isn't in the folder of the attempt, which the agent may read.
    """
    rest, session_id, number = folder.rsplit("/", 2)
    return f"{os.path.dirname(rest)}/{CONTROL}/{session_id}.{number}"


def _is_id(text: str) -> bool:
    plain = text.replace("_", "").replace("-", "")
    return len(text) <= _MAX_ID_CHARS and plain.isascii() and plain.isalnum()


def make_attempt(home: Home, session_id: str, number: int) -> AttemptFolder:
    """Create the folder of an attempt. An existing one that was never started is used as it is."""
    folder = find_folder(home, session_id, number)
    home.make_folder(SESSIONS)
    home.make_folder(CONTROL)
    control = find_control(folder)
    try:
        for place in (os.path.dirname(folder), folder):
            with suppress(FileExistsError):
                os.mkdir(place, 0o700)
            if not stat.S_ISDIR(os.lstat(place).st_mode):
                raise StorageError(f"'{place}' isn't a folder", hint="move it away")
        with suppress(FileExistsError):
            os.mkfifo(control, 0o600)
        with suppress(FileExistsError):
            os.mkdir(f"{folder}/{_RETURN}", 0o700)
        if not stat.S_ISFIFO(os.lstat(control).st_mode):
            raise StorageError(f"'{control}' isn't a pipe", hint="move it away")
    except OSError as error:
        raise storage_error(folder, error) from error
    return AttemptFolder(session_id, number, folder)


def find_return_file(folder: str) -> str:
    """Return the file to which the agent of an attempt can write its return. Its folder contains nothing else."""
    return f"{folder}/{_RETURN}/return.json"


def load_return_file(folder: str) -> bytes:
    """Return the content of the agent's return file; empty if there is none."""
    unreadable = _NO_FILE | {errno.EACCES, errno.EPERM}  # the agent owns the file and may have made it unreadable
    return _read_file(find_return_file(folder), _MAX_RETURN_BYTES, none=unreadable)


# --- living attempts --------------------------------------------------------------------------------------------------
def is_alive(folder: str) -> bool:
    """Return whether any process of an attempt is alive, or about to start."""
    handle = _lock_shared(folder)
    if handle is None:
        return os.path.isdir(folder)
    os.close(handle)
    return False


def _lock_shared(folder: str) -> int | None:
    """Return a handle of a dead attempt's folder with a shared lock; None if the attempt is alive or has no folder."""
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        return None
    return handle


def list_living(home: Home) -> list[AttemptFolder]:
    """Return the attempts that are alive now, by session id."""
    return sorted(_find_living(home))


def _find_living(home: Home) -> Iterator[AttemptFolder]:
    place = f"{home.folder}/{LIVING}"
    try:
        names = [] if os.path.islink(place) else os.listdir(place)
    except OSError:
        return
    for name in names:
        session_id, _, number = name.rpartition(".")
        if not _is_id(session_id) or not number.isdecimal() or not number.isascii() or session_id.startswith(NO_AGENT):
            continue
        attempt = AttemptFolder(session_id, int(number), find_folder(home, session_id, int(number)))
        handle = _lock_shared(attempt.folder)
        if handle is not None:
            # With the lock no process can start the attempt, so its mark isn't needed.
            with suppress(OSError):
                os.unlink(f"{place}/{name}")
            os.close(handle)
        elif os.path.isdir(attempt.folder):
            yield attempt


# --- sessions ---------------------------------------------------------------------------------------------------------
def has_session(home: Home, session_id: str) -> bool:
    """Return whether a session has a folder."""
    if not _is_id(session_id):
        return False
    folder = os.path.dirname(find_folder(home, session_id, 1))
    return os.path.isdir(folder) and not os.path.islink(folder)


def measure_sessions(home: Home) -> dict[str, int]:
    """Return the size of each session's folder in bytes. No link is followed."""
    place = f"{home.folder}/{SESSIONS}"
    names = [] if os.path.islink(place) else _list_folders(place)
    return {name: _measure_folder(f"{place}/{name}") for name in names if _is_id(name)}


def _list_folders(place: str) -> list[str]:
    try:
        with os.scandir(place) as entries:
            return [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []


def _measure_folder(folder: str) -> int:
    size, waiting = 0, [folder]
    while waiting:
        with suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                else:
                    size += entry.stat(follow_symlinks=False).st_size
    return size


def remove_session(home: Home, session_id: str) -> bool:
    """Remove a session with all its attempts; return whether there was one. Raise `BusyError` if one is alive."""
    folder = os.path.dirname(find_folder(home, session_id, 1))
    if os.path.islink(folder) or not os.path.isdir(folder):
        return False
    from shutil import rmtree  # noqa: PLC0415 - only for this

    for name in os.listdir(folder):
        if is_alive(f"{folder}/{name}"):
            raise BusyError(f"session {session_id} is running", hint=f"end it first: remit cancel {session_id}")
    try:
        for name in os.listdir(folder):
            with suppress(FileNotFoundError):
                os.unlink(find_control(f"{folder}/{name}"))
        rmtree(folder)
    except OSError as error:
        raise storage_error(folder, error) from error
    return True


def read_small(file: str) -> bytes:
    """Return the content of a small file of an attempt; empty if there is no such file.

    Raises `BusyError` if the machine has no descriptor or memory left, and `StorageError` if the disk fails: whether
    the file exists is unknown then.
    """
    return _read_file(file, SMALL_BYTES)


def _read_file(file: str, limit: int, *, none: frozenset[int] = _NO_FILE) -> bytes:
    """Return the first bytes of a regular file; empty if it is a link or anything else. Never blocks."""
    try:
        handle = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            return os.read(handle, limit) if stat.S_ISREG(os.fstat(handle).st_mode) else b""
        finally:
            os.close(handle)
    except OSError as error:
        if error.errno in none:
            return b""
        message = f"'{file}' can't be read: {(error.strerror or str(error)).lower()}"
        if error.errno in _NO_RESOURCES:
            raise BusyError(
                message, hint="end other programs or raise the limit (ulimit -n), then try again"
            ) from error
        raise StorageError(message, hint="check the disk and the folder's permissions, then try again") from error


SHIM = "import sys; sys.path.append(sys.argv[1]); import shim; shim.main()"
"""The program of a shim. It imports a module instead of running a script: Python caches the bytecode of modules, and
compiling takes 10 ms. The folder goes last in the path, so that nothing in it shadows the standard library."""


def send_control(folder: str, word: str) -> bool:
    """Ask a shim to end its agent: `cancel`, or `stop REASON`. Return whether a shim reads the pipe."""
    try:
        handle = os.open(find_control(folder), os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:  # no process reads, or there is no pipe
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
    """Return the attempt's folder that a shim was started with; "" if the process isn't a shim."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            words = file.read(SMALL_BYTES).split(b"\0")
    except OSError:
        return ""
    if SHIM.encode() not in words:
        return ""
    return os.fsdecode(b"".join(words[words.index(SHIM.encode()) + 2 :][:1]))
