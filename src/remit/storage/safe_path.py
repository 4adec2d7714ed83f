"""Access files of the workspace without following a link out of it (protects against TOCTOU races).

A link in a repository may lead anywhere, and an agent may replace a folder with a link at any time. So a path is
resolved and checked once, and then opened from the root folder by folder with `openat` and `O_NOFOLLOW`. All operations
use the folder that was opened.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from contextlib import ExitStack, contextmanager, suppress
from functools import wraps
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from remit.errors import EditedError, InputError
from remit.light_namedtuple import NamedTuple
from remit.storage.files import close_handle, name_half_written, write_all

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

P = ParamSpec("P")
T = TypeVar("T")

NOT_OURS = frozenset({".git", ".remit"})
"""Folders whose content nobody writes by its path: git's own, and Remit's own."""
PENDING = ".remit/pending"
"""Where new content waits until it is whole."""
MAX_HASHED_BYTES = 32 * 1024 * 1024
UNREADABLE = b"unreadable"
_TRIES, _PAUSE_S = 10, 0.05
"""How often a change starts over, and how long an editor that is just writing is waited for."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class FileTarget(NamedTuple):
    """A place for a file: a folder that is held open, and a name in it."""

    folder: int
    name: str


def name_below(root: str, path: str) -> str | None:
    """A full path as it is called from a root, "" for the root itself; None where it lies elsewhere.

    It is about the two texts only. Where links count, both are given without them.
    """
    if path == root:
        return ""
    inside = f"{root.rstrip('/')}/"
    return path.removeprefix(inside) if path.startswith(inside) else None


def find_inside(root: str, path: str) -> str | None:
    """Where a path ends, links followed, named from the root; None where that is outside, or in what is not ours."""
    try:
        below = name_below(os.path.realpath(root), os.path.realpath(os.path.join(root, path)))
    except (OSError, ValueError):  # a NUL, half a character
        return None
    return below if below and not NOT_OURS.intersection(below.split("/")) else None


@contextmanager
def open_target(root: str, path: str, *, make: bool = False) -> Iterator[FileTarget]:
    """Hold the folder of a file open, by a path without links, as `find_inside` gives it."""
    folder, _, name = path.rpartition("/")
    handle = open_folder(root, folder, make=make)
    try:
        yield FileTarget(handle, name)
    finally:
        close_handle(handle)


