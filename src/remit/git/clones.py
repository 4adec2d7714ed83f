"""The checkout in which an agent works on a worker, and the changes that it made there.

A mirror below the worker's private repository has the objects of one remote, or of all bundles, for many sessions; one
process at a time fetches into it. A clone is the checkout of one session: it borrows the mirror's objects and has the
base's files on a branch `work`. It is created next to its place and then renamed, so an existing clone is complete.

The agent's changes are found by the private repository in the clone's `.remit`, never by the clone's own `.git`, which
the agent may have changed.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from remit.errors import StorageError
from remit.git.blobs import hash_blobs, load_sizes
from remit.git.bundles import (
    GONE,
    AgentChanges,
    BaseTree,
    BundledFile,
    call_remote,
    check_branch,
    check_commit,
    remote_error,
    write_commit,
)
from remit.git.git_errors import GitRefused, show
from remit.git.private_repo import (
    FOLDER,
    MAX_LISTED_BYTES,
    PATIENCE_SECONDS,
    PrivateRepo,
    check_rules,
    compare,
    find_changes,
    find_hashing,
    is_own,
    make_private_repo,
    open_private_repo,
)
from remit.git.repository import parse_entries
from remit.git.tree_snapshot import LINKED, find_filled, update
from remit.git.worktrees import remove_tree
from remit.storage.files import storage_error
from remit.storage.locks import hold_lock

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

BRANCH = "work"
_HALF_MADE = ".half-made-"
_INDEX = "made"
_KEPT = "refs/remit/bases"
_FETCH = ("fetch", "-q", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-maintenance")


def check_out(
    store_folder: str,
    folder: str,
    base: BaseTree,
    *,
    bundle: bytes | None = None,
    bundles: Sequence[bytes] = (),
    remote: str = "",
    branch: str = "",
) -> str:
    """Create a clone of a base, or use the existing one; return the folder in it for the workspace's root.

    Each of several bundles may need the one before it. No bundle is needed for a base that the mirror has.
    """
    check_commit(base.commit)
    place = os.path.join(os.path.realpath(os.path.dirname(folder)), os.path.basename(folder))
    try:
        if os.path.lexists(place) and _load_base(place, base) != base.commit:
            remove(place)
        if not os.path.lexists(place):
            parts = [*bundles, *([bundle] if bundle else [])]
            mirror = _fetch_base(os.path.realpath(store_folder), base, bundles=parts, remote=remote, branch=branch)
            _make_clone(place, base, f"{mirror}/objects")
    except GitRefused as refused:
        raise refused.as_error() from refused
    except OSError as error:
        raise storage_error(folder, error) from error
    return os.path.join(place, base.prefix).rstrip("/")


def remove(folder: str) -> None:
    """Remove a clone with all its files, and partly created ones."""
    parent, name = os.path.split(folder)
    try:
        remove_tree(folder)
        for other in os.listdir(parent) if os.path.isdir(parent) else ():
            if other.startswith(f"{name}{_HALF_MADE}"):
                remove_tree(os.path.join(parent, other))
    except OSError as error:
        raise StorageError(f"'{folder}' can't be removed: {(error.strerror or str(error)).lower()}",
                           hint="end the processes that use it, then try again") from error  # fmt: skip


def _load_base(place: str, base: BaseTree) -> str:
    store = PrivateRepo(os.path.join(place, base.prefix, FOLDER), place)
    return str(store.load_note("clone").get("commit"))


def has_base(store_folder: str, commit: str) -> bool:
    """Return whether a worker's mirror has a base that came as a bundle, so that it needn't be sent again."""
    mirror = _find_mirror(os.path.realpath(store_folder), check_commit(commit))
    try:
        os.utime(f"{mirror}/{_KEPT}/{commit}")  # it will be needed soon
    except OSError:
        return False
    return True


def _find_mirror(store_folder: str, commit: str, remote: str = "") -> str:
    name = hashlib.sha256(remote.encode("utf-8", "surrogateescape")).hexdigest()[:16] if remote else "parcels"
    hashing = find_hashing(commit)
    return os.path.join(store_folder, f"{name}.git" if hashing == "sha1" else f"{name}-{hashing}.git")


def _fetch_base(store_folder: str, base: BaseTree, *, bundles: Sequence[bytes], remote: str, branch: str) -> str:
    """Fetch a base into a mirror and keep it there; return the mirror's folder."""
    mirror = _find_mirror(store_folder, base.commit, remote)
    kept = f"{_KEPT}/{base.commit}"
    os.makedirs(store_folder, mode=0o700, exist_ok=True)
    with hold_lock(f"{mirror}.lock", seconds=PATIENCE_SECONDS):
        make_private_repo(mirror, hashing=find_hashing(base.commit))
        store = PrivateRepo(mirror, mirror)
        if not os.path.exists(f"{mirror}/{kept}"):
            tree = receive(store, base.commit, bundles=bundles, remote=remote, branch=branch, kept=_KEPT)
            if tree != base.tree:
                raise StorageError("the received base doesn't match: it has another tree", hint="run it again")
            store.write(kept, f"{base.commit}\n")
        os.utime(f"{mirror}/{kept}")  # clones borrow from it: a base in use is never old
        store.collect_garbage()
    return mirror


