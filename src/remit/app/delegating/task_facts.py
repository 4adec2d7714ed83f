"""The task that work belongs to, as its agent is told of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.delegate.briefing import TaskFacts
from remit.errors import UsageError
from remit.lazy import lazy
from remit.workspace.tasks.places import find_folder
from remit.workspace.tasks.store import TaskStore

_STATUS_LINE = lazy(r"(?m)^[ \t]{0,8}(?:[-*+][ \t]{1,4})?\*\*Status(?:\*\*[ \t]{0,4}:|:\*\*)[^\n]{0,200}\n?")
"""Is told beside it: the task is moved before the agent reads it."""

if TYPE_CHECKING:
    from remit.config import Settings
    from remit.workspace.home import Home
    from remit.workspace.tasks.store import TaskFacts as Stored


def load_task_facts(home: Home, settings: Settings, number: int) -> TaskFacts:
    """A task of the workspace with its plan. One that is over has no work left."""
    folder = find_folder(home.root, settings.tasks.folder)
    if folder is None:
        raise UsageError("there are no tasks here", hint="make the first one: remit task new TITLE")
    store = TaskStore(home, folder)
    task = store.get(number)
    if task.is_over:
        raise UsageError(f"task {number} is over", hint="remit task list shows what is open")
    return describe_task(store, task)


def describe_task(store: TaskStore, task: Stored) -> TaskFacts:
    """What is told of a task of a store."""
    plan = store.load_plan(task.number)
    return TaskFacts(
        task.number,
        store.read_titles().get(task.number) or task.title,
        task.marker or "",
        str(task.fields.get("language") or ""),
        _STATUS_LINE.sub("", store.read_section(task.number)),
        "" if plan is None else plan.path,
        "" if plan is None or plan.resume is None else plan.resume.number,
    )
