"""Whether the caller of an agent waits for it or has ended its turn.

Codex delivers an agent's answer with the caller's next request, whatever the caller does. So an agent whose return was
rejected may end only if its caller will get the verdict with that request. Imports only the clock: hooks use it.
"""

from __future__ import annotations

import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection
    from typing import Literal

    Doing = Literal["waiting", "idle"]

_IDLE_MS = 5_000
"""After the hook of a caller's end it takes the harness a moment to end the caller's turn."""


def note_doing(db: Connection, harness_session: str, session_id: str | None, doing: Doing) -> None:
    """Note that a caller waits for its agents, so that it hears of a verdict first; or that its turn is over."""
    value = f"{doing} {time.time_ns() // 1_000_000}"
    db.execute("INSERT OR REPLACE INTO notes (name, value) VALUES (?, ?)", (_name(harness_session, session_id), value))


def forget_doing(db: Connection, harness_session: str, session_id: str | None) -> None:
    """Note that a caller's model may be asked any moment."""
    db.execute("DELETE FROM notes WHERE name = ?", (_name(harness_session, session_id),))


def will_receive(db: Connection, harness_session: str, session_id: str | None) -> bool:
    """Whether the next request of a caller comes after an event in which it gets what is kept for it."""
    row = db.execute("SELECT value FROM notes WHERE name = ?", (_name(harness_session, session_id),)).fetchone()
    doing, _, at_ms = ("", "", "0") if row is None else str(row[0]).partition(" ")
    return doing == "waiting" or (doing == "idle" and time.time_ns() // 1_000_000 - int(at_ms) >= _IDLE_MS)


def _name(harness_session: str, session_id: str | None) -> str:
    return f"doing {harness_session} {session_id or ''}"


def leave_instructions(db: Connection, session_id: str, text: str) -> None:
    """Keep the instructions of a run whose agent is at work already, until its next event."""
    db.execute("INSERT OR REPLACE INTO notes (name, value) VALUES (?, ?)", (f"instructions {session_id}", text))


def take_instructions(db: Connection, session_id: str) -> str:
    """Those instructions; they are given once."""
    name = f"instructions {session_id}"
    row = db.execute("SELECT value FROM notes WHERE name = ?", (name,)).fetchone()
    if row is not None:
        db.execute("DELETE FROM notes WHERE name = ?", (name,))
    return "" if row is None else str(row[0])
