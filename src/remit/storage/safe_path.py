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
"""Folders into which nothing is written by path: git's and Remit's own."""
PENDING = ".remit/pending"
"""The folder for staged contents."""
MAX_HASHED_BYTES = 32 * 1024 * 1024
UNREADABLE = b"unreadable"
_TRIES, _PAUSE_S = 10, 0.05
"""How often a change is retried, and the pause for an editor that is just writing."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class FileTarget(NamedTuple):
    """A place for a file: the handle of an open folder, and a name in it."""

    folder: int
    name: str


def name_below(root: str, path: str) -> str | None:
    """Return an absolute path relative to a root, "" for the root itself; None if it is elsewhere.

    Compares only the texts. If links matter, both paths have to be resolved before.
    """
    if path == root:
        return ""
    inside = f"{root.rstrip('/')}/"
    return path.removeprefix(inside) if path.startswith(inside) else None


def find_inside(root: str, path: str) -> str | None:
    """Return the real target of a path, relative to the root; None if it is outside, or inside `.git` or `.remit`."""
    try:
        below = name_below(os.path.realpath(root), os.path.realpath(os.path.join(root, path)))
    except (OSError, ValueError):  # a NUL, a lone surrogate
        return None
    return below if below and not NOT_OURS.intersection(below.split("/")) else None


@contextmanager
def open_target(root: str, path: str, *, make: bool = False) -> Iterator[FileTarget]:
    """Open the folder of a file, by a path without links, as `find_inside` returns it."""
    folder, _, name = path.rpartition("/")
    handle = open_folder(root, folder, make=make)
    try:
        yield FileTarget(handle, name)
    finally:
        close_handle(handle)


def open_folder(root: str, folder: str, *, make: bool = False) -> int:
    """Return a handle of a folder below the root, opened step by step; raise `OSError` if a step is a link."""
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
    except FileExistsError:  # another process was faster
        pass
    return os.open(name, _FOLDER, dir_fd=above)


def read_target(target: FileTarget, *, max_bytes: int) -> bytes | None:
    """Return the content of a file; None if there is none."""
    try:
        handle = os.open(target.name, _FILE, dir_fd=target.folder)
    except FileNotFoundError:
        return None
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise InputError(f"'{target.name}' isn't a file", hint="move it away")
        return file.read(max_bytes + 1)


def write_target(target: FileTarget, data: bytes, *, like: FileTarget) -> None:
    """Create a file with its content synced and the permissions of another one; remove it on failure."""
    mode = _find_mode(like)
    # A file that others may not read is not shown to them while it is written.
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(target.name, flags, 0o666 if mode is None else 0o600, dir_fd=target.folder)
    try:
        try:
            write_all(handle, data)
            if mode is not None:
                os.fchmod(handle, mode)
            os.fsync(handle)
        finally:
            os.close(handle)
    except BaseException:
        remove_target(target)
        raise


def _find_mode(target: FileTarget) -> int | None:
    try:
        return stat.S_IMODE(os.stat(target.name, dir_fd=target.folder, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return None


def move_target(staged: FileTarget, target: FileTarget) -> None:
    """Replace a file by another one."""
    os.replace(staged.name, target.name, src_dir_fd=staged.folder, dst_dir_fd=target.folder)


def move_if_unchanged(staged: FileTarget, target: FileTarget, before: bytes | None) -> bool:
    """Replace a file if it still has the hash `before` (None: no file); return whether it was replaced.

    An edit is lost only if it falls between the last `stat` and the rename, which is the next call. Raise `OSError` if
    the existing file can't be read.
    """
    stamp = _take_stamp(target)
    found = hash_target(target)
    if found == UNREADABLE:
        raise OSError(errno.EINVAL, "the existing file can't be read, or isn't a regular file", target.name)
    if found != before or _take_stamp(target) != stamp:
        return False
    move_target(staged, target)
    return True


def hash_target(target: FileTarget) -> bytes | None:
    """Return the SHA-256 of a file; None if there is none, `UNREADABLE` if it can't be read."""
    try:
        data = read_target(target, max_bytes=MAX_HASHED_BYTES)
    except (OSError, InputError):
        return UNREADABLE
    return take_hash(data)


def take_hash(data: bytes | None) -> bytes | None:
    """Return the SHA-256 of a file's content; None if there is no file."""
    from hashlib import sha256  # noqa: PLC0415 - loads OpenSSL, which only writers need

    return None if data is None else sha256(data).digest()


def _take_stamp(target: FileTarget) -> tuple[int, ...] | None:
    """Return a stamp that changes with each edit of a file, in place or by a rename."""
    try:
        found = os.stat(target.name, dir_fd=target.folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def remove_target(target: FileTarget) -> None:
    """Remove a file if it exists and can be removed."""
    try:
        os.unlink(target.name, dir_fd=target.folder)
    except OSError:
        return


def retry_if_changed(change: Callable[P, T]) -> Callable[P, T]:
    """Retry a change with the user's version if a user edited a file that it was about to replace.

    Raises the last `EditedError` if a file is edited again and again.
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
    """Replace a file of the workspace atomically if it still is as `before` (None: no file). Creates its folders.

    The new content is staged in `.remit/pending` if that exists, where leftovers of a crash do no harm. `path` is
    relative to the root. Raise `OSError` if it can't be replaced or leads out of the workspace, and `EditedError` if a
    user has changed the file.
    """
    below = find_inside(root, path)
    if below is None:
        raise PermissionError(1, "it is outside the workspace", path)
    with ExitStack() as stack:
        target = stack.enter_context(open_target(root, below, make=True))
        own = target
        with suppress(OSError):
            own = stack.enter_context(open_target(root, f"{PENDING}/x"))
        staged = choose_staging(target, own, name_half_written(target.name))
        write_target(staged, data, like=target)
        try:
            is_moved = move_if_unchanged(staged, target, take_hash(before))
        except BaseException:
            remove_target(staged)
            raise
        if not is_moved:
            remove_target(staged)
            raise EditedError(path)
        os.fsync(target.folder)


def choose_staging(target: FileTarget, own: FileTarget, name: str) -> FileTarget:
    """Return where new content is staged: in `.remit/pending`, or beside its file if that is on another file system."""
    is_near = os.fstat(target.folder).st_dev == os.fstat(own.folder).st_dev
    return FileTarget(own.folder if is_near else target.folder, name)
