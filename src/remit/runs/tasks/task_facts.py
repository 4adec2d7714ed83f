"""The task of a run, as its instructions describe it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from remit.errors import UsageError
from remit.lazy_regex import lazy
from remit.runs.instructions import TaskFacts
from remit.storage.spec_root import find_folder
from remit.tasks.store import TaskStore

_STATUS_LINE = lazy(r"(?m)^[ \t]{0,8}(?:[-*+][ \t]{1,4})?\*\*Status(?:\*\*[ \t]{0,4}:|:\*\*)[^\n]{0,200}\n?")
"""The instructions give the status separately: the preflight changes it before the agent reads the task."""

if TYPE_CHECKING:
    from remit.config import Settings
    from remit.ledger.home import Home
    from remit.tasks.store import StoredTask


def find_task(home: Home, settings: Settings, task: int | str) -> dict[str, Any]:
    """Return the fields of a request for a run on a task of the workspace or of an outside system (D16)."""
    from remit.manifest.entries import make_slug  # noqa: PLC0415
    from remit.runs.tasks.outside_tasks import list_outside, show_outside  # noqa: PLC0415 - only for the work on a task

    if list_outside(home.root, settings):
        task_id = str(task)
        facts = show_outside(home.root, settings, task_id)
        return {"task": facts, "outside": task_id, "topic": make_slug(f"{task_id} {facts.title}")}
    if not isinstance(task, int):
        raise UsageError(f"'{task[:80]}' isn't the number of a task", hint="remit task list shows them")
    return {"task": load_task_facts(home, settings, task)}


def load_task_facts(home: Home, settings: Settings, number: int) -> TaskFacts:
    """Load the facts of an open task of the workspace."""
    folder = find_folder(home.root, settings.tasks.folder)
    if folder is None:
        raise UsageError("there are no tasks here", hint="create the first one: remit task new TITLE")
    store = TaskStore(home, folder)
    task = store.get(number)
    if task.is_over:
        raise UsageError(f"task {number} is closed", hint="list the open tasks: remit task list")
    return describe_task(store, task)


def describe_task(store: TaskStore, task: StoredTask) -> TaskFacts:
    """Return the facts of a task for the instructions."""
    plan = store.load_plan(task.number)
    title = store.read_titles().get(task.number) or task.title
    plan_path = "" if plan is None else plan.path
    return TaskFacts(
        task.number,
        title,
        task.marker or "",
        str(task.fields.get("language") or ""),
        _STATUS_LINE.sub("", store.read_section(task.number)),
        plan_path,
        "" if plan is None or plan.resume is None else plan.resume.number,
        answers=_answer(store, task, title) | ({"plan_path": plan_path} if plan_path else {}),
    )


def _answer(store: TaskStore, task: StoredTask, title: str) -> dict[str, str]:
    """Return values for an agent's inputs: the task's own fields, and others by the names that agents use (D15)."""
    number, fields = task.number, task.fields
    own = {key: str(value) for key, value in fields.items() if type(value) in (str, int, float)}
    about = own.get("description") or store.read_field(number, "Description")
    language = own.get("language") or store.read_field(number, "Language")
    reports = store.find_linked(number, fields, "research")
    return own | {
        "task_number": str(number),
        **dict.fromkeys(("title", "task_title", "research_topic", "topic"), title),
        **dict.fromkeys(("description", "task_description"), about or title),
        "language": language,
        "acceptance_criteria": store.read_field(number, "Acceptance Criteria"),
        "research_path": reports[0] if reports else "",
        "research_paths": "\n".join(reversed(reports)),
    }
