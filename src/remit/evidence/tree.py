"""The tree of a workspace before or after a run, as a value.

It has a git tree id for the root, each repository in it, and each expected folder outside of it, and a hash of each
file that git executes or obeys. Imports little, because hooks read it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from remit.light_namedtuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class FolderTree(NamedTuple):
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


class WorkTree(NamedTuple):
    """A work tree at one time."""

    home: str
    """The root of the workspace, whose `.remit` has the private repositories."""
    root: str
    taken_ns: int
    """The time by the clock of the disk."""
    parts: tuple[FolderTree, ...] = ()
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


def parse_tree(text: str) -> WorkTree:
    """A tree as it was kept. Raise `ValueError` if it isn't one."""
    values = json.loads(text)
    if not isinstance(values, dict) or not isinstance(values.get("parts"), list):
        raise ValueError("not a tree")  # noqa: TRY004 - the text is wrong, not a type
    known: dict[str, Any] = {name: value for name, value in values.items() if name in WorkTree._fields}
    for name in ("expected", "pause_ns"):
        known[name] = tuple(known.get(name) or WorkTree._field_defaults[name])
    return WorkTree(**{**known, "parts": tuple(FolderTree(*part) for part in values["parts"])})
