"""Read files with a size cap, and replace or append to them atomically and durably.

Folders, devices and pipes in a workspace are rejected by their type, so reading them never blocks.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from remit.errors import InputError, StorageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path
    from typing import BinaryIO

MAX_BYTES = 64 * 1024 * 1024 + 4
_TAIL_BYTES = 4 * 1024 * 1024
_BLOCK_BYTES = 64 * 1024
_MAX_HOLES_BYTES = 64 * 1024 * 1024


def load_bytes(path: str | Path, *, max_bytes: int = MAX_BYTES) -> bytes:
    """Read a file that the user named, up to a cap; one byte more than the cap shows that there was more."""
    name = os.fspath(path)
    try:
        if not _is_openable(name, os.stat(name).st_mode):
            raise InputError(f"'{name}' isn't a file", hint="name a file, or - for standard input")
        with open(name, "rb") as file:
            return file.read(max_bytes + 1)
    except OSError as error:
        raise InputError(f"'{name}' can't be read: {(error.strerror or str(error)).lower()}",
                         hint="check the path and its permissions") from error  # fmt: skip
    except ValueError as error:
        raise InputError(f"{name!r} isn't a path: {error}", hint="name a file") from error


def load_stdin() -> bytes:
    """Read standard input, up to the same cap."""
    if sys.stdin is None:
        raise InputError("standard input is closed", hint="give it something to read, or name a file")
    return sys.stdin.buffer.read(MAX_BYTES + 1)


def load_tail(path: Path) -> str:
    """Return the end of a file of lines, enough for any last line; empty if the file doesn't exist."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise InputError(f"{path} isn't a file", hint="name the manifest's file")
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _TAIL_BYTES))
            return file.read(_TAIL_BYTES).decode("utf-8", "replace")
    except FileNotFoundError:
        return ""
    except (OSError, ValueError) as error:
        raise InputError(f"{path} can't be read: {error}", hint="check the path and its permissions") from error


def load_appended(path: str, offset: int) -> str:
    """Return the content of a file of lines from an offset on, or all of a shorter file.

    If that is too long, only its end is returned.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            found = os.fstat(handle)
            if not stat.S_ISREG(found.st_mode):
                raise InputError(f"'{path}' isn't a file", hint="name the manifest's file")
            start = offset if offset <= found.st_size else 0
            start = max(start, found.st_size - _TAIL_BYTES)
            return os.pread(handle, _TAIL_BYTES, start).decode("utf-8", "replace")
        finally:
            os.close(handle)
    except FileNotFoundError:
        return ""
    except (OSError, ValueError) as error:
        raise InputError(f"'{path}' can't be read: {error}", hint="check the path and its permissions") from error


def load_lines(path: str, *, max_bytes: int) -> Iterator[tuple[bytes, bool]]:
    """Yield the lines of a file that the user named: each line without its end, and whether it has one.

    A line over the cap is truncated to one byte more than the cap.
    """
    with _open_filled(path) as file:
        while line := file.readline(max_bytes + 1):
            ended = line.endswith(b"\n")
            rest = line
            while not ended and rest and len(line) > max_bytes:
                rest = file.readline(1 << 20)
                ended = rest.endswith(b"\n")
            yield line.removesuffix(b"\n"), ended


def load_blocks(path: str, *, max_line_bytes: int) -> Iterator[bytes]:
    """Yield the same file in blocks of whole lines. A line over the cap may be truncated."""
    with _open_filled(path) as file:
        while block := file.read(_BLOCK_BYTES):
            end = b"" if block.endswith(b"\n") else file.readline(max_line_bytes + 1)
            rest = end
            while rest and not rest.endswith(b"\n"):
                rest = file.readline(1 << 20)
            yield block + end + rest[-1:] if rest != end else block + end


@contextmanager
def _open_filled(path: str) -> Iterator[BinaryIO]:
    """Open a file that the user named, with its errors translated."""
    try:
        found = os.stat(path)
        if not _is_openable(path, found.st_mode):
            raise InputError(f"'{path}' isn't a file", hint="name a file")
        check_filled(path, found)
        with open(path, "rb", buffering=1 << 18) as file:
            yield file
    except OSError as error:
        raise InputError(f"'{path}' can't be read: {(error.strerror or str(error)).lower()}",
                         hint="check the path and its permissions") from error  # fmt: skip
    except ValueError as error:
        raise InputError(f"{path!r} isn't a path: {error}", hint="name a file") from error


def check_filled(path: str, found: os.stat_result) -> None:
    """Raise `InputError` for a large file that is mostly holes.

    Reading a terabyte of zeros takes as long as reading a terabyte of data.
    """
    if found.st_size > _MAX_HOLES_BYTES and found.st_blocks * 512 < found.st_size // 2:
        raise InputError(
            f"'{path}' is {found.st_size:,} bytes long, but nearly all of it is a hole",
            hint="move it away, or restore it",
        )


def _is_openable(name: str, mode: int) -> bool:
    """Return whether it is a regular file, or a pipe from the shell: `remit check <(command)`."""
    return stat.S_ISREG(mode) or (stat.S_ISFIFO(mode) and name.startswith(("/dev/fd/", "/dev/stdin", "/proc/self/fd/")))


def write_bytes(path: str, data: bytes, *, durable: bool = True) -> None:
    """Replace a file atomically: readers see either the old or the new content, also after a crash.

    A file that isn't `durable` may be lost or torn if the machine crashes: for content that can be recreated. A link
    stays a link: its target is replaced. The file keeps its permissions.
    """
    write_blocks(path, (data,), durable=durable)


def write_blocks(path: str, blocks: Iterable[bytes], *, durable: bool = True) -> None:
    """Replace a file atomically, as `write_bytes` does, without having all of it in memory."""
    target = os.path.realpath(path)
    folder, name = os.path.split(target)
    temporary = os.path.join(folder, name_half_written(name))
    _write_beside(temporary, blocks, target=target, durable=durable)
    try:
        os.replace(temporary, target)
    except BaseException:
        remove(temporary)
        raise
    if durable:
        sync_folder(folder)


def name_half_written(name: str) -> str:
    """Return a unique temporary name, with the id of this process."""
    return f".remit-{os.getpid()}-{os.urandom(4).hex()}-{name[:40]}"


def _write_beside(temporary: str, blocks: Iterable[bytes], *, target: str, durable: bool = True) -> None:
    """Write a file's new content under a temporary name, with the file's permissions; remove it on failure."""
    try:
        mode = stat.S_IMODE(os.stat(target).st_mode)
    except FileNotFoundError:
        mode = None
    # While it is written, a file must not be readable for more users than before.
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666 if mode is None else 0o600)
    try:
        try:
            for block in blocks:
                write_all(handle, block)
            if mode is not None:
                os.fchmod(handle, mode)
            if durable:
                os.fsync(handle)
        finally:
            os.close(handle)
    except BaseException:
        remove(temporary)
        raise


def write_all(handle: int, data: bytes) -> None:
    """Write all bytes, with as many calls as necessary."""
    view = memoryview(data)
    while view:  # a nearly full disk first takes a part
        view = view[os.write(handle, view) :]


def close_handle(handle: int) -> None:
    """Close a handle that nothing was written through, such as a folder or a lock. Errors don't matter."""
    with suppress(OSError):
        os.close(handle)


