"""Runs that go wrong: hangs, loops, wrong limits and failing returns, from the ledger (R2.19).

Owns what counts as one of them, and what is done about each.
"""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING

from remit.maintenance.doctor.report import HealthCheck
from remit.model import ACCEPTABLE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from remit.ledger.history import PastRun
    from remit.ledger.home import Home
    from remit.maintenance.doctor.report import DoctorContext
    from remit.views.run_details import Standing

_DAY_MS = 86_400_000
_LOOKED_BACK_MS = 30 * _DAY_MS
_MOST_TOLD = 5
_NEAR_SHARE = 0.1
"""Of its time, that is left."""
_LATE_MS = 5000
_REFUSED_OFTEN, _ASKED_OFTEN = 3, 5
_LEAST_RUNS, _LEAST_RETURNS = 5, 3
_OFTEN_LATE, _HARDLY_USED = 0.2, 0.1
_OFTEN_WRONG, _OFTEN_ASKED = 0.3, 0.5
_LEAST_LIMIT_S, _STEP_S, _LONG_S = 60, 10, 600
_WORDS = {"CYCLE_DETECTED": "as a circle", "MAX_DEPTH_EXCEEDED": "as too deep", "BUDGET_EXCEEDED": "for its budget"}
_MADE_UP = ("fabricated", "degenerate")
_BY_HAND = "IN PROGRESS"


def _check_work(patient: DoctorContext) -> Iterator[HealthCheck]:
    from remit.ledger.home import Home
    from remit.views.run_details import list_work

    home = Home(patient.root)
    if not os.path.lexists(home.ledger_file):
        return
    try:
        standings = list_work(home)
        rows = [*_find_hangs(standings), *_find_abandoned(home, standings), *_find_loops(home)]
        rows += [*_find_past(home), *_find_stuck(home, patient)]
    finally:
        home.close()  # here: SQLite lets nobody close it in another thread
    if rows:
        yield from rows
    elif standings:
        yield HealthCheck("delegations", "ok", f"{len(standings)} at work, and nothing hangs")
    else:
        yield HealthCheck("delegations", "ok", "nothing is at work, and nothing goes wrong again and again")


# --- now --------------------------------------------------------------------------------------------------------------


def _find_hangs(standings: Iterable[Standing]) -> Iterator[HealthCheck]:
    """Those that say nothing for long, or whose time is nearly up or over."""
    for each in standings:
        row, name = each.row, f"{each.row.agent} ({each.row.session_id})"
        if row.state != "running" or row.started_ms is None or row.deadline_ms is None:
            continue
        left_ms, all_ms = row.deadline_ms - each.now_ms, row.deadline_ms - row.started_ms
        if left_ms < -_LATE_MS:
            yield HealthCheck(
                "hangs",
                "problem",
                f"{name} is past its time by {_format_seconds(-left_ms / 1000)}",
                _describe_end(each, is_late=True),
            )
        elif each.seen.idle_s:
            idle, left = _format_seconds(each.seen.idle_s), _format_seconds(left_ms / 1000)
            told = f"nothing was heard of {name} for {idle}, and {left} are left"
            see = f"see what it does: remit logs -f {row.session_id}; {_describe_end(each)}"
            yield HealthCheck("hangs", "warning", told, see)
        elif left_ms < _NEAR_SHARE * all_ms:
            told = f"{name} has {_format_seconds(left_ms / 1000)} left of {_format_seconds(all_ms / 1000)}"
            hint = f"what it has then is a partial; go on with remit resume {row.session_id} --timeout TIME"
            late = "it gets no tools after that, and is to hand back what it has"
            yield HealthCheck("hangs", "warning", told, late if each.harness else hint)


def _describe_end(each: Standing, *, is_late: bool = False) -> str:
    """How an agent is ended; one that is late and that nobody drives ends as soon as somebody does."""
    if each.harness:
        return f"end it in {each.harness}, where it runs; remit cancel {each.row.session_id} takes its tools away"
    return f"end it: remit {'wait' if is_late and not each.is_driven else 'cancel'} {each.row.session_id}"


