"""Find work in a worktree that is on no branch and would be lost with it.

Read-only, and no filter runs: an agent has worked there.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from remit.git.commits import Uncommitted, find_uncommitted
from remit.git.git_errors import GitRefused
from remit.git.process import run
from remit.git.repository import find_commit, find_repository, open_scratch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from remit.git.repository import Repository

_SHOWN = 12


def find_unkept(folder: str, claimed: Sequence[str]) -> tuple[str, ...]:
    """Files that were claimed, ignored or not, whatever else git would commit, and a commit without a branch.

    Files that git ignores and nobody claimed are what programs leave: caches, no work. What cannot be looked at counts.
    """
    if not os.path.isdir(folder):
        return ()
    changes = list_changes(folder)
    paths = tuple(dict.fromkeys((*claimed, *changes.paths)))
    found = find_uncommitted(folder, paths)
    diagnostics = (*changes.findings, *found.findings)
    files = paths if found.findings else (*found.paths, *(path for path in found.ignored if path in claimed))
    return (*_find_loose(folder), *files) or tuple(finding.message for finding in diagnostics)


def list_changes(folder: str) -> Uncommitted:
    """What differs below a folder of a worktree from its last commit, without what Remit and git ignore."""
    try:
        repository = find_repository(folder)
        with open_scratch(repository, keeps=False) as scratch:
            last, real = _name(repository), {"GIT_INDEX_FILE": f"{repository.own}/index"}
            out = scratch.check_git("ls-files", "-z", "-m", "-d", "-o", "--exclude-standard", more=real)
            out += scratch.check_git("diff-index", "--cached", "--no-renames", "--name-only", "-z", last, more=real)
    except GitRefused as refused:
        return Uncommitted((), (refused.finding,))
    names = dict.fromkeys(os.fsdecode(out).split("\0"))
    below = (name[len(repository.prefix) :] for name in names if name.startswith(repository.prefix))
    # What ends with a slash is a repository of its own, which no commit can have.
    return Uncommitted(tuple(name for name in below if name and not name.endswith("/") and not _is_own(name)))


def _name(repository: Repository) -> str:
    """The last commit, or the tree without anything."""
    return find_commit(repository) or run(repository.top, "hash-object", "-t", "tree", "/dev/null").out.decode().strip()


def _is_own(name: str) -> bool:
    return name.split("/", maxsplit=1)[0] in {".remit", ".git"}


def _find_loose(folder: str) -> tuple[str, ...]:
    """The last commit, where no branch has it."""
    try:
        repository = find_repository(folder)
        commit = find_commit(repository)
        if commit is None:
            return ()
        answer = run(repository.top, "for-each-ref", "--count=1", "--contains", commit, "refs/heads", "refs/remotes")
    except GitRefused:
        return ()  # told where files are looked for
    return () if answer.code == 0 and answer.out else (f"commit {commit[:_SHOWN]}",)
