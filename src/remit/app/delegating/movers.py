"""Movers: who may give a task another marker while somebody is at work on it.

Owns that nobody moves the task that he works on: what becomes of it follows from his return, once that is judged. Asks
who calls only where somebody is at work on the task, so that all others are as quick as before.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from remit.delegate.admission.terms import read_terms
from remit.errors import RefusedError
from remit.workspace.ledger.delegations import list_delegations, load_delegation
from remit.workspace.ledger.events import follow_events, read_clock_ms

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.workspace.home import Home
    from remit.workspace.ledger.delegations import Delegation

_MOST_ROWS = 100_000


def list_holders(home: Home, number: int | None = None) -> list[Delegation]:
    """The delegations that are at work on a task, or will be, the newest first; on any where none is named."""
    rows = list_delegations(home.ledger, only_open=True, limit=_MOST_ROWS) if home.is_made else []
    held = (row for row in rows if row.task_number is not None and row.details.get("working"))
    return [row for row in held if number in (None, row.task_number)]


def find_mover(home: Home, number: int, environ: Mapping[str, str] | None = None) -> str:
    """The session at work on a task that asks to move it, also through another below it; empty for all others.

    Raises where Remit does that for it, and where nobody can tell who asks.
    """
    held = {row.session_id: row for row in list_holders(home, number)}
    if not held:
        return ""
    from remit.delegate.admission.ticket import CARRIED, find_caller  # noqa: PLC0415 - only where somebody is at work

    caller = find_caller(
        home, {**(os.environ if environ is None else environ), **CARRIED.get()}, now_ms=read_clock_ms()
    )
    at = None if caller is None else load_delegation(home.ledger, caller.session_id)
    while at is not None and at.session_id not in held:
        at = None if at.parent_id is None else load_delegation(home.ledger, at.parent_id)
    if at is None:
        return ""
    if read_terms(at.details).owner != "agent":
        told = f"{at.agent} is at work on task {number}, and Remit moves the task by its return"
        raise RefusedError(told, hint="say there what became of the work: completed, partial, failed or blocked")
    return at.session_id


def list_moved(home: Home, kind: str, number: int, *, after: int) -> set[tuple[str, str]]:
    """Which phases of a task, or the task itself, others than its agents have moved with Remit since, and to what."""
    events = (each.details for each in follow_events(home.ledger, after=after) if each.kind == kind)
    others = (each for each in events if each.get("number") == number and not each.get("by"))
    return {(str(each.get("phase", "")).upper(), str(each.get("marker", ""))) for each in others}