def receive(store: PrivateRepo, commit: str, *, bundles: Sequence[bytes], remote: str, branch: str, kept: str) -> str:
    """Fetch a commit into a private repository; return its tree. All fetched commits get references below `kept`."""
    with fetching(store, bundles=bundles, remote=remote, branch=branch):
        out = store.check_git("for-each-ref", "--format=%(objectname) %(tree)", "refs/remit/got/").decode("ascii")
        came = dict(line.split(" ", 1) for line in out.splitlines())
        for each in came:
            store.write(f"{kept}/{each}", f"{each}\n")
        if came.get(commit):
            return came[commit]
        answer = store.run_git("rev-parse", "-q", "--verify", f"{commit}^{{tree}}")  # it was there before
        if answer.code:
            raise missing_commit()
        return answer.out.decode("ascii").strip()


def missing_commit() -> StorageError:
    """Return the error for a commit that isn't in the received bundle."""
    return StorageError("the received bundle doesn't contain the commit", hint="run it again")


@contextmanager
def fetching(store: PrivateRepo, *, bundles: Sequence[bytes], remote: str, branch: str) -> Iterator[None]:
    """Fetch what was sent into a private repository; its references exist only inside this context."""
    for bundle in bundles:
        _receive_bundle(store, bundle)
    if remote and not bundles:
        wanted = f"+refs/heads/{check_branch(branch)}:refs/remit/got/{os.urandom(6).hex()}"
        answer = call_remote(store, *_FETCH, "--", remote, wanted, remote=remote)
        if answer.code:
            raise remote_error("can't fetch from", remote, answer)
    try:
        yield
    finally:
        shutil.rmtree(f"{store.folder}/refs/remit/got", ignore_errors=True)


def _receive_bundle(store: PrivateRepo, bundle: bytes) -> None:
    """Unpack a bundle and keep references to its commits, because the next bundle may need them."""
    file = f"{store.folder}/arrived-{os.getpid()}-{os.urandom(4).hex()}"
    try:
        with open(file, "xb") as stream:
            stream.write(bundle)
        wanted = "refs/remit/sent/*:refs/remit/got/*"
        answer = store.run_git(*_FETCH, "--", file, wanted, more={"GIT_ALLOW_PROTOCOL": "file"})
    finally:
        os.unlink(file)
    if answer.code:
        raise StorageError(f"git can't read a bundle: {show(answer.reason)}", hint="run it again")


