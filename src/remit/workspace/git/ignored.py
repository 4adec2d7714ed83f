"""Ignored: the paths below a folder that git ignores."""

from __future__ import annotations

import os

from remit.workspace.git.process import run
from remit.workspace.git.told import Refused

_MAX_SECONDS = 5.0


def list_ignored(folder: str) -> tuple[str, ...]:
    """The files and whole folders that git ignores; empty outside a repository, or if git fails."""
    try:
        answer = run(folder, "ls-files", "-z", "-o", "-i", "--exclude-standard", "--directory", seconds=_MAX_SECONDS)
    except Refused:
        return ()
    names = os.fsdecode(answer.out).split("\0") if answer.code == 0 else ()
    return tuple(name.rstrip("/") for name in names if name)
