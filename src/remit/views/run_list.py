"""The list of all runs, a page at a time.

The cost of a page doesn't depend on the number of runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from remit.errors import UsageError
from remit.ledger.queries import (
    PageEnd,
    RunFilter,
    count_matching,
    list_agents,
    list_page,
    load_last_number,
)
from remit.views.json_builders import build_runs
from remit.views.run_snapshots import has_ledger, load_snapshots
from remit.views.workers import load_recent_status

if TYPE_CHECKING:
    from remit.ledger.home import Home
    from remit.schemas import RunPageObject

STATES = {"all": None, "open": True, "finished": False}
MOST, USUAL = 500, 100
_MOST_CURSOR = 200
_MOST_DIGITS = 15
_MOST_TASK = 10**9


class RunQuery(NamedTuple):
    """A filter for runs; default: all runs."""

    state: str = "all"
    """open, finished or all."""
    agent: str | None = None
    verdict: str | None = None
    status: str | None = None
    stop_reason: str | None = None
    """exited, timeout, cancelled, crashed, rejected, orphaned or budget."""
    task: int | str | None = None
    """Its number, or its id in an outside system."""
    q: str = ""
    """Words that all must occur in agent, prompt, session id or summary."""
    roots: bool = False
    """Only runs that no other run started."""


EVERYTHING = RunQuery()


def list_runs(home: Home, asked: RunQuery = EVERYTHING, *, limit: int = USUAL, cursor: str = "") -> RunPageObject:
    """One page of runs, newest first, with the names of all agents."""
    wanted, after = _read_asked(home, asked), read_cursor(cursor)
    if not 1 <= limit <= MOST:
        raise UsageError(f"a page has no {limit} rows", hint=f"ask for 1 to {MOST}")
    if not has_ledger(home):
        return {"items": [], "next_cursor": None, "total": 0, "event": 0, "agents": []}
    ledger = home.ledger
    event = load_last_number(ledger)  # before the rows, so that clients that follow from it miss nothing
    rows = list_page(ledger, wanted, limit=limit + 1, after=after)
    shown = rows[:limit]
    is_all = after is None and len(rows) <= limit  # no second query if this page has all rows
    snapshots = load_snapshots(home, shown, load_recent_status(home, shown))
    return {
        "items": build_runs(home, snapshots),
        "next_cursor": render_cursor(PageEnd(shown[-1].created_ms, shown[-1].session_id))
        if len(rows) > limit
        else None,
        "total": len(rows) if is_all else count_matching(ledger, wanted),
        "event": event,
        "agents": list_agents(ledger),
    }


def _read_asked(home: Home, asked: RunQuery) -> RunFilter:
    if asked.state not in STATES:
        raise UsageError(f"there is no state '{asked.state}'", hint=f"available: {', '.join(STATES)}")
    number, task_id = (None, None) if asked.task is None else _read_task(home, asked.task)
    return RunFilter(
        STATES[asked.state], asked.agent, asked.verdict, asked.status, asked.stop_reason, number,
        tuple(asked.q.split()), asked.roots, task_id,
    )  # fmt: skip


def _read_task(home: Home, task: int | str) -> tuple[int | None, str | None]:
    """The number of a task of the workspace, or the id of one of an outside system."""
    from remit.runs.tasks.outside_tasks import list_outside
    from remit.storage.settings import load_settings

    if isinstance(task, int) and abs(task) > _MOST_TASK:
        raise UsageError(f"there is no task {task}", hint="remit task list shows what there is")
    if list_outside(home.root, load_settings(home.root)):
        return None, str(task)
    if not isinstance(task, int):
        raise UsageError(f"'{task[:80]}' isn't the number of a task", hint="remit task list shows them")
    return task, None


def render_cursor(spot: PageEnd) -> str:
    """The cursor of the next page."""
    return f"{spot.created_ms}.{spot.session_id}"


def read_cursor(cursor: str) -> PageEnd | None:
    """The end of the previous page; None for the first page."""
    if not cursor:
        return None
    number, _, session_id = cursor[:_MOST_CURSOR].partition(".")
    if not (number.isascii() and number.isdecimal() and len(number) <= _MOST_DIGITS and session_id):
        raise UsageError("this is not a cursor of this list", hint="give next_cursor of the page before, unchanged")
    return PageEnd(int(number), session_id)
