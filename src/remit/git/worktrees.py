"""Git worktrees for single runs, in `.remit/worktrees`, and the work in them that isn't on a branch.

Files are checked out without filters, so files of git-lfs have only their pointers. Submodules stay empty. No filter
runs when a worktree is read either: an agent has worked there.
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


def add_worktree(root: str, name: str, *, commit: str = "HEAD") -> str:
    """Check out a commit below `.remit/worktrees`, on no branch; return the folder that stands for the workspace's."""
    folder = _find_folder(root, name)
    if os.path.lexists(folder):
        raise UsageError(f"worktree '{name}' already exists", hint="use another name, or remove it first")
    try:
        make_private_folder(os.path.dirname(folder))
        with hold_lock(f"{os.path.dirname(folder)}.lock"):  # git fails if two processes add a worktree at once
            repository = find_repository(root)
            found = find_commit(repository, commit)
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


def find_tree(root: str, commit: str, prefix: str) -> str:
    """Return the id of the tree of a commit, or of a folder in it; empty if there is none."""
    try:
        answer = run(find_repository(root).top, "rev-parse", "--verify", "--quiet", f"{commit}:{prefix}")
    except GitRefused as refused:
        raise refused.as_error() from refused
    return "" if answer.code else answer.out.decode("ascii").strip()


def remove_worktree(root: str, name: str) -> bool:
    """Remove a worktree with all its files, in whatever state it is; return whether there was one."""
    folder = _find_folder(root, name)
    was_there = name in list_worktrees(root)
    try:
        _remove(find_repository(root), folder)
    except GitRefused as refused:
        raise refused.as_error() from refused
    return was_there


def find_head(root: str, name: str) -> str | None:
    """Return the commit of a worktree; None if it isn't one anymore: an agent may have removed its `.git` file."""
    folder = _find_folder(root, name)
    try:
        repository = find_repository(folder)
        return find_commit(repository) if repository.top == folder else None
    except GitRefused as refused:
        raise refused.as_error() from refused


def is_merged(root: str, commit: str) -> bool:
    """Return whether HEAD of the workspace itself contains a commit."""
    try:
        return run(find_repository(root).top, "merge-base", "--is-ancestor", commit, "HEAD").code == 0
    except GitRefused as refused:
        raise refused.as_error() from refused


def name_branch(folder: str, branch: str, commit: str) -> None:
    """Create a branch at a commit; an existing branch of that name that contains the commit is fine."""
    try:
        answer = run(folder, "branch", "--no-track", branch, commit)
        there = run(folder, "merge-base", "--is-ancestor", commit, f"refs/heads/{branch}")
    except GitRefused as refused:
        raise refused.as_error() from refused
    if answer.code and there.code:
        raise StorageError(f"git can't create the branch {branch}: {show(answer.reason)}", hint="check git branch")


def has_branch(root: str, branch: str) -> bool:
    """Return whether there is a branch of that name."""
    try:
        return run(find_repository(root).top, "show-ref", "--verify", "--quiet", f"refs/heads/{branch}").code == 0
    except GitRefused as refused:
        raise refused.as_error() from refused


def list_worktrees(root: str) -> tuple[str, ...]:
    """Return the names of the workspace's worktrees, including partly created or removed ones."""
    home = os.path.join(os.path.realpath(root), FOLDER)
    names = set()
    with suppress(OSError):
        names.update(os.listdir(home))
    try:
        answer = run(find_repository(root).top, "worktree", "list", "--porcelain")
    except GitRefused as refused:
        if refused.diagnostic.code == "GIT002":  # without a repository there are no worktrees
            return ()
        raise refused.as_error() from refused
    for line in os.fsdecode(answer.out).splitlines():
        if line.startswith(f"worktree {home}/"):
            names.add(line.removeprefix(f"worktree {home}/"))
    return tuple(sorted(name for name in names if _NAME.match(name)))


def _find_folder(root: str, name: str) -> str:
    """Return the folder of a worktree. A symbolic link on the way there could lead anywhere, so it is rejected."""
    if not _NAME.match(name) or name.endswith((".lock", ".")):
        raise UsageError(f"'{show(name)}' isn't a valid worktree name", hint="use letters, digits, - and _")
    home = os.path.join(os.path.realpath(root), FOLDER)
    if os.path.realpath(home) != home:
        raise StorageError(f"'{FOLDER}' is a symbolic link to another place", hint="remove the link")
    return os.path.join(home, name)