def open_folder(root: str, folder: str, *, make: bool = False) -> int:
    """A handle of a folder below the root, reached step by step; raise `OSError` where a step is a link."""
    handle = os.open(os.path.realpath(root), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    for name in folder.split("/") if folder else ():
        above = handle
        try:
            handle = _step(above, name, make=make)
        finally:
            close_handle(above)
    return handle


def _step(above: int, name: str, *, make: bool) -> int:
    try:
        return os.open(name, _FOLDER, dir_fd=above)
    except FileNotFoundError:
        if not make:
            raise
    try:
        os.mkdir(name, dir_fd=above)
        os.fsync(above)
    except FileExistsError:  # another one was quicker
        pass
    return os.open(name, _FOLDER, dir_fd=above)


def read_target(spot: FileTarget, *, max_bytes: int) -> bytes | None:
    """The content of the file at a spot; None where there is none."""
    try:
        handle = os.open(spot.name, _FILE, dir_fd=spot.folder)
    except FileNotFoundError:
        return None
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise InputError(f"'{spot.name}' isn't a file", hint="move it away")
        return file.read(max_bytes + 1)


def write_target(spot: FileTarget, data: bytes, *, like: FileTarget) -> None:
    """Make a file at a spot, whole and on disk, with the permissions of another one; nothing if it fails."""
    mode = _find_mode(like)
    # A file that others may not read is not shown to them while it is written.
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(spot.name, flags, 0o666 if mode is None else 0o600, dir_fd=spot.folder)
    try:
        try:
            write_all(handle, data)
            if mode is not None:
                os.fchmod(handle, mode)
            os.fsync(handle)
        finally:
            os.close(handle)
    except BaseException:
        remove_target(spot)
        raise


def _find_mode(spot: FileTarget) -> int | None:
    try:
        return stat.S_IMODE(os.stat(spot.name, dir_fd=spot.folder, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return None


def move_target(waiting: FileTarget, target: FileTarget) -> None:
    """Put a file in another one's place."""
    os.replace(waiting.name, target.name, src_dir_fd=waiting.folder, dst_dir_fd=target.folder)


def move_if_unchanged(waiting: FileTarget, target: FileTarget, before: bytes | None) -> bool:
    """Put a file in another one's place if that still has the hash `before`, None for no file; whether it was done.

    An edit is lost only if it falls between the last `stat` and the rename, which is the next call. Raise `OSError` if
    what is there can't be read.
    """
    stamp = _take_stamp(target)
    found = hash_target(target)
    if found == UNREADABLE:
        raise OSError(errno.EINVAL, "what is there now can't be read, or isn't a file", target.name)
    if found != before or _take_stamp(target) != stamp:
        return False
    move_target(waiting, target)
    return True


def hash_target(spot: FileTarget) -> bytes | None:
    """The SHA-256 of the file at a spot; None if there is none, `UNREADABLE` if it can't be read."""
    try:
        data = read_target(spot, max_bytes=MAX_HASHED_BYTES)
    except (OSError, InputError):
        return UNREADABLE
    return take_hash(data)


def take_hash(data: bytes | None) -> bytes | None:
    """The SHA-256 of a file's content; None if there is no file."""
    from hashlib import sha256  # noqa: PLC0415 - loads OpenSSL, and only whoever writes needs it

    return None if data is None else sha256(data).digest()


def _take_stamp(spot: FileTarget) -> tuple[int, ...] | None:
    """What changes with each edit of a file, in place or by a rename."""
    try:
        found = os.stat(spot.name, dir_fd=spot.folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def remove_target(spot: FileTarget) -> None:
    """Remove the file at a spot, if it is there and can be removed."""
    try:
        os.unlink(spot.name, dir_fd=spot.folder)
    except OSError:
        return


def retry_if_changed(change: Callable[P, T]) -> Callable[P, T]:
    """Repeat a change from the user's version if a user edited a file that it was about to replace.

    Gives up with the last `EditedError` where a file is edited again and again.
    """

    @wraps(change)
    def repeat(*args: P.args, **given: P.kwargs) -> T:
        for _ in range(_TRIES):
            with suppress(EditedError):
                return change(*args, **given)
            time.sleep(_PAUSE_S)
        return change(*args, **given)

    return repeat


def replace_inside(root: str, path: str, data: bytes, *, before: bytes | None) -> None:
    """Replace a file of the workspace at once, if it still is what it was `before` (None: no file). Make its folders.

    The new content waits in `.remit/pending`, if that is there: what a crash leaves then is in nobody's way. `path` is
    named from the root. Raise `OSError` where it cannot be done, or leads out of the workspace, and `EditedError` if
    somebody has changed the file.
    """
    below = find_inside(root, path)
    if below is None:
        raise PermissionError(1, "it leads out of the workspace", path)
    with ExitStack() as held:
        target = held.enter_context(open_target(root, below, make=True))
        own = target
        with suppress(OSError):
            own = held.enter_context(open_target(root, f"{PENDING}/x"))
        waiting = choose_waiting(target, own, name_half_written(target.name))
        write_target(waiting, data, like=target)
        try:
            is_moved = move_if_unchanged(waiting, target, take_hash(before))
        except BaseException:
            remove_target(waiting)
            raise
        if not is_moved:
            remove_target(waiting)
            raise EditedError(path)
        os.fsync(target.folder)


def choose_waiting(target: FileTarget, own: FileTarget, name: str) -> FileTarget:
    """Where new content waits: in our own folder, or beside its file where that is on another disk."""
    is_near = os.fstat(target.folder).st_dev == os.fstat(own.folder).st_dev
    return FileTarget(own.folder if is_near else target.folder, name)
