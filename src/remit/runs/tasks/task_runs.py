"""Work on a task of the workspace, from the command to its result.

Owns what is fetched from disk for it: the task and whether it may be worked on, the plan and where it goes on, the
agent, what is handed on to it, and the path of what it makes. Who admits it, takes the task up under a lock: no two
work on one task at a time.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from remit.errors import ConfigError, RefusedError, RemitError, StateError, UsageError
from remit.ledger.home import TAKING
from remit.model import ERROR_CODES, AgentError
from remit.runs.admission.inputs import FROM_PROMPT
from remit.runs.agent_lookup import list_agents
from remit.runs.request import Request
from remit.runs.results.build_return import write_return
from remit.runs.results.fit_budget import fit_result
from remit.runs.tasks.outside_tasks import list_outside, show_outside
from remit.runs.tasks.task_commands import (
    Candidate,
    TaskCommand,
    choose_agent,
    fill_path,
    find_version,
    make_commands,
    render_work,
)
from remit.runs.tasks.task_facts import describe_task
from remit.runs.tasks.task_holders import describe_holder
from remit.runs.tasks.task_status import open_store
from remit.sentences import as_clause
from remit.spelling import did_you_mean
from remit.storage.safe_path import find_inside
from remit.tasks.plan import format_phases
from remit.tasks.store import list_folders
from remit.tasks.sync import absorb_edits
from remit.tasks.task import NEED_REASON, OWN_COMMAND, check_move
from remit.tasks.todo import make_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from remit.result import Result
    from remit.runs.admission.admitted_run import AdmittedRun
    from remit.runs.instructions import TaskFacts as Told
    from remit.runs.workspace import Workspace
    from remit.tasks.plan import Phase
    from remit.tasks.store import PlanFacts, StoredTask, TaskStore

_USUAL_PLACES = {"research": "reports/research-", "summary": "summaries/"}
_SYNC_FAILED = ERROR_CODES["status_sync"]


class TaskRequest(NamedTuple):
    """Work on a task, as somebody asks for it."""

    command: str
    number: int | str
    """Of the task; what an outside system calls it, where one keeps the tasks."""
    prompt: str = ""
    agent: str = ""
    fields: Mapping[str, Any] = {}
    """Of the request: runner, command, timeout_s, inputs, budget …"""


class TaskRun(NamedTuple):
    """Work on a task that can be handed on: the whole of it, or one phase."""

    wish: TaskRequest
    request: Request
    before: str
    """The marker that the task has until then."""
    phase: Phase | None = None
    left: int = 0
    """How many phases are open, with this one."""
    notes: tuple[str, ...] = ()


class FinishedTaskRun(NamedTuple):
    """A delegation of it that is over: all of it, or one phase."""

    ready: TaskRun
    result: Result
    """Of the last part, how the work ended: partial where phases are left."""
    left: tuple[str, ...] = ()
    """What is left although it was completed and nobody goes on, each in a few words."""
    trouble: RemitError | None = None
    """Why the next phase could not begin."""

    @property
    def status(self) -> str:
        """How the delegation itself ended."""
        return "completed" if self.left else self.result.status


async def work(ws: Workspace, wish: TaskRequest) -> list[FinishedTaskRun]:
    """Work on a task to the end: phase after phase where it has a plan, up to the first that does not complete."""
    parts: list[FinishedTaskRun] = []
    ready = get_ready(ws, wish)
    taken: tuple[TaskRun, AdmittedRun] | None = (ready, start_task_run(ws, ready))
    while taken is not None:
        ready, prepared = taken
        await ws.backend.submit(prepared.row.session_id)
        parts.append(FinishedTaskRun(ready, await ws.wait(prepared.row.session_id)))
        taken = start_next_phase(ws, parts)
    return close(ws, parts)


def get_ready(ws: Workspace, wish: TaskRequest) -> TaskRun:
    """Everything that the work needs. Raises where it may not begin, and then nothing has changed."""
    command = find_command(ws, wish.command)
    if list_outside(ws.root, ws.settings):
        return _get_outside(ws, wish, command)
    store = open_store(ws.home, ws.settings)
    if store is None:
        raise UsageError("there are no tasks here", hint="make the first one: remit task new TITLE")
    task = _find_task(store, command, wish.number)
    plan = store.load_plan(task.number)
    phase = plan.resume if plan is not None and command.is_phased else None
    if plan is not None and command.is_phased and phase is None:
        _check_open(plan, task.number)
    facts = describe_task(store, task)._replace(
        marker=command.working or task.marker or "", phase="" if phase is None else phase.number
    )
    artifact_path = place_artifact(store, task, command, phase)
    asked = {
        "artifact_path": artifact_path,
        "answers": _answer(store, task, wish, phase, artifact_path),
        "phase": None if phase is None else phase.number,
        "working": command.working,
        "handed": _find_handed(store, task, command, plan),
    }
    request = _make_request(ws, wish, command, facts, asked)
    notes = (*_describe_state(task, command), *(_describe_plan(plan) if command.is_phased else ()))
    left = len(plan.open) if plan is not None and phase is not None else 0
    return TaskRun(wish, request, task.marker or "", phase, left, notes)


def _get_outside(ws: Workspace, wish: TaskRequest, command: TaskCommand) -> TaskRun:
    """Work on a task that an outside system keeps: it has no marker here, and no plan."""
    from remit.manifest.entries import make_slug  # noqa: PLC0415 - only for this

    task_id = str(wish.number)
    facts = show_outside(ws.root, ws.settings, task_id)
    asked = {"outside": task_id, "topic": make_slug(f"{task_id} {command.name}")}
    return TaskRun(wish, _make_request(ws, wish, command, facts, asked), "")


def _make_request(
    ws: Workspace, wish: TaskRequest, command: TaskCommand, facts: Told, asked: Mapping[str, Any]
) -> Request:  # fmt: skip
    agent = wish.agent or _choose_agent(ws, wish, command, facts.language)
    given: dict[str, Any] = {
        "agent": agent or (command.name if _brings_agent(wish) else None),
        "prompt": render_work(command, facts.label, wish.prompt, phase=asked.get("phase") or "", taught=not agent),
        "task": facts,
        "kind": command.kind,
        "lifecycle": command.name,
    }
    return Request(**{**given, **asked, **wish.fields})


def find_command(ws: Workspace, name: str) -> TaskCommand:
    """A command of this workspace by its name."""
    commands = make_commands(ws.settings.runs.task)
    if name not in commands:
        raise UsageError(f"there is no command '{name}' for tasks", hint=did_you_mean(name, tuple(commands)))
    for route in ws.settings.runs.route:
        if route not in commands:
            raise ConfigError(f"[route.{route}] is the route of no command", hint=did_you_mean(route, tuple(commands)))
    return commands[name]


def _brings_agent(wish: TaskRequest) -> bool:
    """Whether whoever asks hands over what does the work; then it is called like the command."""
    return wish.fields.get("command") is not None or wish.fields.get("function") is not None


def _choose_agent(ws: Workspace, wish: TaskRequest, command: TaskCommand, language: str) -> str:
    found = [agent.definition for agent in list_agents(ws.root, exclude=ws.settings.lint.exclude)]
    candidates = [Candidate(each.name, each.kind, each.command) for each in found if each is not None]
    routes = ws.settings.runs.route
    chosen = choose_agent(command, candidates, routes, language=language)
    known = tuple(sorted(each.name for each in candidates))
    if chosen and chosen not in known and not _brings_agent(wish):  # only a route names one that is not there
        route = command.name if chosen in routes.get(command.name, {}).values() else command.like
        hint = did_you_mean(chosen, known) if known else "make one with remit agent new, or take the route out"
        raise ConfigError(f"[route.{route}] names the agent '{chosen}', and no file defines it", hint=hint)
    return chosen


# --- the task --------------------------------------------------------------------------------------------------------


def _find_task(store: TaskStore, command: TaskCommand, number: int | str) -> StoredTask:
    """A task that may be worked on."""
    if not isinstance(number, int):
        raise UsageError(f"'{number[:80]}' isn't the number of a task", hint="remit task list shows them")
    task = store.get(number)
    if command.working and not task.closed and _refuse(task, command) and store.check():
        absorb_edits(store)  # somebody moved it by hand, in one of the files
        task = store.get(number)
    if task.closed:
        told = f"task {number} is over and put away"
        raise RefusedError(told, code=StateError.code, hint="make a new one with: remit task new TITLE")
    refusal = _refuse(task, command) if command.working else None
    if refusal is not None:
        raise refusal
    return task


def _refuse(task: StoredTask, command: TaskCommand) -> RefusedError | None:
    refusal = check_move(task.marker, command.working, command=OWN_COMMAND.get(command.working))
    if refusal is None:
        return None
    why = get_reason(task)
    told = f"task {task.number}: {refusal.message}{f' (it is {task.marker}: {why})' if why else ''}"
    return RefusedError(told, code=StateError.code, hint=as_clause(refusal.hint))


def get_reason(task: StoredTask) -> str:
    """Why a task is blocked or abandoned, as it was said then."""
    marker = task.marker or ""
    reason = task.fields.get(f"{marker.lower()}_reason") if marker in NEED_REASON else None
    return " ".join(reason.split())[:200] if isinstance(reason, str) else ""


def _describe_state(task: StoredTask, command: TaskCommand) -> list[str]:
    """What whoever asks should know of the task as it is found."""
    why = get_reason(task)
    told = [f"task {task.number} was {task.marker}: {why}"] if why else []
    if command.working and task.marker == command.working:
        told.append(f"task {task.number} was left {task.marker} and is taken up again")
    return told


def _describe_plan(plan: PlanFacts | None) -> list[str]:
    """Why work on a task that has a plan does not go by it."""
    if plan is None or plan.resume is not None:
        return []
    why = "all phases are over" if plan.phases else "it has no phases"
    return [f"{plan.path}: {why}, and the task is done as a whole"]


def start_task_run(ws: Workspace, ready: TaskRun) -> AdmittedRun:
    """Admit the work, unless somebody works on the task already."""
    with ws.home.lock(TAKING):
        _check_free(ws, ready)
        return ws.prepare(ready.request)


def leave_to_itself(ws: Workspace, ready: TaskRun) -> AdmittedRun:
    """Admit the work, and leave it to a process of its own."""
    if ready.left > 1:
        told = f"{ready.left} phases are open, and each is begun when the one before it is done"
        raise UsageError(told, hint="leave out --detach; a session of tmux or screen goes on without you")
    from remit.runs.run_control import detach  # noqa: PLC0415 - only for this

    with ws.home.lock(TAKING):
        _check_free(ws, ready)
        return detach(ws, ready.request)


def _check_free(ws: Workspace, ready: TaskRun) -> None:
    if not ready.request.working:
        return
    refusal = describe_holder(ws.home, ready.request.task.number if ready.request.task is not None else 0)
    if refusal is not None:
        raise refusal


def get_state(ws: Workspace, ready: TaskRun) -> tuple[str, str]:
    """The marker that a task has now, and why, where it is blocked; none where an outside system keeps it."""
    store, number = open_store(ws.home, ws.settings), ready.wish.number
    if store is None or not isinstance(number, int) or ready.request.outside:
        return "", ""
    try:
        task = store.get(number)
    except RemitError:  # the finish step that met it reports it
        return "", ""
    return task.marker or "", get_reason(task)


# --- the phases of its plan ------------------------------------------------------------------------------------------


def _check_open(plan: PlanFacts, number: int) -> None:
    """Raise where only phases are left that somebody has set aside: nobody can work on them, and nothing is done."""
    if plan.open:
        first = plan.open[0].number
        told = f"task {number}: {format_phases(plan.open)}, and there is no other phase to go on with"
        again = f"remit task set-status {number} --phase {first}"
        hint = f"repeat the phase after: {again} not started; or drop it with: {again} abandoned"
        raise RefusedError(told, code=StateError.code, hint=hint)


def start_next_phase(ws: Workspace, parts: list[FinishedTaskRun]) -> tuple[TaskRun, AdmittedRun] | None:
    """Admit the phase that follows those that are done; None if there is none, or it can't begin.

    The last part then has the reason: the work that is done is reported, whatever is in the way of the rest.
    """
    try:
        ready = _get_next(ws, parts)
        return None if ready is None else (ready, start_task_run(ws, ready))
    except RemitError as error:
        parts[-1] = parts[-1]._replace(trouble=error)
        return None


def _get_next(ws: Workspace, parts: list[FinishedTaskRun]) -> TaskRun | None:
    """The phase that follows those that are done; None where there is none, or the last one was not completed.

    None as well where the task is not what it was meanwhile: who has moved it, or lost a phase, did so for a reason.
    """
    last = parts[-1]
    store, number = open_store(ws.home, ws.settings), last.ready.wish.number
    if last.ready.phase is None or last.result.status != "completed" or store is None or not isinstance(number, int):
        return None
    working = last.ready.request.working
    if _list_trouble(last.result) or (working and store.get(number).marker != working):
        return None
    plan = store.load_plan(number)
    done = {part.ready.phase.number for part in parts if part.ready.phase is not None}
    if plan is None or plan.resume is None or plan.resume.number in done:  # it could not be marked as done
        return None
    return get_ready(ws, last.ready.wish)._replace(notes=())


def _list_trouble(result: Result) -> list[str]:
    """Why nobody can say what is left of the plan."""
    return [each.message for each in result.failed_steps if each.code == _SYNC_FAILED]


def close(ws: Workspace, parts: list[FinishedTaskRun]) -> list[FinishedTaskRun]:
    """The parts of work that is over. Where something is left, the last one does not say that all was completed."""
    last = parts[-1]
    store, number = open_store(ws.home, ws.settings), last.ready.wish.number
    is_phased = find_command(ws, last.ready.wish.command).is_phased
    if last.result.status != "completed" or store is None or not isinstance(number, int) or not is_phased:
        return parts
    unknown = _list_trouble(last.result)
    left: list[str] = []
    try:
        left = [] if unknown else _list_left(store, number, last)
    except RemitError as error:  # a plan that can't be read may have more to do
        unknown = [error.message]
    if not left and not unknown:
        return parts
    again = f"remit task {last.ready.wish.command} {number}"
    reason = _explain_unknown(unknown, again) if unknown else _explain_left(left, again, last.trouble)
    lowered = write_return(last.result._replace(status="partial", errors=(*last.result.errors, reason)))
    result = fit_result(lowered, ws.get_tokens(last.result.session_id))
    return [*parts[:-1], last._replace(result=result, left=tuple(unknown or left))]


def _list_left(store: TaskStore, number: int, last: FinishedTaskRun) -> list[str]:
    """What the plan and the task say is left."""
    plan = store.load_plan(number)
    left = [format_phases((each,)) for each in (() if plan is None else plan.open)]
    if not left and last.ready.request.working == "IMPLEMENTING" and store.get(number).marker == "PARTIAL":
        left = [f"task {number} is PARTIAL"]
    return left


def _explain_unknown(trouble: Sequence[str], again: str) -> AgentError:
    """Why completed work is only partial if the files of the tasks don't say whether something is left."""
    advice = (
        f"Repair the task files with remit task sync --repair, or restore the plan from git, then continue: {again}"
    )
    return AgentError("status_sync", trouble[0], _SYNC_FAILED, recoverable=True, recommendation=advice)


