"""The tree before a run, as stored with its session, or why there is none; and the folders of expected artifacts."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from remit.errors import RemitError
from remit.evidence.tree import parse_tree
from remit.light_namedtuple import NamedTuple
from remit.storage.spec_root import FOLDERS

if TYPE_CHECKING:
    from remit.evidence.tree import WorkTree
    from remit.ledger.home import Home

BEFORE = "before"
"""The name of the text."""
_LOST = "the record was removed, or Remit could not keep it"
_DEPTH = 3
"""An artifact of a task is at `SPECS/TASK/KIND/FILE`."""


class Before(NamedTuple):
    """The tree before a run, or why there is none."""

    tree: WorkTree | None = None
    lost: str = ""

    def as_text(self) -> str:
        """What is kept with the session."""
        return json.dumps({"lost": self.lost}) if self.tree is None else self.tree.as_json()


def read_before(text: str) -> Before:
    """What was kept with a session."""
    try:
        values = json.loads(text)
        return Before(lost=str(values["lost"])) if "lost" in values else Before(parse_tree(text))
    except (ValueError, TypeError):
        return Before(lost=_LOST)


def take_before(home: Home, root: str, *, expected: tuple[str, ...] = ()) -> Before:
    """Look at the tree that a run is going to change. A failure of git is a result: claims are `unproven` then."""
    from remit.evidence.take_tree import take_tree  # noqa: PLC0415 - starts git

    try:
        return Before(take_tree(home, root, expected=expected))
    except RemitError as error:
        return Before(lost=error.message)


def list_expected(
    root: str, *, manifest: str = "", artifact_path: str = "", workspace_root: str = ""
) -> tuple[str, ...]:  # fmt: skip
    """The folders where artifacts are expected: of tasks, beside the manifest, and hyper's workspace root."""
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
