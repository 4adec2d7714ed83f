"""Store an agent's changes from another machine as a new branch in the user's repository.

Only objects and a new branch are added to it. The branch starts at the commit that was checked out when the snapshot
was taken, so that it can be merged.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from remit.errors import StorageError
from remit.git.bundles import check_branch, check_commit, pack, write_commit
from remit.git.git_errors import GitRefused, show
from remit.git.private_repo import open_private_repo
from remit.git.process import run
from remit.git.repository import find_commit, find_repository

if TYPE_CHECKING:
    from remit.git.bundles import AgentChanges
    from remit.git.private_repo import PrivateRepo
    from remit.git.repository import Repository

_DIGITS = frozenset("0123456789abcdef")


def keep_branch(root: str, made: AgentChanges, branch: str) -> str:
    """Create a branch for fetched changes in the user's repository; return its commit, "" without a repository."""
    check_commit(made.commit)
    reference = f"refs/heads/{check_branch(branch)}"
    try:
        repository = find_repository(root)
    except GitRefused as refused:
        if refused.diagnostic.code == "GIT002":
            return ""
        raise refused.as_error() from refused
    with open_private_repo(root, repository.prefix, locked=False) as store:
        commit, below = _commit_onto_head(store, made)
        found = find_commit(repository, reference)
        if found is None:
            _store_objects(repository, store, pack(root, commit, without=below))
            answer = run(repository.top, "update-ref", "-m", "remit: brought in", reference, commit, repository.zeros)
            found = commit if answer.code == 0 else find_commit(repository, reference)
        if found != commit:
            raise StorageError(
                f"there is a branch {branch} already, with another commit",
                hint="rename it or remove it, then try again",
            )
    return commit


def _commit_onto_head(store: PrivateRepo, made: AgentChanges) -> tuple[str, str]:
    """Return the commit for the branch, and its ancestor that the repository has; "" if it has none."""
    base = _list_parents(store, made.commit)[0]
    head = _load_head(store, base)
    if not head or base == head or _list_parents(store, base):
        return made.commit, head
    tree = store.check_git("rev-parse", f"{base}^{{tree}}").decode("ascii").strip()
    if store.check_git("rev-parse", f"{head}^{{tree}}").decode("ascii").strip() == tree:
        return write_commit(store, made.tree, (head,), "made"), head
    return write_commit(store, made.tree, (write_commit(store, tree, (head,), "base"),), "made"), head


def _list_parents(store: PrivateRepo, commit: str) -> list[str]:
    return store.check_git("rev-list", "--parents", "-n", "1", commit, "--").decode("ascii").split()[1:]


def _load_head(store: PrivateRepo, base: str) -> str:
    """Return the commit that was checked out when the base was taken; empty if unknown."""
    head = ""
    with suppress(OSError), open(f"{store.folder}/refs/remit/heads/{base}", encoding="ascii") as stream:
        head = stream.read(100).strip()
    return head if set(head) <= _DIGITS else ""


def _store_objects(repository: Repository, store: PrivateRepo, bundle: bytes) -> None:
    """Store the objects of a bundle in the repository, through the private one.

    The repository's settings don't apply there.
    """
    objects = bundle[bundle.index(b"\n\nPACK") + 2 :]
    shared = repository.settings.get("core.sharedrepository", "false")
    answer = store.run_git(
        "-c", "core.fsync=committed", "-c", f"core.sharedRepository={shared}",
        "index-pack", "--stdin", "--fix-thin", given=objects,
        more={"GIT_OBJECT_DIRECTORY": os.path.join(repository.common, "objects")},
    )  # fmt: skip
    if answer.code:
        raise StorageError(f"git can't store the received commit: {show(answer.reason)}", hint="check git fsck")
