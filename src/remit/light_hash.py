"""SHA-256 without OpenSSL, which takes longer to load than a few texts to hash.

Owns the choice for programs that start on every tool call. It is the same hash by Python's own code, which is slower: a
process that has more to hash loads OpenSSL after all.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hashlib import _Hash

_FEW_BYTES = 512 * 1024
"""For so many Python's own code takes about as long as OpenSSL takes to be loaded."""
_OWN = "_sha2" if sys.version_info >= (3, 12) else "_sha256"
"""Python's own code. A module that isn't there is searched for on the whole path, each time."""
_asked_bytes = 0


def begin_sha256(size_bytes: int) -> _Hash:
    """A hash that about so many bytes will be given to."""
    global _asked_bytes  # noqa: PLW0603 - what counts is how much this process hashes in all
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
    """The hash of some bytes, in hexadecimal."""
    digest = begin_sha256(len(data))
    digest.update(data)
    return digest.hexdigest()
