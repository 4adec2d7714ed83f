"""Tasks of an outside system: show and focus them before a run, complete and link them after it (R4.8, R4.11).

Its commands run only in a workspace whose settings the user trusts, and each at most once per run. A command that fails
after the run is reported and doesn't make the run fail.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from remit.errors import RemitError
from remit.ledger.events import add_event, load_events
from remit.runs.admission.run_config import read_run_config
from remit.runs.finish.finish_steps import FinishStep, fail, is_exploratory

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.config import Settings
    from remit.ledger.home import Home
    from remit.ledger.runs import Run
    from remit.runs.instructions import TaskFacts
    from remit.runs.judging.conclusion import Conclusion

OUTSIDE = "outside"
_MAX_SHOWN = 20_000
_DONE = ("done", "completed")


def list_outside(root: str, settings: Settings) -> dict[str, str]:
    """Return the commands of an outside task system by name; empty if the workspace keeps its own tasks (C24)."""
    from remit.runs.workspace_trust import list_outside_commands  # noqa: PLC0415 - not for a workspace without tasks

    return dict(list_outside_commands(settings, root=root))


def show_outside(root: str, settings: Settings, task_id: str) -> TaskFacts:
    """Return the facts that the system shows for a task."""
    from remit.runs.instructions import TaskFacts  # noqa: PLC0415 - as above
    from remit.tasks.outside_system import OutsideError  # noqa: PLC0415

    commands = list_outside(root, settings)
    try:
        text = _run(root, settings, "show", task_id) if "show" in commands else ""
    except OutsideError as error:
        if task_id.isdigit():  # only Remit's own tasks have plain numbers
            program = commands["show"].split()[0]
            hint = f"{program} keeps the tasks of this workspace: use its ids, such as T{task_id}"
            raise OutsideError(error.message, hint=hint) from error
        raise
    answers = {"task_id": task_id, "task_number": task_id, "task_description": text, "description": text}
    return TaskFacts(0, text=text[:_MAX_SHOWN], id=task_id, answers=answers)


def focus_outside(home: Home, settings: Settings, row: Run) -> None:
    """Run the system's command that focuses a task."""
    task_id = read_run_config(row.details).outside
    if "focus" in list_outside(home.root, settings):
        _run_once(home, settings, row, "focus", task_id)


def finish_outside(home: Home, settings: Settings, row: Run, conclusion: Conclusion) -> tuple[FinishStep, ...]:
    """Complete and link a task after a run. After a blocked or failed run it stays open (R4.12, R4.13).

    A task that is already completed or linked isn't changed again: the agent may have done it by its instructions.
    """
    config = read_run_config(row.details)
    is_manifest = (conclusion.format or config.format) == "manifest"
    is_done = conclusion.task_status == "completed" or (conclusion.task_status == "partial" and is_manifest)
    if not config.outside or not is_done:
        return ()
    commands = list_outside(home.root, settings)
    found = conclusion.entry or {}
    entry = "" if is_exploratory(found) else str(found.get("id") or "")
    wanted = [name for name in ("complete", "link") if name in commands and (name == "complete" or entry)]
    task = _read_task(home.root, settings, config.outside) if wanted and "show" in commands else {}
    is_there = {"complete": task.get("status") in _DONE, "link": entry in _list_linked(task)}
    done = []
    for name in wanted:
        if is_there[name]:
            continue
        try:
            ran = _run_once(home, settings, row, name, config.outside, research=entry if name == "link" else "")
        except RemitError as error:
            failed = fail(OUTSIDE, error)
            return (failed._replace(message=f"{name}: {failed.message}"),)
        done += [name] if ran else []
    messages = {"complete": f"task {config.outside} is completed", "link": f"linked to {entry}"}
    return (FinishStep(OUTSIDE, "done" if done else "there", ", ".join(messages[name] for name in done)),)


def _read_task(root: str, settings: Settings, task_id: str) -> dict[str, Any]:
    """Return the JSON object that the system shows for a task, bare or under `task`; empty if it shows none."""
    try:
        value = json.loads(_run(root, settings, "show", task_id))
    except (RemitError, ValueError, RecursionError):  # the next command reports the error
        return {}
    task = value.get("task", value) if isinstance(value, dict) else None
    return task if isinstance(task, dict) else {}


def _list_linked(task: Mapping[str, Any]) -> list[Any]:
    """Return the ids of the entries that a task is linked to; the system lists ids or objects with an id."""
    listed = task.get("linkedResearch") or task.get("linked_research")
    return [each.get("id") if isinstance(each, dict) else each for each in listed] if isinstance(listed, list) else []


def _run_once(home: Home, settings: Settings, row: Run, name: str, task_id: str, *, research: str = "") -> bool:
    """Run a command if it has not run for this run of an agent; return whether it ran now."""
    events = load_events(home.ledger, session_id=row.session_id)
    if any(event.kind == OUTSIDE and event.details.get("command") == name for event in events):
        return False
    _run(home.root, settings, name, task_id, research=research)
    with home.ledger.transaction() as db:
        add_event(db, OUTSIDE, {"command": name}, session_id=row.session_id)
    return True


def _run(root: str, settings: Settings, name: str, task_id: str, *, research: str = "") -> str:
    from remit.runs.workspace_trust import check_trust  # noqa: PLC0415 - as above
    from remit.tasks.outside_system import run_outside  # noqa: PLC0415

    check_trust(root, settings)
    commands = list_outside(root, settings)
    return run_outside(commands, name, task_id=task_id, research=research, folder=root).output
