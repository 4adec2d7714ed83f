"""Verify changes from another machine, and apply them to the workspace.

An agent made them, and other machines forwarded them, so they are compared with the announced changes first. A file is
replaced only if it is still as the agent found it; a file that was edited since is left alone and reported. Folders are
opened from the root, never through a link.
"""

from __future__ import annotations

import hashlib
import os
import stat
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple

from remit.errors import StorageError
from remit.git.blobs import hash_blobs, load_sizes, read_blobs
from remit.git.bundles import GONE, MAX_PARCEL_BYTES, AgentChanges, BaseTree, BundledFile, check_commit
from remit.git.clones import fetching, missing_commit
from remit.git.commits import MAX_FILE_BYTES
from remit.git.git_errors import show
from remit.git.private_repo import compare, find_hashing, is_sound, open_private_repo
from remit.git.tree_snapshot import MAX_CHANGED_BYTES
from remit.model import NOTHING
from remit.storage.files import make_private_folder, name_half_written, write_all
from remit.storage.safe_path import PENDING, FileTarget, move_target, open_folder, open_target, remove_target

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from remit.git.private_repo import ChangedPath, PrivateRepo

_PLAIN, _RUNS, _LINK, _FOLDER = "100644", "100755", "120000", "040000"
_MAX_LINK_BYTES = 4096
_BLOCK = 1 << 20
_MIN_SYNC_ALL = 64
"""From this number of files on, the whole file system is synced instead of each file."""
_BATCH = 5000


class AppliedChanges(NamedTuple):
    """The outcome for each path that an agent had changed."""

    applied: tuple[str, ...]
    """Here as the agent left it."""
    conflicts: tuple[str, ...]
    """Changed here meanwhile, or can't be written: left unchanged."""
    kept: tuple[str, ...] = ()
    """Not applied on principle: a link that leads out of the workspace."""


class FetchedChanges(NamedTuple):
    """The verified changes of an agent."""

    changed: tuple[ChangedPath, ...]
    sizes: dict[str, int]
    contents: Mapping[str, bytes] = NOTHING
    """The contents of small files."""


class _FileState(NamedTuple):
    """The mode and id of a path now, in git's terms."""

    mode: str
    blob: str


# --- verify -----------------------------------------------------------------------------------------------------------


def fetch(
    root: str, base: BaseTree, made: AgentChanges, *, bundle: bytes | None = None, remote: str = "", branch: str = ""
) -> FetchedChanges:
    """Fetch an agent's changes into the workspace's private repository, and verify that they are as announced."""
    check_commit(made.commit)
    if len(bundle or b"") > MAX_PARCEL_BYTES:
        raise _mismatch(f"it has more than {MAX_PARCEL_BYTES:,} bytes")
    with open_private_repo(root, base.prefix, hashing=find_hashing(check_commit(base.commit))) as store:
        if made.commit == base.commit:
            if made.files or made.tree != base.tree:
                raise _mismatch("files were announced, but nothing was sent")
            return FetchedChanges((), {})
        kept = f"refs/remit/bases/{base.commit}"
        if (
            not os.path.exists(f"{store.folder}/{kept}")
            and store.run_git("cat-file", "-e", f"{base.commit}^{{commit}}").code
        ):
            raise StorageError(
                "the sent tree is no longer in .remit", hint="run the agent again, and keep .remit until it has ended"
            )
        store.write(kept, f"{base.commit}\n")  # so that only new objects are fetched
        with fetching(store, bundles=[bundle] if bundle else [], remote=remote, branch=branch):
            fetched = _check(store, base, made)
            store.write(f"refs/remit/made/{made.commit}", f"{made.commit}\n")
        return fetched


