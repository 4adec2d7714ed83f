"""Folders: where each attempt has its things, and whether anything of it is alive."""

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


SESSIONS, LIVING, CONTROL = "sessions", "living", "control"
SMALL_BYTES = 4096
_MAX_RETURN_BYTES = 2 * 1024 * 1024
_RETURN = "return"
_MAX_ID_LETTERS = 128
_NONE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})
"""There is no such file, or a link in its place."""
_SCARCE = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM})


class AttemptFolder(NamedTuple):
    """One time that an agent is sent to work."""

    session_id: str
    number: int
    folder: str


def find_folder(home: Home, session_id: str, number: int) -> str:
    """Where an attempt has its things, whether or not there is one."""
    if not _is_id(session_id) or number < 1:
        raise UsageError(f"{session_id!r} is not a session's id", hint="see the ids with: remit ps --all")
    return f"{os.path.abspath(home.folder)}/{SESSIONS}/{session_id}/{number}"


def find_control(folder: str) -> str:
    """The pipe for words to the shim of an attempt. No confined process reaches it: a mount hides the folder of pipes.

    A pipe on a read-only mount can be written, so it isn't in the folder of the attempt, which the agent may read.
    """
    rest, session_id, number = folder.rsplit("/", 2)
    return f"{os.path.dirname(rest)}/{CONTROL}/{session_id}.{number}"


def _is_id(text: str) -> bool:
    plain = text.replace("_", "").replace("-", "")
    return len(text) <= _MAX_ID_LETTERS and plain.isascii() and plain.isalnum()


def make_attempt(home: Home, session_id: str, number: int) -> AttemptFolder:
    """Make the folder of an attempt. One that is there already and was never started is taken as it is."""
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
            raise StorageError(f"'{control}' is not a pipe", hint="move it away")
    except OSError as error:
        raise storage_error(folder, error) from error
    return AttemptFolder(session_id, number, folder)


def find_return_file(folder: str) -> str:
    """The file of an attempt to which its agent can write its return. Its folder has nothing else in it."""
    return f"{folder}/{_RETURN}/return.json"


def load_return_file(folder: str) -> bytes:
    """The return that the agent of an attempt wrote to its file; empty if there is none."""
    unreadable = _NONE | {errno.EACCES, errno.EPERM}  # by the agent, whose file it is
    return _read_file(find_return_file(folder), _MAX_RETURN_BYTES, none=unreadable)


# --- who is alive -----------------------------------------------------------------------------------------------------
def is_alive(folder: str) -> bool:
    """Whether anything of an attempt is alive, or about to be."""
    handle = _lock_shared(folder)
    if handle is None:
        return os.path.isdir(folder)
    os.close(handle)
    return False


def _lock_shared(folder: str) -> int | None:
    """The folder of an attempt that is not alive, locked for looking at it; None where it is alive or not there."""
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
    """The attempts that are alive now, by their ids."""
    return sorted(_find_living(home))


def _find_living(home: Home) -> Iterator[AttemptFolder]:
    place = f"{home.folder}/{LIVING}"
    try:
        names = [] if os.path.islink(place) else os.listdir(place)
    except OSError:
        return
    for name in names:
        session_id, _, number = name.rpartition(".")
        if not _is_id(session_id) or not number.isdecimal() or not number.isascii():
            continue
        attempt = AttemptFolder(session_id, int(number), find_folder(home, session_id, int(number)))
        handle = _lock_shared(attempt.folder)
        if handle is not None:
            # While we hold the lock nobody can start it, and so nobody needs the mark that goes.
            with suppress(OSError):
                os.unlink(f"{place}/{name}")
            os.close(handle)
        elif os.path.isdir(attempt.folder):
            yield attempt


# --- all of a session -------------------------------------------------------------------------------------------------
def has_session(home: Home, session_id: str) -> bool:
    """Whether a session has a folder."""
    if not _is_id(session_id):
        return False
    folder = os.path.dirname(find_folder(home, session_id, 1))
    return os.path.isdir(folder) and not os.path.islink(folder)


def measure_sessions(home: Home) -> dict[str, int]:
    """The sessions that have a folder, and how many bytes are in it. No link is followed."""
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
    """Remove a session with all of its attempts; whether there was one. One that is alive stays."""
    folder = os.path.dirname(find_folder(home, session_id, 1))
    if os.path.islink(folder) or not os.path.isdir(folder):
        return False
    from shutil import rmtree  # noqa: PLC0415 - only for this

    for name in os.listdir(folder):
        if is_alive(f"{folder}/{name}"):
            raise BusyError(f"session {session_id} is at work", hint=f"end it first: remit cancel {session_id}")
    try:
        for name in os.listdir(folder):
            with suppress(FileNotFoundError):
                os.unlink(find_control(f"{folder}/{name}"))
        rmtree(folder)
    except OSError as error:
        raise storage_error(folder, error) from error
    return True


def read_small(file: str) -> bytes:
    """The content of a small file of an attempt; empty if there is no such file.

    Raises `BusyError` if the machine has no descriptor or memory left, and `StorageError` if the disk fails: whether
    there is a file is unknown then.
    """
    return _read_file(file, SMALL_BYTES)


def _read_file(file: str, limit: int, *, none: frozenset[int] = _NONE) -> bytes:
    """The first bytes of a regular file; empty if it is a link or anything else. It never waits for a writer."""
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
        if error.errno in _SCARCE:
            raise BusyError(
                message, hint="end other programs or raise the limit (ulimit -n), then try again"
            ) from error
        raise StorageError(message, hint="check the disk and the folder's permissions, then try again") from error


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
