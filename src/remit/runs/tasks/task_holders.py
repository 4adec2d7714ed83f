"""The runs that work on a task, and the caller that asks to change its status.

An agent may change the status of its own task, and Remit trusts such a change only as far as the agent's return goes:
the finish steps need to know which changes are the agent's. Remit identifies the caller only if a run works on the
task.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from remit.errors import RefusedError
from remit.ledger.events import follow_events, read_clock_ms
from remit.ledger.runs import list_runs, load_run

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.ledger.home import Home
    from remit.ledger.runs import Run

_MAX_ROWS = 100_000


def list_holders(home: Home, number: int | None = None) -> list[Run]:
    """Return the open runs that work or will work on a task, newest first; without a number, on any task."""
    rows = list_runs(home.ledger, only_open=True, limit=_MAX_ROWS) if home.is_made else []
    holders = (row for row in rows if row.task_number is not None and row.details.get("working"))
    return [row for row in holders if number in (None, row.task_number)]


def describe_holder(home: Home, number: int, row: Run | None = None) -> RefusedError | None:
    """Return the refusal for a task that another run works on; None if the task is free.

    With a `row`, only runs that were admitted before it count.
    """
    holders = list_holders(home, number)
    if row is not None:
        holders = [each for each in holders if (each.created_ms, each.session_id) < (row.created_ms, row.session_id)]
    if not holders:
        return None
    session = holders[-1].session_id
    hint = f"wait for it: remit wait {session}, or end it: remit cancel {session}"
    return RefusedError(f"{holders[-1].agent} works on task {number} already ({session})", hint=hint)


def find_mover(home: Home, number: int, environ: Mapping[str, str] | None = None) -> str:
    """Return the session that works on a task, if it or one of its nested runs is the caller; otherwise "".

    Raises if Remit can't identify the caller.
    """
    if not list_holders(home, number):
        return ""
    from remit.runs.admission.tickets import CARRIED, find_caller  # noqa: PLC0415 - only if a run works on the task

    caller = find_caller(
        home, {**(os.environ if environ is None else environ), **CARRIED.get()}, now_ms=read_clock_ms()
    )
    return find_holder_above(home, number, None if caller is None else caller.session_id)


def find_holder_above(home: Home, number: int, session_id: str | None) -> str:
    """Return the session in a call chain, from `session_id` upwards, that works on a task; "" if there is none."""
    holders = {row.session_id for row in list_holders(home, number)}
    while session_id is not None and session_id not in holders:
        row = load_run(home.ledger, session_id)
        session_id = None if row is None else row.parent_id
    return session_id or ""


def list_moved(home: Home, kind: str, number: int, *, after: int) -> set[tuple[str, str]]:
    """Return the phase and marker of each status change that no agent of the task made, after event number `after`."""
    events = (each.details for each in follow_events(home.ledger, after=after) if each.kind == kind)
    others = (each for each in events if each.get("number") == number and not each.get("by"))
    return {(str(each.get("phase", "")).upper(), str(each.get("marker", ""))) for each in others}
