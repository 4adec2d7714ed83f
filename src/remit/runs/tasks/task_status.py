"""The status of a task before its agent starts and after it has ended.

Before a run: the preflight (R1.15). After it: the phase of the plan, the reset of a task whose run never started, the
phases that are left, and follow-up tasks of a review. The preflight first records the old state in the ledger, so that
a supervisor that takes over completes the steps and repeats none. The plan may be edited by an agent, so Remit compares
it with the recorded phases and trusts only the phase of the run itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from remit.errors import RemitError
from remit.ledger.events import add_event, load_last_event
from remit.ledger.home import FINISHING, Home
from remit.light_namedtuple import NamedTuple
from remit.model import ACCEPTABLE
from remit.runs.admission.run_config import read_run_config
from remit.runs.finish.finish_steps import FinishStep, fail
from remit.runs.tasks.task_holders import describe_holder, list_moved
from remit.storage.spec_root import find_folder

if TYPE_CHECKING:
    from remit.config import Settings
    from remit.ledger.runs import Run
    from remit.runs.admission.run_config import RunConfig
    from remit.runs.judging.conclusion import Conclusion
    from remit.tasks.plan import Phase
    from remit.tasks.store import PlanFacts, TaskStore


PREFLIGHT = "preflight"
"""The event that records the state of the task before the agent started."""
PHASES = "phases"
_USABLE = ("completed", "partial")
"""Only these statuses can complete a task."""


class OpenPhases(NamedTuple):
    """The open phases of a plan after a run."""

    steps: tuple[FinishStep, ...] = ()
    stays: bool = False
    """Whether the task must not get the marker that follows from the return."""
    ends: bool = False
    """Whether no next phase starts automatically, so that an open task is PARTIAL."""
    files: tuple[str, ...] = ()


def note_phases(store: TaskStore, number: int) -> list[list[str | None]]:
    """Return the current phases of a plan and their markers, for a later comparison."""
    plan = store.load_plan(number)
    return [] if plan is None else [[phase.number, phase.marker] for phase in plan.phases]


def find_phase(store: TaskStore, number: int, phase: int | str) -> Phase | None:
    """Return a phase of a task's plan by its name; None if there is no such phase."""
    return _index(store.load_plan(number)).get(str(phase).upper())


def check_rest(home: Home, store: TaskStore, row: Run, status: str) -> OpenPhases:
    """Return what is left of the plan after a run with this status. Reopens phases that the agent closed wrongly.

    If a phase or the plan is lost, Remit doesn't know what is left, so the next phase doesn't start automatically.
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
    is_whole = bool(config.command) and config.phase is None  # the run wasn't started phase by phase
    resumes = plan is not None and plan.resume is not None and status == "completed" and not is_whole
    if not lost and not resumes and status == "completed":
        open_step = FinishStep(PHASES, "done", f"task {number} isn't done: {format_phases(left)}")
        rest = rest._replace(steps=(*rest.steps, open_step))
    return rest._replace(stays=True, ends=bool(lost) or not resumes)


class _PlanBefore(NamedTuple):
    """The plan at the start of the run."""

    open: dict[str, str | None]
    """The open phases and the phase of the run, each with its marker."""
    event: int = 0
    """The number of the event that recorded it."""


def _load_before(home: Home, row: Run) -> _PlanBefore:
    from remit.tasks.task import ENDS  # noqa: PLC0415 - only with a task

    own, noted = read_run_config(row.details).phase, load_last_event(home.ledger, row.session_id, PREFLIGHT)
    known: dict[str, str | None] = {} if own is None else {str(own).upper(): None}
    if noted is None:
        return _PlanBefore(known)
    listed = {name.upper(): marker for name, marker in noted.details.get(PHASES, ()) if marker not in ENDS}
    return _PlanBefore(known | listed, noted.number)


def _index(plan: PlanFacts | None) -> dict[str, Phase]:
    """Return phases by name; of two with one name, the first."""
    return {} if plan is None else {phase.number.upper(): phase for phase in reversed(plan.phases)}


def _describe_lost_phases(number: int, lost: list[str], plan: PlanFacts | None) -> str:
    if plan is None:
        return f"the plan of task {number} is gone, so what is left of it is unknown"
    return f"the plan of task {number} has no phase {' and no phase '.join(lost[:5])} any more"


def _open_again(home: Home, store: TaskStore, row: Run, before: _PlanBefore) -> list[FinishStep]:
    """Restore the marker of phases that an edit of the plan closed. A change by a command is the user's and stays."""
    from remit.tasks.task import ENDS  # noqa: PLC0415 - only with a task

    number, own = row.task_number or 0, str(read_run_config(row.details).phase).upper()
    now = _index(store.load_plan(number))
    closed = [name for name in before.open if name != own and name in now and now[name].marker in ENDS]
    moved = list_moved(home, "phase moved", number, after=before.event) if closed else set()
    steps = []
    for name in closed:
        marker, again = now[name].marker, before.open[name] or "NOT STARTED"
        if (name, marker) not in moved:
            store.move_phase(number, name, again)
            message = f"phase {now[name].number} became {marker} in the plan while {row.agent} worked on phase {own}"
            steps.append(FinishStep(PHASES, "done", f"{message}; it is {again} again"))
    return steps