def _check(store: PrivateRepo, base: BaseTree, made: AgentChanges) -> FetchedChanges:
    answer = store.run_git("cat-file", "commit", made.commit)
    if answer.code:
        raise missing_commit()
    head = answer.out.decode("utf-8", "replace").partition("\n\n")[0]
    lines = [line for line in head.splitlines() if line.startswith(("tree ", "parent "))]
    if lines != [f"tree {made.tree}", f"parent {base.commit}"]:
        raise _mismatch("the commit has another tree, or another base")
    changed = compare(store, base.commit, made.commit)
    by_path = {file.path: file for file in made.files}
    if not len(by_path) == len(made.files) == len(changed) or {entry.path for entry in changed} != {
        f"{base.prefix}{path}" for path in by_path
    }:
        raise _mismatch("other files differ than announced")
    sizes = load_sizes(store, (entry.blob for entry in changed if entry.mode != GONE))
    if any(size > MAX_FILE_BYTES for size in sizes.values()) or sum(sizes.values()) > MAX_CHANGED_BYTES:
        raise _mismatch("it is too large")
    wanted: dict[str, str] = {}
    for entry in changed:
        file = by_path[entry.path.removeprefix(base.prefix)]
        _check_entry(entry, file)
        if wanted.setdefault(entry.blob, file.sha256) != file.sha256:
            raise _mismatch(f"'{show(file.path)}' has another content")
    contents: dict[str, bytes] = {}
    if hash_blobs(store, sizes, kept=contents) != {blob: sha256 for blob, sha256 in wanted.items() if sha256}:
        raise _mismatch("a file has another content than announced, or is missing")
    return FetchedChanges(tuple(changed), sizes, contents)


def _check_entry(entry: ChangedPath, file: BundledFile) -> None:
    if entry.mode not in (_PLAIN, _RUNS, _LINK, GONE) or entry.mode != file.mode or not is_sound(file.path):
        raise _mismatch(f"'{show(file.path)}' is something else")
    if (entry.mode == GONE) != (not file.sha256):
        raise _mismatch(f"'{show(file.path)}' exists but should not, or the other way around")


def _mismatch(why: str) -> StorageError:
    hint = "run the agent again, and check who can write to the database and the remote"
    return StorageError(f"the received changes don't match what the worker sent: {why}", hint=hint)


# --- apply ------------------------------------------------------------------------------------------------------------


def apply_agent_changes(
    root: str, base: BaseTree, made: AgentChanges, *, fetched: FetchedChanges | None = None
) -> AppliedChanges:
    """Apply fetched changes to the workspace, path by path. Idempotent: a second call continues an interrupted one.

    With the result of `fetch`, git isn't called again for it.
    """
    if made.commit == base.commit:
        return AppliedChanges((), ())
    applied: set[str] = set()
    kept: set[str] = set()
    with open_private_repo(root, base.prefix, hashing=find_hashing(check_commit(base.commit))) as store:
        if fetched is None:
            found = compare(store, base.commit, check_commit(made.commit))
            fetched = FetchedChanges(
                tuple(found), load_sizes(store, (entry.blob for entry in found if entry.mode != GONE))
            )
        changed = [
            entry._replace(path=entry.path.removeprefix(base.prefix))
            for entry in fetched.changed
            if entry.path.startswith(base.prefix) and is_sound(entry.path.removeprefix(base.prefix))
        ]
        real = os.path.realpath(root)
        # Deletions come first, deepest path first: a folder may replace a file, or the other way around.
        for entry in sorted(changed, key=lambda entry: entry.path, reverse=True):
            if entry.mode == GONE and _delete_file(real, entry):
                applied.add(entry.path)
        coming = sorted(entry for entry in changed if entry.mode in (_PLAIN, _RUNS, _LINK))
        for start in range(0, len(coming), _BATCH):
            new, odd = _write_changes(store, real, coming[start : start + _BATCH], fetched)
            applied |= new
            kept |= odd
        _sync_folders(real, applied)
    rest = sorted({entry.path for entry in changed} - applied - kept)
    return AppliedChanges(tuple(sorted(applied)), tuple(rest), tuple(sorted(kept)))


