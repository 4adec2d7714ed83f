"""Git worktrees for single runs, in `.remit/worktrees`.

Files are checked out without filters, so files of git-lfs have only their pointers. Submodules stay empty.
"""

from __future__ import annotations

import os
import re
import shutil
from contextlib import suppress
from typing import TYPE_CHECKING

from remit.errors import StorageError, UsageError
from remit.git.commits import Uncommitted, find_uncommitted
from remit.git.git_errors import GitRefused, show
from remit.git.process import run
from remit.git.repository import find_commit, find_repository, open_scratch
from remit.lazy_regex import lazy
from remit.storage.files import make_private_folder, storage_error
from remit.storage.locks import hold_lock

if TYPE_CHECKING:
    from collections.abc import Sequence

    from remit.git.repository import Repository


FOLDER = ".remit/worktrees"
_NAME = lazy(r"[A-Za-z0-9_](?:[A-Za-z0-9_-]|\.(?!\.)){0,99}\Z", re.ASCII)


def add_worktree(root: str, name: str) -> str:
    """Check out HEAD below `.remit/worktrees`, on no branch; the folder in it that stands for the workspace's."""
    folder = _find_folder(root, name)
    if os.path.lexists(folder):
        raise UsageError(f"worktree '{name}' already exists", hint="use another name, or remove it first")
    try:
        make_private_folder(os.path.dirname(folder))
        with hold_lock(f"{os.path.dirname(folder)}.lock"):  # of two at once git gives one up
            repository = find_repository(root)
            found = find_commit(repository, "HEAD")
            if found is None:
                raise UsageError("the repository has no commit yet", hint="make a first commit")
            try:
                _check_out(repository, folder, found)
            except BaseException:
                _remove(repository, folder)
                raise
    except GitRefused as refused:
        raise refused.as_error() from refused
    except OSError as error:
        raise storage_error(folder, error) from error
    return os.path.join(folder, repository.prefix).rstrip("/")


def remove_worktree(root: str, name: str) -> bool:
    """Remove a worktree with all that is in it, whatever state it is in; whether there was one."""
    folder = _find_folder(root, name)
    was_there = name in list_worktrees(root)
    try:
        _remove(find_repository(root), folder)
    except GitRefused as refused:
        raise refused.as_error() from refused
    return was_there


def find_head(root: str, name: str) -> str | None:
    """The commit that a worktree is at; None where it is none any more: an agent may have removed git's file there."""
    folder = _find_folder(root, name)
    try:
        repository = find_repository(folder)
        return find_commit(repository) if repository.top == folder else None
    except GitRefused as refused:
        raise refused.as_error() from refused


def is_merged(root: str, commit: str) -> bool:
    """Whether what is checked out in the workspace itself has a commit already."""
    try:
        return run(find_repository(root).top, "merge-base", "--is-ancestor", commit, "HEAD").code == 0
    except GitRefused as refused:
        raise refused.as_error() from refused


def name_branch(folder: str, branch: str, commit: str) -> None:
    """Give a commit a branch; one of that name that has the commit will do."""
    try:
        answer = run(folder, "branch", "--no-track", branch, commit)
        there = run(folder, "merge-base", "--is-ancestor", commit, f"refs/heads/{branch}")
    except GitRefused as refused:
        raise refused.as_error() from refused
    if answer.code and there.code:
        raise StorageError(f"git can't create the branch {branch}: {show(answer.reason)}", hint="check git branch")


def has_branch(root: str, branch: str) -> bool:
    """Whether there is a branch of that name."""
    try:
        return run(find_repository(root).top, "show-ref", "--verify", "--quiet", f"refs/heads/{branch}").code == 0
    except GitRefused as refused:
        raise refused.as_error() from refused


def list_worktrees(root: str) -> tuple[str, ...]:
    """The names of the workspace's worktrees, those too that were left half made or half removed."""
    home = os.path.join(os.path.realpath(root), FOLDER)
    names = set()
    with suppress(OSError):
        names.update(os.listdir(home))
    try:
        answer = run(find_repository(root).top, "worktree", "list", "--porcelain")
    except GitRefused as refused:
        if refused.diagnostic.code == "GIT002":  # no repository has no worktrees
            return ()
        raise refused.as_error() from refused
    for line in os.fsdecode(answer.out).splitlines():
        if line.startswith(f"worktree {home}/"):
            names.add(line.removeprefix(f"worktree {home}/"))
    return tuple(sorted(name for name in names if _NAME.match(name)))


def _find_folder(root: str, name: str) -> str:
    """Where a worktree is. What is a link on the way there could lead anywhere."""
    if not _NAME.match(name) or name.endswith((".lock", ".")):
        raise UsageError(f"'{show(name)}' isn't a valid worktree name", hint="use letters, digits, - and _")
    home = os.path.join(os.path.realpath(root), FOLDER)
    if os.path.realpath(home) != home:
        raise StorageError(f"'{FOLDER}' is a symbolic link to another place", hint="remove the link")
    return os.path.join(home, name)