def _explain_left(left: Sequence[str], again: str, trouble: RemitError | None) -> AgentError:
    """Why completed work is only partial if phases of the plan are left."""
    message, code = f"the plan isn't done: {', '.join(left)}", ERROR_CODES["validation"]
    if trouble is not None:
        message, code = f"{message}; the next phase can't begin: {trouble.message}", trouble.code
    return AgentError("validation", message, code, recoverable=True, recommendation=f"Continue with: {again}")


# --- what it is given, and what it makes -----------------------------------------------------------------------------


def _answer(
    store: TaskStore, task: StoredTask, wish: TaskRequest, phase: Phase | None, artifact_path: str
) -> dict[str, str]:
    """What a command answers of its agent's inputs beside the task itself (D15)."""
    answers = dict.fromkeys(FROM_PROMPT, wish.prompt.strip()) if wish.prompt.strip() else {}
    answers["project_path"] = f"{store.folder}/{find_task_folder(store, task)}"
    if artifact_path:
        answers |= dict.fromkeys(("artifact_path", "output_path"), artifact_path)
    version = artifact_path.rpartition("/plans/implementation-")[2].removesuffix(".md")
    if version.isdigit():
        answers["plan_version"] = str(int(version))
    if phase is not None:
        answers |= dict.fromkeys(("phase", "phase_number", "resume_from_phase"), phase.number)
        answers["phase_description"] = phase.name
    return answers


