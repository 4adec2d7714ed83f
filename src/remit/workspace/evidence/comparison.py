"""Two snapshots of one tree, told apart: what was created, changed, deleted, or only touched.

Owns that judgement. A file whose facts are the same is the same and is not read. Where they differ the content decides;
where that is not known for both times, the file is doubtful, and nobody may take it for changed or for unchanged.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Literal

from remit.errors import InputError, UsageError
from remit.quick_tuple import NamedTuple
from remit.workspace.evidence.content import Budget, Content, open_root, read_content
from remit.workspace.evidence.values import LIMITS, join_path, unpack_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.workspace.evidence.values import Facts, Limits, Snapshot

Kind = Literal["created", "changed", "deleted", "touched", "doubtful"]

UNKNOWN_BEFORE = "its times moved, its size did not, and its content before is not known"
FUTURE = "its time of change lies in the future, so that it may change unseen, and its content before is not known"


class Change(NamedTuple):
    """One path that is not what it was."""

    path: str
    kind: Kind
    size_bytes: int | None = None
    """The size now; None for what was deleted or could not be looked at."""
    sha256: str | None = None
    """The content now, of a file; None where it was not read, and the reason says why."""
    reason: str = ""


class Comparison(NamedTuple):
    """Every path that is not what it was, sorted. A file that moved is deleted at one path and created at another."""

    created: tuple[Change, ...] = ()
    changed: tuple[Change, ...] = ()
    deleted: tuple[Change, ...] = ()
    touched: tuple[Change, ...] = ()
    """Written, renamed or given other rights, and its content is what it was."""
    doubtful: tuple[Change, ...] = ()
    """Perhaps changed, perhaps not; also every folder that one of the snapshots could not look at."""


def compare(before: Snapshot, after: Snapshot, *, limits: Limits = LIMITS) -> Comparison:
    """Tell two snapshots of one root apart. Only what differs is read, to hash it."""
    if before.root != after.root:
        raise UsageError(f"a snapshot of '{before.root}' cannot be compared with one of '{after.root}'",
                         hint="take both of the same folder")  # fmt: skip
    found: dict[Kind, list[Change]] = {"created": [], "changed": [], "deleted": [], "touched": [], "doubtful": []}
    reader = _Reader(before, after, limits)
    try:
        for path, old, new in _find_differences(before, after):
            change = reader.judge(path, old, new)
            if change is not None:
                found[change.kind].append(change)
    finally:
        reader.close()
    for path, reason in {**before.gaps, **after.gaps}.items():
        found["doubtful"].append(Change(path or ".", "doubtful", reason=reason))
    return Comparison(*(tuple(sorted(changes, key=_get_path)) for changes in found.values()))


def judge_content(old: Facts, new: Facts, known: str | None, digest: str | None) -> Kind:
    """What became of a path where there is a file now, by what was there, its size, and its hashes then and now."""
    if not stat.S_ISREG(old.mode) or old.size_bytes != new.size_bytes:
        return "changed"
    if new.size_bytes == 0:
        return "touched"
    if known is None or digest is None:
        return "doubtful"
    return "touched" if known == digest else "changed"


def _get_path(change: Change) -> str:
    return change.path


# --- differences ------------------------------------------------------------------------------------------------------


def _find_differences(before: Snapshot, after: Snapshot) -> Iterator[tuple[str, Facts | None, Facts | None]]:
    """Every path whose facts differ, or do not vouch for its content; without what one snapshot could not look at."""
    racy = {path.rpartition("/")[0] for path in before.racy}
    for path in before.folders.keys() | after.folders.keys():
        packed_old, packed_new = before.folders.get(path), after.folders.get(path)
        if packed_old == packed_new and path not in racy:
            continue
        if (packed_old is None and before.find_gap(path) is not None) or (
            packed_new is None and after.find_gap(path) is not None
        ):
            continue
        old, new = unpack_folder(packed_old), unpack_folder(packed_new)
        for name in old.keys() | new.keys():
            inner = join_path(path, name)
            if old.get(name) != new.get(name) or inner in before.racy:
                yield inner, old.get(name), new.get(name)


class _Reader:
    """Judges differences, and reads files for it once there is one to read."""

    def __init__(self, before: Snapshot, after: Snapshot, limits: Limits) -> None:
        self.before = before
        self.after = after
        self.budget = Budget(limits)
        self._root: int | None = None

    def judge(self, path: str, old: Facts | None, new: Facts | None) -> Change | None:
        """What became of a path; None where a file that could have changed unseen did not."""
        if new is None:
            return Change(path, "deleted")
        if not stat.S_ISREG(new.mode):
            return self._judge_other(path, old, new)
        digest, reason = self._hash(path, new)
        if old is None:
            return Change(path, "created", new.size_bytes, digest, reason)
        kind = judge_content(old, new, self.before.hashes.get(path), digest)
        if kind == "touched" and old == new:
            return None
        if kind == "doubtful":
            reason = reason or (FUTURE if old == new else UNKNOWN_BEFORE)
        return Change(path, kind, new.size_bytes, digest, reason)

    def _judge_other(self, path: str, old: Facts | None, new: Facts) -> Change:
        if old is None:
            return Change(path, "created", new.size_bytes)
        alike = stat.S_IFMT(old.mode) == stat.S_IFMT(new.mode)
        same = alike and self.before.links.get(path) == self.after.links.get(path)
        return Change(path, "touched" if same else "changed", new.size_bytes)

    def _hash(self, path: str, facts: Facts) -> tuple[str | None, str]:
        """The hash of a file as the later snapshot saw it, or why there is none."""
        if path in self.after.hashes:
            return self.after.hashes[path], ""
        content = self._read(path)
        if content.sha256 is not None and content.facts != facts:
            return None, "it changed again after the second snapshot"
        return content.sha256, content.reason

    def _read(self, path: str) -> Content:
        if self._root is None:
            try:
                self._root = open_root(self.after.root)
            except OSError as error:
                reason = (error.strerror or str(error)).lower()
                raise InputError(f"'{self.after.root}' cannot be looked at: {reason}",
                                 hint="compare while the folder is there") from error  # fmt: skip
        return read_content(self._root, path, self.budget)

    def close(self) -> None:
        """Let go of the root."""
        if self._root is not None:
            os.close(self._root)
