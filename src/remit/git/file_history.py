"""Read a file as it was at a commit and at earlier commits, and compare texts.

Contents are read as the repository has them and compared in a scratch folder, without filters, diff programs or
attributes of the repository.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Literal, NamedTuple

from remit.git.git_errors import GitRefused
from remit.git.process import run
from remit.git.repository import find_repository, open_scratch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.git.repository import Repository

_DIGITS = frozenset("0123456789abcdef")
_MODES = {"100644": "file", "100755": "file", "100664": "file", "120000": "link"}
_DIFFERENT = 1
"""The exit code of `git diff` if there are differences."""
_MAX_VERSIONS = 100


class FileAtCommit(NamedTuple):
    """A file at a commit."""

    state: Literal["file", "none", "link", "large", "other"]
    """`none`: it didn't exist. `large`: it exceeds the size limit. `other`: neither a file nor a link."""
    data: bytes = b""


class FileVersion(NamedTuple):
    """A committed version of a file, with the commit and its day."""

    commit: str
    day: str
    data: bytes


def walk_versions(root: str, path: str, *, max_bytes: int) -> Iterator[FileVersion]:
    """Yield the last committed versions of a file below the root, newest first; none if git fails."""
    try:
        repository = find_repository(root)
        listed = run(
            repository.top, "rev-list", "--timestamp", f"--max-count={_MAX_VERSIONS}", "HEAD", "--",
            f"{repository.prefix}{path}",
        )  # fmt: skip
    except GitRefused:
        return
    for line in listed.out.decode("ascii", "replace").splitlines() if not listed.code else ():
        seconds, _, commit = line.partition(" ")
        earlier = load_file_at(root, commit, path, max_bytes=max_bytes)
        if earlier is not None and earlier.state == "file":
            yield FileVersion(commit, time.strftime("%Y-%m-%d", time.gmtime(int(seconds))), earlier.data)


def load_file_at(root: str, commit: str, path: str, *, max_bytes: int) -> FileAtCommit | None:
    """Return a file below the root as it was at a commit; None if there is no such commit, or if git fails."""
    if len(commit) not in (40, 64) or not set(commit) <= _DIGITS or "\0" in path:
        return None
    try:
        repository = find_repository(root)
        listed = run(repository.top, "ls-tree", "-z", "-l", "--full-tree", commit, "--", f"{repository.prefix}{path}")
        return None if listed.code else _load(repository, listed.out, f"{repository.prefix}{path}", max_bytes)
    except GitRefused:
        return None


def _load(repository: Repository, listed: bytes, path: str, max_bytes: int) -> FileAtCommit | None:
    for line in os.fsdecode(listed).split("\0"):
        facts, parted, name = line.partition("\t")
        if not parted or name != path:
            continue
        mode, _, blob, size = facts.split()
        if mode not in _MODES or not size.isdecimal():
            return FileAtCommit("other")
        if _MODES[mode] == "link":
            return FileAtCommit("link")
        if int(size) > max_bytes:
            return FileAtCommit("large")
        read = run(repository.top, "cat-file", "blob", blob)
        return None if read.code else FileAtCommit("file", read.out)
    return FileAtCommit("none")


def compare_texts(root: str, before: bytes, after: bytes) -> bytes | None:
    """Return the differences between two texts as git shows them, from the first `@@` on; None if git fails."""
    try:
        with open_scratch(find_repository(root), keeps=False) as scratch:
            folder = scratch.environment["GIT_DIR"]
            for name, data in (("before", before), ("after", after)):
                with open(f"{folder}/{name}", "wb") as stream:
                    stream.write(data)
            answer = scratch.run_git(
                "diff", "--no-index", "--no-ext-diff", "--no-textconv", "--no-color", "--text", "--no-renames",
                "--no-indent-heuristic", "-U3", "--", f"{folder}/before", f"{folder}/after",
            )  # fmt: skip
    except (GitRefused, OSError):
        return None
    if answer.code > _DIFFERENT:
        return None
    at = answer.out.find(b"\n@@ ")
    return answer.out[at + 1 :] if at >= 0 else b""
