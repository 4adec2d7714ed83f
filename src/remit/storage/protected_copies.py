"""Copies of protected files, to restore them after a command that the kernel doesn't limit.

Keeps copies in `.remit/kept`, finds files that a command changed or removed, and restores them. A file is read again
only if its `stat` changed. Hooks call this around each such command, so it imports little.
"""

from __future__ import annotations

import os
import stat
import time

from remit.light_hash import take_sha256
from remit.light_json import parse_json, render_json
from remit.light_namedtuple import NamedTuple

TYPE_CHECKING = False  # typing itself would cost 6 ms
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

FOLDER = ".remit/kept"
OWN = ".remit"
MAX_FILES = 400
MAX_FILE_BYTES = 1024 * 1024
MAX_BYTES = 16 * 1024 * 1024
"""The limits on the number of copies, the size of one, and their total size."""
MAX_AGE_S = 24 * 3600.0
_MARKDOWN = "/**/*.md"


class Altered(NamedTuple):
    """A protected file that changed during a command."""

    path: str
    """Relative to the root."""
    what: str
    """The rest of a sentence that begins with the path."""
    place: str
    """What exists there now, or in place of a folder above it; empty if nothing does."""
    node: tuple[int, int]
    """Its device and inode."""
    digest: str
    mode: int


def keep_files(root: str, names: Iterable[str], known: str = "") -> str:
    """Copy the files at protected names; return a record of them for `find_altered`.

    `known`: an earlier record. A file whose `stat` still matches isn't read again.
    """
    earlier = parse_json(known) if known else {}
    record: dict[str, list[object]] = {}
    left = MAX_BYTES
    for path in _list_files(root, names):
        found = _inspect(root, path)
        if found is None or found.st_size > MAX_FILE_BYTES or found.st_size > left:
            continue
        facts = _describe(found)
        if earlier.get(path, [])[:-1] == facts and os.path.exists(f"{root}/{FOLDER}/{earlier[path][-1]}"):
            record[path] = earlier[path]
        else:
            data = _read(root, path)
            if data is None:
                continue
            digest = take_sha256(data)
            _write(root, digest, data)
            record[path] = [*facts, digest]
        left -= found.st_size
        if len(record) >= MAX_FILES:
            break
    if known and record != earlier:
        _remove_old(root, {str(each[-1]) for each in (*record.values(), *earlier.values())})
    return render_json(record)


def find_altered(root: str, files: Mapping[str, Sequence[Any]]) -> Iterator[Altered]:
    """Yield the files of a record that were changed or removed since, by their `stat` and then their bytes.

    Lazily, because restoring one file may create the folder of the next again.
    """
    for path, (*facts, digest) in files.items():
        now = _inspect(root, path)
        if now is not None and _describe(now) == facts:
            continue
        mode = facts[-1]
        if now is None:
            place, node = _find_obstacle(root, path)
            what = "isn't a file now" if place else "was removed"
            yield Altered(path, what, place, node, digest, mode)
        elif take_sha256(_read(root, path) or b"") != digest:
            yield Altered(path, "was changed", path, (now.st_dev, now.st_ino), digest, mode)
        elif stat.S_IMODE(now.st_mode) != mode:
            yield Altered(path, "has got other permissions", path, (now.st_dev, now.st_ino), digest, mode)


def load_bytes(root: str, altered: Altered) -> bytes:
    """Return the copy of a file; raise `OSError` if it is gone or doesn't match the record."""
    data = _read(root, f"{FOLDER}/{altered.digest}")
    if data is None or take_sha256(data) != altered.digest:
        raise FileNotFoundError(2, "the copy is gone", altered.path)
    return data


def put_back(root: str, altered: Altered, data: bytes) -> None:
    """Write bytes at a protected name; raise `OSError` if it fails, or if something exists there."""
    from remit.storage.safe_path import open_folder  # noqa: PLC0415 - rarely needed, and a hook pays for it

    parent, _, base = altered.path.rpartition("/")
    waiting = f"waiting.{os.urandom(8).hex()}"
    source = target = -1
    try:
        source, target = open_folder(root, FOLDER), open_folder(root, parent, make=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        with open(os.open(waiting, flags, 0o600, dir_fd=source), "wb") as file:
            file.write(data)
            os.fchmod(file.fileno(), altered.mode)
        try:
            os.link(waiting, base, src_dir_fd=source, dst_dir_fd=target)  # replaces nothing
        finally:
            os.unlink(waiting, dir_fd=source)
    finally:
        for handle in (source, target):
            if handle >= 0:
                os.close(handle)


def _list_files(root: str, names: Iterable[str]) -> Iterator[str]:
    """Yield the files at protected names and in protected folders, relative to the root."""
    for name in names:
        plain = name.removesuffix(_MARKDOWN)
        if plain == OWN:  # Remit itself writes there
            continue
        if os.path.isdir(f"{root}/{plain}"):
            for here, folders, files in os.walk(f"{root}/{plain}"):
                folders.sort()
                below = os.path.relpath(here, root)
                yield from (f"{below}/{each}" for each in sorted(files) if plain == name or each.endswith(".md"))
        elif plain == name:
            yield name


def _inspect(root: str, path: str) -> os.stat_result | None:
    """Return the `stat` of a regular file; None if there is none, or a link."""
    try:
        found = os.lstat(f"{root}/{path}")
    except OSError:
        return None
    return found if stat.S_ISREG(found.st_mode) else None


def _find_obstacle(root: str, path: str) -> tuple[str, tuple[int, int]]:
    """Return what exists at a path, or in place of a folder above it, with device and inode; empty if nothing does."""
    parts = path.split("/")
    for number in range(1, len(parts) + 1):
        place = "/".join(parts[:number])
        try:
            found = os.lstat(f"{root}/{place}")
        except OSError:
            break
        if number == len(parts) or not stat.S_ISDIR(found.st_mode):
            return place, (found.st_dev, found.st_ino)
    return "", (0, 0)


def _describe(found: os.stat_result) -> list[object]:
    return [
        found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns, stat.S_IMODE(found.st_mode),
    ]  # fmt: skip


def _read(root: str, path: str) -> bytes | None:
    try:
        handle = os.open(f"{root}/{path}", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with open(handle, "rb") as file:
        return file.read(MAX_FILE_BYTES + 1)


def _write(root: str, digest: str, data: bytes) -> None:
    """Write a copy under its digest, atomically."""
    place = f"{root}/{FOLDER}/{digest}"
    if os.path.exists(place):
        return
    os.makedirs(f"{root}/{FOLDER}", mode=0o700, exist_ok=True)
    waiting = f"{place}.{os.getpid()}"
    with open(os.open(waiting, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as file:
        file.write(data)
    os.rename(waiting, place)


def _remove_old(root: str, kept: set[str]) -> None:
    """Remove copies that no current record names, after a day: a running command may need an older one."""
    oldest = time.time() - MAX_AGE_S
    for name in os.listdir(f"{root}/{FOLDER}"):
        place = f"{root}/{FOLDER}/{name}"
        try:
            if name not in kept and os.lstat(place).st_mtime < oldest:
                os.unlink(place)
        except OSError:  # another command's hook has removed it
            continue
