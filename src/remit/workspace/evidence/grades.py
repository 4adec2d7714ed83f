"""Grades: what the working tree says about a file that an agent claims.

Owns the five grades. `claimed`: there is no such file. `unchanged`: the file is what it was before the run. `unknown`:
the file is there, and Remit cannot decide whether the run changed it. `changed`: it was not so before the run.
`attributed`: and this session's tools wrote it. The first two contradict the claim, the last two support it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal

from remit.errors import UsageError
from remit.quick_tuple import NamedTuple
from remit.workspace.evidence.artifacts import find_artifact, prepare_bases
from remit.workspace.evidence.comparison import FUTURE, UNKNOWN_BEFORE, judge_content
from remit.workspace.evidence.content import MOVED, Budget, Content, name_kind, open_root, read_content, tell
from remit.workspace.evidence.snapshot import GIT_FOLDER, OWN_FOLDER
from remit.workspace.evidence.values import LIMITS, Lookup, clean_path
from remit.workspace.inside import name_below

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from pathlib import Path

    from remit.model import ArtifactFacts, FileState
    from remit.workspace.evidence.artifacts import Found
    from remit.workspace.evidence.comparison import Change, Comparison
    from remit.workspace.evidence.values import Facts, Limits, Snapshot

Grade = Literal["claimed", "unchanged", "unknown", "changed", "attributed"]

PROVED: tuple[Grade, ...] = ("changed", "attributed")
"""The grades of what was made in this delegation."""
CONTRADICTED: tuple[Grade, ...] = ("claimed", "unchanged")
"""The grades of claims that the tree contradicts."""
WRITE = "write"
"""The operation of a tool ledger that makes or changes a file."""

_TRIES = 3
_REASONS = {
    "missing": "it is not there",
    "outside": "it is outside the root",
    "unreadable": "it cannot be looked at",
    "empty": "it is empty",
}


class ArtifactGrade(NamedTuple):
    """How far a claim is borne out, and by what."""

    facts: ArtifactFacts
    grade: Grade
    reason: str = ""
    """Why the grade is not higher, or why there is no hash."""
    sha256: str | None = None
    links: int | None = None
    """How many names the file has; another one may lie outside the root."""
    by_session: bool | None = None
    """Whether the tool ledger of this session has a write to it; None without a tool ledger."""
    places: tuple[str, ...] = ()
    """Where it is below the root: as it was named, and where links lead."""


def grade_artifacts(
    paths: Iterable[str],
    *,
    before: Snapshot | None,
    root: str | Path,
    bases: Iterable[str | Path],
    tool_ledger: Mapping[str, Collection[str]] | None = None,
    limits: Limits = LIMITS,
) -> dict[str, ArtifactGrade]:
    """Grade each claimed path, looked up below the first of the bases that has it, against the tree before.

    `tool_ledger` gives the operations of this session's tools by path below the root. None is for a harness that does
    not tell: nothing is attributed then, and nothing is held against the agent.
    """
    real_root = os.path.realpath(root)
    if before is not None and before.root != real_root:
        raise UsageError(f"artifacts in '{real_root}' cannot be graded by a snapshot of '{before.root}'",
                         hint="take the snapshot of the same folder")  # fmt: skip
    grader = _Grader(root, bases, before, limits)
    grader.wrote = None if tool_ledger is None else {clean_path(at) for at in tool_ledger if WRITE in tool_ledger[at]}
    try:
        return {path: grader.grade(path) for path in dict.fromkeys(paths)}
    finally:
        grader.close()


def list_unclaimed(comparison: Comparison, grades: Iterable[ArtifactGrade]) -> tuple[Change, ...]:
    """What changed, or may have, and was not claimed, by path."""
    claimed = {place for graded in grades for place in graded.places}
    changes = (*comparison.created, *comparison.changed, *comparison.deleted, *comparison.doubtful)
    return tuple(sorted((each for each in changes if each.path not in claimed), key=lambda change: change.path))


class _Grader:
    """One look at all claims of a return."""

    def __init__(self, root: str | Path, bases: Iterable[str | Path], before: Snapshot | None, limits: Limits) -> None:
        self.roots = (os.path.realpath(root), os.path.abspath(root))
        self.bases = prepare_bases(root, bases)
        self.before = None if before is None else Lookup(before)
        self.budget = Budget(limits)
        self.wrote: set[str] | None = None
        self._areas: dict[str, int] = {}

    def grade(self, path: str) -> ArtifactGrade:
        """The grade of one path."""
        found, content = self._read(path)
        places = self._list_places(path, found)
        by_session = None if self.wrote is None else not self.wrote.isdisjoint(places)
        if content is None:
            return ArtifactGrade(found.facts, "claimed", self._tell_refusal(found), None, None, by_session, places)
        if content.facts is None or content.refused:
            facts = _refuse(found, content)
            return ArtifactGrade(facts, "unknown", content.reason, None, None, by_session, places)
        grade, reason = self._judge(found, content.facts, content, wrote=by_session is True)
        facts = found.facts._replace(size_bytes=content.facts.size_bytes)
        return ArtifactGrade(facts, grade, reason or content.reason, content.sha256, content.links, by_session, places)

    def close(self) -> None:
        """Let go of the folders."""
        for handle in self._areas.values():
            os.close(handle)

    def _read(self, path: str) -> tuple[Found, Content | None]:
        """Find a file and read it, again where it was exchanged in between; no content where it is refused unread."""
        for _ in range(_TRIES):
            found = find_artifact(path, self.bases)
            if found.facts.state != "file" or self._is_left_out(found):
                return found, None
            content = self._read_found(found)
            if not content.gone and not (content.facts and content.facts.size_bytes == 0):
                return found, content
        return found, Content(None, reason=MOVED, refused=True)

    def _read_found(self, found: Found) -> Content:
        if found.area not in self._areas:
            try:
                self._areas[found.area] = open_root(found.area)
            except OSError as error:
                return Content(None, reason=tell(error), refused=True)
        return read_content(self._areas[found.area], found.inside, self.budget)

    def _is_left_out(self, found: Found) -> bool:
        """Whether it lies where no snapshot looks. Some systems take names for the same in any case."""
        parts = found.inside.lower().split("/")
        return GIT_FOLDER in parts or (found.area == self.roots[0] and parts[0] == OWN_FOLDER)

    def _tell_refusal(self, found: Found) -> str:
        state = found.facts.state
        if state == "special":
            return name_kind(found.mode)
        return _REASONS.get(state, f"it lies in {OWN_FOLDER} or {GIT_FOLDER}, where no artifact belongs")

    def _list_places(self, path: str, found: Found) -> tuple[str, ...]:
        """Where a file is below the root. A name that goes up through a link names another place than it seems to."""
        places = {found.inside} if found.area == self.roots[0] else set()
        if ".." not in path.split("/"):
            full = os.path.abspath(found.full)
            places |= {name for root in self.roots if (name := name_below(root, full))}
        return tuple(sorted(places))

    def _judge(self, found: Found, new: Facts, content: Content, *, wrote: bool) -> tuple[Grade, str]:
        """What the tree before makes of a file that is there."""
        if self.before is None:
            return "unknown", "Remit has no snapshot from before the run"
        if found.area != self.roots[0]:
            return "unknown", "it is in a folder that the snapshot does not cover"
        changed: Grade = "attributed" if wrote else "changed"
        old = self.before.find(found.inside)
        if old is not None:
            grade, reason = _compare(self.before.snapshot, found.inside, (old, new), content, wrote=wrote)
            if grade == "unchanged":
                return grade, reason
        else:
            gap = None if wrote else self.before.snapshot.find_gap(found.inside)
            reason = "" if gap is None else f"Remit could not read '{gap or '.'}' before the run"
        # Another file than before, or the first here, with several names: perhaps an old one from elsewhere was given
        # this name. One that had several before, and is still that file, was written to.
        if content.links > 1 and (old is None or old.inode != new.inode):
            reason = reason or "it is a second name of a file that may be older"
        return ("unknown", reason) if reason else (changed, "")


def _refuse(found: Found, content: Content) -> ArtifactFacts:
    """What is told of a file that could not be read after all."""
    state: FileState = "special" if content.facts is not None else "unreadable"
    return found.facts._replace(state=state)


def _compare(
    before: Snapshot, path: str, facts: tuple[Facts, Facts], content: Content, *, wrote: bool
) -> tuple[Grade, str]:  # fmt: skip
    """The grade of a file that was there before, and why it is not `changed`."""
    old, new = facts
    if old == new and path not in before.racy:
        return "unchanged", "it did not change since the delegation began"
    kind = judge_content(old, new, before.hashes.get(path), content.sha256)
    if kind == "touched":
        return "unchanged", "its content did not change since the delegation began"
    # That its times moved may be a write or not; a write that the ledger has settles it.
    if kind == "changed" or (wrote and old != new):
        return "changed", ""
    return "unknown", FUTURE if old == new else content.reason or UNKNOWN_BEFORE
