"""Checks of runs that go wrong: hangs, lost processes, loops, unsuitable limits and failing returns (R2.19)."""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING

from remit.maintenance.doctor import HealthCheck
from remit.model import ACCEPTABLE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from remit.ledger.history import PastRun
    from remit.ledger.home import Home
    from remit.maintenance.doctor import DoctorContext
    from remit.views.run_snapshots import RunSnapshot

_HISTORY_MS = 30 * 86_400_000
_MAX_LISTED = 5
_NEAR_SHARE = 0.1
"""A run is near its deadline if less than this share of its time is left."""
_LATE_MS = 5000
_REFUSED_OFTEN, _REPEATED_OFTEN = 3, 5
_MIN_RUNS, _MIN_RETURNS = 5, 3
_OFTEN_LATE, _HARDLY_USED = 0.2, 0.1
_OFTEN_REJECTED, _OFTEN_RETRIED = 0.3, 0.5
_MIN_LIMIT_S, _STEP_S, _LONG_S = 60, 10, 600
_REFUSALS = {
    "CYCLE_DETECTED": "as a cycle",
    "MAX_DEPTH_EXCEEDED": "as too deep",
    "BUDGET_EXCEEDED": "because of its budget",
}
_FALSE_CLAIMS = ("fabricated", "degenerate")
_SET_BY_HAND = "IN PROGRESS"


def _check_runs(context: DoctorContext) -> Iterator[HealthCheck]:
    """Report the open and past runs of the ledger that need attention, or that there are none."""
    from remit.ledger.home import Home
    from remit.views.run_snapshots import list_snapshots

    home = Home(context.root)
    if not os.path.lexists(home.ledger_file):
        return
    try:
        runs = list_snapshots(home)
        rows = [*_find_hangs(runs), *_find_abandoned(home, runs), *_find_loops(home)]
        rows += [*_find_unsuitable(home), *_find_idle_tasks(home, context)]
    finally:
        home.close()  # in this thread: SQLite doesn't let another thread close it
    if rows:
        yield from rows
    elif runs:
        yield HealthCheck("runs", "ok", f"{len(runs)} open, none hangs")
    else:
        yield HealthCheck("runs", "ok", "none open, and no repeated failures")


def _find_hangs(runs: Iterable[RunSnapshot]) -> Iterator[HealthCheck]:
    """Report running agents without output for long, and those near or past their deadline."""
    for each in runs:
        row, name = each.row, f"{each.row.agent} ({each.row.session_id})"
        if row.state != "running" or row.started_ms is None or row.deadline_ms is None:
            continue
        left_ms, all_ms = row.deadline_ms - each.now_ms, row.deadline_ms - row.started_ms
        is_late = left_ms < -_LATE_MS
        if each.harness:
            end = f"end it in {each.harness}, where it runs; remit cancel {row.session_id} denies its tools"
        else:  # a late run without a supervisor ends as soon as a command takes it over
            end = f"end it: remit {'wait' if is_late and not each.is_supervised else 'cancel'} {row.session_id}"
        if is_late:
            message = f"{name} is {_format_seconds(-left_ms / 1000)} past its deadline"
            yield HealthCheck("hangs", "problem", message, end)
        elif each.seen.idle_s:
            idle, left = _format_seconds(each.seen.idle_s), _format_seconds(left_ms / 1000)
            hint = f"see what it does: remit logs -f {row.session_id}; {end}"
            yield HealthCheck("hangs", "warning", f"no output from {name} for {idle}, with {left} left", hint)
        elif left_ms < _NEAR_SHARE * all_ms:
            message = f"{name} has {_format_seconds(left_ms / 1000)} left of {_format_seconds(all_ms / 1000)}"
            hint = f"at the deadline its result is partial; continue with remit resume {row.session_id} --timeout TIME"
            late = "after that, its tools are denied and it is asked for a partial result"
            yield HealthCheck("hangs", "warning", message, late if each.harness else hint)


