"""Activity on files by session, recorded when it happens (R3.11).

The frontmatter of the files is updated only when the run finishes: a file that changes under a working agent makes its
next edit fail.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.light_namedtuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable
    from sqlite3 import Connection

    from remit.ledger.store import Ledger


class FileAct(NamedTuple):
    """One thing that a session did to a file."""

    path: str
    operation: str
    at_ms: int
    session_id: str
    parent_id: str | None = None
    number: int = 0


def list_acts(ledger: Ledger, session_id: str, *, only_untold: bool = False) -> list[FileAct]:
    """What a session did, in order; or only what the files have not been told yet."""
    query = "SELECT path, operation, at_ms, session_id, parent_id, number FROM activity WHERE session_id = ?"
    with ledger.reading() as db:
        rows = db.execute(
            f"{query}{' AND NOT written' if only_untold else ''} ORDER BY number", (session_id,)
        ).fetchall()
    return [FileAct(*row) for row in rows]


def mark_reported(db: Connection, acts: Iterable[FileAct]) -> None:
    """Remember that the files have been told."""
    db.executemany("UPDATE activity SET written = 1 WHERE number = ?", [(act.number,) for act in acts])
