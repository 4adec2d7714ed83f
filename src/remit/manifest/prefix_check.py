"""Check that a manifest still starts with the content from before a run.

A manifest is append-only. If its earlier bytes changed, entries were removed or changed.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from remit.errors import InputError
from remit.light_hash import begin_sha256
from remit.light_namedtuple import NamedTuple
from remit.storage.files import check_filled

if TYPE_CHECKING:
    from collections.abc import Iterator

_BLOCK_BYTES = 1024 * 1024
_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK


class ManifestPrefix(NamedTuple):
    """The size and hash of a manifest at one time."""

    size_bytes: int = 0
    sha256: str = ""
    """Empty if the manifest was empty or unreadable: then nothing is compared."""


def read_prefix(path: str) -> ManifestPrefix:
    """Return the current size and hash of a manifest."""
    size = 0
    try:
        size = os.stat(path).st_size if os.path.isfile(path) else 0
        return ManifestPrefix(size, _hash(path, size) or "") if size else ManifestPrefix()
    except (OSError, InputError):
        return ManifestPrefix(size)


def has_prefix(path: str, beginning: ManifestPrefix) -> bool:
    """True if a manifest still starts with its earlier content, or if that is unknown."""
    if not beginning.sha256:
        return True
    try:
        return _hash(path, beginning.size_bytes) == beginning.sha256
    except (OSError, ValueError, InputError):  # the file is gone, or isn't a file
        return False


def _hash(path: str, size_bytes: int) -> str | None:
    """Return the hash of the first bytes of a file; None if it is shorter."""
    digest = begin_sha256(size_bytes)
    for block in _read(path, size_bytes):
        digest.update(block)
        size_bytes -= len(block)
    return None if size_bytes else digest.hexdigest()


def _read(path: str, size_bytes: int) -> Iterator[bytes]:
    handle = os.open(path, _READ)
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise InputError(f"'{path}' isn't a file", hint="give the path of the manifest")
        check_filled(path, found)
        while size_bytes and (block := os.read(handle, min(size_bytes, _BLOCK_BYTES))):
            size_bytes -= len(block)
            yield block
    finally:
        os.close(handle)