def _find_abandoned(home: Home, runs: Iterable[RunSnapshot]) -> Iterator[HealthCheck]:
    """Report open runs without a supervisor, and agents that are alive although their run is finished."""
    from remit.attempts.folders import list_living

    known = set()
    for each in runs:
        session_id, name = each.row.session_id, f"{each.row.agent} ({each.row.session_id})"
        known.add(session_id)
        if each.is_lost:
            message = f"{each.row.runner} hasn't reported the end of {name}"
            yield HealthCheck("abandoned", "warning", message, f"finish it: remit wait {session_id}")
        elif each.is_unfollowed:
            message = f"no process here follows {name}, which runs on another machine"
            yield HealthCheck("abandoned", "warning", message, f"receive its result: remit wait {session_id}")
        elif each.is_abandoned:
            agent = ", and its agent is alive" if each.is_alive else ""
            message = f"{name} has no supervisor{agent}"
            yield HealthCheck("abandoned", "warning", message, f"take over: remit wait {session_id}")
    for attempt in list_living(home):
        if attempt.session_id not in known:
            message = f"the agent of {attempt.session_id} is alive, but its run is finished"
            yield HealthCheck("abandoned", "problem", message, f"end it: remit cancel {attempt.session_id}")


def _find_loops(home: Home) -> Iterator[HealthCheck]:
    """Report agents that were often refused the same call, or called for the same thing many times."""
    from remit.ledger.events import read_clock_ms
    from remit.ledger.history import list_refusals, list_repeats

    after_ms = read_clock_ms() - _HISTORY_MS
    for each in list_refusals(home.ledger, after_ms=after_ms, least=_REFUSED_OFTEN)[:_MAX_LISTED]:
        reason = _REFUSALS.get(each.code, f"({each.code})")
        message = f"{each.agent} tried to call {each.target} {each.times} times and was refused {reason}"
        hint = f"remove {each.target} from its can_delegate_to, or instruct it to do the work itself"
        yield HealthCheck("loops", "warning", message, f"{hint}; see: remit agent graph")
    for repeat in list_repeats(home.ledger, after_ms=after_ms, least=_REPEATED_OFTEN)[:_MAX_LISTED]:
        message = f"{repeat.agent} was called {repeat.times} times for the same in one tree: {repeat.work[:60]}"
        hint = f"see the callers: remit ps --tree {repeat.root_id}; limit it with --max-delegations"
        yield HealthCheck("loops", "warning", message, hint)


def _find_unsuitable(home: Home) -> Iterator[HealthCheck]:
    """Report agents whose time limit doesn't fit their runs, and agents whose returns often fail."""
    from remit.ledger.history import list_past

    by_agent: dict[str, list[PastRun]] = {}
    for each in list_past(home.ledger):
        by_agent.setdefault(each.agent, []).append(each)
    limits = [check for name in sorted(by_agent) for check in _check_limit(name, by_agent[name])]
    returns = [check for name in sorted(by_agent) for check in _check_returns(name, by_agent[name])]
    yield from (*limits[:_MAX_LISTED], *returns[:_MAX_LISTED])


def _check_limit(agent: str, runs: list[PastRun]) -> Iterator[HealthCheck]:
    """Report a time limit that is often exceeded or hardly used (R2.6). Only runs with the latest limit count."""
    runs = [each for each in runs if each.stop_reason in ("exited", "timeout") and each.timeout_s == runs[0].timeout_s]
    if len(runs) < _MIN_RUNS:
        return
    limit_s = runs[0].timeout_s
    late = sum(each.stop_reason == "timeout" for each in runs)
    usual_s = find_usual([each.seconds for each in runs])
    better_s = suggest_limit(usual_s)
    hint = f'set timeout = {better_s} under [agents."{agent}"] in remit.toml'
    limit, usual = _format_seconds(limit_s), _format_seconds(usual_s)
    if late >= _OFTEN_LATE * len(runs):
        message = f"{agent} reached its limit of {limit} in {late} of {len(runs)} runs"
        yield HealthCheck("limits", "warning", message, hint)
    elif usual_s < _HARDLY_USED * limit_s and better_s < limit_s:
        message = f"{agent} may take {limit}, but 19 of 20 runs take {usual}: a hang is noticed late"
        yield HealthCheck("limits", "warning", message, hint)


