"""The tree of a workspace before or after a run and the changes between two trees, as values.

A tree has a git tree id for the root, each repository in it, and each expected folder outside of it, and a hash of each
file that git executes or obeys. It is stored with its session. Imports little, because hooks read it.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Literal

from remit.errors import RemitError
from remit.light_namedtuple import NamedTuple
from remit.storage.spec_root import FOLDERS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.ledger.home import Home


class FolderTree(NamedTuple):
    """The git tree of one folder."""

    folder: str
    """The real path of the folder."""
    name: str
    """The prefix of its paths, relative to the root: empty for the root, absolute for a folder outside."""
    tree: str
    rules: str = ""
    """The name of the ignore rules that apply in it."""
    prefix: str = ""
    """The path of the folder below the top of its repository."""


class WorkTree(NamedTuple):
    """A work tree at one time."""

    home: str
    """The root of the workspace, whose `.remit` has the private repositories."""
    root: str
    taken_ns: int
    """The time by the clock of the file system."""
    parts: tuple[FolderTree, ...] = ()
    expected: tuple[str, ...] = ()
    """The folders where artifacts are expected, also if git ignores them."""
    executed: Mapping[str, str] = {}
    """The hash of each file that git executes or obeys, by name."""
    unread: Mapping[str, str] = {}
    """The files that couldn't be hashed, and why."""
    pause_ns: tuple[int, int] = (0, 0)
    """The time between two runs of one agent session: changes in it aren't the agent's."""

    def as_json(self) -> str:
        """Return the tree as it is stored with a session."""
        return json.dumps(self._asdict(), separators=(",", ":"))


def parse_tree(text: str) -> WorkTree:
    """Return a tree from its stored text. Raise `ValueError` if the text isn't one."""
    values = json.loads(text)
    if not isinstance(values, dict) or not isinstance(values.get("parts"), list):
        raise ValueError("not a tree")  # noqa: TRY004 - the text is wrong, not a type
    known: dict[str, Any] = {name: value for name, value in values.items() if name in WorkTree._fields}
    for name in ("expected", "pause_ns"):
        known[name] = tuple(known.get(name) or WorkTree._field_defaults[name])
    return WorkTree(**{**known, "parts": tuple(FolderTree(*part) for part in values["parts"])})


BEFORE = "before"
"""The kind of the stored text."""
_LOST = "the record was removed, or Remit could not keep it"
_DEPTH = 3
"""An artifact of a task is at `SPECS/TASK/KIND/FILE`."""


class Before(NamedTuple):
    """The tree before a run, or the reason why there is none."""

    tree: WorkTree | None = None
    lost: str = ""

    def as_text(self) -> str:
        """Return the text that is stored with the session."""
        return json.dumps({"lost": self.lost}) if self.tree is None else self.tree.as_json()


def read_before(text: str) -> Before:
    """Return the record from its stored text."""
    try:
        values = json.loads(text)
        return Before(lost=str(values["lost"])) if "lost" in values else Before(parse_tree(text))
    except (ValueError, TypeError):
        return Before(lost=_LOST)


def take_before(home: Home, root: str, *, expected: tuple[str, ...] = ()) -> Before:
    """Scan the tree that a run is going to change. If git fails, the record says so, and claims are `unproven`."""
    from remit.evidence.take_tree import take_tree  # noqa: PLC0415 - starts git

    try:
        return Before(take_tree(home, root, expected=expected))
    except RemitError as error:
        return Before(lost=error.message)


def list_expected(
    root: str, *, manifest: str = "", artifact_path: str = "", workspace_root: str = ""
) -> tuple[str, ...]:  # fmt: skip
    """Return the folders where artifacts are expected: of tasks, beside the manifest, and hyper's workspace root."""
    found = [*FOLDERS]
    if artifact_path:
        found.append("/".join(artifact_path.split("/")[:-_DEPTH]))
    if manifest:
        found.append(os.path.dirname(os.path.join(root, manifest)))
    if workspace_root:
        found.append(workspace_root)
    return tuple(
        dict.fromkeys(
            each for each in found if each and os.path.realpath(os.path.join(root, each)) != os.path.realpath(root)
        )
    )


ChangeKind = Literal["created", "changed", "deleted", "doubtful"]


class TreeChange(NamedTuple):
    """One path that changed."""

    path: str
    """Relative to the root; absolute for a file outside of it."""
    kind: ChangeKind
    size_bytes: int | None = None
    blob: str = ""
    """The git id of the content now; empty if it is deleted or unknown."""
    reason: str = ""
    is_link: bool = False
    """True if it is a link whose target changed."""


class Comparison(NamedTuple):
    """Every path that changed, sorted. A file that moved is deleted at one path and created at another."""

    created: tuple[TreeChange, ...] = ()
    changed: tuple[TreeChange, ...] = ()
    deleted: tuple[TreeChange, ...] = ()
    doubtful: tuple[TreeChange, ...] = ()
    """Files that could not be hashed, and folders whose trees could not be compared."""
    older: frozenset[str] = frozenset()
    """Files that are new to the tree but existed before the run."""
    unclear: Mapping[str, str] = {}
    """The parts of the tree that couldn't be compared: the prefix of their paths, and why."""

    def find_unclear(self, path: str) -> str:
        """Return why a path couldn't be compared; empty if it could."""
        for name, reason in self.unclear.items():
            if path.startswith(name or "/") == bool(name):  # paths outside of the root are in other parts
                return reason
        return ""
