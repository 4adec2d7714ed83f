"""Evidence: what is really on disk at the paths that an agent claims.

Owns looking at artifacts. It follows links and says where they end, it never opens what it looks at, and it trusts
nothing in a path: whatever ends neither inside the root nor inside the folder it was looked up in is `outside`.
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
    """Look at each claimed path below the first of the bases that has it; it must end inside that base or the root."""
    real_root = os.path.realpath(root)
    places = [(base, _find_areas(base, real_root)) for base in bases]
    return {path: _inspect(path, places) for path in dict.fromkeys(paths)}


def _find_areas(base: Path, real_root: str) -> tuple[str, ...]:
    """Where a path may end that is looked up in a base: inside the root, and inside a base that the root does not hold.

    What lies below the root is the agent's to change: a base there that is a link opens nothing outside.
    """
    full = os.path.abspath(base)
    steps = [full]
    while (above := os.path.dirname(steps[-1])) != steps[-1]:
        steps.append(above)
    held = any(_is_inside(os.path.realpath(step), real_root) for step in steps)
    return (real_root,) if held else (real_root, os.path.realpath(full))


def _is_inside(real: str, area: str) -> bool:
    return real == area or real.startswith(os.path.join(area, ""))


def _inspect(path: str, places: list[tuple[Path, tuple[str, ...]]]) -> ArtifactFacts:
    facts = ArtifactFacts(path, "missing")
    for base, areas in places:
        facts = _look(path, os.path.join(base, path), areas)
        if facts.state != "missing":
            break
    return facts


def _look(path: str, full: str, areas: tuple[str, ...]) -> ArtifactFacts:
    try:
        real = os.path.realpath(full)
        if not any(_is_inside(real, area) for area in areas):
            return ArtifactFacts(path, "outside")
        found = os.stat(real, follow_symlinks=False)
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
