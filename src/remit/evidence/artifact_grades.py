"""Grade each reported file by the work tree.

`missing`: there is no such file. `unchanged`: the file is the same as before the run. `unknown`: the file exists, but
Remit can't decide whether the run changed it. `changed`: the file is different from before the run. `attributed`:
changed, and a tool of this session wrote it. The first two contradict the report, the last two support it.

Git trees decide. A file that git ignores is in no tree and is graded by its timestamps.
"""

from __future__ import annotations

import os
import posixpath
import stat
from typing import TYPE_CHECKING, Literal

from remit.errors import RemitError, UsageError
from remit.evidence.artifacts import find_artifact, prepare_bases
from remit.light_hash import begin_sha256
from remit.light_namedtuple import NamedTuple
from remit.storage.safe_path import name_below

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from pathlib import Path

    from remit.evidence.artifacts import FoundArtifact
    from remit.evidence.tree import Comparison, TreeChange, WorkTree
    from remit.model import ArtifactFacts

Grade = Literal["missing", "unchanged", "unknown", "changed", "attributed"]

PROVED: tuple[Grade, ...] = ("changed", "attributed")
"""The grades of files that were made in this run."""
CONTRADICTED: tuple[Grade, ...] = ("missing", "unchanged")
"""The grades of claims that the tree contradicts."""
WRITE = "write"
"""The tool operation that creates or changes a file."""
OWN_FOLDER, GIT_FOLDER = ".remit", ".git"

_CHUNK_BYTES = 1 << 20
_MAX_HASHED_BYTES = 256 << 20
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
_REASONS = {
    "missing": "it isn't there",
    "outside": "it is outside the root",
    "unreadable": "it can't be read",
    "empty": "it is empty",
}


class ArtifactGrade(NamedTuple):
    """The grade of one claim, and the reason for it."""

    facts: ArtifactFacts
    grade: Grade
    reason: str = ""
    """Why the grade isn't higher, or why there is no hash."""
    sha256: str | None = None
    links: int | None = None
    """The number of the file's names (hard links); another one may be outside the root."""
    by_session: bool | None = None
    """True if this session's tool records include a write to it; None without tool records."""
    places: tuple[str, ...] = ()
    """Its paths below the root: as it was named, and with links followed."""
    blob: str = ""
    """The git id of the content; empty if it is in no tree."""

    @property
    def content(self) -> str | None:
        """The identity of the content: its git id, or its hash for a file that is in no tree."""
        return self.blob or self.sha256


def grade_artifacts(
    paths: Iterable[str],
    *,
    before: WorkTree | None,
    after: WorkTree | None,
    root: str | Path,
    bases: Iterable[str | Path],
    tool_ledger: Mapping[str, Collection[str]] | None = None,
    failure: str = "",
) -> dict[str, ArtifactGrade]:
    """Grade each claimed path by the trees before and after; it is looked up in the first of the bases that has it.

    `tool_ledger` has the operations of this session's tools by path below the root; None if the harness doesn't report
    them. `failure` says why there is no tree after the run.
    """
    real_root = os.path.realpath(root)
    if before is not None and before.root != real_root:
        raise UsageError(f"artifacts in '{real_root}' can't be graded by a tree of '{before.root}'",
                         hint="take the tree of the same folder")  # fmt: skip
    wrote = None if tool_ledger is None else {
        posixpath.normpath(at) for at in tool_ledger if WRITE in tool_ledger[at]
    }  # fmt: skip
    prepared = prepare_bases(root, bases)
    found = {path: find_artifact(path, prepared) for path in dict.fromkeys(paths)}
    trees = None
    if before is not None and after is not None and found:
        try:
            trees = _Trees(before, after, [name for each in found.values() if (name := _name(each, real_root))])
        except RemitError as error:  # what git can't compare, Remit can't decide
            failure = error.message
    grader = _Grader((real_root, os.path.abspath(root)), trees, wrote, failure)
    return {path: grader.grade(path, each) for path, each in found.items()}


def list_unclaimed(comparison: Comparison, grades: Iterable[ArtifactGrade]) -> tuple[TreeChange, ...]:
    """Return the changes, and possible changes, that no claim names, by path."""
    claimed = {place for graded in grades for place in graded.places}
    changes = (*comparison.created, *comparison.changed, *comparison.deleted, *comparison.doubtful)
    return tuple(sorted((each for each in changes if each.path not in claimed), key=lambda change: change.path))


