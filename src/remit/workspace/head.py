"""Head: which branch is checked out, read from git's own file.

Owns that one look, without a git process: it is asked wherever a workspace is shown.
"""

from __future__ import annotations

import os

from remit.errors import InputError
from remit.workspace.files import load_bytes

_MAX_BYTES = 4096
_MAX_STEPS = 64
_SHORT = 8


def find_branch(root: str) -> str | None:
    """The branch, or the beginning of the commit where there is none; None outside of a repository."""
    folder = os.path.realpath(root)
    for _ in range(_MAX_STEPS):
        own = _find_own(folder)
        if own is not None:
            return _read_head(_load(f"{own}/HEAD"))
        above = os.path.dirname(folder)
        if above == folder:
            break
        folder = above
    return None


def _find_own(folder: str) -> str | None:
    """The folder of the checkout's state: `.git`, or what a file of that name leads to."""
    place = f"{folder.rstrip('/')}/.git"
    if os.path.isdir(place):
        return place
    told = _load(place) if os.path.isfile(place) else ""
    return os.path.join(folder, told.removeprefix("gitdir:").strip()) if told.startswith("gitdir:") else None


def _read_head(told: str) -> str | None:
    name = told.removeprefix("ref:").strip()
    if told.startswith("ref:"):
        return name.removeprefix("refs/heads/") or None
    return name[:_SHORT] if name and set(name) <= set("0123456789abcdef") else None


def _load(file: str) -> str:
    try:
        return os.fsdecode(load_bytes(file, max_bytes=_MAX_BYTES)).split("\n", 1)[0]
    except InputError:
        return ""
