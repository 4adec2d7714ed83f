"""The run that asks to change the status of a task while an agent works on the task.

An agent may move its own task's status, and is believed as far as its return goes: the finish steps need to know which
moves are its own. The caller is looked up only if an agent is at work on the task.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from remit.ledger.events import follow_events, read_clock_ms
from remit.ledger.runs import list_runs, load_run

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.ledger.home import Home
    from remit.ledger.runs import Run

_MOST_ROWS = 100_000


def list_holders(home: Home, number: int | None = None) -> list[Run]:
    """The delegations that are at work on a task, or will be, the newest first; on any where none is named."""
    rows = list_runs(home.ledger, only_open=True, limit=_MOST_ROWS) if home.is_made else []
    held = (row for row in rows if row.task_number is not None and row.details.get("working"))
    return [row for row in held if number in (None, row.task_number)]


def find_mover(home: Home, number: int, environ: Mapping[str, str] | None = None) -> str:
    """The session at work on a task that asks to move it, also through a nested run; empty for all others.

    Raises if Remit can't tell who asks.
    """
    if not list_holders(home, number):
        return ""
    from remit.runs.admission.tickets import CARRIED, find_caller  # noqa: PLC0415 - only where somebody is at work

    caller = find_caller(
        home, {**(os.environ if environ is None else environ), **CARRIED.get()}, now_ms=read_clock_ms()
    )
    return find_holder_above(home, number, None if caller is None else caller.session_id)


def find_holder_above(home: Home, number: int, session_id: str | None) -> str:
    """The session at work on a task that is a given one or above it in its call chain; empty if there is none."""
    held = {row.session_id for row in list_holders(home, number)}
    while session_id is not None and session_id not in held:
        row = load_run(home.ledger, session_id)
        session_id = None if row is None else row.parent_id
    return session_id or ""


def list_moved(home: Home, kind: str, number: int, *, after: int) -> set[tuple[str, str]]:
    """Which phases of a task, or the task itself, others than its agents have moved with Remit since, and to what."""
    events = (each.details for each in follow_events(home.ledger, after=after) if each.kind == kind)
    others = (each for each in events if each.get("number") == number and not each.get("by"))
    return {(str(each.get("phase", "")).upper(), str(each.get("marker", ""))) for each in others}
