"""Read the stored output of an agent, or the copy of output from another machine."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from typing import TYPE_CHECKING, Literal, NamedTuple

from remit.storage.files import storage_error, write_all

if TYPE_CHECKING:
    from collections.abc import Callable

    from remit.attempts.folders import AttemptFolder
    from remit.attempts.results import ShimResult

OUT_CAP_BYTES, ERR_CAP_BYTES = 64 << 20, 8 << 20
_FEED_BYTES = 1 << 20
_END_BYTES = 4096


def read_out(folder: str, offset: int, limit: int, *, stream: Literal["out", "err"] = "out") -> bytes:
    """Return a part of the agent's output so far; b"" if there is no more yet."""
    try:
        handle = os.open(f"{folder}/{stream}", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.pread(handle, limit, offset) if stat.S_ISREG(os.fstat(handle).st_mode) else b""
    finally:
        os.close(handle)


def measure_out(folder: str) -> int:
    """Return the size of the agent's output so far, in bytes."""
    try:
        return os.lstat(f"{folder}/out").st_size
    except OSError:
        return 0


def find_last_output_ms(folder: str) -> int | None:
    """Return when the agent last printed something; None if it never did."""
    times = []
    for stream in ("out", "err"):
        with suppress(OSError):
            found = os.lstat(f"{folder}/{stream}")
            times += [found.st_mtime_ns // 1_000_000] if found.st_size else []
    return max(times, default=None)


class OutputTail(NamedTuple):
    """The end of a stream that was longer than its file may be."""

    skipped_bytes: int
    """The bytes between the file's end and this tail, which weren't stored."""
    data: bytes


def load_tail(folder: str, result: ShimResult, *, stream: Literal["out", "err"] = "out") -> OutputTail | None:
    """Return the end of truncated output; None if the file is complete."""
    total, kept, is_cut = (
        (result.out_bytes, result.out_kept, result.out_cut)
        if stream == "out"
        else (result.err_bytes, result.err_kept, result.err_cut)
    )
    if not is_cut:
        return None
    file = f"{folder}/{stream}.tail"
    data = b""
    with suppress(OSError):
        handle = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as opened:
            data = opened.read(1 << 20) if stat.S_ISREG(os.fstat(handle).st_mode) else b""
    return OutputTail(max(0, total - kept - len(data)), data)


def read_err_end(folder: str, result: ShimResult) -> bytes:
    """Return the last whole lines of the agent's standard error."""
    tail = load_tail(folder, result, stream="err")
    offset = max(0, result.err_kept - _END_BYTES)
    data = tail.data[-_END_BYTES:] if tail is not None else read_out(folder, offset, _END_BYTES, stream="err")
    return data.partition(b"\n")[2] if offset and b"\n" in data else data


def feed_output(folder: str, result: ShimResult, feed: Callable[[bytes], None]) -> bool:
    """Feed the stored output to a reader; return whether all output that the shim stored is still there."""
    offset = 0
    while data := read_out(folder, offset, min(_FEED_BYTES, result.out_kept - offset)):
        offset += len(data)
        feed(data)
    tail = load_tail(folder, result)
    if tail is None or not result.out_tail_kept:  # an end that the disk had no room for was not kept
        return offset == result.out_kept
    feed(b"\n" + tail.data if tail.skipped_bytes else tail.data)  # a line that was cut in its middle ends there
    return (offset, len(tail.data)) == (result.out_kept, result.out_tail_kept)


# --- of an agent on another machine -----------------------------------------------------------------------------------


def measure_copy(attempt: AttemptFolder, stream: Literal["out", "err"]) -> int:
    """Return the size of the local copy of a stream."""
    try:
        return os.lstat(f"{attempt.folder}/{stream}").st_size
    except OSError:
        return 0


def add_copy(attempt: AttemptFolder, stream: Literal["out", "err"], at: int, data: bytes) -> None:
    """Append output to the copy. Idempotent: two followers of the same run write the same bytes."""
    folder = attempt.folder
    flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        handle = os.open(f"{folder}/{stream}", flags, 0o600)
        try:
            found = os.fstat(handle)
            if stat.S_ISREG(found.st_mode) and found.st_size >= at:
                os.lseek(handle, at, os.SEEK_SET)  # overwrites the same bytes if another follower was faster
                write_all(handle, data)
        finally:
            os.close(handle)
    except OSError as error:
        raise storage_error(folder, error) from error
