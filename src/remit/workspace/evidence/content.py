"""The content of one file below a folder, by its hash.

Owns opening for evidence. The way down is opened folder by folder and no link is followed, so that a file that is put
in the place of another between looking and reading is either below the folder too or not read at all. Only regular
files are opened; their size is limited first.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from typing import TYPE_CHECKING

from remit.quick_hash import begin_sha256
from remit.quick_tuple import NamedTuple
from remit.workspace.evidence.values import Facts, get_facts

if TYPE_CHECKING:
    from remit.workspace.evidence.values import Limits

_CHUNK_BYTES = 1024 * 1024
_SPARSE_FROM_BYTES = 16 * 1024 * 1024
_SPARSE_PART = 8
"""A file over that size of which less than an eighth is on disk is made to look large."""
_STAT_BLOCK_BYTES = 512

_DOWN = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Not blocking: if a pipe has taken the place of the file meanwhile, opening it must not wait for a writer.
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY

MOVED = "it was exchanged while it was looked at"
UNSETTLED = "it changed while it was read"


class Content(NamedTuple):
    """What was found at a path. Without a hash the reason says why there is none."""

    facts: Facts | None
    sha256: str | None = None
    reason: str = ""
    links: int = 1
    """How many names the file has; more than one may be outside the root, where nobody looked."""
    refused: bool = False
    """It is no file that anybody could read through."""
    gone: bool = False
    """Nothing is there any more that was there a moment ago; whoever looks again may find it."""


class Budget:
    """What may still be read: bytes and time."""

    def __init__(self, limits: Limits) -> None:
        self.max_file_bytes = limits.max_file_bytes
        self.left_bytes = limits.max_hashed_bytes
        self.deadline = time.monotonic() + limits.max_seconds

    def refuse(self, size: int) -> str:
        """Why a file of a size is not read; empty where it may be."""
        if size > self.max_file_bytes:
            return f"it is larger than {self.max_file_bytes} bytes and was not hashed"
        if size > self.left_bytes:
            return "the limit of bytes to hash was reached before it"
        if time.monotonic() > self.deadline:
            return "the time for hashing was over before it"
        return ""


def open_root(root: str) -> int:
    """A handle on the folder that paths are looked up in."""
    return os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


def read_content(root: int, path: str, budget: Budget) -> Content:
    """The facts and the hash of a file below an open folder; its path has no `.`, no `..` and follows no link."""
    folder = root
    try:
        *above, name = _split(path)
        for part in above:
            below = os.open(part, _DOWN, dir_fd=folder)
            if folder != root:
                os.close(folder)
            folder = below
        return _read(folder, name, budget)
    except (FileNotFoundError, NotADirectoryError):
        return Content(None, reason="it is not there", refused=True, gone=True)
    except OSError as error:
        moved = error.errno == errno.ELOOP
        return Content(None, reason=MOVED if moved else tell(error), refused=True, gone=moved)
    except ValueError:
        return Content(None, reason="its path is not possible", refused=True)
    finally:
        if folder != root:
            os.close(folder)


def _split(path: str) -> list[str]:
    parts = path.split("/")
    if any(part in {"", ".", ".."} for part in parts):
        raise ValueError("a path that could lead up")
    return parts


def _read(folder: int, name: str, budget: Budget) -> Content:
    found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    if not stat.S_ISREG(found.st_mode):
        is_link = stat.S_ISLNK(found.st_mode)
        return Content(get_facts(found), reason=name_kind(found.st_mode), refused=True, gone=is_link)
    handle = os.open(name, _READ, dir_fd=folder)
    try:
        return _hash(handle, budget)
    finally:
        os.close(handle)


def _hash(handle: int, budget: Budget) -> Content:
    """The hash of an open file, if it is one and stays as it is while it is read."""
    found = os.fstat(handle)
    facts, links = get_facts(found), found.st_nlink
    if not stat.S_ISREG(found.st_mode):
        return Content(facts, reason=MOVED, refused=True, gone=True)
    if _is_sparse(found):
        reason = f"it claims {found.st_size} bytes and has {found.st_blocks * _STAT_BLOCK_BYTES} of them on disk"
        return Content(facts, reason=reason, links=links, refused=True)
    if refused := budget.refuse(found.st_size):
        return Content(facts, reason=refused, links=links)
    digest, left = begin_sha256(found.st_size), found.st_size
    while left >= 0 and (chunk := os.read(handle, _CHUNK_BYTES)):
        digest.update(chunk)
        left -= len(chunk)
        if time.monotonic() > budget.deadline:
            return Content(facts, reason="the time for hashing was over before its end", links=links)
    budget.left_bytes -= found.st_size
    now = get_facts(os.fstat(handle))
    if left or now != facts:
        return Content(now, reason=UNSETTLED, links=links)
    return Content(facts, digest.hexdigest(), links=links)


def _is_sparse(found: os.stat_result) -> bool:
    on_disk = found.st_blocks * _STAT_BLOCK_BYTES
    return found.st_size > _SPARSE_FROM_BYTES and on_disk < found.st_size // _SPARSE_PART


def name_kind(mode: int) -> str:
    """What something is that is no file, as a reason."""
    kinds = {stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket", stat.S_IFLNK: "a link"}
    return f"it is {kinds.get(stat.S_IFMT(mode), 'a device')}, not a file"


def tell(error: OSError) -> str:
    """An error of the system as a reason."""
    return f"it cannot be read: {(error.strerror or str(error)).lower()}"
