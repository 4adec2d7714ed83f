"""Probes: hooks that say that they were called, for whoever wants to know whether they are.

Owns those events. A hook that finds the word of a probe in its environment notes that it was called, in the ledger of
the workspace that it works for, and then decides as ever: a probe changes no decision.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from remit.workspace.ledger.events import add_event

if TYPE_CHECKING:
    from remit.workspace.home import Home

VARIABLE = "REMIT_PROBE"
_KIND = "hook_called"
_MAX_CHARS = 200
_MOST = 1000


class Called(NamedTuple):
    """An event that a hook was called for."""

    event: str
    harness: str
    tool: str = ""
    in_subagent: bool = False


def note_call(home: Home, word: str, called: Called) -> None:
    """Write down that a hook was called."""
    event, harness, tool, in_subagent = called
    told = {"word": word[:_MAX_CHARS], "event": event[:_MAX_CHARS], "harness": harness, "tool": tool[:_MAX_CHARS]}
    with home.ledger.transaction() as db:
        add_event(db, _KIND, {**told, "in_subagent": in_subagent})


def list_calls(home: Home, word: str) -> list[Called]:
    """The events that hooks were called for with this word, in their order."""
    query = (
        "SELECT details ->> 'event', details ->> 'harness', details ->> 'tool', details ->> 'in_subagent' FROM events"
        " WHERE kind = ? AND details ->> 'word' = ? ORDER BY number LIMIT ?"
    )
    with home.ledger.reading() as db:
        rows = db.execute(query, (_KIND, word, _MOST)).fetchall()
    return [Called(str(event), str(harness), str(tool), bool(inside)) for event, harness, tool, inside in rows]
