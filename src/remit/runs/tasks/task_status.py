"""The status of a task before its agent starts and after it has ended.

Owns preflight (R1.15) and what settling does beyond the task's own marker: the phase of the plan, the marker that is
given back where nobody could begin, and the tasks that a review asks for. What was true before is noted in the ledger
first, so that a supervisor that takes over does the rest of it and nothing twice. Loads the store of tasks only where a
workspace has some.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from remit.errors import RemitError
from remit.ledger.events import add_event, load_last_event
from remit.ledger.home import FINISHING, Home
from remit.light_namedtuple import NamedTuple
from remit.model import ACCEPTABLE
from remit.runs.admission.run_config import read_run_config
from remit.runs.finish.steps import FinishStep, fail
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
    from remit.tasks.task import ENDS  # noqa: PLC0415 - only with a task

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
            told = f"phase {now[name].number} was made {marker} in the plan while {row.agent} was to do phase {own}"
            steps.append(FinishStep(PHASES, "done", f"{told}; it is {again} again"))
    return steps


_IN_PROGRESS = "IN PROGRESS"


def prepare_task(root: str, settings: Settings, row: Run) -> None:
    """Do the preflight of a run on a task, in any thread. Raises if the run may not start."""
    home = Home(root)
    try:
        enter(home, settings, row)
    finally:
        home.close()


def enter(home: Home, settings: Settings, row: Run) -> None:
    """Give the task, and the phase of its plan, the marker of work. Done once; a second call does what is missing."""
    config, number = read_run_config(row.details), row.task_number
    if config.outside:
        from remit.runs.tasks.outside_tasks import focus_outside  # noqa: PLC0415 - only where another keeps the tasks

        focus_outside(home, settings, row)
    store = open_store(home, settings)
    if number is None or store is None:
        return
    refusal = describe_holder(home, number, row) if config.working else None
    if refusal is not None and config.command:
        raise refusal
    if refusal is not None:
        return  # the task is somebody else's to move
    before = _note(home, store, row, config)
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


def _note(home: Home, store: TaskStore, row: Run, config: RunConfig) -> dict[str, Any]:
    """What was true before, as it was noted; noted now where it was not."""
    noted = load_last_event(home.ledger, row.session_id, PREFLIGHT)
    if noted is not None:
        return noted.details
    number = row.task_number or 0
    phase = None if config.phase is None else find_phase(store, number, config.phase)
    task = store.get(number)
    before: dict[str, Any] = {
        "task": task.marker, "phase": None if phase is None else phase.marker, "dates": task.dates
    }  # fmt: skip
    if _goes_by_plan(config):
        before[PHASES] = note_phases(store, number)
    with home.ledger.transaction(durable=True) as db:
        add_event(db, PREFLIGHT, before, session_id=row.session_id)
    return before


def open_store(home: Home, settings: Settings) -> TaskStore | None:
    """The tasks of a workspace; None where it keeps none."""
    folder = find_folder(home.root, settings.tasks.folder)
    if folder is None:
        return None
    from remit.tasks.store import TaskStore  # noqa: PLC0415 - 20 ms

    return TaskStore(home, folder)


def _goes_by_plan(config: RunConfig) -> bool:
    """Whether the work is what a plan is for: one phase of it, or all."""
    return config.phase is not None or config.kind == "implementation"


# --- afterwards ------------------------------------------------------------------------------------------------------
class TaskFinish(NamedTuple):
    """What was done to the task before the rest is settled."""

    steps: tuple[FinishStep, ...] = ()
    stays: bool = False
    """Whether the task keeps its marker: it went back, or there is more to do."""
    files: tuple[str, ...] = ()
    ends: bool = False
    """Whether nobody goes on by himself with a task that stays."""


def leave(home: Home, settings: Settings, row: Run, conclusion: Conclusion) -> TaskFinish:
    """What a lifecycle command leaves behind besides the task's marker. Looks first, and does only what is missing."""
    config = read_run_config(row.details)
    if row.task_number is None:
        return TaskFinish()
    try:
        store = open_store(home, settings)
        if store is None:
            return TaskFinish()
        with home.lock(FINISHING):
            return _leave(home, store, row, conclusion)
    except RemitError as error:  # a task whose phases are in doubt is not done
        return TaskFinish((fail("lifecycle", error),), stays=_goes_by_plan(config))


