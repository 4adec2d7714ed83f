"""Harness sessions: ends and recovers runs when a session of a harness starts or ends.

An agent of an ended session sends no more events.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from remit.errors import RemitError
from remit.harnesses import claude
from remit.hooks import command_tickets, replies
from remit.hooks.events import is_user_session
from remit.hooks.finish_subagent import judge_again_if_changed, run_finish_steps
from remit.hooks.roster import load_roster
from remit.hooks.shell_limits import keep_confine_rules
from remit.hooks.stop_subagent import end_lost
from remit.ledger.events import read_clock_ms
from remit.ledger.hook_runs import GRACE_MS, list_open
from remit.ledger.runs import list_runs, load_run
from remit.runs.admission.run_config import read_run_config

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.hooks.events import HookEvent
    from remit.ledger.home import Home

_SHOWN = 3
_MOST = 1000
_NEW_PROCESS = (claude.STARTED, claude.RESUMED)
"""Sources of a session in a new process. No agent of an earlier process is alive."""


def begin_session(event: HookEvent, home: Home, environ: Mapping[str, str]) -> replies.Answer:
    """End the runs that an earlier process left open, and list the open runs in one line."""
    if event.payload.get(claude.SOURCE_KEY) in _NEW_PROCESS:
        end_agents(event, home, "the harness was started again")
    with suppress(RemitError):  # unreadable settings: the next admission reports them
        roster = load_roster(home)
        keep_confine_rules(home, roster)
        if roster.hooks["main"] == "checks" and is_user_session(event, environ) and event.harness != "opencode":
            from remit.hooks.session_checks import begin_checks

            begin_checks(event, home, roster, environ)
    _recover(home)
    text = _render_open_runs(home)
    return replies.add_context(event.kind, text) if text else {}


def end_agents(event: HookEvent, home: Home, reason: str) -> None:
    """End all runs of a harness's session."""
    with home.ledger.reading() as db:
        left = list_open(db, event.session)
    for each in left:
        row = load_run(home.ledger, each.session_id)
        with suppress(RemitError):  # one failure must not keep the other runs open
            if row is not None:
                end_lost(home, row, reason)
    command_tickets.close_session(home.root, event.session)
    command_tickets.mend_session(home.root, event.session)
    command_tickets.sweep(home.root)


def _recover(home: Home) -> None:
    """Finish judged runs, and end runs long past their deadline, whose hook was killed or whose machine stopped."""
    now_ms = read_clock_ms()
    for row in list_runs(home.ledger, only_open=True, limit=_MOST):
        if not read_run_config(row.details).is_harness_run:
            continue
        with suppress(RemitError):
            if row.state == "finishing":
                judge_again_if_changed(home, row)
                run_finish_steps(home, row)
            elif now_ms > (row.deadline_ms or 0) + GRACE_MS:
                end_lost(home, row, "it sent no event before its deadline")


def _render_open_runs(home: Home) -> str:
    """Return the open runs in one line; empty if there are none."""
    rows = list_runs(home.ledger, only_open=True, limit=_MOST)
    if not rows:
        return ""
    named = ", ".join(f"{row.agent} ({row.session_id})" for row in rows[:_SHOWN])
    more = f" and {len(rows) - _SHOWN} more" if len(rows) > _SHOWN else ""
    what = "1 run is" if len(rows) == 1 else f"{len(rows)} runs are"
    return f"Remit: {what} open: {named}{more}; `remit ps` shows them."
