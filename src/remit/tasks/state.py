"""Parse state.json into tasks with their places, and choose the next free task number.

Accepts the variants of the file: the names of its lists, and the spelling of numbers and statuses. If the file isn't
valid JSON, the result has the place of the error and its probable cause.
"""

from __future__ import annotations

import json
import re
from itertools import chain, count, islice
from typing import TYPE_CHECKING, Any, NamedTuple

from jiter import from_json

from remit.model import TextSpan
from remit.storage.json_edit import Member, explain_breakage, skip_space, walk_items, walk_members
from remit.tasks.links import read_state_links
from remit.tasks.task import (
    MAX_NUMBER_DIGITS,
    NO_WRAP,
    TOO_HIGH,
    Counter,
    ParseProblem,
    Task,
    read_marker,
    read_priority,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from remit.tasks.todo import Todo


OPEN_LISTS = ("active_projects", "pending_tasks")
CLOSED_LISTS = ("completed_projects",)
NUMBERING_KEY = "project_numbering"
NEXT_KEY = "next_project_number"
NUMBER_KEY = "project_number"
STATUS_KEY = "status"
RESTORE = "restore it from git and TODO.md, and keep a copy of the file, with: remit task sync --repair"
"""The hint for a state.json that isn't valid JSON."""
NO_TASKS: Mapping[int, str] = {}
_MODULO = re.compile(r"modulo[ _-]?([0-9]{1,9})(?![0-9])")
_MAX_POLICY = 100
_MAX_REPEATED = 5
_SHOWN = 60


class State(NamedTuple):
    """A parsed state.json. If it isn't valid JSON, only `broken` is set."""

    tasks: tuple[Task, ...] = ()
    next_number: Counter | None = None
    wraps: range = NO_WRAP
    """The range of numbers if the numbering wraps around, so the next number may be lower; else empty."""
    flaws: tuple[ParseProblem, ...] = ()
    repeated: tuple[ParseProblem, ...] = ()
    """Duplicate keys of tasks."""
    broken: ParseProblem | None = None


class _Lines:
    """Converts offsets to lines and columns. Counts from the previous offset, so ascending offsets are fast."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at, self.line, self.start = 0, 1, 0

    def locate(self, start: int, end: int) -> TextSpan:
        return TextSpan(*self._find(start), *self._find(end))

    def _find(self, at: int) -> tuple[int, int]:
        crossed = self.text.count("\n", min(at, self.at), max(at, self.at))
        if crossed:  # otherwise the line start is known; searching it in a file of one line is slow
            self.line += crossed if at > self.at else -crossed
            self.start = self.text.rfind("\n", 0, at) + 1
        self.at = at
        return self.line, at - self.start + 1


def parse_state(text: str) -> State:
    """Read the tasks of a state.json."""
    lines = _Lines(text)
    start = 1 if text.startswith("\ufeff") else 0
    try:
        value, repeats = _load(text)
    except (ValueError, RecursionError) as error:
        broken = explain_breakage(error, text, "state.json", offset=start)
        return State(broken=ParseProblem(broken.message, broken.hint, broken.span and lines.locate(*broken.span)))
    if not isinstance(value, dict):
        flaw = ParseProblem(
            "state.json isn't a JSON object", "Make it an object with active_projects.", lines.locate(0, 1)
        )
        return State(broken=flaw)
    state = _read(text, lines, skip_space(text, start))
    return state._replace(repeated=tuple(_find_repeated(text))) if repeats else state


def _load(text: str) -> tuple[object, bool]:
    """Return a text as a JSON value, and whether an object in it may have a duplicate key."""
    try:
        return from_json(text.removeprefix("\ufeff").encode(), cache_mode="keys", catch_duplicate_keys=True), False
    except ValueError:
        return load_json(text), True


def load_json(text: str) -> object:
    """Return a text as a JSON value. Raise `ValueError` or `RecursionError`, with the place, if it isn't valid."""
    text = text.removeprefix("\ufeff")
    try:
        return from_json(text.encode(), cache_mode="keys")
    except ValueError:  # jiter is faster, but rejects lone surrogates and gives no offset
        return json.loads(text)


def _read(text: str, lines: _Lines, start: int) -> State:
    tasks: list[Task] = []
    flaws: list[ParseProblem] = []
    counter, wraps, seen = None, NO_WRAP, set()
    for member in walk_members(text, start):
        place = lines.locate(member.start, member.end)
        lists = member.key in OPEN_LISTS or member.key in CLOSED_LISTS
        if member.key in seen and (lists or member.key == NEXT_KEY):
            flaws.append(
                ParseProblem(f"duplicate key {member.key}", "Join the two values: most readers use the last.", place)
            )
        seen.add(member.key)
        if lists and isinstance(member.value, list):
            for item in walk_items(text, member.start):
                _read_task(item, text, lines, tasks, flaws, closed=member.key in CLOSED_LISTS)
        elif lists and member.value is not None:
            flaws.append(ParseProblem(f"{member.key} isn't a list", "Make it a list of tasks.", place))
        elif member.key == NEXT_KEY:
            number = read_number(member.value)
            if number is None:
                flaws.append(
                    ParseProblem(f"{NEXT_KEY} isn't a number", "Set it to the number of the next task.", place)
                )
            else:
                counter = Counter(number, place)
        elif member.key == NUMBERING_KEY:
            wraps = read_numbering(member.value)
    return State(tuple(tasks), counter, wraps, tuple(flaws))


def read_numbering(value: object) -> range:
    """Return the range of numbers if `project_numbering` wraps around; an empty range if numbers only increase.

    A policy such as increment_modulo_1000 goes from 0 to 999, unless `min` gives a higher start.
    """
    given = value if isinstance(value, dict) else {}
    policy, first, last = str(given.get("policy"))[:_MAX_POLICY], given.get("min"), given.get("max")
    if "modulo" not in policy:
        return NO_WRAP
    found = _MODULO.search(policy)
    stop = int(found[1]) if found is not None else (read_number(last) or TOO_HIGH) + 1
    start = read_number(first) or 0
    return range(start if start < stop else 0, min(stop, TOO_HIGH))


def read_number(value: object) -> int | None:
    """Return the number of a task as state.json gives it; None if it isn't a valid number."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= MAX_NUMBER_DIGITS:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _read_task(
    item: Member, text: str, lines: _Lines, tasks: list[Task], flaws: list[ParseProblem], *, closed: bool
) -> None:
    value = item.value if isinstance(item.value, dict) else {}
    members = {each.key: each for each in walk_members(text, item.start)} if value else {}
    given = members.get(NUMBER_KEY)
    number = read_number(value.get(NUMBER_KEY))
    if given is None or number is None:
        at = item if given is None else given
        place = lines.locate(at.start, at.end)
        flaws.append(ParseProblem("a task has no project_number", "Add a project_number.", place))
        return
    status = members.get(STATUS_KEY)
    word = status.value if status is not None and isinstance(status.value, str) else ""
    tasks.append(
        Task(
            number,
            read_title(value),
            read_marker(word) or None,
            word,
            lines.locate(given.start, given.end),
            lines.locate(status.start, status.end) if status is not None else None,
            closed=closed,
            titled=bool(value.get("title")),
            priority=read_priority(value.get("priority")),
            links=read_state_links(value),
        )
    )


def _find_repeated(text: str) -> Iterator[ParseProblem]:
    """Yield the duplicate keys of tasks. Called only if some object has one."""
    lines = _Lines(text)
    for home in walk_members(text, skip_space(text, 1 if text.startswith("\ufeff") else 0)):
        if home.key in (*OPEN_LISTS, *CLOSED_LISTS) and isinstance(home.value, list):
            for item in walk_items(text, home.start):
                number = read_number(item.value.get(NUMBER_KEY)) if isinstance(item.value, dict) else None
                found = () if number is None else _walk_repeated(text, item)
                for member, what in islice(found, _MAX_REPEATED):
                    place = lines.locate(member.key_start, member.end)
                    yield ParseProblem(f"task {number} has {what}", "Remove one of the two by hand.", place)


def _walk_repeated(text: str, item: Member) -> Iterator[tuple[Member, str]]:
    """Yield the members of a task with a duplicate key, there or inside their value, and a description."""
    seen: dict[str, Member] = {}
    for member in walk_members(text, item.start):
        first = seen.setdefault(member.key, member)
        if first is not member:
            both = " and ".join(" ".join(text[each.start : each.end].split())[:_SHOWN] for each in (first, member))
            yield member, f"{member.key[:_SHOWN]!r} twice: {both}"
        elif isinstance(member.value, dict | list):
            for key in _list_repeated(text[member.start : member.end]):
                yield member, f"{key[:_SHOWN]!r} twice within {member.key[:_SHOWN]!r}"


def _list_repeated(text: str) -> list[str]:
    """Return the keys that an object inside a value has twice, each once."""
    found: dict[str, None] = {}

    def record_repeats(pairs: list[tuple[str, object]]) -> None:
        keys: set[str] = set()
        for key, _ in pairs:
            if key in keys:
                found[key] = None
            keys.add(key)

    json.JSONDecoder(object_pairs_hook=record_repeats, parse_int=str).decode(text)
    return list(found)


def read_title(value: dict[str, Any]) -> str:
    """Return the title of a task in state.json, else the name of its project."""
    return next((str(value[key]) for key in ("title", "project_name") if value.get(key)), "")


def parse_archive(text: str | None) -> Mapping[int, str]:
    """Return the names of the archived tasks by number; none if the archive is missing or can't be parsed."""
    try:
        value = load_json(text) if text else None
    except (ValueError, RecursionError):
        return NO_TASKS
    found: dict[int, str] = {}
    for each in value.values() if isinstance(value, dict) else (value,):
        for item in each if isinstance(each, list) else ():
            number = read_number(item.get(NUMBER_KEY)) if isinstance(item, dict) else None
            if number is not None:
                found.setdefault(number, read_title(item))
    return found


def list_taken(state: State | None, todo: Todo | None, archive: Mapping[int, str] = NO_TASKS) -> set[int]:
    """Return the numbers that a new task may not get. If the numbering wraps around, archived numbers are free."""
    taken = {task.number for task in state.tasks} if state is not None else set()
    if todo is not None:
        taken |= {task.number for task in todo.tasks if not task.bare or task.number in taken}
    return taken if state is not None and state.wraps else taken | archive.keys()


def find_next_number(counters: Iterable[int], taken: set[int], *, wraps: range = NO_WRAP) -> int:
    """Return the number of the next task."""
    return next(walk_free_numbers(counters, taken, wraps=wraps))


def walk_free_numbers(counters: Iterable[int], taken: set[int], *, wraps: range = NO_WRAP) -> Iterator[int]:
    """Yield the numbers of the next tasks: from the highest counter, or above all used numbers if that is higher.

    Numbers with too many digits for TODO.md are ignored. If the numbering wraps around, a higher number isn't a later
    one: the first counter counts (that of state.json), and after the last number come the lowest free ones.
    """
    given = [each for each in counters if each < TOO_HIGH]
    above = max((each for each in taken if each < TOO_HIGH), default=0) + 1
    if not wraps:
        return count(max([*given, *((above,) if taken or not given else ())]))
    start = given[0] if given else above
    start = start if start in wraps else wraps.start
    rest = range(max(above, wraps.stop), TOO_HIGH)  # used if every number of the range is taken
    numbers = chain(range(start, wraps.stop), range(wraps.start, start), rest)
    return (number for number in numbers if number not in taken)
