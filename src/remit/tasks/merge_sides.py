"""Join both sides of a TODO.md or state.json with conflict markers of an unfinished merge. No side effects.

Each side is parsed as a whole file, so a task that both branches added is complete in each of them, wherever git put
its conflict markers.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from remit.errors import StateError
from remit.model import TextSpan
from remit.storage.json_edit import RawJson, TextChange, apply, skip_back
from remit.storage.merge_conflicts import split_sides, walk_conflicts
from remit.tasks.drift import todo_unmerged
from remit.tasks.markdown import find_content_end, find_fences, read_line_break
from remit.tasks.state import CLOSED_LISTS, NEXT_KEY, OPEN_LISTS, load_json, parse_state, read_number
from remit.tasks.state_edits import insert_tasks, list_tasks, set_file_fields, set_next_number
from remit.tasks.todo import parse_todo, walk_sections
from remit.tasks.todo_edits import find_tasks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.model import Diagnostic
    from remit.tasks.state_edits import StateEntry

_TASK = re.compile(r"###[ \t]")
_MAX_MISSING = 200
_SHOWN = 40
_JOINED = {*OPEN_LISTS, *CLOSED_LISTS, NEXT_KEY}
"""The keys of state.json that are joined; other keys are taken from one side."""
_COUNTER = re.compile(r"next_project_number[ \t]*:")


class JoinedText(NamedTuple):
    """Both sides as one text, and what changed."""

    text: str
    done: tuple[str, ...]


class _SideSection(NamedTuple):
    """A task on one side: the heading above it, its number and its text."""

    above: str
    number: int
    text: str


def check_merged(text: str) -> Diagnostic | None:
    """Return a diagnostic at the first conflict of an unfinished merge; None if there is none."""
    found = next(walk_conflicts(text, examples=find_fences(text)), None)
    if found is None:
        return None
    line = text.count("\n", 0, found.start) + 1
    mark = text[found.start : found.ours[0]].rstrip("\n")
    return todo_unmerged(TextSpan(line, 1, line, len(mark) + 1))


def join_sides(text: str) -> JoinedText:
    """Return one side with every task of the other side that it doesn't have, word for word."""
    ours, theirs = split_sides(text, examples=find_fences(text)) or (text, text)
    known = {_read_words(section.text) for section in _walk_tasks(ours)}
    missing = [section for section in _walk_tasks(theirs) if _read_words(section.text) not in known]
    if len(missing) > _MAX_MISSING:
        raise StateError(f"the two sides of TODO.md differ in {len(missing)} tasks", hint="finish the merge with git")
    done = ["joined both sides of an unfinished merge in TODO.md"]
    for section in missing:
        ours = _insert(ours, section)
        done.append(f"took task {section.number} of TODO.md from the merged branch")
    lost = _count_left_out(ours, theirs)
    if lost:
        lines = "1 line" if lost == 1 else f"{lost} lines"
        done.append(f"left out {lines} of the merged branch that belong to no task in TODO.md")
    return JoinedText(ours, tuple(done))


def _walk_tasks(text: str) -> Iterator[_SideSection]:
    above, line, counted = "", 1, 0
    places = {task.place.line: task.number for task in parse_todo(text).tasks}
    for start, end in walk_sections(text, find_fences(text)):
        line, counted = line + text.count("\n", counted, start), start
        if line in places:
            yield _SideSection(above, places[line], text[start : find_content_end(text, start, end)])
        elif not _TASK.match(text, start):
            above = text[start:end].split("\n", 1)[0].strip()


def _read_words(text: str) -> tuple[str, ...]:
    """Return the lines of a text without spaces, empty lines and a rule at its end, for comparison."""
    return tuple(" ".join(line.split()) for line in text.rstrip("- \t\r\n").split("\n") if line.strip())


def _insert(text: str, section: _SideSection) -> str:
    """Insert a task after tasks of the same number, or else at the end of its section."""
    same = find_tasks(text, section.number)
    if same:
        return _put(text, section.text, find_content_end(text, same[-1].start, same[-1].end))
    inside, end = False, len(text)
    for start, stop in walk_sections(text, find_fences(text)):
        if not _TASK.match(text, start):
            if inside:
                break
            inside = bool(section.above) and text[start:stop].split("\n", 1)[0].strip() == section.above
        end = stop if inside else end
    return _put(text, section.text, find_content_end(text, 0, end))


def _put(text: str, section: str, at: int) -> str:
    end = read_line_break(text)
    before = text[:at] if text[:at].endswith("\n") or not text[:at] else text[:at] + end
    return f"{before}{end}{section.rstrip()}{end}{text[at:]}"


def _count_left_out(ours: str, theirs: str) -> int:
    """Count the lines that only the other side has, without the next number, which is computed later."""
    known = {" ".join(line.split()) for line in ours.split("\n")}
    lines = {" ".join(line.split()) for line in theirs.split("\n")} - known - {""}
    return sum(_COUNTER.match(line) is None for line in lines)


def join_states(text: str) -> JoinedText | None:
    """Return one side of a state.json with every task of the other that differs; None unless both sides are valid JSON.

    The result may have two versions of a task; `split_numbers` joins them.
    """
    sides = split_sides(text)
    if sides is None or any(parse_state(side).broken is not None for side in sides):
        return None
    ours, theirs = sides
    done = ["joined both sides of an unfinished merge in state.json"]
    known: dict[int, list[StateEntry]] = {}
    for entry in list_tasks(ours):
        known.setdefault(entry.number, []).append(entry)
    changes: list[TextChange] = []
    more: dict[str, list[RawJson]] = {}
    for entry in list_tasks(theirs):
        same = [each for each in known.get(entry.number, ()) if each.home == entry.home]
        if any(each.value == entry.value for each in same):
            continue
        source = RawJson(theirs[entry.start : entry.end])
        if same:  # directly after ours, which keeps the number if these are two tasks
            lead = ours[skip_back(ours, same[-1].start) : same[-1].start]
            changes.append(TextChange(same[-1].end, same[-1].end, f",{lead}{source}"))
        else:
            more.setdefault(entry.home, []).append(source)
        done.append(f"took task {entry.number} of state.json from the merged branch")
    here, there = _load_object(ours), _load_object(theirs)
    ours = apply(ours, changes)
    for home, tasks in more.items():
        ours = insert_tasks(ours, tasks, home=home)
    numbers = [number for side in (here, there) if (number := read_number(side.get(NEXT_KEY))) is not None]
    if numbers:
        ours = set_next_number(ours, max(numbers))
    missing = {key: value for key, value in there.items() if key not in here and key not in _JOINED}
    ours = set_file_fields(ours, missing)
    differ = [key[:_SHOWN] for key in there if key in here and key not in _JOINED and there[key] != here[key]]
    if differ:
        done.append(f"left out {', '.join(differ[:_SHOWN])} of the merged branch, which differed in state.json")
    return JoinedText(ours, tuple(done))


def _load_object(text: str) -> dict[str, Any]:
    value = load_json(text)
    return value if isinstance(value, dict) else {}
