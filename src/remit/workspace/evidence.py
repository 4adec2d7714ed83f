"""Evidence: what is really on disk at the paths that an agent claims.

Owns looking at artifacts. It follows links and says where they end, it never opens what it looks at, and it trusts
nothing in a path: whatever does not end inside the root is `outside`.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from remit.model import ArtifactFacts, FileState

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def inspect_artifacts(paths: Iterable[str], *, root: Path, bases: tuple[Path, ...]) -> dict[str, ArtifactFacts]:
    """Look at each claimed path below the first of the bases that has it; all must end inside the root."""
    real_root = os.path.realpath(root)
    return {path: _inspect(path, real_root, bases) for path in dict.fromkeys(paths)}


def _inspect(path: str, real_root: str, bases: tuple[Path, ...]) -> ArtifactFacts:
    facts = ArtifactFacts(path, "missing")
    for base in bases:
        facts = _look(path, os.path.join(base, path), real_root)  # noqa: PTH118 - the path is foreign text
        if facts.state != "missing":
            break
    return facts


def _look(path: str, full: str, real_root: str) -> ArtifactFacts:
    try:
        real = os.path.realpath(full)
        if os.path.commonpath((real, real_root)) != real_root:
            return ArtifactFacts(path, "outside")
        found = os.stat(real, follow_symlinks=False)  # noqa: PTH116 - one system call, no object
    except (FileNotFoundError, NotADirectoryError):
        return ArtifactFacts(path, "missing")
    except (OSError, ValueError):  # too long, a loop of links, a NUL, no permission
        return ArtifactFacts(path, "unreadable")
    state: FileState = "file"
    if not stat.S_ISREG(found.st_mode):
        state = "special"
    elif found.st_size == 0:
        state = "empty"
    return ArtifactFacts(path, state, found.st_size)
