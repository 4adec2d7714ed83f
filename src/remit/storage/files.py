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
    """The end of a file of lines: enough for any last line; empty where there is no file yet."""
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
    """What stands behind an offset of a file of lines, or its end where that is too much; all of a shorter file."""
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
    """The lines of a file that the user named, one at a time: the line without its end, and whether it has one.

    Of a line over the cap one byte more than the cap is given, which shows that there was more.
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
    """The same file in blocks of whole lines. A line over the cap may lack what stands behind the cap."""
    with _open_filled(path) as file:
        while block := file.read(_BLOCK_BYTES):
            end = b"" if block.endswith(b"\n") else file.readline(max_line_bytes + 1)
            rest = end
            while rest and not rest.endswith(b"\n"):
                rest = file.readline(1 << 20)
            yield block + end + rest[-1:] if rest != end else block + end


@contextmanager
def _open_filled(path: str) -> Iterator[BinaryIO]:
    """Open a file that the user named; what is wrong with it is an error in a sentence."""
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
    """Refuse a giant that is mostly holes: to read a terabyte of nothing takes as long as to read a terabyte."""
    if found.st_size > _MAX_HOLES_BYTES and found.st_blocks * 512 < found.st_size // 2:
        raise InputError(
            f"'{path}' claims {found.st_size:,} bytes and has hardly any of them", hint="move it away, or restore it"
        )


def _is_openable(name: str, mode: int) -> bool:
    """A regular file, or a pipe that the shell itself handed over: `remit check <(command)`."""
    return stat.S_ISREG(mode) or (stat.S_ISFIFO(mode) and name.startswith(("/dev/fd/", "/dev/stdin", "/proc/self/fd/")))


def write_bytes(path: str, data: bytes, *, durable: bool = True) -> None:
    """Replace a file at once: whoever opens it sees the old content or the new one, also after a crash.

    What is not `durable` may be lost or torn when the machine itself stops: for what can be made again.
    A link stays a link: what it leads to is replaced. The file keeps its permissions.
    """
    write_blocks(path, (data,), durable=durable)


def write_blocks(path: str, blocks: Iterable[bytes], *, durable: bool = True) -> None:
    """Replace a file at once, as `write_bytes` does, with more than should be in memory at a time."""
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
    """What a file is called until it is whole: a name that nobody else gives, with the process that writes it."""
    return f".remit-{os.getpid()}-{os.urandom(4).hex()}-{name[:40]}"


def _write_beside(temporary: str, blocks: Iterable[bytes], *, target: str, durable: bool = True) -> None:
    """Write the bytes that a file shall have under another name, with the file's permissions; nothing if it fails."""
    try:
        mode = stat.S_IMODE(os.stat(target).st_mode)
    except FileNotFoundError:
        mode = None
    # A file that others may not read is not shown to them while it is written.
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
    """Write all of some bytes, however many writes that takes."""
    view = memoryview(data)
    while view:  # a disk that fills up takes a part first
        view = view[os.write(handle, view) :]


def close_handle(handle: int) -> None:
    """Close what nothing was written through: a folder, a lock. It is gone whatever the system says."""
    with suppress(OSError):
        os.close(handle)


def remove(path: str) -> None:
    """Remove a file if it is there and can be removed."""
    with suppress(OSError):
        os.unlink(path)


def append_line(path: str, line: bytes) -> int:
    """Append a line to a file with one write, see it on disk, and return where it begins.

    The caller holds the file's lock. A line that somebody left unfinished is ended first, so that it spoils nothing but
    itself. What can't be written whole is taken back.
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
        close_handle(handle)  # what was written is on disk already, or was reported to have failed
    if is_new:
        sync_folder(os.path.dirname(os.path.abspath(path)))
    return end - len(line) - 1


def _write_once(handle: int, data: bytes) -> None:
    if os.write(handle, data) < len(data):  # a second write could land behind somebody else's
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _take_back(handle: int, size: int, data: bytes) -> None:
    """Cut off what a failed write left, unless somebody has written behind it meanwhile."""
    with suppress(OSError):
        rest = os.pread(handle, len(data) + 1, size)
        if data.startswith(rest):
            os.ftruncate(handle, size)


def write_text(path: str, text: str, *, make_folders: bool = False) -> None:
    """Write a text that the user asked for. Of one that was read, every byte comes back."""
    write_texts(path, (text,), make_folders=make_folders)


def write_texts(path: str, texts: Iterable[str], *, make_folders: bool = False) -> None:
    """Write a text that the user asked for, part by part; a regular file is there once the last part is."""
    try:
        if make_folders:
            os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
        blocks = (text.encode("utf-8", "surrogateescape") for text in texts)
        if os.path.exists(path) and not os.path.isfile(path):  # a device or a pipe stays what it is
            with open(path, "wb") as file:
                file.writelines(blocks)
        else:
            write_blocks(path, blocks)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        hint = "check the folder and its permissions"
        raise InputError(f"'{path}' can't be written: {reason}", hint=hint) from error


def sync_folder(folder: str) -> None:
    """See the names in a folder on disk."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def storage_error(path: str, error: OSError) -> StorageError:
    """What to say when a file of the workspace could not be written."""
    reason = (error.strerror or str(error)).lower()
    full = error.errno in {errno.ENOSPC, errno.EDQUOT}
    hint = (
        "make room on the disk and try again" if full else "check the disk and the folder's permissions, then try again"
    )
    return StorageError(f"'{path}' can't be written: {reason}", hint=hint)


def make_private_folder(folder: str) -> None:
    """Make a folder of Remit's own below `.remit`, which tells git to leave it alone and nobody else may look into."""
    head, found, _ = folder.rpartition("/.remit")
    own = f"{head}{found}" if found else folder
    for place in dict.fromkeys((own, folder)):  # what agents were told and said is kept there word for word
        os.makedirs(place, mode=0o700, exist_ok=True)
    marker = os.path.join(own, ".gitignore")
    if not os.path.lexists(marker):
        write_bytes(marker, b"*\n", durable=False)