def _sync_folders(root: str, paths: Iterable[str]) -> None:
    """Sync the folders of the paths; the contents are on disk already."""
    folders = {path.rpartition("/")[0] for path in paths}
    if len(folders) > _MIN_SYNC_ALL:
        with open_target(root, "x") as target:
            _sync_disk(target.folder)
        return
    for folder in folders:
        with (
            suppress(OSError),
            open_target(root, f"{folder}/x" if folder else "x") as target,
        ):  # the folder may be gone with its files
            os.fsync(target.folder)


def _sync_disk(handle: int) -> None:
    """Sync the file system of a folder. Other file systems are skipped, because one may never answer."""
    from ctypes import CDLL, get_errno  # noqa: PLC0415 - Python has no function for it; only for many files

    system = CDLL(None, use_errno=True)
    if not hasattr(system, "syncfs"):
        os.sync()
    elif system.syncfs(handle):
        raise OSError(get_errno(), os.strerror(get_errno()))


def _delete_file(root: str, entry: ChangedPath) -> bool:
    try:
        with open_target(root, entry.path) as target:
            here = _inspect(target, entry)
            if here.mode in (GONE, _FOLDER):
                return True
            if here != (entry.old_mode, entry.old_blob):
                return False
            os.unlink(target.name, dir_fd=target.folder)
    except FileNotFoundError:
        return True
    except NotADirectoryError:  # a file or a link replaced its folder
        return True
    except OSError:
        return False
    _remove_empty_folders(root, entry.path)
    return True


def _remove_empty_folders(root: str, path: str) -> None:
    """Remove folders that became empty, as git does."""
    folder = path.rpartition("/")[0]
    with suppress(OSError):
        while folder:
            with open_target(root, folder) as target:
                os.rmdir(target.name, dir_fd=target.folder)
            folder = folder.rpartition("/")[0]


def _write_changes(
    store: PrivateRepo, root: str, coming: Sequence[ChangedPath], fetched: FetchedChanges
) -> tuple[set[str], set[str]]:
    """Write the new contents, sync them, and only then move them into place.

    Returns the paths that are in their new state now, and those that aren't applied on principle.
    """
    applied: set[str] = set()
    kept: set[str] = set()
    wanted: dict[str, list[ChangedPath]] = {}
    for entry in coming:
        with suppress(OSError):
            here = _find_state(root, entry)
            if here == (entry.mode, entry.blob):
                applied.add(entry.path)
            elif here == (entry.old_mode, entry.old_blob):
                wanted.setdefault(entry.blob, []).append(entry)
    many = sum(map(len, wanted.values())) > _MIN_SYNC_ALL
    waiting: list[tuple[ChangedPath, FileTarget]] = []
    with _open_pending(root) as own:
        try:
            for blob, blocks in _read(store, wanted, fetched):
                waiting += _stage_files(root, own, wanted[blob], blocks, kept, durable=not many)
            if many:
                _sync_disk(own)
            applied.update(entry.path for entry, target in waiting if _move_into_place(root, entry, target))
        finally:
            for _, target in waiting:
                remove_target(target)
    return applied, kept


def _read(store: PrivateRepo, blobs: Iterable[str], fetched: FetchedChanges) -> Iterator[tuple[str, Iterable[bytes]]]:
    """Yield the contents of blobs: those that were verified in memory, or from the repository."""
    missing = {}
    for blob in blobs:
        if blob in fetched.contents:
            yield blob, (fetched.contents[blob],)
        elif blob in fetched.sizes:
            missing[blob] = fetched.sizes[blob]
    yield from read_blobs(store, missing)


@contextmanager
def _open_pending(root: str) -> Iterator[int]:
    """Open the folder for staged contents, where leftovers of a crash do no harm."""
    make_private_folder(f"{root}/{PENDING}")
    handle = open_folder(root, PENDING)
    try:
        yield handle
    finally:
        os.close(handle)


def _find_state(root: str, entry: ChangedPath) -> _FileState:
    try:
        with open_target(root, entry.path) as target:
            return _inspect(target, entry)
    except FileNotFoundError:
        return _FileState(GONE, "0" * len(entry.blob))