def _find_abandoned(home: Home, standings: Iterable[Standing]) -> Iterator[HealthCheck]:
    """Those that nobody drives, and agents that live though their delegation is over."""
    from remit.attempts.folders import list_living

    known = {each.row.session_id for each in standings}
    for each in standings:
        if each.is_lost:
            told = f"{each.row.runner} has told nothing of the end of {each.row.agent} ({each.row.session_id})"
            yield HealthCheck("abandoned", "warning", told, f"settle it: remit wait {each.row.session_id}")
        elif each.is_unfollowed:
            told = f"nobody here follows {each.row.agent} ({each.row.session_id}), which another machine does"
            yield HealthCheck(
                "abandoned", "warning", told, f"take in what comes of it: remit wait {each.row.session_id}"
            )
        elif each.is_abandoned:
            agent = ", and its agent is alive" if each.is_alive else ""
            told = f"nobody drives {each.row.agent} ({each.row.session_id}){agent}"
            yield HealthCheck("abandoned", "warning", told, f"take it over: remit wait {each.row.session_id}")
    for attempt in list_living(home):
        if attempt.session_id not in known:
            told = f"the agent of {attempt.session_id} is alive, and its delegation is over"
            yield HealthCheck("abandoned", "problem", told, f"end it: remit cancel {attempt.session_id}")


# --- again and again --------------------------------------------------------------------------------------------------


def _find_loops(home: Home) -> Iterator[HealthCheck]:
    from remit.ledger.events import read_clock_ms
    from remit.ledger.history import list_refusals, list_repeats

    after_ms = read_clock_ms() - _LOOKED_BACK_MS
    for each in list_refusals(home.ledger, after_ms=after_ms, least=_REFUSED_OFTEN)[:_MOST_TOLD]:
        why = _WORDS.get(each.code, f"({each.code})")
        told = f"{each.agent} wanted to hand work to {each.target} {each.times} times and was refused {why}"
        hint = (
            f"take {each.target} out of its can_delegate_to, or tell it to do the work itself; see: remit agent graph"
        )
        yield HealthCheck("loops", "warning", told, hint)
    for repeat in list_repeats(home.ledger, after_ms=after_ms, least=_ASKED_OFTEN)[:_MOST_TOLD]:
        told = f"{repeat.agent} was asked for the same {repeat.times} times in one tree: {repeat.work[:60]}"
        hint = f"see who asks: remit ps --tree {repeat.root_id}; bound it with --max-delegations"
        yield HealthCheck("loops", "warning", told, hint)


def _find_past(home: Home) -> Iterator[HealthCheck]:
    from remit.ledger.history import list_past

    by_agent: dict[str, list[PastRun]] = {}
    for each in list_past(home.ledger):
        by_agent.setdefault(each.agent, []).append(each)
    limits = [check for name in sorted(by_agent) for check in _judge_limit(name, by_agent[name])]
    returns = [check for name in sorted(by_agent) for check in _judge_returns(name, by_agent[name])]
    yield from (*limits[:_MOST_TOLD], *returns[:_MOST_TOLD])


def _judge_limit(agent: str, runs: list[PastRun]) -> Iterator[HealthCheck]:
    """Whether an agent's limit fits the time that it takes (R2.6). It is given by its latest run."""
    runs = [each for each in runs if each.stop_reason in ("exited", "timeout") and each.timeout_s == runs[0].timeout_s]
    if len(runs) < _LEAST_RUNS:
        return
    limit_s = runs[0].timeout_s
    late = sum(each.stop_reason == "timeout" for each in runs)
    usual_s = find_usual([each.seconds for each in runs])
    better_s = suggest_limit(usual_s)
    hint = f'say timeout = {better_s} under [agents."{agent}"] in remit.toml'
    if late >= _OFTEN_LATE * len(runs):
        told = f"{agent} ran out of its {_format_seconds(limit_s)} in {late} of {len(runs)} runs"
        yield HealthCheck("limits", "warning", told, hint)
    elif usual_s < _HARDLY_USED * limit_s and better_s < limit_s:
        limit, usual = _format_seconds(limit_s), _format_seconds(usual_s)
        told = f"{agent} may take {limit}, and 19 of 20 runs take {usual}: a hang is noticed late"
        yield HealthCheck("limits", "warning", told, hint)