_IN_PROGRESS = "IN PROGRESS"


def prepare_task(root: str, settings: Settings, row: Run) -> None:
    """Do the preflight of a run on a task, in any thread. Raises if the run may not start."""
    home = Home(root)
    try:
        start_task(home, settings, row)
    finally:
        home.close()


def start_task(home: Home, settings: Settings, row: Run) -> None:
    """Set the markers of the task and its phase for a run. Idempotent: a second call does only what is missing."""
    config, number = read_run_config(row.details), row.task_number
    if config.outside:
        from remit.runs.tasks.outside_tasks import focus_outside  # noqa: PLC0415 - only with an outside task system

        focus_outside(home, settings, row)
    store = open_store(home, settings)
    if number is None or store is None:
        return
    refusal = describe_holder(home, number, row) if config.working else None
    if refusal is not None and config.command:
        raise refusal
    if refusal is not None:
        return  # another run changes the status of the task
    before = _record_state(home, store, row, config)
    marker = store.get(number).marker
    if config.working and marker == before["task"] != config.working:
        from remit.tasks.task import OWN_COMMAND, check_move  # noqa: PLC0415 - only with a task

        own = OWN_COMMAND[config.working]
        if config.command or check_move(marker, config.working, command=own) is None:
            store.move(number, config.working, command=own)
    if config.phase is not None:
        phase = find_phase(store, number, config.phase)
        if phase is not None and phase.marker == before["phase"] != _IN_PROGRESS:
            store.move_phase(number, phase.number, _IN_PROGRESS)


def _record_state(home: Home, store: TaskStore, row: Run, config: RunConfig) -> dict[str, Any]:
    """Return the recorded state before the run; record it now if there is none."""
    noted = load_last_event(home.ledger, row.session_id, PREFLIGHT)
    if noted is not None:
        return noted.details
    number = row.task_number or 0
    phase = None if config.phase is None else find_phase(store, number, config.phase)
    task = store.get(number)
    before: dict[str, Any] = {
        "task": task.marker, "phase": None if phase is None else phase.marker, "dates": task.dates
    }  # fmt: skip
    if _follows_plan(config):
        before[PHASES] = note_phases(store, number)
    with home.ledger.transaction(durable=True) as db:
        add_event(db, PREFLIGHT, before, session_id=row.session_id)
    return before


def open_store(home: Home, settings: Settings) -> TaskStore | None:
    """Open the tasks of a workspace; None if it has none."""
    folder = find_folder(home.root, settings.tasks.folder)
    if folder is None:
        return None
    from remit.tasks.store import TaskStore  # noqa: PLC0415 - 20 ms

    return TaskStore(home, folder)


def _follows_plan(config: RunConfig) -> bool:
    """Whether the run implements a plan: one phase of it, or all."""
    return config.phase is not None or config.kind == "implementation"


