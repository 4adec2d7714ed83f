"""Store prompts and answers word for word, by session and kind.

A text that is too long for a row is a spill: a file in `.remit/spills` named by its hash, stored once, and read only if
it still has that hash. The row then has the hash.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from remit.errors import InputError, StorageError
from remit.ledger.events import read_clock_ms
from remit.light_hash import take_sha256
from remit.storage.files import load_bytes, storage_error, write_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping
    from sqlite3 import Connection

    from remit.ledger.home import Home

SCHEMA = "schema"
"""The kind of the text that is the JSON Schema of a return's `data`."""
_MAX_ROW_BYTES = 32 * 1024
"""A longer text is a spill."""
_SPILLED = b"\0spill:"
"""The prefix of a row that names a spill. A text that begins with it is always a spill."""


def store_texts(
    home: Home, session_id: str, texts: Mapping[str, bytes], *, db: Connection | None = None, durable: bool = True
) -> None:
    """Store texts by their kind, all or none; earlier texts of a kind are replaced.

    With `db`, they are stored in that transaction. Spills are on disk before, so no row names a missing file. Texts
    that aren't `durable` are synced with the next durable transaction, and survive a crash of this process in any case.
    """
    rows = [(session_id, kind, _shorten(home, session_id, kind, text), read_clock_ms()) for kind, text in texts.items()]
    statement = "INSERT OR REPLACE INTO texts (session_id, kind, content, created_ms) VALUES (?, ?, ?, ?)"
    if db is not None:
        db.executemany(statement, rows)
        return
    with home.ledger.transaction(durable=durable) as own:
        own.executemany(statement, rows)


def load_text(home: Home, session_id: str, kind: str) -> bytes | None:
    """Return a text; None if there is none of that kind."""
    with home.ledger.reading() as db:
        row = db.execute("SELECT content FROM texts WHERE session_id = ? AND kind = ?", (session_id, kind)).fetchone()
    if row is None:
        return None
    content: bytes = row[0]
    return load_spill(home, content.removeprefix(_SPILLED).decode()) if content.startswith(_SPILLED) else content


def list_texts(home: Home, session_id: str) -> list[str]:
    """Return the kinds of texts that are stored for a session."""
    with home.ledger.reading() as db:
        rows = db.execute("SELECT kind FROM texts WHERE session_id = ? ORDER BY kind", (session_id,))
        return [row[0] for row in rows]


def _shorten(home: Home, session_id: str, kind: str, text: bytes) -> bytes:
    if len(text) <= _MAX_ROW_BYTES and not text.startswith(_SPILLED):
        return text
    return _SPILLED + write_spill(home, text, session_id=session_id, kind=kind).encode()


# --- spills ----------------------------------------------------------------------------------------------------------


_NAME_LENGTH = 64
_MAX_BYTES = 1 << 30


def write_spill(home: Home, data: bytes, *, session_id: str, kind: str) -> str:
    """Store a long text as a file, synced to disk; return its hash."""
    name = take_sha256(data)
    file = f"{home.make_folder(f'spills/{name[:2]}')}/{name}"
    with home.ledger.transaction() as db:  # first: a file that a row names isn't deleted
        db.execute(
            "INSERT OR REPLACE INTO spills (hash, session_id, kind, size_bytes, created_ms) VALUES (?, ?, ?, ?, ?)",
            (name, session_id, kind, len(data), read_clock_ms()),
        )
    try:
        if not os.path.isfile(file) or os.stat(file).st_size != len(data):
            write_bytes(file, data)
    except OSError as error:
        raise storage_error(file, error) from error
    return name


def load_spill(home: Home, name: str) -> bytes:
    """Return a text by its hash."""
    if len(name) != _NAME_LENGTH or not name.isalnum():
        raise InputError(f"'{name[:80]}' isn't the name of a spill", hint="it has 64 letters and digits")
    data = load_bytes(find_spill(home, name), max_bytes=_MAX_BYTES)
    if take_sha256(data) != name:
        raise StorageError(f"the spill {name} is damaged", hint="its content can't be shown")
    return data


def find_spill(home: Home, name: str) -> str:
    """Return the path of a spill."""
    return f"{home.folder}/spills/{name[:2]}/{name}"