def remove(path: str) -> None:
    """Remove a file if it exists and can be removed."""
    with suppress(OSError):
        os.unlink(path)


def append_line(path: str, line: bytes) -> int:
    """Append a line to a file with one write, sync it, and return its offset.

    The caller has the file's lock. An unfinished last line is ended first, so that it damages only itself. A partial
    write is undone.
    """
    is_new = not os.path.lexists(path)
    handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK, 0o666)
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise InputError(f"'{path}' isn't a file", hint="move it away")
        size = found.st_size
        torn = size > 0 and os.pread(handle, 1, size - 1) != b"\n"
        data = b"\n" + line + b"\n" if torn else line + b"\n"
        try:
            _write_once(handle, data)
            os.fsync(handle)
        except BaseException:
            _take_back(handle, size, data)
            raise
        end = os.lseek(handle, 0, os.SEEK_CUR)
    finally:
        close_handle(handle)  # written data is synced already, or its failure was reported
    if is_new:
        sync_folder(os.path.dirname(os.path.abspath(path)))
    return end - len(line) - 1


def _write_once(handle: int, data: bytes) -> None:
    if os.write(handle, data) < len(data):  # a second write could be separated from the first
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _take_back(handle: int, size: int, data: bytes) -> None:
    """Truncate a failed write, unless another process has appended since."""
    with suppress(OSError):
        rest = os.pread(handle, len(data) + 1, size)
        if data.startswith(rest):
            os.ftruncate(handle, size)


def write_text(path: str, text: str, *, make_folders: bool = False) -> None:
    """Write a text to a path that the user named. Bytes that were decoded with surrogates are restored."""
    write_texts(path, (text,), make_folders=make_folders)


def write_texts(path: str, texts: Iterable[str], *, make_folders: bool = False) -> None:
    """Write a text in parts to a path that the user named; a regular file is replaced after the last part."""
    try:
        if make_folders:
            os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
        blocks = (text.encode("utf-8", "surrogateescape") for text in texts)
        if os.path.exists(path) and not os.path.isfile(path):  # a device or a pipe is written in place
            with open(path, "wb") as file:
                file.writelines(blocks)
        else:
            write_blocks(path, blocks)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        hint = "check the folder and its permissions"
        raise InputError(f"'{path}' can't be written: {reason}", hint=hint) from error


def sync_folder(folder: str) -> None:
    """Sync the names in a folder to disk."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def storage_error(path: str, error: OSError) -> StorageError:
    """Return the error for a file of the workspace that couldn't be written."""
    reason = (error.strerror or str(error)).lower()
    full = error.errno in {errno.ENOSPC, errno.EDQUOT}
    hint = (
        "make room on the disk and try again" if full else "check the disk and the folder's permissions, then try again"
    )
    return StorageError(f"'{path}' can't be written: {reason}", hint=hint)


def make_private_folder(folder: str) -> None:
    """Create a folder below `.remit`, readable only for the user and ignored by git."""
    head, found, _ = folder.rpartition("/.remit")
    own = f"{head}{found}" if found else folder
    for place in dict.fromkeys((own, folder)):  # it has the prompts and answers of agents
        os.makedirs(place, mode=0o700, exist_ok=True)
    marker = os.path.join(own, ".gitignore")
    if not os.path.lexists(marker):
        write_bytes(marker, b"*\n", durable=False)