def hash_file(file: str) -> tuple[str | None, str, os.stat_result | None]:
    """Return the SHA-256 of a file, or the reason why there is none, and its `stat` if it could be opened."""
    try:
        handle = os.open(file, _READ)
    except OSError as error:
        return None, f"it can't be read: {(error.strerror or str(error)).lower()}", None
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            return None, name_kind(found.st_mode), None
        if found.st_size > _MAX_HASHED_BYTES:
            return None, f"it is larger than {_MAX_HASHED_BYTES} bytes and was not hashed", found
        digest = begin_sha256(found.st_size)
        while chunk := os.read(handle, _CHUNK_BYTES):
            digest.update(chunk)
        return digest.hexdigest(), "", found
    except OSError as error:
        return None, f"it can't be read: {(error.strerror or str(error)).lower()}", None
    finally:
        os.close(handle)


def name_kind(mode: int) -> str:
    """Return the reason for a path that isn't a file, such as "it is a folder, not a file"."""
    kinds = {stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket", stat.S_IFLNK: "a link"}
    return f"it is {kinds.get(stat.S_IFMT(mode), 'a device')}, not a file"


def _name(found: FoundArtifact, real_root: str) -> str:
    """Return the name of a file in the trees; empty if it is in no folder that they include."""
    if found.facts.state != "file" or not found.area:
        return ""
    return _spell(found.area, found.inside) if found.area == real_root else f"{found.area}/{found.inside}"


def _spell(folder: str, path: str) -> str:
    """Return a path in the spelling of its folders: some file systems ignore case."""
    spelled: list[str] = []
    for part in path.split("/"):
        here = "/".join((folder, *spelled))
        try:
            names = os.listdir(here)
            if part not in names:
                wanted = os.lstat(f"{here}/{part}")
                alike = (name for name in names if name.casefold() == part.casefold())
                part = next((name for name in alike if os.path.samestat(os.lstat(f"{here}/{name}"), wanted)), part)  # noqa: PLW2901
        except OSError:
            return path
        spelled.append(part)
    return "/".join(spelled)


class _Trees:
    """The trees before and after a run, with the changes between them."""

    def __init__(self, before: WorkTree, after: WorkTree, names: list[str]) -> None:
        from remit.evidence.tree_comparison import compare, find_ids  # noqa: PLC0415 - starts git

        self.before = before
        comparison = compare(before, after)
        self.older = comparison.older
        self.comparison = comparison
        groups = (comparison.created, comparison.changed, comparison.deleted, comparison.doubtful)
        self.changes = {change.path: change for group in groups for change in group}
        self.ids = find_ids(after, [name for name in names if name not in self.changes])
        self.covered = tuple(part.name for part in after.parts if part.name.startswith("/"))

    def find_doubt(self, name: str) -> str:
        """Return why the trees don't show whether a file changed; empty if they do."""
        change = self.changes.get(name)
        if change is not None and change.kind == "doubtful":
            return change.reason
        return self.comparison.find_unclear(name)

    def had_content(self, places: Sequence[str], blob: str) -> bool:
        """Return whether one of the paths had this content before the run."""
        from remit.evidence.tree_comparison import find_ids  # noqa: PLC0415 - starts git

        return blob in find_ids(self.before, places).values()

    def includes(self, name: str) -> bool:
        """Return whether a name is in the root, or in a folder outside of it where artifacts are expected."""
        return not name.startswith("/") or name.startswith(self.covered or ("\0",))


class _Grader:
    """The grades of all claims of a return."""

    def __init__(
        self, roots: tuple[str, str], trees: _Trees | None, wrote: set[str] | None, failure: str
    ) -> None:  # fmt: skip
        self.roots = roots
        self.trees = trees
        self.wrote = wrote
        self.failure = failure

    def grade(self, path: str, found: FoundArtifact) -> ArtifactGrade:
        """Return the grade of one path."""
        name = _name(found, self.roots[0])
        places = self._list_places(path, found, name)
        by_session = None if self.wrote is None else not self.wrote.isdisjoint(places)
        if found.facts.state != "file" or self._is_left_out(found):
            reason = name_kind(found.mode) if found.facts.state == "special" else _REASONS.get(
                found.facts.state, f"it is in {OWN_FOLDER} or {GIT_FOLDER}, where no artifact belongs"
            )  # fmt: skip
            return ArtifactGrade(found.facts, "missing", reason, None, None, by_session, places)
        full = f"{found.area}/{found.inside}"
        change = None if self.trees is None else self.trees.changes.get(name)
        doubt = "" if self.trees is None else self.trees.find_doubt(name)
        if doubt:
            return ArtifactGrade(found.facts, "unknown", doubt, None, None, by_session, places)
        digest, unread, now = hash_file(full)
        if now is None:
            facts = found.facts._replace(state="unreadable")
            return ArtifactGrade(facts, "unknown", unread, None, None, by_session, places)
        grade, reason = self._judge(name, full, now, wrote=by_session is True)
        facts = found.facts._replace(size_bytes=now.st_size)
        blob = "" if self.trees is None else change.blob if change is not None else self.trees.ids.get(name, "")
        if self.trees is not None and grade != "unknown" and blob and len(places) > 1:
            try:
                if self.trees.had_content(places, blob):
                    grade, reason = "unchanged", "a link leads to what was there before the run"
                    if any(place in self.trees.changes and self.trees.changes[place].is_link for place in places):
                        grade, reason = "unknown", "only a link was changed, and leads to what was there before the run"
            except RemitError as error:
                grade, reason = "unknown", error.message
        return ArtifactGrade(facts, grade, reason or unread, digest, now.st_nlink, by_session, places, blob)

    def _is_left_out(self, found: FoundArtifact) -> bool:
        """Return whether a file is in `.git` or `.remit`, where no artifact belongs, in any case."""
        parts = found.inside.lower().split("/")
        return GIT_FOLDER in parts or (found.area == self.roots[0] and parts[0] == OWN_FOLDER)

    def _list_places(self, path: str, found: FoundArtifact, name: str) -> tuple[str, ...]:
        """Return the paths of a file below the root.

        A path with `..` behind a link names another file than it seems to.
        """
        places = {found.inside} if found.area == self.roots[0] else set()
        places |= {name} if name else set()
        if ".." not in path.split("/"):
            full = os.path.abspath(found.full)
            places |= {below for root in self.roots if (below := name_below(root, full))}
        return tuple(sorted(places))

    def _judge(self, name: str, full: str, now: os.stat_result, *, wrote: bool) -> tuple[Grade, str]:
        """Return the grade of an existing file by the trees, and the reason."""
        if self.trees is None or not self.trees.includes(name):
            covered = self.failure or "Remit has no record of the tree before the run"
            return "unknown", covered if self.trees is None else "it is in a folder that Remit did not read before"
        proved: Grade = "attributed" if wrote else "changed"
        if name in self.trees.older:
            return "unchanged", "it was there before the run"
        taken_ns = self.trees.before.taken_ns
        change = self.trees.changes.get(name)
        if change is None and name in self.trees.ids:
            return "unchanged", "its content did not change since the run began"
        if change is None or change.kind == "deleted":
            return self._judge_ignored(full, now, proved)
        # A file with several names may be an older one that got this name.
        if now.st_nlink > 1 and (change.kind == "created" or now.st_mtime_ns < taken_ns):
            return "unknown", "it is a second name of a file that may be older"
        return proved, ""

    def _judge_ignored(self, full: str, now: os.stat_result, proved: Grade) -> tuple[Grade, str]:
        """Return the grade of an ignored file by its timestamps, and the reason."""
        assert self.trees is not None  # noqa: S101 - only asked with trees
        taken_ns, (paused_ns, resumed_ns) = self.trees.before.taken_ns, self.trees.before.pause_ns
        if max(now.st_mtime_ns, now.st_ctime_ns) < taken_ns:
            return "unchanged", "it did not change since the run began"
        born_ns = find_birth(full, now)
        is_apart = paused_ns < now.st_ctime_ns < resumed_ns
        if now.st_nlink == 1 and not is_apart and (proved == "attributed" or (born_ns or 0) > taken_ns):
            return proved, ""
        return "unknown", "git ignores it, and its times don't show whether the run changed it"


def find_birth(file: str, found: os.stat_result) -> int | None:
    """When a file was created, in nanoseconds; None if the disk doesn't say."""
    birthtime = getattr(found, "st_birthtime", None)
    if birthtime is not None:  # macOS
        return int(birthtime * 1_000_000_000)
    import ctypes  # noqa: PLC0415 - only for a claimed file that git ignores
    import struct  # noqa: PLC0415

    try:
        statx = ctypes.CDLL(None).statx
    except (AttributeError, OSError):
        return None
    buffer = ctypes.create_string_buffer(256)
    if statx(-100, os.fsencode(file), 0x100, 0x800, buffer):  # from here, no link is followed, the time of birth
        return None
    mask, seconds, nanoseconds = struct.unpack_from("=I", buffer)[0], *struct.unpack_from("=qI", buffer, 80)
    return int(seconds) * 1_000_000_000 + int(nanoseconds) if mask & 0x800 else None
