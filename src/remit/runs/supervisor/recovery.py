"""Recovery: find the runs whose supervisor has died, and claim them for another one.

A claimed run continues by the same code as any other: each step reads what has already happened.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.ledger.events import read_clock_ms
from remit.ledger.hook_runs import GRACE_MS, HOOKS_OWNER
from remit.ledger.runs import REMOTE_OWNER, list_runs
from remit.ledger.slots import claim
from remit.storage.supervisor_presence import clear_departed, is_present

if TYPE_CHECKING:
    from collections.abc import Callable

    from remit.ledger.home import Home
    from remit.ledger.runs import Run


def claim_abandoned(home: Home, supervisor_id: str, *, is_unreachable: Callable[[Run], bool]) -> list[str]:
    """Claim every run whose supervisor no longer exists; the sessions that were claimed."""
    clear_departed(home)
    runs = list_runs(home.ledger, only_open=True, limit=100_000)
    gone = {owner: not is_present(home, owner) for owner in {run.owner for run in runs}}
    abandoned = [run for run in reversed(runs) if gone[run.owner] and needs_supervisor(run, is_unreachable)]
    return [run.session_id for run in abandoned if claim(home.ledger, run, supervisor_id)]


def is_abandoned(home: Home, run: Run, *, is_unreachable: Callable[[Run], bool]) -> bool:
    """Whether the supervisor of a run no longer exists, and only another supervisor can end the run."""
    return not is_present(home, run.owner) and needs_supervisor(run, is_unreachable)


def needs_supervisor(run: Run, is_unreachable: Callable[[Run], bool]) -> bool:
    """Whether only a supervisor can end a run. Hooks end a harness's own runs, unless they are long overdue."""
    if run.owner == REMOTE_OWNER or is_unreachable(run):
        return False
    if run.owner != HOOKS_OWNER or run.state == "finishing":
        return True
    return read_clock_ms() > (run.deadline_ms or 0) + GRACE_MS