def _inspect(target: FileTarget, entry: ChangedPath) -> _FileState:
    """Return the state of a file or link; anything else has an unknown state."""
    try:
        found = os.stat(target.name, dir_fd=target.folder, follow_symlinks=False)
    except FileNotFoundError:
        return _FileState(GONE, "0" * len(entry.blob))
    digest = hashlib.new(find_hashing(entry.blob), usedforsecurity=False)
    if stat.S_ISLNK(found.st_mode):
        data = os.fsencode(os.readlink(target.name, dir_fd=target.folder))
        digest.update(b"blob %d\0" % len(data) + data)
        return _FileState(_LINK, digest.hexdigest())
    if stat.S_ISDIR(found.st_mode):
        return _FileState(_FOLDER, "")
    if not stat.S_ISREG(found.st_mode) or found.st_size > MAX_FILE_BYTES:
        return _FileState("", "")
    handle = os.open(target.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=target.folder)
    with os.fdopen(handle, "rb", buffering=0) as file:
        digest.update(b"blob %d\0" % found.st_size)
        while block := file.read(_BLOCK):
            digest.update(block)
    return _FileState(_RUNS if found.st_mode & stat.S_IXUSR else _PLAIN, digest.hexdigest())


def _stage_files(
    root: str, own: int, entries: Sequence[ChangedPath], blocks: Iterable[bytes], kept: set[str], *, durable: bool
) -> Iterator[tuple[ChangedPath, FileTarget]]:
    """Write a content once for each path that gets it; yield the paths with their staged files."""
    content = blocks if len(entries) == 1 else list(blocks)
    for entry in entries:
        target = FileTarget(own, name_half_written(entry.path.rpartition("/")[2]))
        if entry.mode != _LINK:
            _write(target, content, entry.mode, _find_permissions(root, entry), durable=durable)
            yield entry, target
            continue
        link = b"".join(content)
        if _stays_inside(entry.path, link):
            os.symlink(link, os.fsencode(target.name), dir_fd=own)
            yield entry, target
        else:
            kept.add(entry.path)


def _find_permissions(root: str, entry: ChangedPath) -> int | None:
    """Return the permissions of the file that is replaced; None if there is none."""
    with suppress(OSError), open_target(root, entry.path) as target:
        found = os.stat(target.name, dir_fd=target.folder, follow_symlinks=False)
        return stat.S_IMODE(found.st_mode) if stat.S_ISREG(found.st_mode) else None
    return None


def _stays_inside(path: str, target: bytes) -> bool:
    """Return whether the target text of a link stays below the root."""
    text = os.fsdecode(target)
    if not text or text.startswith("/") or "\0" in text or len(target) > _MAX_LINK_BYTES:
        return False
    parts = os.path.normpath(os.path.join("root", os.path.dirname(path), text)).split("/")
    return parts[0] == "root" and is_sound("/".join(parts))


def _write(target: FileTarget, blocks: Iterable[bytes], mode: str, before: int | None, *, durable: bool) -> None:
    # While it is written, a file must not be readable for more users than before.
    first = 0o600 if before is not None else 0o777 if mode == _RUNS else 0o666
    handle = os.open(target.name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, first, dir_fd=target.folder)
    try:
        try:
            for block in blocks:
                write_all(handle, block)
            if before is not None:  # users who may read an executable may run it
                os.fchmod(handle, before | (before & 0o444) >> 2 if mode == _RUNS else before & ~0o111)
            if durable:
                os.fsync(handle)
        finally:
            os.close(handle)
    except BaseException:
        remove_target(target)
        raise


def _move_into_place(root: str, entry: ChangedPath, waiting: FileTarget) -> bool:
    """Move new content into place, if the file is still as the agent found it."""
    with suppress(OSError), open_target(root, entry.path, make=True) as target:
        if _inspect(target, entry) == (entry.old_mode, entry.old_blob):
            move_target(waiting, target)
            return True
    return False
