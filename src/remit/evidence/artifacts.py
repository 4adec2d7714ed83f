"""Find the files at the paths that an agent reported or that a tool wrote.

Links are followed to their end, and no file is opened. A path that ends neither inside the root nor inside the folder
where it was looked up is `outside`. A link that is newer than the tree before the run may have had another target when
a tool used it, so the file that the tool wrote is unknown.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from remit.light_namedtuple import NamedTuple
from remit.model import ArtifactFacts, FileState
from remit.storage.safe_path import name_below

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


class BaseFolder(NamedTuple):
    """A folder in which paths are looked up, and the areas in which they may end."""

    folder: str
    areas: tuple[str, ...]


class FoundArtifact(NamedTuple):
    """The file at a claimed path, with links followed."""

    facts: ArtifactFacts
    full: str = ""
    """The path as it was looked up, with its links."""
    area: str = ""
    """The area in which it ends; empty if it ends in none."""
    inside: str = ""
    """The real path below the area."""
    mode: int = 0


def inspect_artifacts(
    paths: Iterable[str], *, root: str | Path, bases: Iterable[str | Path]
) -> dict[str, ArtifactFacts]:
    """Return the facts about each claimed path, looked up in the first of the bases that has it.

    It must end inside that base or the root.
    """
    prepared = prepare_bases(root, bases)
    return {path: find_artifact(path, prepared).facts for path in dict.fromkeys(paths)}


def inspect_accepted(paths: Iterable[str], root: str, workspace_root: str = "") -> dict[str, ArtifactFacts]:
    """Return the current facts about accepted artifacts, whose paths start at the root or at hyper's workspace root."""
    bases = (root, workspace_root) if workspace_root else (root,)
    return inspect_artifacts(paths, root=root, bases=bases)


def prepare_bases(root: str | Path, bases: Iterable[str | Path]) -> tuple[BaseFolder, ...]:
    """Return the folders in which paths are looked up, in order."""
    real_root = os.path.realpath(root)
    return tuple(BaseFolder(os.fspath(base), _find_areas(base, real_root)) for base in bases)


def find_artifact(path: str, bases: tuple[BaseFolder, ...]) -> FoundArtifact:
    """Return the file at a path, in the first of the bases that has it."""
    found = FoundArtifact(ArtifactFacts(path, "missing"))
    for base in bases:
        found = _inspect(path, os.path.join(base.folder, path), base.areas)
        if found.facts.state != "missing":
            break
    return found


def _find_areas(base: str | Path, real_root: str) -> tuple[str, ...]:
    """Return the areas in which a path may end: the root, and the base if it is outside of the root.

    The agent can change everything below the root, so a link there doesn't make a folder outside accessible.
    """
    full = os.path.abspath(base)
    steps = [full]
    while (above := os.path.dirname(steps[-1])) != steps[-1]:
        steps.append(above)
    is_below_root = any(name_below(real_root, os.path.realpath(step)) is not None for step in steps)
    return (real_root,) if is_below_root else (real_root, os.path.realpath(full))


def _inspect(path: str, full: str, areas: tuple[str, ...]) -> FoundArtifact:
    try:
        real = os.path.realpath(full)
        area = next((area for area in areas if name_below(area, real) is not None), None)
        if area is None:
            return FoundArtifact(ArtifactFacts(path, "outside"), full)
        found = os.stat(real, follow_symlinks=False)
    except (FileNotFoundError, NotADirectoryError):
        return FoundArtifact(ArtifactFacts(path, "missing"), full)
    except (OSError, ValueError):  # too long, a cycle of links, a NUL, no permission
        return FoundArtifact(ArtifactFacts(path, "unreadable"), full)
    state: FileState = "file"
    if stat.S_ISREG(found.st_mode) and path.rpartition("/")[2] in ("", "."):
        return FoundArtifact(
            ArtifactFacts(path, "missing"), full
        )  # `x/` can only be a folder, so there is no such file
    if not stat.S_ISREG(found.st_mode):
        state = "special"
    elif found.st_size == 0:
        state = "empty"
    facts = ArtifactFacts(path, state, found.st_size)
    return FoundArtifact(facts, full, area, name_below(area, real) or "", found.st_mode)


_MAX_LINKS = 40


def find_written_path(root: str, path: str, taken_ns: int) -> str | None:
    """Return the path below the root of the file that a tool wrote; None if that isn't known for sure."""
    real = os.path.realpath(root)
    whole = os.path.join(real, path)
    if "\0" in whole:
        return None
    done, left, followed = "", whole.split("/")[::-1], 0
    while left:
        step = left.pop()
        if step in {"", "."}:
            continue
        if step == "..":
            done = done.rpartition("/")[0]
            continue
        try:
            target = os.readlink(f"{done}/{step}")
            is_new = os.lstat(f"{done}/{step}").st_ctime_ns > taken_ns
        except OSError:  # not a link, or gone
            done = f"{done}/{step}"
            continue
        followed += 1
        if is_new or followed > _MAX_LINKS:
            return None
        done = "" if target.startswith("/") else done
        left += target.split("/")[::-1]
    return name_below(real, done)