def find_usual(seconds: list[float]) -> float:
    """The time that 19 of 20 runs do not exceed."""
    ranked = sorted(seconds)
    return ranked[max(0, math.ceil(0.95 * len(ranked)) - 1)]


def suggest_limit(usual_s: float) -> int:
    """Twice the usual time, as a round number."""
    wanted = max(_LEAST_LIMIT_S, 2 * usual_s)
    step = _STEP_S if wanted <= _LONG_S else _LEAST_LIMIT_S
    return math.ceil(wanted / step) * step


def _judge_returns(agent: str, runs: list[PastRun]) -> Iterator[HealthCheck]:
    """Whether an agent's returns hold, and what is most often wrong with them."""
    said = [each for each in runs if each.stop_reason == "exited"]
    wrong = [each for each in said if each.verdict not in (*ACCEPTABLE, "unproven")]  # that one is no agent's fault
    asked = [each for each in said if each.attempts > 1 and each.verdict in ACCEPTABLE]
    if len(said) < _LEAST_RETURNS:
        return
    codes = _rank([code for each in said for code in dict.fromkeys(each.codes)])
    often = f"; most often {', '.join(codes[:3])}" if codes else ""
    explain = f"remit explain {codes[0]}" if codes else "remit return prompt"
    if len(wrong) >= _OFTEN_WRONG * len(said):
        made_up = [each for each in wrong if each.verdict in _MADE_UP]
        kinds = ", ".join(_rank([each.verdict for each in wrong]))
        told = f"{len(wrong)} of {len(said)} returns of {agent} did not hold ({kinds}){often}"
        hint = f"see: remit show {(made_up or wrong)[0].session_id}; what to change: {explain}"
        yield HealthCheck("returns", "warning", told, hint)
    elif len(asked) >= _OFTEN_ASKED * len(said):
        told = f"{len(asked)} of {len(said)} returns of {agent} held only when it was asked again{often}"
        yield HealthCheck("returns", "warning", told, f"each costs another turn; what to change: {explain}")


def _rank(words: list[str]) -> list[str]:
    """The words, most frequent first, each once."""
    return sorted(dict.fromkeys(words), key=lambda word: (-words.count(word), word))


# --- tasks ------------------------------------------------------------------------------------------------------------


def _find_stuck(home: Home, patient: DoctorContext) -> Iterator[HealthCheck]:
    """Tasks that look as if somebody worked on them. Those that no work was ever delegated for are people's own."""
    from remit.ledger.queries import count_by_task
    from remit.runs.tasks.workspace_tasks import Tasks
    from remit.tasks.moves import OWN_COMMAND

    delegated = count_by_task(home.ledger)
    tasks = Tasks(patient.root)
    try:
        if not delegated or not tasks.is_begun:
            return
        for task in tasks.list_tasks():
            is_at_work = task.marker in OWN_COMMAND and task.marker != _BY_HAND and not task.closed
            if is_at_work and delegated.get(task.number, (1, 1))[0] == 0:
                told = f"task {task.number} is {task.marker}, and nobody works on it"
                hint = f"go on with it: remit task {OWN_COMMAND[task.marker or '']} {task.number}"
                yield HealthCheck("tasks at work", "warning", told, hint)
    finally:
        tasks.home.close()


def _format_seconds(seconds: float) -> str:
    whole = max(0, round(seconds))
    if whole < 120:  # noqa: PLR2004 - two minutes
        return f"{whole} s"
    return f"{whole // 60} min" if whole < 7200 else f"{whole // 3600} h"  # noqa: PLR2004 - two hours


LOOKS = (("delegations", _check_work),)
