"""Spills: texts that are too long for a row or for a caller, kept as files under the name of their hash.

Owns `.remit/spills`. A text is stored once, however often it is kept, and read back only if it still has its hash.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from remit.errors import InputError, StorageError
from remit.quick_hash import take_sha256
from remit.workspace.files import load_bytes, tell_failure, write_bytes
from remit.workspace.ledger.events import read_clock_ms

if TYPE_CHECKING:
    from remit.workspace.home import Home

_NAME_LENGTH = 64
_MAX_BYTES = 1 << 30


def write_spill(home: Home, data: bytes, *, session_id: str, kind: str) -> str:
    """Keep a text; its hash, by which it is found again. On disk when this ends."""
    name = take_sha256(data)
    file = f"{home.make_folder(f'spills/{name[:2]}')}/{name}"
    with home.ledger.transaction() as db:  # first: a file that a row names is not cleared away
        db.execute(
            "INSERT OR REPLACE INTO spills (hash, session_id, kind, size_bytes, created_ms) VALUES (?, ?, ?, ?, ?)",
            (name, session_id, kind, len(data), read_clock_ms()),
        )
    try:
        if not os.path.isfile(file) or os.stat(file).st_size != len(data):
            write_bytes(file, data)
    except OSError as error:
        raise tell_failure(file, error) from error
    return name


def load_spill(home: Home, name: str) -> bytes:
    """A text by its hash."""
    if len(name) != _NAME_LENGTH or not name.isalnum():
        raise InputError(f"'{name[:80]}' is not the name of a spill", hint="it has 64 letters and digits")
    data = load_bytes(find_spill(home, name), max_bytes=_MAX_BYTES)
    if take_sha256(data) != name:
        raise StorageError(f"the spill {name} is damaged", hint="what it held cannot be shown")
    return data


def find_spill(home: Home, name: str) -> str:
    """Where a spill lies."""
    return f"{home.folder}/spills/{name[:2]}/{name}"
