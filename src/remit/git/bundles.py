"""Send trees between machines, as git bundles or as branches of a remote.

Has the values that both sides exchange, and the form of Remit's commits.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, NamedTuple

from remit.errors import StorageError, UsageError
from remit.git.git_errors import show
from remit.git.private_repo import MAX_SECONDS, open_private_repo
from remit.git.process import GitOutput, run
from remit.lazy_regex import lazy
from remit.storage.files import remove

if TYPE_CHECKING:
    from collections.abc import Iterable

    from remit.git.private_repo import PrivateRepo

MAX_PARCEL_BYTES = 256 * 1024 * 1024
PROTOCOLS = "file:ssh:https:git"
GONE = "000000"
_IDENTITY = {
    "GIT_AUTHOR_NAME": "Remit", "GIT_AUTHOR_EMAIL": "remit@localhost", "GIT_AUTHOR_DATE": "946684800 +0000",
    "GIT_COMMITTER_NAME": "Remit", "GIT_COMMITTER_EMAIL": "remit@localhost", "GIT_COMMITTER_DATE": "946684800 +0000",
}  # fmt: skip
"""The same for all commits: so the same tree gives the same commit, and is sent once."""
_FAST_PACKING = ("-c", "pack.window=0", "-c", "pack.compression=1")
"""Delta compression takes four times as long and saves one percent."""
_COMMIT = lazy(r"[0-9a-f]{40}(?:[0-9a-f]{24})?\Z", re.ASCII)
_BRANCH = lazy(r"(?![-/.])(?:[A-Za-z0-9_-]|[./](?![./])){1,200}(?<![./])\Z", re.ASCII)
_URL_CREDENTIALS = lazy(r"://[^/@\s]{1,1000}@")


class BaseTree(NamedTuple):
    """The tree that an agent starts from."""

    commit: str
    tree: str
    prefix: str
    """The path of the workspace below the top of the tree: empty, or with a slash at its end."""
    left: tuple[str, ...] = ()
    """The paths that couldn't be included: too large, unreadable, or nested repositories."""


class BundledFile(NamedTuple):
    """A path below the workspace's root that differs from the base, and its state now."""

    path: str
    mode: str
    sha256: str
    """The hash of the file's bytes, or of a link's target; "" if it was deleted."""


class AgentChanges(NamedTuple):
    """The changes that an agent made to a base."""

    commit: str
    tree: str
    files: tuple[BundledFile, ...]
    left: tuple[str, ...] = ()
    """The paths that couldn't be included."""


def write_commit(store: PrivateRepo, tree: str, parents: Iterable[str], words: str) -> str:
    """Create a commit of Remit's own in a private repository; return its id."""
    named = [part for parent in parents for part in ("-p", parent)]
    return store.check_git("commit-tree", tree, *named, "-m", words, more=_IDENTITY).decode("ascii").strip()


def check_commit(commit: str) -> str:
    """Return a commit id. Raise `UsageError` if it is anything else, such as an option."""
    if not _COMMIT.match(commit):
        raise UsageError(f"'{show(commit)}' isn't a commit", hint="give its full hash")
    return commit


def check_branch(branch: str) -> str:
    """Return a branch name. Raise `UsageError` if it is anything else."""
    if not _BRANCH.match(branch) or branch.endswith(".lock") or ".lock/" in branch:
        raise UsageError(f"'{show(branch)}' isn't a valid branch name", hint="use letters, digits, - and _")
    return branch


def pack(root: str, commit: str, *, without: str = "", max_bytes: int = MAX_PARCEL_BYTES) -> bytes:
    """Return a bundle of a commit in the workspace's private repository, without the objects of the commit `without`.

    If both are the same, there is nothing to send: b"".
    """
    check_commit(commit)
    if commit == without:
        return b""
    with open_private_repo(root, locked=False) as store:
        file = f"{store.folder}/parcel-{os.getpid()}-{os.urandom(4).hex()}"
        try:
            with store.named(commit) as reference:
                # `^commit` excludes objects only if it is an ancestor; also exclude its tree, so that unrelated bases
                # share objects.
                less = [f"^{check_commit(without)}", f"^{without}^{{tree}}"] if without else []
                answer = store.run_git(*_FAST_PACKING, "bundle", "create", "-q", file, reference, *less)
            if answer.code:
                store.discard_cache()  # borrowed objects may be gone; the next base has its own
                raise StorageError(f"git can't create a bundle: {show(answer.reason)}", hint="try again")
            return _load_bundle(file, max_bytes)
        finally:
            remove(file)
            remove(f"{file}.lock")


def _load_bundle(file: str, max_bytes: int) -> bytes:
    size = os.stat(file).st_size
    if size > max_bytes:
        raise StorageError(
            f"the bundle has {size:,} bytes; the limit is {max_bytes:,}",
            hint="name a remote under [cluster], or raise parcel_megabytes",
        )
    with open(file, "rb") as stream:
        return stream.read(max_bytes + 1)


def push(root: str, commit: str, remote: str, branch: str) -> None:
    """Push a commit of the workspace's private repository to a branch of a remote, replacing what was there."""
    check_commit(commit)
    with open_private_repo(root, locked=False) as store:
        wanted = f"+{commit}:refs/heads/{check_branch(branch)}"
        answer = call_remote(store, "push", "-q", "--no-verify", "--no-signed", "--", remote, wanted, remote=remote)
        if answer.code:
            raise remote_error("can't push to", remote, answer)


def delete_remote_branches(root: str, remote: str, branches: Iterable[str]) -> None:
    """Delete branches of a remote; missing ones are ignored."""
    with open_private_repo(root, locked=False) as store:
        for branch in branches:
            wanted = f":refs/heads/{check_branch(branch)}"
            answer = call_remote(store, "push", "-q", "--no-verify", "--no-signed", "--", remote, wanted, remote=remote)
            if answer.code and "remote ref does not exist" not in answer.errors:
                raise remote_error("can't remove a branch from", remote, answer)


def call_remote(store: PrivateRepo, *arguments: str, remote: str) -> GitOutput:
    """Run git against a remote, with the user's own settings and without prompts."""
    if not remote or remote.startswith("-") or "\0" in remote:
        raise UsageError(f"'{show(remote)}' isn't a valid remote", hint="give a URL, such as ssh://host/folder.git")
    environment = {key: value for key, value in store.environment.items() if key.startswith("GIT_")}
    environment |= {"GIT_ALLOW_PROTOCOL": PROTOCOLS, "SSH_ASKPASS_REQUIRE": "never", "GIT_ASKPASS": ""}
    helpers = _list_helpers(store.folder) if remote.startswith("https:") else []
    return run(store.top, *store.options, *helpers, *arguments, more=environment, seconds=MAX_SECONDS)


def _list_helpers(folder: str) -> list[str]:
    """Return options for the credential helpers in the user's own settings; a repository's settings don't count."""
    found: list[str] = []
    for whose in ("--system", "--global"):
        out = run(folder, "config", whose, "-z", "--get-regexp", r"^credential\..*helper$").out
        pairs = (entry.partition("\n") for entry in os.fsdecode(out).split("\0") if entry)
        found += [part for key, _, value in pairs for part in ("-c", f"{key}={value}")]
    return found


def remote_error(what: str, remote: str, answer: GitOutput) -> StorageError:
    """Return the error for a remote that fails. A URL may contain a password, which is redacted."""
    shown, reason = (_URL_CREDENTIALS.sub("://***@", text) for text in (remote, answer.reason))
    return StorageError(
        f"git {what} '{show(shown)}': {show(reason)}",
        hint="check that the remote can be reached, and who may write to it",
    )
