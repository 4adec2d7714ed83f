"""Read the checked-out branch and commit from git's files, without a git process."""

from __future__ import annotations

import os

from remit.errors import InputError
from remit.storage.files import load_bytes

_MAX_BYTES = 4096
_MAX_PACKED_BYTES = 4 * 1024 * 1024
_MAX_STEPS = 64
_DIGITS = frozenset("0123456789abcdef")
_SHORT = 8


def find_branch(root: str) -> str | None:
    """Return the checked-out branch, or the abbreviated commit without a branch; None outside of a repository."""
    own = _find_state(root)
    if own is None:
        return None
    text = _load(f"{own}/HEAD")
    name = text.removeprefix("ref:").strip()
    if text.startswith("ref:"):
        return name.removeprefix("refs/heads/") or None
    return name[:_SHORT] if name and set(name) <= _DIGITS else None


def find_commit(root: str) -> str:
    """Return the checked-out commit; empty if there is none, or if reading the files isn't enough to find it."""
    own = _find_state(root)
    if own is None:
        return ""
    text = _load(f"{own}/HEAD")
    if not text.startswith("ref:"):
        return text if _is_commit(text) else ""
    name = text.removeprefix("ref:").strip()
    if not name.startswith("refs/") or ".." in name:
        return ""
    shared = os.path.join(own, _load(f"{own}/commondir"))  # a worktree has its branches in the repository's folder
    loose = _load(f"{shared}/{name}")
    return loose if _is_commit(loose) else _find_packed(shared, name)


def _is_commit(text: str) -> bool:
    return len(text) in (40, 64) and set(text) <= _DIGITS


def _find_packed(shared: str, name: str) -> str:
    """Return the commit of a branch from `packed-refs`; empty if it isn't there."""
    try:
        lines = load_bytes(f"{shared}/packed-refs", max_bytes=_MAX_PACKED_BYTES).split(b"\n")
    except InputError:
        return ""
    wanted = b" " + os.fsencode(name)
    found = next((os.fsdecode(line[: -len(wanted)]) for line in lines if line.endswith(wanted)), "")
    return found if _is_commit(found) else ""


def _find_state(root: str) -> str | None:
    """Return the git folder of the checkout that contains a folder; None outside of a repository."""
    folder = os.path.realpath(root)
    for _ in range(_MAX_STEPS):
        own = _find_own(folder)
        if own is not None:
            return own
        above = os.path.dirname(folder)
        if above == folder:
            break
        folder = above
    return None


def _find_own(folder: str) -> str | None:
    """Return the folder `.git`, or the folder that a file of this name refers to; None if there is neither."""
    place = f"{folder.rstrip('/')}/.git"
    if os.path.isdir(place):
        return place
    text = _load(place) if os.path.isfile(place) else ""
    return os.path.join(folder, text.removeprefix("gitdir:").strip()) if text.startswith("gitdir:") else None


def _load(file: str) -> str:
    try:
        return os.fsdecode(load_bytes(file, max_bytes=_MAX_BYTES)).split("\n", 1)[0]
    except InputError:
        return ""
