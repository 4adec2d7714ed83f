"""Files: reading what others wrote, under a cap.

Owns opening files. A folder, a device or a pipe that somebody left in a workspace is refused by what it is, not found
out by hanging on it.
"""

from __future__ import annotations

import os
import stat
import sys
from typing import TYPE_CHECKING

from remit.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

MAX_BYTES = 64 * 1024 * 1024 + 4
_TAIL_BYTES = 4 * 1024 * 1024


def load_bytes(path: str | Path, *, max_bytes: int = MAX_BYTES) -> bytes:
    """Read a file that the user named, up to a cap; one byte more than the cap shows that there was more."""
    name = os.fspath(path)
    try:
        if not _is_openable(name, os.stat(name).st_mode):  # noqa: PTH116 - pathlib costs 8 ms at start-up
            raise InputError(f"'{name}' is not a file", hint="name a file, or - for standard input")
        with open(name, "rb") as file:  # noqa: PTH123 - pathlib costs 8 ms at start-up
            return file.read(max_bytes + 1)
    except OSError as error:
        raise InputError(f"'{name}' cannot be read: {(error.strerror or str(error)).lower()}",
                         hint="check the path and its permissions") from error  # fmt: skip
    except ValueError as error:
        raise InputError(f"{name!r} is not a path: {error}", hint="name a file") from error


def load_stdin() -> bytes:
    """Read standard input, up to the same cap."""
    return sys.stdin.buffer.read(MAX_BYTES + 1)


def load_tail(path: Path) -> str:
    """The end of a file of lines: enough for any last line; empty where there is no file yet."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise InputError(f"{path} is not a file", hint="name the manifest's file")
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _TAIL_BYTES))
            return file.read(_TAIL_BYTES).decode("utf-8", "replace")
    except FileNotFoundError:
        return ""
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read: {error}", hint="check the path and its permissions") from error


def _is_openable(name: str, mode: int) -> bool:
    """A regular file, or a pipe that the shell itself handed over: `remit check <(command)`."""
    return stat.S_ISREG(mode) or (stat.S_ISFIFO(mode) and name.startswith(("/dev/fd/", "/dev/stdin", "/proc/self/fd/")))
