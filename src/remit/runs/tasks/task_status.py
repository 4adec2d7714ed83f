"""The status of a task before its agent starts and after it has ended.

Owns preflight (R1.15) and what settling does beyond the task's own marker: the phase of the plan, the marker that is
given back where nobody could begin, and the tasks that a review asks for. What was true before is noted in the ledger
first, so that a supervisor that takes over does the rest of it and nothing twice. Loads the store of tasks only where a
workspace has some.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from remit.errors import RefusedError, RemitError
from remit.ledger.events import add_event, load_last_event
from remit.ledger.home import FINISHING, Home
from remit.light_namedtuple import NamedTuple
from remit.model import ACCEPTABLE
from remit.runs.admission.run_config import read_run_config
from remit.runs.finish.steps import FinishStep, fail
from remit.runs.tasks.phases import PHASES, PREFLIGHT, check_rest, find_phase, note_phases
from remit.runs.tasks.task_owner import list_holders, list_moved
from remit.storage.spec_root import find_folder

if TYPE_CHECKING:
    from collections.abc import Callable

    from remit.config import Settings
    from remit.ledger.runs import Run
    from remit.runs.admission.run_config import RunConfig
    from remit.runs.judging.conclusion import Conclusion
    from remit.tasks.store import TaskStore

_IN_PROGRESS = "IN PROGRESS"


def make_begin(root: str, settings: Settings) -> Callable[[Run], None]:
    """A function that does the preflight of a delegation, in any thread. Raises if the work may not begin."""

    def begin_one(row: Run) -> None:
        home = Home(root)
        try:
            enter(home, settings, row)
        finally:
            home.close()

    return begin_one


def enter(home: Home, settings: Settings, row: Run) -> None:
    """Give the task, and the phase of its plan, the marker of work. Done once; a second call does what is missing."""
    config, number = read_run_config(row.details), row.task_number
    if config.outside:
        from remit.runs.tasks.outside_tasks import focus_outside  # noqa: PLC0415 - only where another keeps the tasks

        focus_outside(home, settings, row)
    store = open_store(home, settings)
    if number is None or store is None:
        return
    refusal = find_holder(home, number, row) if config.working else None
    if refusal is not None and config.command:
        raise refusal
    if refusal is not None:
        return  # the task is somebody else's to move
    before = _note(home, store, row, config)
    marker = store.get(number).marker
    if config.working and marker == before["task"] != config.working:
        from remit.tasks.moves import OWN_COMMAND, check_move  # noqa: PLC0415 - only with a task

        own = OWN_COMMAND[config.working]
        if config.command or check_move(marker, config.working, command=own) is None:
            store.move(number, config.working, command=own)
    if config.phase is not None:
        phase = find_phase(store, number, config.phase)
        if phase is not None and phase.marker == before["phase"] != _IN_PROGRESS:
            store.move_phase(number, phase.number, _IN_PROGRESS)


def find_holder(home: Home, number: int, row: Run | None = None) -> RefusedError | None:
    """Why a task may not be worked on: somebody does already, or was asked before a delegation was."""
    held = list_holders(home, number)
    if row is not None:
        held = [each for each in held if (each.created_ms, each.session_id) < (row.created_ms, row.session_id)]
    if not held:
        return None
    session = held[-1].session_id
    hint = f"wait for it: remit wait {session}, or end it: remit cancel {session}"
    return RefusedError(f"{held[-1].agent} works on task {number} already ({session})", hint=hint)


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
    store.put_back(number, before["task"], before.get("dates"))
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
    from remit.tasks.moves import follow_status  # noqa: PLC0415
    from remit.tasks.values import read_marker  # noqa: PLC0415

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
