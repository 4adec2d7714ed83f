"""state.json as tasks, each with its place.

Owns the file's dialects: where tasks are kept in it, and how their numbers and statuses are spelt. A file that is no
JSON is told with the place where it breaks and, where that can be seen, with what happened to it.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from remit.places import Lines
from remit.workspace.tasks.values import MAX_NUMBER_DIGITS, Counter, Flaw, Task, read_marker

if TYPE_CHECKING:
    from collections.abc import Iterator

OPEN_LISTS = ("active_projects", "pending_tasks")
CLOSED_LISTS = ("completed_projects",)
NEXT_KEY = "next_project_number"

_SPACE = re.compile(r"[ \t\r\n]*+")
_CONFLICT = re.compile(r"^(?:<{7}|={7}|>{7})(?: |$)", re.MULTILINE)
_DECODER = json.JSONDecoder()


class State(NamedTuple):
    """What state.json says. `broken` is set where it is no JSON, and then there is nothing else."""

    tasks: tuple[Task, ...] = ()
    next_number: Counter | None = None
    wraps: bool = False
    """Numbers start again at 0 after the last one, so the next need not be the highest."""
    flaws: tuple[Flaw, ...] = ()
    broken: Flaw | None = None


class _Member(NamedTuple):
    """One member of an object: its key, its value and where the value stands."""

    key: str
    value: Any
    start: int
    end: int


def parse_state(text: str) -> State:
    """Read the tasks of a state.json."""
    lines = Lines(text)
    start = 1 if text.startswith("\ufeff") else 0
    try:
        value = json.loads(text[start:])
    except (ValueError, RecursionError) as error:
        return State(broken=_explain(error, text, lines, start))
    if not isinstance(value, dict):
        flaw = Flaw("state.json is not an object", "Make it an object with active_projects.", lines.locate(0, 1))
        return State(broken=flaw)
    return _read(text, lines, _SPACE.match(text, start).end())  # type: ignore[union-attr] # it matches nothing, too


def _explain(error: Exception, text: str, lines: Lines, start: int) -> Flaw:
    """Say where a text stops being JSON, and why."""
    if isinstance(error, RecursionError):
        return Flaw("state.json is nested too deeply to be read", "Restore it from git.", None)
    at = start + getattr(error, "pos", 0)
    conflict = _CONFLICT.search(text)
    if conflict is not None:
        place = lines.locate(*conflict.span())
        return Flaw("state.json holds the marks of an unfinished merge", "Finish the merge.", place)
    if not text.strip("\ufeff \t\r\n"):
        return Flaw("state.json is empty", "Restore it from git.", None)
    reason = getattr(error, "msg", str(error))
    if at >= len(text.rstrip()) or reason.startswith("Unterminated string"):
        end = len(text.rstrip())
        place = lines.locate(end - 1, end)
        return Flaw("state.json was cut off: it ends in the middle", "Restore its end, or the whole from git.", place)
    place = lines.locate(at, at + 1)
    if reason == "Extra data" and text[at] in "{[":
        return Flaw(
            "state.json holds more than one object: a second one begins here", "Join them into one object.", place
        )
    return Flaw(f"state.json is not JSON: {reason[:1].lower()}{reason[1:]}", "Correct it, or restore it.", place)


def _walk(text: str, at: int) -> Iterator[_Member]:
    """The members of an object that is known to be JSON."""
    at = _skip(text, at + 1)
    while text[at] != "}":
        key, at = _DECODER.raw_decode(text, at)
        start = _skip(text, _skip(text, at) + 1)
        value, end = _DECODER.raw_decode(text, start)
        yield _Member(key, value, start, end)
        at = _skip_comma(text, end)


def _items(text: str, at: int) -> Iterator[_Member]:
    """The items of a list that is known to be JSON."""
    at = _skip(text, at + 1)
    while text[at] != "]":
        value, end = _DECODER.raw_decode(text, at)
        yield _Member("", value, at, end)
        at = _skip_comma(text, end)


def _skip(text: str, at: int) -> int:
    return _SPACE.match(text, at).end()  # type: ignore[union-attr] # it matches nothing, too


def _skip_comma(text: str, at: int) -> int:
    at = _skip(text, at)
    return _skip(text, at + 1) if text[at] == "," else at


def _read(text: str, lines: Lines, start: int) -> State:
    tasks: list[Task] = []
    flaws: list[Flaw] = []
    counter, wraps, seen = None, False, set()
    for member in _walk(text, start):
        place = lines.locate(member.start, member.end)
        lists = member.key in OPEN_LISTS or member.key in CLOSED_LISTS
        if member.key in seen and (lists or member.key == NEXT_KEY):
            flaws.append(Flaw(f"{member.key} is given twice", "Join the two: most readers see the last.", place))
        seen.add(member.key)
        if lists and isinstance(member.value, list):
            for item in _items(text, member.start):
                _read_task(item, text, lines, tasks, flaws, closed=member.key in CLOSED_LISTS)
        elif lists and member.value is not None:
            flaws.append(Flaw(f"{member.key} is not a list", "Make it a list of tasks.", place))
        elif member.key == NEXT_KEY:
            number = _read_number(member.value)
            if number is None:
                flaws.append(Flaw(f"{NEXT_KEY} is not a number", "Give the number of the next task.", place))
            else:
                counter = Counter(number, place)
        elif member.key == "project_numbering" and isinstance(member.value, dict):
            wraps = "modulo" in str(member.value.get("policy"))
    return State(tuple(tasks), counter, wraps, tuple(flaws))


def _read_number(value: object) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= MAX_NUMBER_DIGITS:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _read_task(item: _Member, text: str, lines: Lines, tasks: list[Task], flaws: list[Flaw], *, closed: bool) -> None:
    members = {each.key: each for each in _walk(text, item.start)} if isinstance(item.value, dict) else {}
    given = members.get("project_number")
    number = None if given is None else _read_number(given.value)
    if given is None or number is None:
        at = item if given is None else given
        flaws.append(Flaw("an entry has no project_number", "Give it one.", lines.locate(at.start, at.end)))
        return
    name, status = members.get("project_name") or members.get("title"), members.get("status")
    word = status.value if status is not None and isinstance(status.value, str) else ""
    tasks.append(
        Task(
            number,
            str(name.value) if name is not None else "",
            read_marker(word) or None,
            word,
            lines.locate(given.start, given.end),
            lines.locate(status.start, status.end) if status is not None else None,
            closed=closed,
        )
    )
