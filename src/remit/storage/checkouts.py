"""Find the main checkout of a linked git worktree, without running git.

This runs at every start of Remit. A `.git` file may contain anything, so it counts only if the repository that it names
also lists this worktree.
"""

from __future__ import annotations

import os
import stat

MAX_POINTER_BYTES = 4096
_MAX_STEPS = 64


def find_main_checkout(folder: str) -> str | None:
    """Return the same folder in the main checkout; None if the folder isn't in a linked worktree."""
    here = os.path.realpath(folder)
    for _ in range(_MAX_STEPS):
        pointer = f"{here.rstrip('/')}/.git"
        try:
            mode = os.lstat(pointer).st_mode
        except (OSError, ValueError):
            above = os.path.dirname(here)
            if above == here:
                return None
            here = above
            continue
        main = _follow(here, pointer) if stat.S_ISREG(mode) else None
        inside = os.path.relpath(os.path.realpath(folder), here)
        return main if main is None or inside == "." else os.path.join(main, inside)
    return None


def mark_checkout(folder: str) -> str:
    """Return a mark of the repository at a path; "" without one.

    It differs from that of another repository that is created at the same path later.
    """
    here = os.path.realpath(folder)
    for _ in range(_MAX_STEPS):
        pointer = f"{here.rstrip('/')}/.git"
        try:
            found = os.lstat(pointer)
        except (OSError, ValueError):
            above = os.path.dirname(here)
            if above == here:
                return ""
            here = above
            continue
        git_pointer = _load_pointer(pointer) if stat.S_ISREG(found.st_mode) else ""
        return f"{here}:{found.st_dev}:{found.st_ino}:{git_pointer or ''}"
    return ""


def _follow(worktree: str, pointer: str) -> str | None:
    """Return the main checkout to which a `.git` file refers, if that repository lists the worktree."""
    git_pointer = _load_pointer(pointer)
    if git_pointer is None or not git_pointer.startswith("gitdir:"):
        return None
    own = os.path.realpath(os.path.join(worktree, git_pointer.removeprefix("gitdir:").strip(" \t")))
    common, back = _load_pointer(f"{own}/commondir"), _load_pointer(f"{own}/gitdir")
    if not common or not back:
        return None
    shared = os.path.realpath(os.path.join(own, common))
    if os.path.dirname(own) != f"{shared}/worktrees" or os.path.realpath(os.path.join(own, back)) != pointer:
        return None
    main, name = os.path.split(shared)
    # A bare repository has no main checkout, and a submodule keeps its own elsewhere.
    return main if name == ".git" and os.path.isdir(shared) else None


def _load_pointer(file: str) -> str | None:
    """Return the single line of a small file; None for anything else: a folder, a link, a pipe, a large file."""
    try:
        handle = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return None
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return None
        data = os.read(handle, MAX_POINTER_BYTES + 1)
    except OSError:
        return None
    finally:
        os.close(handle)
    if len(data) > MAX_POINTER_BYTES or b"\0" in data:
        return None
    return os.fsdecode(data).rstrip("\r\n")
