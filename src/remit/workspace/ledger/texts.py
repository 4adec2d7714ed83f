"""Texts: what was asked and answered, word for word, under the session and what it is.

Owns the table of texts. A long text is a spill, and the row holds its hash: whoever keeps a text need not know which.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.workspace.ledger.events import read_clock_ms
from remit.workspace.ledger.spills import load_spill, write_spill

if TYPE_CHECKING:
    from collections.abc import Mapping
    from sqlite3 import Connection

    from remit.workspace.home import Home

_MOST_BYTES = 32 * 1024
_SPILLED = b"\0spill:"
"""No text begins so: what an agent prints may, and is then spilled whatever its length."""


def keep_texts(
    home: Home, session_id: str, texts: Mapping[str, bytes], *, db: Connection | None = None, durable: bool = True
) -> None:
    """Keep texts by their kind, all or none; what was kept under a kind before is replaced.

    `db`: a transaction that they are to be a part of. Long ones are on disk before, so that no row names what is not.
    Texts that are not `durable` are on disk with the next thing that is, and outlive this process in any case.
    """
    rows = [(session_id, kind, _shorten(home, session_id, kind, text), read_clock_ms()) for kind, text in texts.items()]
    statement = "INSERT OR REPLACE INTO texts (session_id, kind, content, created_ms) VALUES (?, ?, ?, ?)"
    if db is not None:
        db.executemany(statement, rows)
        return
    with home.ledger.transaction(durable=durable) as own:
        own.executemany(statement, rows)


def load_text(home: Home, session_id: str, kind: str) -> bytes | None:
    """A text; None where none of that kind was kept."""
    with home.ledger.reading() as db:
        row = db.execute("SELECT content FROM texts WHERE session_id = ? AND kind = ?", (session_id, kind)).fetchone()
    if row is None:
        return None
    content: bytes = row[0]
    return load_spill(home, content.removeprefix(_SPILLED).decode()) if content.startswith(_SPILLED) else content


def list_texts(home: Home, session_id: str) -> list[str]:
    """The kinds of texts that are kept for a session."""
    with home.ledger.reading() as db:
        rows = db.execute("SELECT kind FROM texts WHERE session_id = ? ORDER BY kind", (session_id,))
        return [row[0] for row in rows]


def _shorten(home: Home, session_id: str, kind: str, text: bytes) -> bytes:
    if len(text) <= _MOST_BYTES and not text.startswith(_SPILLED):
        return text
    return _SPILLED + write_spill(home, text, session_id=session_id, kind=kind).encode()