def _leave(home: Home, store: TaskStore, row: Run, conclusion: Conclusion) -> TaskFinish:
    config = read_run_config(row.details)
    if conclusion.stop_reason == "rejected":
        step = _reset_task(home, store, row, config)
        return TaskFinish((step,) if step is not None else (), stays=True)
    left = TaskFinish()
    if not config.command and not _took_up(home, row):
        left = TaskFinish(stays=True)
    elif _goes_by_plan(config):
        left = _finish_plan(home, store, row, conclusion)
    left = left._replace(steps=(*left.steps, *_keep_task_open(home, store, row, conclusion, left)))
    if config.command and config.kind == "review" and _is_own_word(conclusion):
        left = left._replace(steps=(*left.steps, _make_tasks(store, row, conclusion)))
    return left


def _took_up(home: Home, row: Run) -> bool:
    """Whether work that no command asked for has taken its task up: only then it moves it on."""
    return (
        bool(read_run_config(row.details).working)
        and load_last_event(home.ledger, row.session_id, PREFLIGHT) is not None
    )


def report_marker(home: Home, settings: Settings, row: Run) -> tuple[FinishStep, ...]:
    """What became of the task of work that no command asked for; a command tells it itself."""
    config, number, store = read_run_config(row.details), row.task_number, open_store(home, settings)
    if number is None or store is None or config.command:
        return ()
    try:
        noted, after = load_last_event(home.ledger, row.session_id, PREFLIGHT), store.get(number).marker
    except RemitError:  # settling has told it
        return ()
    before = None if noted is None else noted.details["task"]
    if before is not None and before != after:
        return (FinishStep("status", "done", f"task {number} was {before} and is {after}"),)
    why = f"it is not this agent's to make {config.working}" if config.working and noted is None else ""
    if not config.working:
        why = f"this work moves none; remit task research, plan or implement {number} does"
    return (FinishStep("status", "done", f"task {number} stays {after}{f': {why}' if why else ''}"),)


def _is_own_word(conclusion: Conclusion) -> bool:
    """Whether the next steps are the agent's: those of work that was cut short say how to take it up again."""
    held = conclusion.stop_reason == "exited" and conclusion.verdict in ACCEPTABLE
    return held and conclusion.status in ("completed", "partial")


def _reset_task(home: Home, store: TaskStore, row: Run, config: RunConfig) -> FinishStep | None:
    """Nobody has begun: the task and its phase are again what they were."""
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
    """Move the phase on; the task is done only when no phase is left."""
    config, number = read_run_config(row.details), row.task_number or 0
    status = conclusion.task_status
    steps = () if config.phase is None else _finish_phase(store, number, config.phase, status)
    rest = check_rest(home, store, row, status)
    return TaskFinish((*steps, *rest.steps), rest.stays, rest.files, rest.ends)


def _keep_task_open(
    home: Home, store: TaskStore, row: Run, conclusion: Conclusion, left: TaskFinish
) -> list[FinishStep]:
    """Keep a task open that is not done: PARTIAL where nobody goes on, and never what its files were made to say.

    Who edits a file while an agent is at work may be the agent. So a task that is called done there is not, unless the
    return says so; a person says it with a command of Remit, and is not overruled.
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
    told = {marker for _, marker in list_moved(home, "task moved", number, after=noted.number)}

    def follow(word: str) -> str | None:
        marker = read_marker(word)
        kept = config.working if marker in done - told else marker
        kept = "PARTIAL" if left.ends and kept == "IMPLEMENTING" else kept
        return kept if kept != marker else None

    try:
        before = read_marker(store.conclude(number, follow).before or "")
    except RemitError:  # the step that moves the task meets it too, and tells
        return []
    if before not in done - told:
        return []
    why = f"while {row.agent} was at work, and what it returned does not say so"
    return [FinishStep("status", "done", f"the files called task {number} {before} {why}")]


def _finish_phase(store: TaskStore, number: int, name: int | str, status: str) -> tuple[FinishStep, ...]:
    from remit.runs.tasks.task_commands import follow_phase  # noqa: PLC0415 - only with a task

    phase, wanted = find_phase(store, number, name), follow_phase(status)
    if phase is None or wanted in (None, phase.marker):
        return ()
    store.move_phase(number, phase.number, wanted)
    return (FinishStep("phase", "done", f"phase {phase.number} is {wanted}"),)


def _make_tasks(store: TaskStore, row: Run, conclusion: Conclusion) -> FinishStep:
    """A task for everything that a review asks for (R1.30); what is a task already becomes no second one."""
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