def _check_out(repository: Repository, folder: str, commit: str) -> None:
    """Register the worktree with git, then fill it from the scratch folder, where no filter is configured."""
    # Twice: this also replaces what an earlier attempt left in the repository, even if it is locked.
    force = ("--force", "--force")
    answer = run(repository.top, "worktree", "add", *force, "--detach", "--no-checkout", folder, commit)
    if answer.code:
        raise StorageError(f"git can't add a worktree: {show(answer.reason)}", hint="check git worktree list")
    own = os.fsdecode(run(folder, "rev-parse", "--absolute-git-dir").out).removesuffix("\n")
    with open_scratch(repository, keeps=True) as scratch:
        place = {"GIT_WORK_TREE": folder, "GIT_INDEX_FILE": f"{own}/index"}
        scratch.check_git("read-tree", "--reset", "-u", commit, more=place)


def _remove(repository: Repository, folder: str) -> None:
    """Remove the folder, then its registration: in this order nothing in the folder can prevent it."""
    try:
        remove_tree(folder)
    except OSError as error:
        raise StorageError(f"'{folder}' can't be removed: {(error.strerror or str(error)).lower()}",
                           hint="end the processes that use it, then try again") from error  # fmt: skip
    run(repository.top, "worktree", "remove", "--force", "--force", folder)


def remove_tree(folder: str) -> None:
    """Remove a folder with all its content, or the file in its place; nothing happens if it is missing."""
    if os.path.lexists(folder) and (os.path.islink(folder) or not os.path.isdir(folder)):
        os.unlink(folder)
    elif os.path.lexists(folder):
        shutil.rmtree(folder, ignore_errors=True)
        if os.path.lexists(folder):  # an agent may have removed the permissions
            os.chmod(folder, 0o700)
            for here, folders, _ in os.walk(folder):
                for inner in (os.path.join(here, name) for name in folders):
                    if not os.path.islink(inner):
                        os.chmod(inner, 0o700)
            shutil.rmtree(folder)


_SHOWN_DIGITS = 12


def find_unsaved_work(folder: str, claimed: Sequence[str]) -> tuple[str, ...]:
    """Return claimed files, other files that git would commit, and a commit that no branch has.

    Ignored files that weren't claimed are leftovers of programs, such as caches. If git fails, its diagnostics count as
    unsaved work.
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
    """Return the uncommitted paths below a folder of a worktree, without ignored ones and `.remit`."""
    try:
        repository = find_repository(folder)
        with open_scratch(repository, keeps=False) as scratch:
            empty_tree = run(repository.top, "hash-object", "-t", "tree", "/dev/null").out.decode().strip()
            last, real = find_commit(repository) or empty_tree, {"GIT_INDEX_FILE": f"{repository.own}/index"}
            out = scratch.check_git("ls-files", "-z", "-m", "-d", "-o", "--exclude-standard", more=real)
            out += scratch.check_git("diff-index", "--cached", "--no-renames", "--name-only", "-z", last, more=real)
    except GitRefused as refused:
        return Uncommitted((), (refused.diagnostic,))
    names = dict.fromkeys(os.fsdecode(out).split("\0"))
    below = (name[len(repository.prefix) :] for name in names if name.startswith(repository.prefix))
    # A path that ends with a slash is a nested repository, which no commit can contain.
    names_below = (name for name in below if name and not name.endswith("/"))
    return Uncommitted(tuple(name for name in names_below if name.split("/", maxsplit=1)[0] not in {".remit", ".git"}))


def _find_loose_commit(folder: str) -> tuple[str, ...]:
    """Return the last commit if no branch contains it."""
    try:
        repository = find_repository(folder)
        commit = find_commit(repository)
        if commit is None:
            return ()
        answer = run(repository.top, "for-each-ref", "--count=1", "--contains", commit, "refs/heads", "refs/remotes")
    except GitRefused:
        return ()  # reported when files are searched
    return () if answer.code == 0 and answer.out else (f"commit {commit[:_SHOWN_DIGITS]}",)
