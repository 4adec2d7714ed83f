"""The key that all machines of a cluster share: found, or made where there is no cluster yet."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from remit.cluster.database.key_file import KEY, KEY_FILE, find_fingerprint, load_key, make_key
from remit.cluster.database.meta import load_meta, set_meta_once
from remit.errors import ClusterError
from remit.storage.trust import find_file

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.cluster.database.store import Database

_FINGERPRINT = "key"


async def find_key(db: Database, environ: Mapping[str, str]) -> bytes:
    """The key of the cluster that a database belongs to. The first machine that comes makes one; others need a copy."""
    folder = os.path.dirname(find_file())
    key = load_key(environ, folder)
    known = await load_meta(db, _FINGERPRINT)
    if key is None and known is None:
        key = make_key(folder)
    place = os.path.join(folder, KEY_FILE)
    hint = f"copy it from a machine that belongs to the cluster to {place}, or set {KEY}"
    if key is None:
        raise ClusterError(f"this machine has no key of the cluster at {db.display}", hint=hint)
    if await set_meta_once(db, _FINGERPRINT, find_fingerprint(key)) != find_fingerprint(key):
        raise ClusterError(f"this machine's key is not that of the cluster at {db.display}", hint=hint)
    return key
