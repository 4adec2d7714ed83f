"""A task that only TODO.md knows, as state.json would tell of it.

Owns which of its fields are taken over. What is not taken stays where it is, in TODO.md.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from remit.workspace.tasks.markdown import clean_title
from remit.workspace.tasks.state import NUMBER_KEY, STATUS_KEY

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from remit.workspace.tasks.values import Task

TAKEN = ("priority", "language", "type", "effort", "created", "description")

_FIELD = re.compile(r"[ \t]{0,8}(?:[-*+][ \t]{1,4})?\*\*([^*:]{1,60})(?:\*\*[ \t]{0,4}:|:\*\*)[ \t]{0,8}")
_SECTION = re.compile(r"#{1,3}[ \t]")
_PRIORITY = re.compile(r"##[ \t]+(High|Medium|Low|Critical)[ \t]+Priority", re.IGNORECASE)
_MAX_VALUE = 4_000
_MAX_NAME = 80
_NOT_STARTED = "NOT STARTED"


def make_name(title: str) -> str:
    """A title as the name of a project: small letters, digits and underscores."""
    name = "_".join(re.findall(r"\w+", title.lower().replace("_", " ")))
    return name[:_MAX_NAME].rstrip("_") or "task"


def read_fields(text: str, tasks: Iterable[Task]) -> Iterator[tuple[Task, dict[str, object]]]:
    """What state.json should say of tasks of TODO.md, each in the order of its keys."""
    headings = {task.place.line: task for task in tasks}
    task, priority = None, ""
    given: dict[str, str] = {}
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        if _SECTION.match(line):
            if task is not None:
                yield task, _arrange(task, given)
            task = headings.get(number)
            section = _PRIORITY.match(line)
            priority = section[1].lower() if section is not None else "" if line.startswith("## ") else priority
            given = {"priority": task.priority or priority} if task is not None else {}
        elif task is not None:
            _read_field(line, given)
    if task is not None:
        yield task, _arrange(task, given)


def _read_field(line: str, given: dict[str, str]) -> None:
    field = _FIELD.match(line)
    key = field[1].strip().lower() if field is not None else ""
    if field is not None and key in TAKEN and key != "priority":
        value = line[field.end() : field.end() + _MAX_VALUE].strip()
        if value:
            given[key] = value


def _arrange(task: Task, given: Mapping[str, str]) -> dict[str, object]:
    marker, title = task.marker or _NOT_STARTED, clean_title(task.title)
    fields: dict[str, object] = {
        NUMBER_KEY: task.number,
        "project_name": make_name(task.title),
        **({"title": title} if title else {}),
        STATUS_KEY: marker.lower().replace(" ", "_"),
    }
    return {**fields, **{key: given[key] for key in TAKEN if given.get(key)}}