def _make_clone(place: str, base: BaseTree, objects: str) -> None:
    """Create a clone next to its place, with the private repository that will find the changes; then rename it."""
    remove(place)
    half = f"{place}{_HALF_MADE}{os.urandom(4).hex()}"
    root = os.path.join(half, base.prefix).rstrip("/")
    hashing = find_hashing(base.commit)
    os.makedirs(root, mode=0o700)
    with open_private_repo(root, base.prefix, hashing=hashing, borrowed=[objects], index=_INDEX) as store:
        store.check_git("read-tree", "--reset", "-u", base.commit)
        store.set_head(base.commit)
        entries = parse_entries(store.check_git("ls-files", "-s", "-z", max_bytes=MAX_LISTED_BYTES))
        linked = [path for path, entry in entries if entry.mode == LINKED]
        store.save_note("clone", {"commit": base.commit, "linked": linked})
        shutil.copyfile(store.index, f"{store.folder}/index")  # for an agent that sends its tree to a nested run
        _write_git(f"{half}/.git", base.commit, hashing, objects, store.index)
    os.rename(half, place)


def _write_git(folder: str, commit: str, hashing: str, objects: str, index: str) -> None:
    """Create the clone's own repository, which the agent may use freely. It has no remote."""
    make_private_repo(folder, hashing=hashing, borrowed=[objects])
    os.unlink(f"{folder}/info/attributes")
    clone = PrivateRepo(folder, os.path.dirname(folder))
    clone.write("HEAD", f"ref: refs/heads/{BRANCH}\n")
    clone.write(f"refs/heads/{BRANCH}", f"{commit}\n")
    shutil.copyfile(index, f"{folder}/index")


# --- the agent's changes ----------------------------------------------------------------------------------------------


def collect(root: str, base: BaseTree, *, also: Iterable[str] = ()) -> AgentChanges:
    """Return everything below the root that differs from the base and isn't ignored, as a commit on top of it.

    `also`: paths that are included although they are ignored. Changes above the root aren't included.
    """
    with open_private_repo(root, base.prefix, hashing=find_hashing(check_commit(base.commit)), index=_INDEX) as store:
        check_rules(os.path.realpath(root))
        return store.retry_without_cache(partial(_collect, store, base, tuple(also)))


def _collect(store: PrivateRepo, base: BaseTree, also: Sequence[str]) -> AgentChanges:
    if not os.path.exists(store.index):
        store.check_git("read-tree", base.commit)
    store.set_head(base.commit)
    there, gone = find_changes(store, base.prefix)
    there += [f"{base.prefix}{path}" for path in also if _is_plain(store, f"{base.prefix}{path}")]
    left = [*update(store, there, gone, is_new=True)] if there or gone else []
    left += find_filled(store, [str(path) for path in store.load_note("clone").get("linked", ())])
    not_sent = tuple(path.removeprefix(base.prefix) for path in left if path.startswith(base.prefix))
    changed = compare(store, base.commit, cached=True)
    if not changed:
        return AgentChanges(base.commit, base.tree, (), not_sent)
    hashes = _hash(store, {entry.blob for entry in changed if entry.mode not in (GONE, LINKED)})
    tree = store.check_git("write-tree").decode("ascii").strip()
    files = [
        BundledFile(entry.path.removeprefix(base.prefix), entry.mode, hashes.get(entry.blob, "")) for entry in changed
    ]
    return AgentChanges(write_commit(store, tree, (base.commit,), "made"), tree, tuple(files), not_sent)


def _is_plain(store: PrivateRepo, path: str) -> bool:
    """Return whether a claimed path exists below the top and isn't inside a folder of git or Remit."""
    parts = path.split("/")
    return not is_own(path) and not {"", ".", ".."}.intersection(parts) and os.path.lexists(f"{store.top}/{path}")


def _hash(store: PrivateRepo, blobs: Iterable[str]) -> Mapping[str, str]:
    """Return the SHA-256 of blobs; those that were hashed the last time aren't read again."""
    known = store.load_note("hashes")
    found = {blob: str(known[blob]) for blob in blobs if blob in known}
    missing = [blob for blob in blobs if blob not in found]
    if missing:
        found |= hash_blobs(store, load_sizes(store, missing))
        store.save_note("hashes", found)
    return found