def find_usual(seconds: list[float]) -> float:
    """Return the time that 19 of 20 runs do not exceed."""
    ranked = sorted(seconds)
    return ranked[max(0, math.ceil(0.95 * len(ranked)) - 1)]


def suggest_limit(usual_s: float) -> int:
    """Return twice the usual time, as a round number."""
    wanted = max(_MIN_LIMIT_S, 2 * usual_s)
    step = _STEP_S if wanted <= _LONG_S else _MIN_LIMIT_S
    return math.ceil(wanted / step) * step


def _check_returns(agent: str, runs: list[PastRun]) -> Iterator[HealthCheck]:
    """Report an agent whose returns are often rejected or need a retry, with the most frequent codes."""
    returned = [each for each in runs if each.stop_reason == "exited"]
    # 'unproven' doesn't count: the agent isn't to blame for it.
    rejected = [each for each in returned if each.verdict not in (*ACCEPTABLE, "unproven")]
    retried = [each for each in returned if each.attempts > 1 and each.verdict in ACCEPTABLE]
    if len(returned) < _MIN_RETURNS:
        return
    codes = _rank([code for each in returned for code in dict.fromkeys(each.codes)])
    often = f"; most often {', '.join(codes[:3])}" if codes else ""
    explain = f"remit explain {codes[0]}" if codes else "remit return prompt"
    if len(rejected) >= _OFTEN_REJECTED * len(returned):
        false_claims = [each for each in rejected if each.verdict in _FALSE_CLAIMS]
        verdicts = ", ".join(_rank([each.verdict for each in rejected]))
        message = f"{len(rejected)} of {len(returned)} returns of {agent} were rejected ({verdicts}){often}"
        hint = f"see: remit show {(false_claims or rejected)[0].session_id}; what to change: {explain}"
        yield HealthCheck("returns", "warning", message, hint)
    elif len(retried) >= _OFTEN_RETRIED * len(returned):
        message = f"{len(retried)} of {len(returned)} returns of {agent} were accepted only after a retry{often}"
        yield HealthCheck("returns", "warning", message, f"each retry costs money; what to change: {explain}")


def _rank(words: list[str]) -> list[str]:
    """Return the words, most frequent first, each once."""
    return sorted(dict.fromkeys(words), key=lambda word: (-words.count(word), word))


def _find_idle_tasks(home: Home, context: DoctorContext) -> Iterator[HealthCheck]:
    """Report tasks in progress without an open run. Tasks that never had a run are skipped."""
    from remit.ledger.queries import count_by_task
    from remit.runs.tasks.workspace_tasks import Tasks
    from remit.tasks.task import OWN_COMMAND

    run_counts = count_by_task(home.ledger)
    tasks = Tasks(context.root)
    try:
        if not run_counts or not tasks.is_begun:
            return
        for task in tasks.list_tasks():
            is_in_progress = task.marker in OWN_COMMAND and task.marker != _SET_BY_HAND and not task.closed
            if is_in_progress and run_counts.get(task.number, (1, 1))[0] == 0:
                message = f"task {task.number} is {task.marker}, but no run is open for it"
                hint = f"continue: remit task {OWN_COMMAND[task.marker or '']} {task.number}"
                yield HealthCheck("idle tasks", "warning", message, hint)
    finally:
        tasks.home.close()


def _format_seconds(seconds: float) -> str:
    whole = max(0, round(seconds))
    if whole < 120:  # noqa: PLR2004 - two minutes
        return f"{whole} s"
    return f"{whole // 60} min" if whole < 7200 else f"{whole // 3600} h"  # noqa: PLR2004 - two hours


CHECKS = (("runs", _check_runs),)