def _check_out(repository: Repository, folder: str, commit: str) -> None:
    """Have git know the worktree, then fill it from the scratch folder, where no filter is known."""
    # Twice: what an earlier attempt left of itself in the repository is taken over, locked or not.
    force = ("--force", "--force")
    answer = run(repository.top, "worktree", "add", *force, "--detach", "--no-checkout", folder, commit)
    if answer.code:
        raise StorageError(f"git can't add a worktree: {show(answer.reason)}", hint="check git worktree list")
    own = os.fsdecode(run(folder, "rev-parse", "--absolute-git-dir").out).removesuffix("\n")
    with open_scratch(repository, keeps=True) as scratch:
        place = {"GIT_WORK_TREE": folder, "GIT_INDEX_FILE": f"{own}/index"}
        scratch.check_git("read-tree", "--reset", "-u", commit, more=place)


def _remove(repository: Repository, folder: str) -> None:
    """Remove the folder, then what the repository knows of it: in this order nothing in the folder can hinder it."""
    try:
        remove_tree(folder)
    except OSError as error:
        raise StorageError(f"'{folder}' can't be removed: {(error.strerror or str(error)).lower()}",
                           hint="end the processes that use it, then try again") from error  # fmt: skip
    run(repository.top, "worktree", "remove", "--force", "--force", folder)


def remove_tree(folder: str) -> None:
    """Remove a folder with all that is in it, or the file in its place; nothing where there is none."""
    if os.path.lexists(folder) and (os.path.islink(folder) or not os.path.isdir(folder)):
        os.unlink(folder)
    elif os.path.lexists(folder):
        shutil.rmtree(folder, ignore_errors=True)
        if os.path.lexists(folder):  # an agent may have taken its own permissions away
            os.chmod(folder, 0o700)
            for here, folders, _ in os.walk(folder):
                for inner in (os.path.join(here, name) for name in folders):
                    if not os.path.islink(inner):
                        os.chmod(inner, 0o700)
            shutil.rmtree(folder)


_SHOWN_DIGITS = 12


def find_unsaved_work(folder: str, claimed: Sequence[str]) -> tuple[str, ...]:
    """Files that were claimed, ignored or not, whatever else git would commit, and a commit without a branch.

    Files that git ignores and nobody claimed are what programs leave: caches, no work. What cannot be looked at counts.
    """
    if not os.path.isdir(folder):
        return ()
    changes = list_changes(folder)
    paths = tuple(dict.fromkeys((*claimed, *changes.paths)))
    found = find_uncommitted(folder, paths)
    diagnostics = (*changes.diagnostics, *found.diagnostics)
    files = paths if found.diagnostics else (*found.paths, *(path for path in found.ignored if path in claimed))
    return (*_find_loose_commit(folder), *files) or tuple(diagnostic.message for diagnostic in diagnostics)


def list_changes(folder: str) -> Uncommitted:
    """What differs below a folder of a worktree from its last commit, without what Remit and git ignore."""
    try:
        repository = find_repository(folder)
        with open_scratch(repository, keeps=False) as scratch:
            last, real = _name_last_tree(repository), {"GIT_INDEX_FILE": f"{repository.own}/index"}
            out = scratch.check_git("ls-files", "-z", "-m", "-d", "-o", "--exclude-standard", more=real)
            out += scratch.check_git("diff-index", "--cached", "--no-renames", "--name-only", "-z", last, more=real)
    except GitRefused as refused:
        return Uncommitted((), (refused.diagnostic,))
    names = dict.fromkeys(os.fsdecode(out).split("\0"))
    below = (name[len(repository.prefix) :] for name in names if name.startswith(repository.prefix))
    # What ends with a slash is a repository of its own, which no commit can have.
    return Uncommitted(tuple(name for name in below if name and not name.endswith("/") and not _is_own(name)))


def _name_last_tree(repository: Repository) -> str:
    """The last commit, or the tree without anything."""
    return find_commit(repository) or run(repository.top, "hash-object", "-t", "tree", "/dev/null").out.decode().strip()


def _is_own(name: str) -> bool:
    return name.split("/", maxsplit=1)[0] in {".remit", ".git"}


def _find_loose_commit(folder: str) -> tuple[str, ...]:
    """The last commit, where no branch has it."""
    try:
        repository = find_repository(folder)
        commit = find_commit(repository)
        if commit is None:
            return ()
        answer = run(repository.top, "for-each-ref", "--count=1", "--contains", commit, "refs/heads", "refs/remotes")
    except GitRefused:
        return ()  # told where files are looked for
    return () if answer.code == 0 and answer.out else (f"commit {commit[:_SHOWN_DIGITS]}",)