def place_artifact(store: TaskStore, task: StoredTask, command: TaskCommand, phase: Phase | None) -> str:
    """Where the artifact belongs (R1.20), below the root: the next version that is free."""
    template = command.part if phase is not None and command.part else command.artifact
    if not template:
        return ""
    folder = find_task_folder(store, task)
    values: dict[str, str | int] = {
        "number": task.number,
        "slug": folder.partition("_")[2],
        "date": time.strftime("%Y%m%d"),
        "phase": "" if phase is None else phase.number,
    }
    place = f"{store.folder}/{folder}/{fill_path(template.rpartition('/')[0], **values)}".rstrip("/")
    names = _list_names(f"{store.home.root}/{place}")
    file = fill_path(template.rpartition("/")[2], version=find_version(template, names, **values), **values)
    return f"{place}/{file}"


def find_task_folder(store: TaskStore, task: StoredTask) -> str:
    """The folder of a task, `{number}_{slug}`: the one that is there, or what it would be called."""
    there = list_folders(store.home.root, store.folder).get(task.number)
    if there:
        return there[0]
    name = task.fields.get("project_name")
    return f"{task.number}_{make_name(name if isinstance(name, str) and name.strip() else task.title)}"


def _find_handed(
    store: TaskStore, task: StoredTask, command: TaskCommand, plan: PlanFacts | None
) -> tuple[str, ...]:  # fmt: skip
    """What was made for the task before, as far as the command wants it, the most important first."""
    found = (
        (plan.path if plan is not None else None) if kind == "plan" else find_artifact(store, task, kind)
        for kind in command.reads
    )
    return tuple(dict.fromkeys(path for path in found if path is not None))


def find_artifact(store: TaskStore, task: StoredTask, kind: str) -> str | None:
    """The last artifact of a kind that a task has: what its files link, else the newest where it belongs."""
    linked = store.find_linked(task.number, task.fields, kind)
    if linked:
        return linked[0]
    root = store.home.root
    folder, _, start = _USUAL_PLACES[kind].rpartition("/")
    usual = f"{store.folder}/{find_task_folder(store, task)}/{folder}"
    names = [name for name in _list_names(f"{root}/{usual}") if name.startswith(start) and name.endswith(".md")]
    inside = (find_inside(root, f"{usual}/{name}") for name in sorted(names, reverse=True))
    return next((path for path in inside if path is not None and os.path.isfile(f"{root}/{path}")), None)


def _list_names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except (OSError, ValueError):
        return []
