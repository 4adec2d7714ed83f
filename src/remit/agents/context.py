"""Context files: the files under `context_loading` of an agent file, and where they can be.

Agent files write paths relative to the folder of their index or to the workspace root. Both are tried in this order,
and never outside of the root.
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
"""Maximum length of a path; file systems have no longer ones."""
MAX_BUDGET_BYTES = 1_000_000
"""Maximum bytes of context that an agent loads at its start, regardless of its file."""

Strategy = Literal["lazy", "eager", "minimal"]
Part = Literal["required", "optional", "index"]


class ContextFile(NamedTuple):
    """A path under `context_loading`."""

    part: str
    """index, required or optional."""
    path: str
    """The path as written."""
    pointer: str


def list_context_files(document: AgentDocument) -> Iterator[ContextFile]:
    """Return all listed files: the index, then required, then optional files."""
    index = document.get("context_loading", "index")
    if isinstance(index, str) and index.strip():
        yield ContextFile("index", index, "/context_loading/index")
    for part in ("required", "optional"):
        paths = document.get("context_loading", part)
        for at, path in enumerate(paths[:MAX_FILES] if isinstance(paths, list) else ()):
            if isinstance(path, str) and path.strip():
                yield ContextFile(part, path, f"/context_loading/{part}/{at}")


class ContextPath(NamedTuple):
    """A context file, and its possible paths relative to the root. Empty if the file must not be read."""

    path: str
    part: Part
    places: tuple[str, ...]


class ContextPlan(NamedTuple):
    """The context files to load before an agent starts, and the size limit (R1.4)."""

    strategy: Strategy = "lazy"
    budget_bytes: int = CONTEXT_BUDGETS["lazy"]
    files: tuple[ContextPath, ...] = ()
    """Required files, then optional files, then the index; each path once."""


def plan_context(document: AgentDocument) -> ContextPlan:
    """Return the context plan of a file. An unknown strategy counts as lazy; each strategy has a default size."""
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
    """Return the possible paths of each context file relative to the root, in order, by its path as written.

    Leaves out folders, patterns, and paths outside of the root.
    """
    index = document.get("context_loading", "index")
    folder = dirname(index.strip()) if isinstance(index, str) and not is_outside(index.strip()) else ""
    found: dict[str, tuple[str, ...]] = {}
    for file in list_context_files(document):
        places = find_places(file.path, "" if file.part == "index" else folder)
        if places:
            found[file.path] = places
    return found


SCHEMA = ":data_schema"
"""Stands for the file of `data_schema` among the files that an agent file names."""
NO_SCHEMA = -2
"""The size that stands for a file that isn't a JSON Schema."""


def find_schema_file(document: AgentDocument) -> dict[str, tuple[str, ...]]:
    """Return the possible paths of the schema that an agent file names; none if it names no file."""
    path = document.get("data_schema")
    return {SCHEMA: find_places(path, "")} if isinstance(path, str) else {}


def find_places(path: str, folder: str) -> tuple[str, ...]:
    """Return the possible locations of a path: below the folder of the index, or below the root."""
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
    """Whether a path is absolute or starts in a home folder."""
    return path.startswith(("/", "~", "\\")) or path[1:3] in (":\\", ":/") or "://" in path[:20]


def is_folder(path: str) -> bool:
    """Whether a path can only be a folder."""
    return path.rpartition("/")[2] in ("", ".", "..")


def climbs(place: str) -> bool:
    """Whether a path leads above its start."""
    return place == ".." or place.startswith("../")


def is_outside(path: str) -> bool:
    """Whether a path relative to the root leads outside of it."""
    return is_absolute(path) or climbs(normpath(path))
