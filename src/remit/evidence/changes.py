"""Changes of a work tree as values. Imports little, because hooks that read a return need it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from remit.light_namedtuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

Kind = Literal["created", "changed", "deleted", "doubtful"]


class TreeChange(NamedTuple):
    """One path that is not what it was."""

    path: str
    """Named from the root; a full path for a file outside of it."""
    kind: Kind
    size_bytes: int | None = None
    blob: str = ""
    """The git id of the content now; empty if it is deleted or isn't known."""
    reason: str = ""
    is_link: bool = False
    """Whether it is a link that leads elsewhere now."""


class Comparison(NamedTuple):
    """Every path that is not what it was, sorted. A file that moved is deleted at one path and created at another."""

    created: tuple[TreeChange, ...] = ()
    changed: tuple[TreeChange, ...] = ()
    deleted: tuple[TreeChange, ...] = ()
    doubtful: tuple[TreeChange, ...] = ()
    """Files that could not be hashed, and folders whose trees could not be compared."""
    older: frozenset[str] = frozenset()
    """Files that are new to the tree, and were there before the run."""
    unclear: Mapping[str, str] = {}
    """The parts of the tree that could not be compared, by the name that their paths begin with, and why."""

    def find_unclear(self, path: str) -> str:
        """Why nothing is known about a path; empty if its part of the tree could be compared."""
        for name, reason in self.unclear.items():
            if path.startswith(name or "/") == bool(name):  # the root has every path but those of folders outside
                return reason
        return ""
