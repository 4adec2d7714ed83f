"""Convert a task that is only in TODO.md to fields for state.json. Other fields stay only in TODO.md."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from remit.tasks.markdown import clean_title, find_fences, find_line_end, walk_fields
from remit.tasks.state import NUMBER_KEY, STATUS_KEY
from remit.tasks.todo import walk_sections

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from remit.tasks.values import Task

TAKEN = ("priority", "language", "type", "effort", "created", "description")

_PRIORITY = re.compile(r"##[ \t]+(High|Medium|Low|Critical)[ \t]+Priority", re.IGNORECASE)
_MAX_VALUE = 4_000
_MAX_NAME = 80
_NOT_STARTED = "NOT STARTED"


def make_name(title: str) -> str:
    """Return a title as the name of a project: lower-case letters, digits and underscores."""
    name = "_".join(re.findall(r"\w+", title.lower().replace("_", " ")))
    return name[:_MAX_NAME].rstrip("_") or "task"


def read_fields(text: str, tasks: Iterable[Task]) -> Iterator[tuple[Task, dict[str, object]]]:
    """Yield the fields for state.json of tasks in TODO.md, in the order of their keys."""
    text = text.removeprefix("\ufeff")
    headings = {task.place.line: task for task in tasks}
    fences, line, counted, priority = find_fences(text), 1, 0, ""
    for start, end in walk_sections(text, fences):
        line, counted = line + text.count("\n", counted, start), start
        task = headings.get(line)
        if task is not None:
            fields = walk_fields(text, find_line_end(text, start, end) + 1, end, fences)
            given = {field.name.strip().lower(): field.value[:_MAX_VALUE] for field in fields if field.value}
            yield task, _arrange(task, given | {"priority": task.priority or priority})
        elif text.startswith("## ", start):
            section = _PRIORITY.match(text, start)
            priority = section[1].lower() if section is not None else ""


def _arrange(task: Task, given: Mapping[str, str]) -> dict[str, object]:
    marker, title = task.marker or _NOT_STARTED, clean_title(task.title)
    fields: dict[str, object] = {
        NUMBER_KEY: task.number,
        "project_name": make_name(task.title),
        **({"title": title} if title else {}),
        STATUS_KEY: marker.lower().replace(" ", "_"),
    }
    return {**fields, **{key: given[key] for key in TAKEN if given.get(key)}}
