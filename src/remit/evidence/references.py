"""References to files in an agent's data: whether the file, or the line in it, exists below the root."""

from __future__ import annotations

import os
import stat
from functools import partial
from typing import TYPE_CHECKING

from remit.storage.safe_path import find_inside, open_folder

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_READ_BYTES = 64 * 1024 * 1024
_MAX_DIGITS = 9
_PIECE = 1 << 20


def make_format_checks(root: str) -> dict[str, Callable[[str], bool]]:
    """Return the checks of the schema formats `remit-path` and `file-line`, for one root."""
    return {"remit-path": partial(is_path, root), "file-line": partial(is_file_line, root)}


def is_path(root: str, text: str) -> bool:
    """Return whether a text names an existing file or folder below the root, without leaving it by a link."""
    below = find_inside(root, text) if text and not text.startswith("/") else None
    return below is not None and os.path.lexists(os.path.join(root, below))


def is_file_line(root: str, text: str) -> bool:
    """Return whether a text such as `src/a.py:12` names an existing line of a file below the root."""
    path, _, digits = text.rpartition(":")
    if not digits.isascii() or not digits.isdigit() or len(digits) > _MAX_DIGITS or int(digits) < 1:
        return False
    below = find_inside(root, path) if path and not path.startswith("/") else None
    return below is not None and _has_line(root, below, int(digits))


def _has_line(root: str, path: str, number: int) -> bool:
    folder, _, name = path.rpartition("/")
    try:
        handle = open_folder(root, folder)
        try:
            file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=handle)
        finally:
            os.close(handle)
        with os.fdopen(file, "rb") as stream:
            if not stat.S_ISREG(os.fstat(file).st_mode):
                return False
            count, read, last = 0, 0, b"\n"
            while (data := stream.read(_PIECE)) and read < MAX_READ_BYTES:
                read, last = read + len(data), data
                count += data.count(b"\n")
                if count >= number:
                    return True
            return count + (last[-1:] != b"\n") >= number
    except OSError:
        return False
