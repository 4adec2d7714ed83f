"""The open phases of a task's plan after a run.

Owns the comparison of the plan as it was before the agent began with what stands there now. An agent can
write there, so what it says of phases that it was not asked for is no proof: who was to do one, and is believed, has
done it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.ledger.events import load_last_event
from remit.light_namedtuple import NamedTuple
from remit.runs.admission.run_config import read_run_config
from remit.runs.finish.steps import FinishStep
from remit.runs.tasks.task_owner import list_moved

if TYPE_CHECKING:
    from remit.ledger.home import Home
    from remit.ledger.runs import Run
    from remit.tasks.plan import Phase
    from remit.tasks.store import PlanFacts, TaskStore

PREFLIGHT = "preflight"
"""The event that notes what was true before an agent began."""
PHASES = "phases"
_USABLE = ("completed", "partial")
"""What could complete a task; everything else leaves it open by itself."""


class OpenPhases(NamedTuple):
    """What is left of a plan."""

    steps: tuple[FinishStep, ...] = ()
    stays: bool = False
    """Whether the task may not become what the status of the return would make it."""
    ends: bool = False
    """Whether nobody goes on by himself, so that a task that stays is PARTIAL."""
    files: tuple[str, ...] = ()


def note_phases(store: TaskStore, number: int) -> list[list[str | None]]:
    """The phases of a plan as they are now, for who compares later."""
    plan = store.load_plan(number)
    return [] if plan is None else [[phase.number, phase.marker] for phase in plan.phases]


def find_phase(store: TaskStore, number: int, phase: int | str) -> Phase | None:
    """A phase of a task's plan, by what it is called there."""
    return _index(store.load_plan(number)).get(str(phase).upper())


def check_rest(home: Home, store: TaskStore, row: Run, status: str) -> OpenPhases:
    """What is left of the plan once work has ended so; a phase that was closed without being done is opened again.

    Whoever has lost a phase, or the plan, does not know what is left. So nobody goes on by himself: a person looks.
    """
    from remit.tasks.plan import format_phases  # noqa: PLC0415 - only with a task

    config, number, before = read_run_config(row.details), row.task_number or 0, _load_before(home, row)
    steps = _open_again(home, store, row, before) if config.phase is not None else []
    plan = store.load_plan(number)
    lost = [name for name in before.open if name not in _index(plan)]
    if lost:
        steps.append(FinishStep("phase", "failed", _describe_lost_phases(number, lost, plan)))
    rest = OpenPhases(tuple(steps), files=() if plan is None or config.phase is None else (plan.path,))
    left = () if plan is None else plan.open
    if status not in _USABLE or not (lost or left):
        return rest
    is_whole = bool(config.command) and config.phase is None  # nobody has begun to go from phase to phase
    resumes = plan is not None and plan.resume is not None and status == "completed" and not is_whole
    if not lost and not resumes and status == "completed":
        told = FinishStep(PHASES, "done", f"task {number} is not done: {format_phases(left)}")
        rest = rest._replace(steps=(*rest.steps, told))
    return rest._replace(stays=True, ends=bool(lost) or not resumes)


class _PlanBefore(NamedTuple):
    """What a plan was when the work began."""

    open: dict[str, str | None]
    """The phases that were open, and the one that was worked on, each with its marker."""
    event: int = 0
    """The number of the event that noted it."""


def _load_before(home: Home, row: Run) -> _PlanBefore:
    from remit.tasks.moves import ENDS  # noqa: PLC0415 - only with a task

    own, noted = read_run_config(row.details).phase, load_last_event(home.ledger, row.session_id, PREFLIGHT)
    known: dict[str, str | None] = {} if own is None else {str(own).upper(): None}
    if noted is None:
        return _PlanBefore(known)
    listed = {name.upper(): marker for name, marker in noted.details.get(PHASES, ()) if marker not in ENDS}
    return _PlanBefore(known | listed, noted.number)


def _index(plan: PlanFacts | None) -> dict[str, Phase]:
    """Phases by what they are called; of two of one name the first."""
    return {} if plan is None else {phase.number.upper(): phase for phase in reversed(plan.phases)}


def _describe_lost_phases(number: int, lost: list[str], plan: PlanFacts | None) -> str:
    if plan is None:
        return f"the plan of task {number} is gone, so nobody knows what is left of it"
    return f"the plan of task {number} has no phase {' and no phase '.join(lost[:5])} any more"


def _open_again(home: Home, store: TaskStore, row: Run, before: _PlanBefore) -> list[FinishStep]:
    """Give phases that were closed in the plan itself their marker back. What a command closed, a person did."""
    from remit.tasks.moves import ENDS  # noqa: PLC0415 - only with a task

    number, own = row.task_number or 0, str(read_run_config(row.details).phase).upper()
    now = _index(store.load_plan(number))
    closed = [name for name in before.open if name != own and name in now and now[name].marker in ENDS]
    moved = list_moved(home, "phase moved", number, after=before.event) if closed else set()
    steps = []
    for name in closed:
        marker, again = now[name].marker, before.open[name] or "NOT STARTED"
        if (name, marker) not in moved:
            store.move_phase(number, name, again)
            told = f"phase {now[name].number} was made {marker} in the plan while {row.agent} was to do phase {own}"
            steps.append(FinishStep(PHASES, "done", f"{told}; it is {again} again"))
    return steps
