"""User tools: which tools the user's own session is using, as files, because its hooks load no database for them.

A protected file that changes meanwhile may be the user's, so Remit doesn't move it away.
"""

from __future__ import annotations

import os
import time

FOLDER = ".remit/user-tools"
_MAX_AGE_S = 24 * 3600.0
"""A tool that began earlier ended without a hook."""
_MAX_NAME = 200


def begin_user_tool(root: str, tool_use_id: str) -> None:
    """Note that a tool is being used."""
    path = _find_file(root, tool_use_id)
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    for _ in range(2):
        try:
            os.close(os.open(path, flags, 0o600))
        except FileNotFoundError:
            if not os.path.isdir(f"{root}/.remit"):  # nothing of Remit's is at work here
                return
            os.makedirs(f"{root}/{FOLDER}", 0o700, exist_ok=True)
        else:
            return


def has_begun(root: str, tool_use_id: str) -> bool:
    """Return whether the beginning of a tool was noted."""
    return os.path.lexists(_find_file(root, tool_use_id))


def end_user_tool(root: str, tool_use_id: str) -> None:
    """Note that a tool isn't used any more."""
    try:
        os.unlink(_find_file(root, tool_use_id))
    except OSError:  # its beginning wasn't noted
        return


def is_user_tool_running(root: str) -> bool:
    """Return whether the user's own session is using a tool; what ended without a hook is forgotten after a day."""
    is_running = False
    try:
        entries = [*os.scandir(f"{root}/{FOLDER}")]
    except OSError:  # there is none
        return False
    for entry in entries:
        try:
            is_old = time.time() - entry.stat(follow_symlinks=False).st_mtime > _MAX_AGE_S
            if is_old:
                os.unlink(entry.path)
        except OSError:  # it ended meanwhile
            continue
        is_running = is_running or not is_old
    return is_running


def _find_file(root: str, tool_use_id: str) -> str:
    name = "".join(char if char.isascii() and (char.isalnum() or char in "-_") else "_" for char in tool_use_id)
    return f"{root}/{FOLDER}/{name[:_MAX_NAME]}"
