"""Runs of task commands, from the command to its results: one run for the task, or one for each phase of its plan.

A run is prepared from the task, its plan, the agent, earlier artifacts and the path of the new one. It is admitted
under a lock, so that two runs never work on one task at the same time.
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
    from remit.runs.instructions import TaskFacts
    from remit.runs.workspace import Workspace
    from remit.tasks.plan import Phase
    from remit.tasks.store import PlanFacts, StoredTask, TaskStore

_USUAL_PLACES = {"research": "reports/research-", "summary": "summaries/"}
_SYNC_FAILED = ERROR_CODES["status_sync"]


class TaskRequest(NamedTuple):
    """A task command as the caller gives it."""

    command: str
    number: int | str
    """The number of the task, or its id in an outside system."""
    prompt: str = ""
    agent: str = ""
    fields: Mapping[str, Any] = {}
    """Fields of the request: runner, command, timeout_s, inputs, budget …"""


class TaskRun(NamedTuple):
    """A prepared run on a task or on one phase of its plan."""

    wish: TaskRequest
    request: Request
    before: str
    """The marker of the task before the run."""
    phase: Phase | None = None
    left: int = 0
    """The number of open phases, with this one."""
    notes: tuple[str, ...] = ()


class FinishedTaskRun(NamedTuple):
    """A finished run on a task or on one phase of its plan."""

    ready: TaskRun
    result: Result
    """The result. In the last run of a command, `partial` if phases are left."""
    left: tuple[str, ...] = ()
    """What is left although the run was completed and no next phase starts."""
    trouble: RemitError | None = None
    """Why the next phase couldn't start."""

    @property
    def status(self) -> str:
        """The status of this run itself."""
        return "completed" if self.left else self.result.status


async def run_task(ws: Workspace, wish: TaskRequest) -> list[FinishedTaskRun]:
    """Carry out a task command: one run, or one for each open phase of the plan until one isn't completed."""
    parts: list[FinishedTaskRun] = []
    ready = prepare_task_run(ws, wish)
    taken: tuple[TaskRun, AdmittedRun] | None = (ready, start_task_run(ws, ready))
    while taken is not None:
        ready, prepared = taken
        await ws.backend.submit(prepared.row.session_id)
        parts.append(FinishedTaskRun(ready, await ws.wait(prepared.row.session_id)))
        taken = start_next_phase(ws, parts)
    return conclude_task(ws, parts)


def prepare_task_run(ws: Workspace, wish: TaskRequest) -> TaskRun:
    """Prepare a run on a task without any change. Raises if the run must not start."""
    command = find_command(ws, wish.command)
    if list_outside(ws.root, ws.settings):
        return _get_outside(ws, wish, command)
    store = open_store(ws.home, ws.settings)
    if store is None:
        raise UsageError("there are no tasks here", hint="create the first one: remit task new TITLE")
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
    """Prepare a run on a task of an outside system, which has no marker and no plan here."""
    from remit.manifest.entries import make_slug  # noqa: PLC0415 - only for this

    task_id = str(wish.number)
    facts = show_outside(ws.root, ws.settings, task_id)
    asked = {"outside": task_id, "topic": make_slug(f"{task_id} {command.name}")}
    return TaskRun(wish, _make_request(ws, wish, command, facts, asked), "")


