"""Check whether the files of an earlier run are still on disk.

Owns that question for a result that is to be picked up instead of being done again. What an agent was believed then is
no proof of what is there now.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from remit.errors import StateError
from remit.evidence.artifacts import inspect_accepted
from remit.ledger.events import list_acts
from remit.ledger.runs import load_run
from remit.light_namedtuple import NamedTuple
from remit.runs.admission.run_config import read_run_config
from remit.runs.results.full_result import load_report

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from remit.ledger.home import Home
    from remit.result import ResultArtifact

    Contents = Mapping[str, set[tuple[int | None, str]]]


class ReportedFiles(NamedTuple):
    """What a delegation has left on disk, as it was judged then."""

    root: str = ""
    artifacts: tuple[ResultArtifact, ...] = ()
    noted: frozenset[str] = frozenset()
    """Files that Remit itself may have written into since."""
    workspace_root: str = ""
    """The folder that the paths of a `hyper` return start at."""


def load_reported_files(home: Home, session_id: str) -> ReportedFiles:
    """What is to be there of a delegation that is settled; nothing where that is not for this folder to tell."""
    row = load_run(home.ledger, session_id)
    if row is None:
        return ReportedFiles()
    try:
        report = load_report(home, session_id)[0]
    except StateError:  # whoever waits for it is told why
        return ReportedFiles()
    config = read_run_config(row.details)
    if config.worktree or (config.remote and report.status != "completed"):  # it is on a branch
        return ReportedFiles()
    artifacts = tuple(each for each in report.artifacts if each.grade not in ("", "missing"))
    moved = {each.path for each in artifacts} if row.task_number is not None else set()  # a plan follows its task
    noted = {act.path for act in list_acts(home.ledger, session_id)} | moved
    return ReportedFiles(config.root, artifacts, frozenset(noted), config.workspace_root)


def list_contents(lefts: Iterable[ReportedFiles]) -> Contents:
    """What each file was when some delegations ended, by path: where several changed one in turn, the last is there."""
    contents: dict[str, set[tuple[int | None, str]]] = {}
    for left in lefts:
        for each in left.artifacts:
            contents.setdefault(each.path, set()).add((each.size_bytes, each.sha256))
    return contents


def is_intact(left: ReportedFiles, contents: Contents) -> bool:
    """Whether all of it is there, and is what it was. Sizes come first: what has another needs no hash."""
    if not left.artifacts:
        return True
    found = inspect_accepted([each.path for each in left.artifacts], left.root, left.workspace_root)
    if any(facts.state != "file" for facts in found.values()):
        return False
    same = [each.path for each in left.artifacts if each.sha256 and each.path not in left.noted]
    if any(found[path].size_bytes not in {size for size, _ in contents[path]} for path in same):
        return False
    from remit.evidence.artifact_grades import hash_file  # noqa: PLC0415 - only for files that are there

    for path in same:
        digest, _, _ = hash_file(os.path.realpath(os.path.join(left.root, path)))
        if digest is not None and digest not in {known for _, known in contents[path]}:
            return False
    return True
