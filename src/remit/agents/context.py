"""Context files: what an agent's file wants loaded, and where that may lie.

Owns how a path under `context_loading` is read, and what is to be loaded how. Files in use write paths relative to the
folder of their index as well as to the workspace's root: both are looked at, in this order, and neither outside of the
root.
"""

from __future__ import annotations

from posixpath import dirname, join, normpath
from typing import TYPE_CHECKING, Literal

from remit.agents.profiles import CONTEXT_BUDGETS
from remit.globs import is_pattern
from remit.light_namedtuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.agents.document import AgentDocument

MAX_FILES = 200
MAX_CHARS = 1024
"""Of a path: no file system has longer ones."""
MAX_BUDGET_BYTES = 1_000_000
"""No agent reads more before it begins, whatever its file says."""

Strategy = Literal["lazy", "eager", "minimal"]
Part = Literal["required", "optional", "index"]


class ContextFile(NamedTuple):
    """A file that an agent's file names under `context_loading`."""

    part: str
    """index, required or optional."""
    path: str
    """As it is written."""
    pointer: str


def list_context_files(document: AgentDocument) -> Iterator[ContextFile]:
    """Every file that is named, in the order of index, required and optional."""
    index = document.get("context_loading", "index")
    if isinstance(index, str) and index.strip():
        yield ContextFile("index", index, "/context_loading/index")
    for part in ("required", "optional"):
        paths = document.get("context_loading", part)
        for at, path in enumerate(paths[:MAX_FILES] if isinstance(paths, list) else ()):
            if isinstance(path, str) and path.strip():
                yield ContextFile(part, path, f"/context_loading/{part}/{at}")


class ContextPath(NamedTuple):
    """A context file, and where it may lie below the root; nowhere, where nobody may look for it."""

    path: str
    part: Part
    places: tuple[str, ...]


class ContextPlan(NamedTuple):
    """What is to be loaded before an agent begins, and how much of it (R1.4)."""

    strategy: Strategy = "lazy"
    budget_bytes: int = CONTEXT_BUDGETS["lazy"]
    files: tuple[ContextPath, ...] = ()
    """What is required, then what is optional, then the index; each path once."""


def plan_context(document: AgentDocument) -> ContextPlan:
    """What a file wants loaded. A strategy that nobody knows is lazy; without a size, each has its usual one."""
    named = document.get("context_loading", "strategy")
    strategy: Strategy = named if named in ("lazy", "eager", "minimal") else "lazy"
    size = document.get("context_loading", "max_context_size")
    budget = size if type(size) is int and size > 0 else CONTEXT_BUDGETS[strategy]
    places = find_context_files(document)
    files: dict[str, ContextPath] = {}
    order: tuple[Part, ...] = ("required", "optional", "index")
    for part in order:
        for file in list_context_files(document):
            if file.part == part:
                files.setdefault(file.path, ContextPath(file.path, part, places.get(file.path, ())))
    return ContextPlan(strategy, min(budget, MAX_BUDGET_BYTES), tuple(files.values()))


def find_context_files(document: AgentDocument) -> dict[str, tuple[str, ...]]:
    """For every context file that can be looked at, as it is written: where it may lie below the root, in order.

    A path that leaves the root, is no single file or names none is not among them.
    """
    index = document.get("context_loading", "index")
    folder = dirname(index.strip()) if isinstance(index, str) and not is_outside(index.strip()) else ""
    found: dict[str, tuple[str, ...]] = {}
    for file in list_context_files(document):
        places = find_places(file.path, "" if file.part == "index" else folder)
        if places:
            found[file.path] = places
    return found


def find_places(path: str, folder: str) -> tuple[str, ...]:
    """Where a path may lie that is written in an agent's file: below its index's folder, or below the root."""
    path = path.strip()
    if is_absolute(path) or is_pattern(path) or is_folder(path) or "\0" in path or len(path) > MAX_CHARS:
        return ()
    below = [normpath(path)]
    if folder:
        below.insert(
            len(below) if f"{below[0]}/".startswith(f"{normpath(folder)}/") else 0, normpath(join(folder, path))
        )
    return tuple(dict.fromkeys(place for place in below if not is_outside(place)))


def is_absolute(path: str) -> bool:
    """Whether a path begins at the root of a machine, or in somebody's home."""
    return path.startswith(("/", "~", "\\")) or path[1:3] in (":\\", ":/") or "://" in path[:20]


def is_folder(path: str) -> bool:
    """Whether a path can be nothing but a folder."""
    return path.rpartition("/")[2] in ("", ".", "..")


def climbs(place: str) -> bool:
    """Whether a path that is written out leads above where it begins."""
    return place == ".." or place.startswith("../")


def is_outside(path: str) -> bool:
    """Whether a path that is relative to the root leads out of it."""
    return is_absolute(path) or climbs(normpath(path))
