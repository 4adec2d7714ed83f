"""SHA-256 without OpenSSL, for hooks: loading OpenSSL takes longer than hashing a few texts.

Python's own implementation is slower, so a process that hashes more data loads OpenSSL.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hashlib import _Hash

_FEW_BYTES = 512 * 1024
"""The amount of data that Python's implementation hashes in about the time that it takes to load OpenSSL."""
_OWN = "_sha2" if sys.version_info >= (3, 12) else "_sha256"
"""Python's implementation. The name depends on the version, because each failed import searches the whole path."""
_asked_bytes = 0


def begin_sha256(size_bytes: int) -> _Hash:
    """Return a new hash for about `size_bytes` bytes."""
    global _asked_bytes  # noqa: PLW0603 - the limit is for the whole process
    _asked_bytes += size_bytes
    if _asked_bytes <= _FEW_BYTES and "_hashlib" not in sys.modules:
        try:
            made: _Hash = __import__(_OWN).sha256()
        except ImportError:
            pass
        else:
            return made
    from hashlib import sha256  # noqa: PLC0415 - as above

    return sha256()


def take_sha256(data: bytes) -> str:
    """Return the hash of some bytes in hexadecimal."""
    digest = begin_sha256(len(data))
    digest.update(data)
    return digest.hexdigest()
