"""TODO.md as tasks, each with its place.

Owns the file's dialects: `### 12. Title` with `- **Status**: [MARKER]` below it, with or without the dash, the
brackets, and a YAML header. What stands in a fence is an example, not a task.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from remit.model import Place
from remit.workspace.tasks.values import Counter, Task, read_marker

_HEADING = re.compile(r"###[ \t]+(?:[Tt]ask[ \t]+)?#?([0-9]{1,9})[.:)](?:[ \t]|$)")
_SECTION = re.compile(r"#{1,3}[ \t]")
_FIELD = re.compile(r"[ \t]{0,8}(?:[-*+][ \t]{1,4})?\*\*[^*:]{1,60}(?:\*\*[ \t]{0,4}:|:\*\*)")
_STATUS = re.compile(r"[ \t]{0,8}(?:[-*+][ \t]{1,4})?\*\*Status(?:\*\*[ \t]{0,4}:|:\*\*)[ \t]{0,8}", re.IGNORECASE)
_BRACKETS = re.compile(r"\[([^\]\[]{1,40})\]")
_WORDS = re.compile(r"[A-Za-z][A-Za-z _-]{0,39}")
_NEXT = re.compile(r"next_project_number:[ \t]{0,8}([0-9]{1,9})[ \t]*$")
_FENCE = re.compile(r"[ \t]{0,8}(`{3,20}|~{3,20})")


class Todo(NamedTuple):
    """What TODO.md says."""

    tasks: tuple[Task, ...]
    next_number: Counter | None = None


def parse_todo(text: str) -> Todo:
    """Read the tasks of a TODO.md."""
    lines = text.removeprefix("\ufeff").split("\n")
    fenced = _find_fenced(lines)
    body, counter = _read_header(lines)
    tasks: list[Task] = []
    current: Task | None = None
    for index in range(body, len(lines)):
        line = lines[index]
        if index in fenced:
            continue
        if _SECTION.match(line):
            if current is not None:
                tasks.append(current)
            current = _read_heading(line, index + 1)
        elif current is not None and current.marker_place is None and _FIELD.match(line):
            current = _read_field(current, line, index + 1)
    if current is not None:
        tasks.append(current)
    return Todo(tuple(tasks), counter)


def _find_fenced(lines: list[str]) -> set[int]:
    """The lines inside fences. A fence that is never closed hides nothing."""
    inside: set[int] = set()
    opened, mark = 0, ""
    for index, line in enumerate(lines):
        found = _FENCE.match(line)
        if found is None:
            continue
        if not mark:
            opened, mark = index, found[1]
        elif found[1].startswith(mark) and not line[found.end() :].strip():
            inside.update(range(opened, index + 1))
            mark = ""
    return inside


def _read_header(lines: list[str]) -> tuple[int, Counter | None]:
    """The YAML header: where it ends, and the next number if it gives one."""
    if lines[0].rstrip() != "---":
        return 0, None
    end = next((index for index in range(1, len(lines)) if lines[index].rstrip() == "---"), None)
    if end is None:
        return 0, None
    for index in range(1, end):
        found = _NEXT.match(lines[index].rstrip("\r"))
        if found is not None:
            return end + 1, Counter(int(found[1]), _place(index + 1, *found.span(1)))
    return end + 1, None


def _place(line: int, start: int, end: int) -> Place:
    return Place(line, start + 1, line, end + 1)


def _read_heading(line: str, number: int) -> Task | None:
    found = _HEADING.match(line)
    if found is None:
        return None
    title = line[found.end() :].strip()
    return Task(int(found[1]), title, None, "", _place(number, *found.span(1)), bare=True)


def _read_field(task: Task, line: str, number: int) -> Task:
    """A field below a heading; the first status is the task's."""
    task = task._replace(bare=False)
    status = _STATUS.match(line)
    if status is None:
        return task
    found = _BRACKETS.match(line, status.end()) or _WORDS.match(line, status.end())
    if found is None:
        return task._replace(marker_place=_place(number, 0, len(line.rstrip())))
    word = found[found.lastindex or 0].strip()
    return task._replace(marker=read_marker(word) or None, word=word, marker_place=_place(number, *found.span()))
