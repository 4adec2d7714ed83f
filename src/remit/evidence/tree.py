"""The tree of a workspace before and after a run.

Owns the value that is kept with a session: a git tree id for the root, for each repository in it, and for each folder
outside of it where artifacts are expected; and a hash of each file that git executes or obeys.
"""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING, Any

from remit.errors import StorageError
from remit.evidence.area import FOLDER, find_checkout, open_area
from remit.quick_hash import take_sha256
from remit.quick_tuple import NamedTuple
from remit.workspace.files import tell_failure
from remit.workspace.git.told import Refused
from remit.workspace.inside import name_below

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from remit.workspace.git.repository import Repository
    from remit.workspace.home import Home

MAX_SECONDS = 60.0
_MOST_NESTED = 200
_MOST_DEPTH = 8
_MAX_EXECUTED_BYTES = 4 * 1024 * 1024


class Part(NamedTuple):
    """The git tree of one folder."""

    folder: str
    """The real folder."""
    name: str
    """How its paths begin, named from the root: empty for the root, full for a folder outside."""
    tree: str
    rules: str = ""
    """The name of the ignore rules that count in it."""
    prefix: str = ""
    """Where the folder is below the top of its repository."""


class Tree(NamedTuple):
    """A workspace at one time."""

    root: str
    taken_ns: int
    """The time by the clock of the disk."""
    parts: tuple[Part, ...] = ()
    expected: tuple[str, ...] = ()
    """The folders where artifacts are expected, whether git ignores them or not."""
    executed: Mapping[str, str] = {}
    """What git executes or obeys, by name, each with a hash of its content."""
    unread: Mapping[str, str] = {}
    """Files that could not be hashed, and why."""
    pause_ns: tuple[int, int] = (0, 0)
    """The time between two sessions of one agent: what happened then is not its work."""

    def as_json(self) -> str:
        """The tree as it is kept with a session."""
        return json.dumps(self._asdict(), separators=(",", ":"))


def parse_tree(text: str) -> Tree:
    """A tree as it was kept. Raise `ValueError` if it isn't one."""
    values = json.loads(text)
    if not isinstance(values, dict) or not isinstance(values.get("parts"), list):
        raise ValueError("not a tree")  # noqa: TRY004 - the text is wrong, not a type
    known: dict[str, Any] = {name: value for name, value in values.items() if name in Tree._fields}
    for name in ("expected", "pause_ns"):
        known[name] = tuple(known.get(name) or Tree._field_defaults[name])
    return Tree(**{**known, "parts": tuple(Part(*part) for part in values["parts"])})


def take_tree(
    home: Home, root: str, *, expected: Iterable[str] = (), like: Tree | None = None, seconds: float = MAX_SECONDS
) -> Tree:
    """Look at a work tree.

    `expected` are folders where artifacts are expected: their files count even if git ignores them. `like` is the tree
    before a run, whose ignore rules and expected folders count again. Raise `StorageError` if git fails or takes
    longer than `seconds`.
    """
    real = os.path.realpath(root)
    try:
        home.make_folder(FOLDER)
        return _Taking(home, real, like, seconds).take(tuple(expected) if like is None else like.expected)
    except Refused as refused:
        error = refused.as_error()
        raise StorageError(f"the tree could not be read: {error.message}", hint=error.hint) from refused
    except OSError as error:
        raise tell_failure(f"{home.folder}/{FOLDER}", error) from error


class _Taking:
    """One look at all parts of a tree."""

    def __init__(self, home: Home, root: str, like: Tree | None, seconds: float) -> None:
        self.own = os.path.realpath(home.folder)
        self.root = root
        self.deadline = time.monotonic() + seconds
        self.rules = {part.folder: part.rules for part in like.parts} if like is not None else {}
        self.parts: list[Part] = []
        self.unread: dict[str, str] = {}
        self.executed: dict[str, str] = {}

    def take(self, expected: tuple[str, ...]) -> Tree:
        """Look at the root, then at what is expected elsewhere."""
        places = [os.path.realpath(os.path.join(self.root, each)) for each in expected]
        inside = [name for place in places if (name := name_below(self.root, place))]
        taken_ns = _read_clock(f"{self.own}/{FOLDER}/clock")
        self._look(self.root, "", inside, depth=0)
        for place in dict.fromkeys(places):
            is_apart = name_below(self.root, place) is None and name_below(place, self.root) is None
            if is_apart and os.path.isdir(place):
                self._look(place, f"{place}/", (), depth=0, everything=True)
        return Tree(self.root, taken_ns, tuple(self.parts), expected, self.executed, self.unread)

    def _look(
        self, folder: str, name: str, expected: Iterable[str], *, depth: int, everything: bool = False
    ) -> None:  # fmt: skip
        """Look at a folder and at the repositories in it. With `everything` no rule ignores a file."""
        repository = None if everything else find_checkout(folder)
        if repository is not None:
            self.executed |= hash_executed(repository, self.root)
        with open_area(self.own, folder, repository, seconds=max(self.deadline - time.monotonic(), 0.1)) as area:
            look = area.look(expected=tuple(expected), rules=self.rules.get(folder, ""), everything=everything)
        self.parts.append(Part(folder, name, look.tree, look.rules, repository.prefix if repository else ""))
        self.unread |= {f"{name}{path}": reason for path, reason in look.unread.items()}
        for nested in look.nested:
            inner = os.path.join(folder, nested.rstrip("/"))
            if nested and depth < _MOST_DEPTH and len(self.parts) < _MOST_NESTED and not os.path.islink(inner):
                below = [each[len(nested) :] for each in expected if each.startswith(nested)]
                self._look(inner, f"{name}{nested}", below, depth=depth + 1, everything=everything)


def _read_clock(file: str) -> int:
    """The time by the clock of the disk, which stamps every change of a file."""
    with open(file, "ab"):
        os.utime(file)
    return os.stat(file).st_mtime_ns


# --- what git executes ------------------------------------------------------------------------------------------------


def hash_executed(repository: Repository, root: str) -> dict[str, str]:
    """Each file that git executes or obeys in a repository, by its name below the root, or its full one elsewhere."""
    found = {}
    for file in dict.fromkeys(_list_executed(repository)):
        try:
            with open(file, "rb") as stream:
                found[name_below(root, file) or file] = take_sha256(stream.read(_MAX_EXECUTED_BYTES))
        except OSError:
            continue
    return found


def _list_executed(repository: Repository) -> Iterator[str]:
    for place in dict.fromkeys((os.path.realpath(repository.own), repository.common)):
        yield from _list_in(place)
    for folder, inner, _ in os.walk(f"{repository.common}/modules"):
        if "objects" in inner:
            yield from _list_in(folder)
        inner[:] = [name for name in inner if name not in ("objects", "refs", "logs", "hooks", "info")]


def _list_in(place: str) -> Iterator[str]:
    """The files in one git folder: settings, hooks that are switched on, attributes and ignore rules."""
    yield from (f"{place}/{name}" for name in ("config", "config.worktree"))
    for folder in ("hooks", "info"):
        try:
            names = sorted(os.listdir(f"{place}/{folder}"))
        except OSError:
            continue
        for name in names:
            file = f"{place}/{folder}/{name}"
            if not name.endswith(".sample") and name != "refs" and os.path.isfile(file):
                yield file
