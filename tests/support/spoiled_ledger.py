"""A ledger that can't be written."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def spoil_ledger(root: Path, when: str) -> None:
    """Let the ledger fail as a broken disk does: with an error of SQLite's while it writes."""
    with sqlite3.connect(root / ".remit/ledger.db") as db:
        db.execute(f"CREATE TRIGGER broken {when} BEGIN SELECT abs(-9223372036854775808); END")