def _make_request(
    ws: Workspace, wish: TaskRequest, command: TaskCommand, facts: TaskFacts, asked: Mapping[str, Any]
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
    """Return a command of this workspace by its name."""
    commands = make_commands(ws.settings.runs.task)
    if name not in commands:
        raise UsageError(f"there is no task command '{name}'", hint=did_you_mean(name, tuple(commands)))
    for route in ws.settings.runs.route:
        if route not in commands:
            raise ConfigError(
                f"[route.{route}] isn't the route of a task command", hint=did_you_mean(route, tuple(commands))
            )
    return commands[name]


def _brings_agent(wish: TaskRequest) -> bool:
    """Whether the caller gives a command line or a function; the agent is then named after the task command."""
    return wish.fields.get("command") is not None or wish.fields.get("function") is not None


def _choose_agent(ws: Workspace, wish: TaskRequest, command: TaskCommand, language: str) -> str:
    found = [agent.definition for agent in list_agents(ws.root, exclude=ws.settings.lint.exclude)]
    candidates = [Candidate(each.name, each.kind, each.command) for each in found if each is not None]
    routes = ws.settings.runs.route
    chosen = choose_agent(command, candidates, routes, language=language)
    known = tuple(sorted(each.name for each in candidates))
    if chosen and chosen not in known and not _brings_agent(wish):  # only a route can name a missing agent
        route = command.name if chosen in routes.get(command.name, {}).values() else command.like
        hint = did_you_mean(chosen, known) if known else "create one with remit agent new, or remove the route"
        raise ConfigError(f"[route.{route}] names the agent '{chosen}', and no file defines it", hint=hint)
    return chosen


# --- the task --------------------------------------------------------------------------------------------------------


def _find_task(store: TaskStore, command: TaskCommand, number: int | str) -> StoredTask:
    """Return a task that a run may work on; raise otherwise."""
    if not isinstance(number, int):
        raise UsageError(f"'{number[:80]}' isn't the number of a task", hint="remit task list shows them")
    task = store.get(number)
    if command.working and not task.closed and _refuse(task, command) and store.check():
        absorb_edits(store)  # a user changed its marker in one of the files
        task = store.get(number)
    if task.closed:
        message = f"task {number} is closed and archived"
        raise RefusedError(message, code=StateError.code, hint="create a new one with: remit task new TITLE")
    refusal = _refuse(task, command) if command.working else None
    if refusal is not None:
        raise refusal
    return task


def _refuse(task: StoredTask, command: TaskCommand) -> RefusedError | None:
    refusal = check_move(task.marker, command.working, command=OWN_COMMAND.get(command.working))
    if refusal is None:
        return None
    why = get_reason(task)
    message = f"task {task.number}: {refusal.message}{f' (it is {task.marker}: {why})' if why else ''}"
    return RefusedError(message, code=StateError.code, hint=as_clause(refusal.hint))


def get_reason(task: StoredTask) -> str:
    """Return the recorded reason why a task is blocked or abandoned; empty if there is none."""
    marker = task.marker or ""
    reason = task.fields.get(f"{marker.lower()}_reason") if marker in NEED_REASON else None
    return " ".join(reason.split())[:200] if isinstance(reason, str) else ""


def _describe_state(task: StoredTask, command: TaskCommand) -> list[str]:
    """Return notes on the task's state before the run, for the user."""
    why = get_reason(task)
    notes = [f"task {task.number} was {task.marker}: {why}"] if why else []
    if command.working and task.marker == command.working:
        notes.append(f"task {task.number} was left {task.marker}; this run resumes it")
    return notes


def _describe_plan(plan: PlanFacts | None) -> list[str]:
    """Return a note if the run doesn't follow the task's plan."""
    if plan is None or plan.resume is not None:
        return []
    why = "all phases are closed" if plan.phases else "it has no phases"
    return [f"{plan.path}: {why}, so one run does the whole task"]


def start_task_run(ws: Workspace, ready: TaskRun) -> AdmittedRun:
    """Admit the run, unless another run works on the task."""
    with ws.home.lock(TAKING):
        _check_free(ws, ready)
        return ws.prepare(ready.request)


def detach_task_run(ws: Workspace, ready: TaskRun) -> AdmittedRun:
    """Admit the run, and start a process of its own for it."""
    if ready.left > 1:
        message = f"{ready.left} phases are open, and each starts after the one before it"
        raise UsageError(message, hint="leave --detach out; to log off meanwhile, use tmux or screen")
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
    """Return the current marker of a task and the reason for it; empty if an outside system keeps the task."""
    store, number = open_store(ws.home, ws.settings), ready.wish.number
    if store is None or not isinstance(number, int) or ready.request.outside:
        return "", ""
    try:
        task = store.get(number)
    except RemitError:  # the finish step with the same problem reports it
        return "", ""
    return task.marker or "", get_reason(task)


# --- the phases of its plan ------------------------------------------------------------------------------------------


def _check_open(plan: PlanFacts, number: int) -> None:
    """Raise if phases are open but none of them can be started."""
    if plan.open:
        first = plan.open[0].number
        message = f"task {number}: {format_phases(plan.open)}, and no other phase is left"
        again = f"remit task set-status {number} --phase {first}"
        hint = f"repeat the phase after: {again} not started; or drop it with: {again} abandoned"
        raise RefusedError(message, code=StateError.code, hint=hint)


def start_next_phase(ws: Workspace, parts: list[FinishedTaskRun]) -> tuple[TaskRun, AdmittedRun] | None:
    """Admit a run for the next phase; None if there is none, or it can't start.

    In the second case the last part gets the reason: the finished phases are reported in any case.
    """
    try:
        ready = _get_next(ws, parts)
        return None if ready is None else (ready, start_task_run(ws, ready))
    except RemitError as error:
        parts[-1] = parts[-1]._replace(trouble=error)
        return None


def _get_next(ws: Workspace, parts: list[FinishedTaskRun]) -> TaskRun | None:
    """Prepare a run for the next phase; None if there is none, or the last one wasn't completed.

    Also None if the task has changed in the meantime: Remit respects a change of its marker or its phases.
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
    if plan is None or plan.resume is None or plan.resume.number in done:  # the last phase couldn't be marked as done
        return None
    return prepare_task_run(ws, last.ready.wish)._replace(notes=())


def _list_trouble(result: Result) -> list[str]:
    """Return the failed steps that make it unknown what is left of the plan."""
    return [each.message for each in result.failed_steps if each.code == _SYNC_FAILED]


def conclude_task(ws: Workspace, parts: list[FinishedTaskRun]) -> list[FinishedTaskRun]:
    """Return the finished runs of a command. If something is left, the result of the last one becomes `partial`."""
    last = parts[-1]
    store, number = open_store(ws.home, ws.settings), last.ready.wish.number
    is_phased = find_command(ws, last.ready.wish.command).is_phased
    if last.result.status != "completed" or store is None or not isinstance(number, int) or not is_phased:
        return parts
    unknown = _list_trouble(last.result)
    left: list[str] = []
    try:
        left = [] if unknown else _list_left(store, number, last)
    except RemitError as error:  # an unreadable plan may have open phases
        unknown = [error.message]
    if not left and not unknown:
        return parts
    again = f"remit task {last.ready.wish.command} {number}"
    reason = _explain_unknown(unknown, again) if unknown else _explain_left(left, again, last.trouble)
    lowered = write_return(last.result._replace(status="partial", errors=(*last.result.errors, reason)))
    result = fit_result(lowered, ws.get_tokens(last.result.session_id))
    return [*parts[:-1], last._replace(result=result, left=tuple(unknown or left))]


def _list_left(store: TaskStore, number: int, last: FinishedTaskRun) -> list[str]:
    """Return what is left by the plan and the task's marker."""
    plan = store.load_plan(number)
    left = [format_phases((each,)) for each in (() if plan is None else plan.open)]
    if not left and last.ready.request.working == "IMPLEMENTING" and store.get(number).marker == "PARTIAL":
        left = [f"task {number} is PARTIAL"]
    return left


def _explain_unknown(trouble: Sequence[str], again: str) -> AgentError:
    """Return the error for a completed run if the task files don't say whether something is left."""
    advice = (
        f"Repair the task files with remit task sync --repair, or restore the plan from git, then continue: {again}"
    )
    return AgentError("status_sync", trouble[0], _SYNC_FAILED, recoverable=True, recommendation=advice)


def _explain_left(left: Sequence[str], again: str, trouble: RemitError | None) -> AgentError:
    """Return the error for a completed run if phases of the plan are left."""
    message, code = f"the plan isn't done: {', '.join(left)}", ERROR_CODES["validation"]
    if trouble is not None:
        message, code = f"{message}; the next phase can't begin: {trouble.message}", trouble.code
    return AgentError("validation", message, code, recoverable=True, recommendation=f"Continue with: {again}")


# --- inputs and artifacts ---------------------------------------------------------------------------------------------


def _answer(
    store: TaskStore, task: StoredTask, wish: TaskRequest, phase: Phase | None, artifact_path: str
) -> dict[str, str]:
    """Return values for the agent's inputs that follow from the command, in addition to those of the task (D15)."""
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
    """Return the path of the artifact (R1.20), relative to the root, with the next free version."""
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
    """Return the folder of a task, `{number}_{slug}`: the existing one, or the name for a new one."""
    there = list_folders(store.home.root, store.folder).get(task.number)
    if there:
        return there[0]
    name = task.fields.get("project_name")
    return f"{task.number}_{make_name(name if isinstance(name, str) and name.strip() else task.title)}"


def _find_handed(
    store: TaskStore, task: StoredTask, command: TaskCommand, plan: PlanFacts | None
) -> tuple[str, ...]:  # fmt: skip
    """Return the paths of earlier artifacts that the command reads, the most important first."""
    found = (
        (plan.path if plan is not None else None) if kind == "plan" else find_artifact(store, task, kind)
        for kind in command.reads
    )
    return tuple(dict.fromkeys(path for path in found if path is not None))


def find_artifact(store: TaskStore, task: StoredTask, kind: str) -> str | None:
    """Return the last artifact of a kind: the one that the task links, else the newest file in the usual folder."""
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
