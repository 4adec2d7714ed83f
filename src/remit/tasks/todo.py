"""Parse TODO.md into tasks with their places.

Accepts the variants of the file: `### 12. Title` with `- **Status**: [MARKER]` below it, with or without the dash and
the brackets, and with or without a YAML header. Text in a code fence is an example, not a task.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from remit.model import TextSpan
from remit.tasks.links import find_links
from remit.tasks.markdown import (
    clean_title,
    find_fences,
    find_header_end,
    find_line_end,
    is_within,
    read_status,
    walk_fields,
)
from remit.tasks.state import NUMBER_KEY, STATUS_KEY
from remit.tasks.task import Counter, Linked, Task, read_marker, read_priority

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from remit.tasks.markdown import Field, Span


HEADING = r"###[ \t]+(?:[Tt]ask[ \t]+)?#?({number})[.:)](?:[ \t\r]|(?=\n)|\Z)"
"""The pattern of a task heading; insert the digits of its number."""
ANY_HEADING = re.compile(HEADING.replace("{number}", "[0-9]{1,9}"))
"""The heading of any task."""
SECTION = re.compile(r"\n#{1,3}[ \t]")
"""The start of a section of the first three levels, with the line break before it."""
IMPORTED = ("priority", "language", "type", "effort", "created", "description")
"""The fields of a task in TODO.md that state.json gets; other fields stay only in TODO.md."""
_PRIORITY = re.compile(r"##[ \t]+(High|Medium|Low|Critical)[ \t]+Priority", re.IGNORECASE)
_MAX_VALUE = 4_000
_MAX_NAME = 80
_NEXT = re.compile(r"^next_project_number:[ \t]{0,8}([0-9]{1,9})[ \t\r]*$", re.MULTILINE)


class Todo(NamedTuple):
    """A parsed TODO.md."""

    tasks: tuple[Task, ...]
    next_number: Counter | None = None


def parse_todo(text: str) -> Todo:
    """Read the tasks of a TODO.md."""
    text = text.removeprefix("\ufeff")
    fences = find_fences(text)
    tasks: list[Task] = []
    line, counted = 1, 0
    for start, end in walk_sections(text, fences):
        line, counted = line + text.count("\n", counted, start), start
        found = ANY_HEADING.match(text, start, end)
        if found is not None:
            tasks.append(_read_task(text, found, end, line, fences))
    span = find_counter(text)
    if span is None:
        return Todo(tuple(tasks))
    line_start = text.rfind("\n", 0, span[0]) + 1
    place = _place(text.count("\n", 0, span[0]) + 1, span[0] - line_start, span[1] - line_start)
    return Todo(tuple(tasks), Counter(int(text[slice(*span)]), place))


def walk_sections(text: str, fences: list[Span]) -> Iterator[Span]:
    """Yield the sections of the first three levels, outside the header and code fences."""
    header = find_header_end(text)
    start = -1
    for found in SECTION.finditer("\n" + text.removeprefix("\ufeff")):
        at = found.start() + text.startswith("\ufeff")
        if at < header or is_within(at, fences):
            continue
        if start >= 0:
            yield start, at
        start = at
    if start >= 0:
        yield start, len(text)


def find_counter(text: str) -> Span | None:
    """Return the span of the next number in the header; None if it gives none."""
    found = _NEXT.search(text, 0, find_header_end(text))
    return found.span(1) if found is not None else None


def _place(line: int, start: int, end: int) -> TextSpan:
    return TextSpan(line, start + 1, line, end + 1)


def _read_task(text: str, heading: re.Match[str], end: int, line: int, fences: list[Span]) -> Task:
    """Parse a task from its heading and the fields below it; the first field of each name counts."""
    start = heading.start()
    stop = find_line_end(text, start, end)
    place = _place(line, heading.start(1) - start, heading.end(1) - start)
    task = Task(int(heading[1]), text[heading.end() : stop].strip(), None, "", place, bare=True)
    for field in walk_fields(text, stop + 1, end, fences):
        task = task._replace(bare=False) if task.bare else task
        name = field.name.lower()
        if name == "status" and task.marker_place is None:
            task = _read_marker(task, text, field, line + text.count("\n", start, field.start))
        elif name == "priority" and task.priority_place is None:
            number = line + text.count("\n", start, field.start)
            place = _place(number, field.value_start - field.start, field.value_end - field.start)
            task = task._replace(priority=read_priority(field.value), priority_place=place)
        if task.marker_place is not None and task.priority_place is not None:
            break
    links = tuple(Linked(each.kind, each.path) for each in find_links(text, stop + 1, end, fences))
    return task._replace(links=links) if links else task


def _read_marker(task: Task, text: str, field: Field, line: int) -> Task:
    status = read_status(text, field.value_start, field.value_end)
    if status is None:
        return task._replace(marker_place=_place(line, 0, field.value_end - field.start))
    place = _place(line, status.start - field.start, status.end - field.start)
    return task._replace(marker=read_marker(status.word) or None, word=status.word, marker_place=place)


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
    marker, title = task.marker or "NOT STARTED", clean_title(task.title)
    fields: dict[str, object] = {
        NUMBER_KEY: task.number,
        "project_name": make_name(task.title),
        **({"title": title} if title else {}),
        STATUS_KEY: marker.lower().replace(" ", "_"),
    }
    return {**fields, **{key: given[key] for key in IMPORTED if given.get(key)}}
