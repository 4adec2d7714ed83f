"""Single facts that a workspace remembers, such as the task in focus."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from remit.ledger.store import Ledger


def set_note(ledger: Ledger, name: str, value: str | None) -> None:
    """Remember a fact, or forget it."""
    with ledger.transaction() as db:
        if value is None:
            db.execute("DELETE FROM notes WHERE name = ?", (name,))
        else:
            db.execute("INSERT OR REPLACE INTO notes (name, value) VALUES (?, ?)", (name, value))


def get_note(ledger: Ledger, name: str) -> str | None:
    """A fact; None where it is not known."""
    with ledger.reading() as db:
        row = db.execute("SELECT value FROM notes WHERE name = ?", (name,)).fetchone()
    return None if row is None else str(row[0])
