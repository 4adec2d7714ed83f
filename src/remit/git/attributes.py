"""Git attributes: how git merges a file of the workspace, and the line in `.gitattributes` that keeps both sides.

Git itself is asked for the attributes in force. An edit adds one line and keeps all other bytes.
"""

from __future__ import annotations

import os
import stat

from remit.errors import InputError, StorageError
from remit.git.git_errors import GitRefused, show
from remit.git.process import run
from remit.git.repository import find_repository
from remit.storage.files import load_bytes

NAME = ".gitattributes"
UNION = "union"
UNSPECIFIED = "unspecified"
MAX_BYTES = 1024 * 1024
_GLOB = "\\*?["
_SPECIAL = '#!"'


def find_merge(root: str, path: str) -> str | None:
    """How git merges a path below the root: `union`, another way, or `unspecified`; None where it knows no checkout."""
    try:
        repository = find_repository(root)
        _check_places(repository.top, f"{repository.prefix}{path}", repository.common)
        asked = ("check-attr", "-z", "merge", "--", f"{repository.prefix}{path}")
        # What the user has set for all repositories is no help to those who merge elsewhere.
        answer = run(repository.top, "-c", "core.attributesFile=/dev/null", *asked)
    except GitRefused as refused:
        if refused.diagnostic.code == "GIT002":
            return None
        raise refused.as_error() from refused
    parts = answer.out.split(b"\0")
    if answer.code or len(parts) <= 2:  # noqa: PLR2004 - path, name, value
        raise StorageError(f"git failed: {show(answer.reason)}", hint="check git status")
    return os.fsdecode(parts[2])


def _check_places(top: str, path: str, common: str) -> None:
    """Refuse what is no file where git would open one for a path: at a pipe it would wait for ever."""
    folders = path.split("/")[:-1]
    places = [f"{'/'.join([top, *folders[:depth]])}/{NAME}" for depth in range(len(folders) + 1)]
    for place in (*places, f"{common}/info/attributes"):
        if not _is_plain(place):
            raise InputError(f"'{place}' isn't a file", hint="move it away")


def _is_plain(file: str) -> bool:
    try:
        mode = os.stat(file).st_mode
    except OSError:
        return True  # nothing there, or nothing to be opened
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode)


def load_attributes(root: str) -> bytes | None:
    """The root's own `.gitattributes`, fit to be edited; None where there is none."""
    file = f"{root}/{NAME}"
    if os.path.islink(file):
        raise InputError(f"'{file}' is a symbolic link, which git doesn't follow", hint="replace it with a file")
    if not os.path.lexists(file):
        return None
    data = load_bytes(file, max_bytes=MAX_BYTES)
    if len(data) > MAX_BYTES:
        raise InputError(f"'{file}' has more than {MAX_BYTES:,} bytes", hint="check its content, and shorten it")
    if b"\0" in data:
        raise InputError(f"'{file}' isn't text", hint="check its content, and fix it")
    return data


def add_union(data: bytes | None, path: str) -> bytes:
    """The file with one more line, which has git keep both sides of a path; lines end as the others do."""
    before = data or b""
    end = b"\r\n" if b"\r\n" in before else b"\n"
    gap = end if before and not before.endswith(b"\n") else b""
    return before + gap + f"{render_pattern(path)} merge={UNION}".encode("utf-8", "surrogateescape") + end


def render_pattern(path: str) -> str:
    """A path as a pattern that matches it and nothing else."""
    pattern = "".join(f"\\{char}" if char in _GLOB else char for char in path)
    if "/" not in pattern or pattern[0] in _SPECIAL or pattern.startswith("\\["):
        pattern = f"/{pattern}"  # else it would match in every folder, or be read as something else
    if all(char > " " and char not in '"\x7f' for char in pattern):
        return pattern
    quoted = pattern.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(char if char >= " " and char != "\x7f" else f"\\{ord(char):03o}" for char in quoted) + '"'
