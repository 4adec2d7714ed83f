"""A manifest's beginning: what stood in it before an agent began, known again afterwards.

Owns that comparison. A manifest only ever grows, and Remit itself does nothing else to it; so whatever was there before
is there afterwards, byte for byte, or somebody has taken entries away or changed them.
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


class Beginning(NamedTuple):
    """How long a manifest was, and what it is known by."""

    size_bytes: int = 0
    sha256: str = ""
    """Empty where there was nothing, or nobody could read it: then nothing is compared."""


def take_beginning(path: str) -> Beginning:
    """What a manifest holds by now."""
    size = 0
    try:
        size = os.stat(path).st_size if os.path.isfile(path) else 0
        return Beginning(size, _hash(path, size) or "") if size else Beginning()
    except (OSError, InputError):
        return Beginning(size)


def has_kept(path: str, beginning: Beginning) -> bool:
    """Whether a manifest still begins with what it held; also where nobody knows what that was."""
    if not beginning.sha256:
        return True
    try:
        return _hash(path, beginning.size_bytes) == beginning.sha256
    except (OSError, ValueError, InputError):  # it is gone, or no file any more
        return False


def _hash(path: str, size_bytes: int) -> str | None:
    """The hash of the first bytes of a file; None where it has not as many."""
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
            raise InputError(f"'{path}' is not a file", hint="name the manifest's file")
        check_filled(path, found)
        while size_bytes and (block := os.read(handle, min(size_bytes, _BLOCK_BYTES))):
            size_bytes -= len(block)
            yield block
    finally:
        os.close(handle)
