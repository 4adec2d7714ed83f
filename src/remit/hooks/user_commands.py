"""Commands of a harness: which one a user gave last in a session, such as `/research 12`.

Owns the note of it. The agents that a session starts under a command have the command in their path (R2.3).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from remit.lazy_regex import lazy

if TYPE_CHECKING:
    from remit.hooks.events import HookEvent
    from remit.ledger.home import Home

_NOTE = "commands"
_MOST_SESSIONS = 20
_COMMAND = lazy(r"/([A-Za-z][A-Za-z0-9:_-]{0,60})(?![^\s])")


def note_command(event: HookEvent, root: str) -> None:
    """Remember the command that a prompt is; a prompt that is none ends the one before it."""
    from remit.ledger.hook_runs import open_quickly

    found = _COMMAND.match(event.prompt)
    db = open_quickly(f"{root}/.remit/ledger.db")
    if db is None:
        return
    row = db.execute("SELECT value FROM notes WHERE name = ?", (_NOTE,)).fetchone()
    known: dict[str, str] = {} if row is None else json.loads(row[0])
    if found is None and event.session not in known:
        return
    from remit.ledger.home import Home

    known.pop(event.session, None)
    if found is not None:
        known[event.session] = found[1]
    home = Home(root)
    try:
        home.ledger.set_note(_NOTE, json.dumps(dict(list(known.items())[-_MOST_SESSIONS:])))
    finally:
        home.close()


def get_command(home: Home, session: str) -> str:
    """The last command that the user gave in a session; empty for none."""
    return str(json.loads(home.ledger.get_note(_NOTE) or "{}").get(session, ""))
