"""Git attributes: how git merges a file of the workspace, and the line in `.gitattributes` that keeps both sides.

Git itself returns the effective attributes. An edit adds one line and keeps all other bytes.
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
    """Return how git merges a path below the root: `union`, another driver, or `unspecified`.

    None outside of a checkout.
    """
    try:
        repository = find_repository(root)
        _check_places(repository.top, f"{repository.prefix}{path}", repository.common)
        asked = ("check-attr", "-z", "merge", "--", f"{repository.prefix}{path}")
        # The user's global attributes don't apply to other people who merge.
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
    """Raise `InputError` if a file that git would open for a path isn't a regular file: git would block on a pipe."""
    folders = path.split("/")[:-1]
    places = [f"{'/'.join([top, *folders[:depth]])}/{NAME}" for depth in range(len(folders) + 1)]
    for place in (*places, f"{common}/info/attributes"):
        if not _is_plain(place):
            raise InputError(f"'{place}' isn't a file", hint="move it away")


def _is_plain(file: str) -> bool:
    try:
        mode = os.stat(file).st_mode
    except OSError:
        return True  # missing, or can't be opened
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode)


def load_attributes(root: str) -> bytes | None:
    """Return the root's own `.gitattributes` for an edit; None if there is none."""
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
    """Return the file with one more line, which makes git keep both sides of a path; its line ends match the others."""
    before = data or b""
    end = b"\r\n" if b"\r\n" in before else b"\n"
    gap = end if before and not before.endswith(b"\n") else b""
    return before + gap + f"{render_pattern(path)} merge={UNION}".encode("utf-8", "surrogateescape") + end


def render_pattern(path: str) -> str:
    """Return a pattern that matches exactly this path."""
    pattern = "".join(f"\\{char}" if char in _GLOB else char for char in path)
    if "/" not in pattern or pattern[0] in _SPECIAL or pattern.startswith("\\["):
        pattern = f"/{pattern}"  # otherwise it would match in every folder, or have another meaning
    if all(char > " " and char not in '"\x7f' for char in pattern):
        return pattern
    quoted = pattern.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(char if char >= " " and char != "\x7f" else f"\\{ord(char):03o}" for char in quoted) + '"'