# --- after the run ---------------------------------------------------------------------------------------------------
class TaskFinish(NamedTuple):
    """The changes to the task before the other finish steps."""

    steps: tuple[FinishStep, ...] = ()
    stays: bool = False
    """Whether the task keeps its marker: it was reset, or phases are left."""
    files: tuple[str, ...] = ()
    ends: bool = False
    """Whether no next phase starts automatically."""


def finish_task(home: Home, settings: Settings, row: Run, conclusion: Conclusion) -> TaskFinish:
    """Do the task steps that precede the change of its marker. Idempotent: does only what is missing."""
    config = read_run_config(row.details)
    if row.task_number is None:
        return TaskFinish()
    try:
        store = open_store(home, settings)
        if store is None:
            return TaskFinish()
        with home.lock(FINISHING):
            return _finish_task(home, store, row, conclusion)
    except RemitError as error:  # if its phases are unknown, a task isn't done
        return TaskFinish((fail("lifecycle", error),), stays=_follows_plan(config))


def _finish_task(home: Home, store: TaskStore, row: Run, conclusion: Conclusion) -> TaskFinish:
    config = read_run_config(row.details)
    if conclusion.stop_reason == "rejected":
        step = _reset_task(home, store, row, config)
        return TaskFinish((step,) if step is not None else (), stays=True)
    left = TaskFinish()
    if not config.command and not _has_started(home, row):
        left = TaskFinish(stays=True)
    elif _follows_plan(config):
        left = _finish_plan(home, store, row, conclusion)
    left = left._replace(steps=(*left.steps, *_keep_task_open(home, store, row, conclusion, left)))
    if config.command and config.kind == "review" and _has_own_steps(conclusion):
        left = left._replace(steps=(*left.steps, _make_tasks(store, row, conclusion)))
    return left


def _has_started(home: Home, row: Run) -> bool:
    """Whether a run without a task command set its task's marker: only then does its end change the marker."""
    return (
        bool(read_run_config(row.details).working)
        and load_last_event(home.ledger, row.session_id, PREFLIGHT) is not None
    )


def report_marker(home: Home, settings: Settings, row: Run) -> tuple[FinishStep, ...]:
    """Return a step with the task's marker after a run without a task command; a command reports it itself."""
    config, number, store = read_run_config(row.details), row.task_number, open_store(home, settings)
    if number is None or store is None or config.command:
        return ()
    try:
        noted, after = load_last_event(home.ledger, row.session_id, PREFLIGHT), store.get(number).marker
    except RemitError:  # another finish step reports it
        return ()
    before = None if noted is None else noted.details["task"]
    if before is not None and before != after:
        return (FinishStep("status", "done", f"task {number} was {before} and is {after}"),)
    why = f"this agent can't make it {config.working}" if config.working and noted is None else ""
    if not config.working:
        why = f"this run changes no task; remit task research, plan or implement {number} does"
    return (FinishStep("status", "done", f"task {number} stays {after}{f': {why}' if why else ''}"),)


def _has_own_steps(conclusion: Conclusion) -> bool:
    """Whether the next steps are the agent's; those of an interrupted run say how to resume it."""
    is_accepted = conclusion.stop_reason == "exited" and conclusion.verdict in ACCEPTABLE
    return is_accepted and conclusion.status in ("completed", "partial")


def _reset_task(home: Home, store: TaskStore, row: Run, config: RunConfig) -> FinishStep | None:
    """Restore the markers of the task and its phase after a run that never started."""
    noted = load_last_event(home.ledger, row.session_id, PREFLIGHT)
    number = row.task_number or 0
    if noted is None:
        return None
    before, marker = noted.details, store.get(number).marker
    if config.phase is not None and before["phase"] != _IN_PROGRESS:
        phase = find_phase(store, number, config.phase)
        if phase is not None and phase.marker == _IN_PROGRESS:
            store.move_phase(number, phase.number, before["phase"] or "NOT STARTED")
    if marker != config.working or before["task"] in (None, marker):
        return None
    store.restore_status(number, before["task"], before.get("dates"))
    return FinishStep("preflight", "done", f"task {number} is {before['task']} again")


