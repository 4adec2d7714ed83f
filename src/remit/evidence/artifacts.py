"""Find the files at the paths that an agent reported.

Links are followed to their end, and no file is opened. A path that ends neither inside the root nor inside the folder
where it was looked up is `outside`.
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
    """A folder that paths are looked up in, and the areas that they may end in."""

    folder: str
    areas: tuple[str, ...]


class FoundArtifact(NamedTuple):
    """What is at a claimed path, and where that is when all links are followed."""

    facts: ArtifactFacts
    full: str = ""
    """The path as it was looked up, links and all."""
    area: str = ""
    """The real folder that it ends in; empty where it does not."""
    inside: str = ""
    """The real path below the area."""
    mode: int = 0


def inspect_artifacts(
    paths: Iterable[str], *, root: str | Path, bases: Iterable[str | Path]
) -> dict[str, ArtifactFacts]:
    """Look at each claimed path below the first of the bases that has it; it must end inside that base or the root."""
    prepared = prepare_bases(root, bases)
    return {path: find_artifact(path, prepared).facts for path in dict.fromkeys(paths)}


def inspect_accepted(paths: Iterable[str], root: str, workspace_root: str = "") -> dict[str, ArtifactFacts]:
    """Look again at artifacts that were accepted: they are named from the root, or from hyper's workspace root."""
    bases = (root, workspace_root) if workspace_root else (root,)
    return inspect_artifacts(paths, root=root, bases=bases)


def prepare_bases(root: str | Path, bases: Iterable[str | Path]) -> tuple[BaseFolder, ...]:
    """The folders that paths are looked up in, in order."""
    real_root = os.path.realpath(root)
    return tuple(BaseFolder(os.fspath(base), _find_areas(base, real_root)) for base in bases)


def find_artifact(path: str, bases: tuple[BaseFolder, ...]) -> FoundArtifact:
    """What is at a path below the first of the bases that has it."""
    found = FoundArtifact(ArtifactFacts(path, "missing"))
    for base in bases:
        found = _inspect(path, os.path.join(base.folder, path), base.areas)
        if found.facts.state != "missing":
            break
    return found


def _find_areas(base: str | Path, real_root: str) -> tuple[str, ...]:
    """Where a path may end that is looked up in a base: inside the root, and inside a base that the root does not hold.

    What lies below the root is the agent's to change: a base there that is a link opens nothing outside.
    """
    full = os.path.abspath(base)
    steps = [full]
    while (above := os.path.dirname(steps[-1])) != steps[-1]:
        steps.append(above)
    held = any(name_below(real_root, os.path.realpath(step)) is not None for step in steps)
    return (real_root,) if held else (real_root, os.path.realpath(full))


def _inspect(path: str, full: str, areas: tuple[str, ...]) -> FoundArtifact:
    try:
        real = os.path.realpath(full)
        area = next((area for area in areas if name_below(area, real) is not None), None)
        if area is None:
            return FoundArtifact(ArtifactFacts(path, "outside"), full)
        found = os.stat(real, follow_symlinks=False)
    except (FileNotFoundError, NotADirectoryError):
        return FoundArtifact(ArtifactFacts(path, "missing"), full)
    except (OSError, ValueError):  # too long, a loop of links, a NUL, no permission
        return FoundArtifact(ArtifactFacts(path, "unreadable"), full)
    state: FileState = "file"
    if stat.S_ISREG(found.st_mode) and path.rpartition("/")[2] in ("", "."):
        return FoundArtifact(
            ArtifactFacts(path, "missing"), full
        )  # `x/` is a folder: whoever opens it finds no such file
    if not stat.S_ISREG(found.st_mode):
        state = "special"
    elif found.st_size == 0:
        state = "empty"
    facts = ArtifactFacts(path, state, found.st_size)
    return FoundArtifact(facts, full, area, name_below(area, real) or "", found.st_mode)


_MOST_LINKS = 40


def find_written_path(root: str, path: str, taken_ns: int) -> str | None:
    """What a file is called below the root that a tool was given; None if that isn't known for sure."""
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
        except OSError:  # not a link, or nothing at all any more
            done = f"{done}/{step}"
            continue
        followed += 1
        if is_new or followed > _MOST_LINKS:
            return None
        done = "" if target.startswith("/") else done
        left += target.split("/")[::-1]
    return name_below(real, done)
