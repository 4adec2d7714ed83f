"""The key that all machines of a cluster share: its file in the user's folder, and its fingerprint in the database.

The first machine of a cluster creates the key. The environment variable `REMIT_CLUSTER_KEY` can replace the file.
"""

from __future__ import annotations

import os
from contextlib import suppress
from hashlib import sha256
from typing import TYPE_CHECKING

from remit.cluster.database.schema import load_meta, set_meta_once
from remit.errors import ClusterError
from remit.lazy_regex import lazy
from remit.storage.files import storage_error
from remit.storage.trust import find_file

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.cluster.database.store import Database

KEY = "REMIT_CLUSTER_KEY"
KEY_FILE = "cluster.key"
KEY_BYTES = 32
_HEX = lazy(r"[0-9a-f]{64}")


def load_key(environ: Mapping[str, str], folder: str) -> bytes | None:
    """Return the cluster's key from the environment or the user's folder; None if this machine has none yet."""
    text = environ.get(KEY, "").strip()
    if not text:
        text = _load(os.path.join(folder, KEY_FILE))
    if not text:
        return None
    if not _HEX.fullmatch(text.lower()):
        raise ClusterError(f"the cluster's key isn't {KEY_BYTES} bytes in hex", hint=f"copy {KEY_FILE} completely")
    return bytes.fromhex(text)


def _load(file: str) -> str:
    try:
        with open(file, encoding="ascii", errors="replace") as text:
            if os.fstat(text.fileno()).st_mode & 0o077:
                raise ClusterError(f"other users can read '{file}'", hint=f"chmod 600 {file}, or create another key")
            return text.read(1000).strip()
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise storage_error(file, error) from error


def make_key(folder: str) -> bytes:
    """Create the key of a new cluster in the user's folder; if another process was faster, return its key."""
    file, key = os.path.join(folder, KEY_FILE), os.urandom(KEY_BYTES)
    temporary = f"{file}.{os.getpid()}"
    try:
        os.makedirs(folder, 0o700, exist_ok=True)
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with open(handle, "w", encoding="ascii") as text:
            text.write(f"{key.hex()}\n")
            text.flush()
            os.fsync(handle)
        with suppress(FileExistsError):
            os.link(temporary, file)
        os.unlink(temporary)
    except OSError as error:
        raise storage_error(file, error) from error
    return load_key({}, folder) or key


def find_fingerprint(key: bytes) -> str:
    """Return the fingerprint of a key, which may be public."""
    return sha256(b"remit cluster\0" + key).hexdigest()[:16]


_META_KEY = "key"


async def load_or_make_key(db: Database, environ: Mapping[str, str]) -> bytes:
    """Return the key of a database's cluster. The first machine creates the key; the others need a copy."""
    folder = os.path.dirname(find_file())
    key = load_key(environ, folder)
    known = await load_meta(db, _META_KEY)
    if key is None and known is None:
        key = make_key(folder)
    file = os.path.join(folder, KEY_FILE)
    hint = f"copy it from a machine of the cluster to {file}, or set {KEY}"
    if key is None:
        raise ClusterError(f"this machine doesn't have the key of the cluster at {db.display}", hint=hint)
    if await set_meta_once(db, _META_KEY, find_fingerprint(key)) != find_fingerprint(key):
        raise ClusterError(f"this machine's key isn't the key of the cluster at {db.display}", hint=hint)
    return key