def _finish_plan(home: Home, store: TaskStore, row: Run, conclusion: Conclusion) -> TaskFinish:
    """Set the marker of the phase. The task is done only if no phase is left."""
    config, number = read_run_config(row.details), row.task_number or 0
    status = conclusion.task_status
    steps = () if config.phase is None else _finish_phase(store, number, config.phase, status)
    rest = check_rest(home, store, row, status)
    return TaskFinish((*steps, *rest.steps), rest.stays, rest.files, rest.ends)


def _keep_task_open(
    home: Home, store: TaskStore, row: Run, conclusion: Conclusion, left: TaskFinish
) -> list[FinishStep]:
    """Keep an unfinished task open: PARTIAL if no next phase starts, and never COMPLETED because of an edited file.

    An edit during the run may be the agent's. So a task that became COMPLETED in a file stays open, unless the return
    says that it is done. A change by one of Remit's commands is the user's and stays.
    """
    from remit.returns.formats import get_format  # noqa: PLC0415 - only with a task
    from remit.tasks.task import follow_status, read_marker  # noqa: PLC0415

    config, number = read_run_config(row.details), row.task_number or 0
    noted = load_last_event(home.ledger, row.session_id, PREFLIGHT)
    if not config.working or noted is None or store.get(number).closed:
        return []
    format = get_format(conclusion.format or config.format).name
    done = {"COMPLETED", follow_status(config.working, "completed", format, kind=config.kind) or "COMPLETED"}
    if not left.stays and follow_status(config.working, conclusion.task_status, format, kind=config.kind) in done:
        return []
    by_user = {marker for _, marker in list_moved(home, "task moved", number, after=noted.number)}

    def follow(word: str) -> str | None:
        marker = read_marker(word)
        kept = config.working if marker in done - by_user else marker
        kept = "PARTIAL" if left.ends and kept == "IMPLEMENTING" else kept
        return kept if kept != marker else None

    try:
        before = read_marker(store.conclude(number, follow).before or "")
    except RemitError:  # the step that moves the task has the same problem and reports it
        return []
    if before not in done - by_user:
        return []
    why = f"while {row.agent} was at work, but its return doesn't say so"
    return [FinishStep("status", "done", f"the files called task {number} {before} {why}")]


def _finish_phase(store: TaskStore, number: int, name: int | str, status: str) -> tuple[FinishStep, ...]:
    from remit.runs.tasks.task_commands import follow_phase  # noqa: PLC0415 - only with a task

    phase, wanted = find_phase(store, number, name), follow_phase(status)
    if phase is None or wanted in (None, phase.marker):
        return ()
    store.move_phase(number, phase.number, wanted)
    return (FinishStep("phase", "done", f"phase {phase.number} is {wanted}"),)


def _make_tasks(store: TaskStore, row: Run, conclusion: Conclusion) -> FinishStep:
    """Make a task for each next step of a review (R1.30), except for those that are tasks already."""
    from remit.runs.tasks.task_commands import read_follow_ups  # noqa: PLC0415 - only with a task
    from remit.tasks.markdown import clean_title  # noqa: PLC0415

    origin = f"Follow-up of task {row.task_number}, review {row.session_id}."
    titles, known = store.read_titles(), set()
    for task in store.list_tasks():
        is_own = origin in str(task.fields.get("description") or "")
        if is_own or not task.is_over:
            known |= {clean_title(each).casefold() for each in (task.title, titles.get(task.number) or task.title)}
    language = str(store.get(row.task_number or 0).fields.get("language") or "")
    made = []
    for wanted in read_follow_ups(conclusion.next_steps):
        title = clean_title(wanted.title)
        if title and title.casefold() not in known:
            known.add(title.casefold())
            moved = store.add(title, language=language, description=f"{wanted.text} {origin}")
            made.append(f"{moved.number} ({title})")
    return FinishStep("follow-ups", "done" if made else "nothing", ", ".join(made))
