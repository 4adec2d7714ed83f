"""The two sides of a TODO.md or a state.json that a merge left unfinished, joined into one.

Owns what of each side is kept. Both sides are read as whole files, so a task that both branches have
added is whole in each of them, wherever git has drawn the line. Pure: a text comes in, a text and sentences go out.
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
"""The keys of state.json that both sides share."""
_COUNTER = re.compile(r"next_project_number[ \t]*:")


class JoinedText(NamedTuple):
    """Both sides as one text, and what was done."""

    text: str
    done: tuple[str, ...]


class _SideSection(NamedTuple):
    """A task of one side: the heading above it, its number and its text."""

    above: str
    number: int
    text: str


def check_merged(text: str) -> Diagnostic | None:
    """Say where the first conflict of an unfinished merge begins; None where there is none."""
    found = next(walk_conflicts(text, examples=find_fences(text)), None)
    if found is None:
        return None
    line = text.count("\n", 0, found.start) + 1
    mark = text[found.start : found.ours[0]].rstrip("\n")
    return todo_unmerged(TextSpan(line, 1, line, len(mark) + 1))


def join_sides(text: str) -> JoinedText:
    """Take one side, and every task of the other that it has not, word for word."""
    ours, theirs = split_sides(text, examples=find_fences(text)) or (text, text)
    known = {_read_words(section.text) for section in _walk_tasks(ours)}
    missing = [section for section in _walk_tasks(theirs) if _read_words(section.text) not in known]
    if len(missing) > _MAX_MISSING:
        raise StateError(f"the two sides of TODO.md differ in {len(missing)} tasks", hint="finish the merge with git")
    told = ["TODO.md held the marks of an unfinished merge, and its two sides were joined"]
    for section in missing:
        ours = _insert(ours, section)
        told.append(f"task {section.number} of TODO.md came from the side that was merged in")
    lost = _count_left_out(ours, theirs)
    if lost:
        told.append(f"{lost} {'line' if lost == 1 else 'lines'} outside of tasks, of the side merged in, were left out")
    return JoinedText(ours, tuple(told))


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
    """A text without what a merge may change of its looks: spaces, empty lines, a rule at its end."""
    return tuple(" ".join(line.split()) for line in text.rstrip("- \t\r\n").split("\n") if line.strip())


def _insert(text: str, section: _SideSection) -> str:
    """Put a task behind those of its number, else at the end of the part of the file that it stands in."""
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
    """How many lines only the other side has. The next number is worked out anew."""
    known = {" ".join(line.split()) for line in ours.split("\n")}
    lines = {" ".join(line.split()) for line in theirs.split("\n")} - known - {""}
    return sum(_COUNTER.match(line) is None for line in lines)


def join_states(text: str) -> JoinedText | None:
    """One side of a state.json, with every task of the other that differs; None unless both sides are JSON.

    Two versions of one task are both in it: whoever gives each number to one task joins them.
    """
    sides = split_sides(text)
    if sides is None or any(parse_state(side).broken is not None for side in sides):
        return None
    ours, theirs = sides
    told = ["state.json held the marks of an unfinished merge, and its two sides were joined"]
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
        if same:  # right behind ours, which keeps the number if these are two tasks
            lead = ours[skip_back(ours, same[-1].start) : same[-1].start]
            changes.append(TextChange(same[-1].end, same[-1].end, f",{lead}{source}"))
        else:
            more.setdefault(entry.home, []).append(source)
        told.append(f"task {entry.number} of state.json came from the side that was merged in")
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
        told.append(f"{', '.join(differ[:_SHOWN])} of the side merged in differed, and were left out")
    return JoinedText(ours, tuple(told))


def _load_object(text: str) -> dict[str, Any]:
    value = load_json(text)
    return value if isinstance(value, dict) else {}
