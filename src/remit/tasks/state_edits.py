"""Edit state.json as text, and keep its layout: tasks, their fields, the next number. No side effects.

An edit changes only its own values. Unknown keys, order, indentation, line ends, the spelling of other values and
duplicate keys stay as they are. Edits are idempotent: setting an existing value returns the same text.

A task is given by its number or, if the number isn't unique, by the `StateEntry` from `find_tasks`, which is valid only
for the text it was found in. `StateEdits` and the functions that end in `_tasks` change many tasks in one pass.
"""

from __future__ import annotations

import json
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from remit.errors import InputError, UsageError
from remit.storage.json_edit import (
    REMOVE,
    Member,
    RawJson,
    TextChange,
    add_items,
    apply,
    remember,
    remove_parts,
    same,
    set_members,
    skip_space,
    walk_items,
    walk_members,
)
from remit.tasks.state import (
    CLOSED_LISTS,
    NEXT_KEY,
    NUMBER_KEY,
    OPEN_LISTS,
    STATUS_KEY,
    load_json,
    parse_state,
    read_number,
)
from remit.tasks.task import read_marker, spell_marker

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from remit.tasks.task import Linked

_LISTS = (*OPEN_LISTS, *CLOSED_LISTS)
_HOME = OPEN_LISTS[0]
_DATE_LENGTH = len("2026-01-02")
_MAX_SPELLINGS = 32


class StateEntry(NamedTuple):
    """A task in the text of a state.json: its value, its list and its position."""

    number: int
    value: dict[str, Any]
    home: str
    start: int
    end: int

    @property
    def closed(self) -> bool:
        """True if it is in completed_projects."""
        return self.home in CLOSED_LISTS


def render_empty_state(next_number: int = 1) -> str:
    """Return a state.json without tasks."""
    return json.dumps({NEXT_KEY: next_number, _HOME: [], CLOSED_LISTS[0]: []}, indent=2) + "\n"


def find_task(text: str, number: int) -> StateEntry:
    """Return the task with a number, an active one first. Raise `UsageError` if there is none, or more than one."""
    found = find_tasks(text, number)
    chosen = [entry for entry in found if not entry.closed] or list(found[-1:])
    if not chosen:
        raise UsageError(f"there is no task {number} in state.json", hint="list the tasks with: remit task list")
    if len(chosen) > 1:
        raise UsageError(
            f"{len(chosen)} tasks in state.json have the number {number}",
            hint="give one of them a new number with: remit task sync --repair",
        )
    return chosen[0]


def find_tasks(text: str, number: int) -> tuple[StateEntry, ...]:
    """Return every task with a number, in the order of the file."""
    return tuple(entry for entry in list_tasks(text) if entry.number == number)


@remember
def _load(text: str) -> dict[str, Any]:
    """Return the whole file as a value, which must not be changed. Cached: a command loads the same text many times."""
    try:
        value = load_json(text)
    except (ValueError, RecursionError):
        broken = parse_state(text).broken
        raise InputError(
            broken.message if broken is not None else "state.json can't be parsed",
            hint="see where it breaks with: remit task sync --check",
        ) from None
    if not isinstance(value, dict):
        raise InputError("state.json isn't a JSON object", hint="make it an object with active_projects")
    return value


def _list(value: dict[str, Any], home: str) -> list[Any]:
    found = value.get(home)
    return found if isinstance(found, list) else []


def _number(item: object) -> int | None:
    return read_number(item.get(NUMBER_KEY)) if isinstance(item, dict) else None


@remember
def list_tasks(text: str) -> tuple[StateEntry, ...]:
    """Return every task, in the order of the file."""
    _load(text)
    numbered = (
        (home, item, _number(item.value)) for home in _walk_lists(text) for item in walk_items(text, home.start)
    )
    return tuple(
        StateEntry(number, item.value, home.key, item.start, item.end)
        for home, item, number in numbered
        if number is not None
    )


def _walk_lists(text: str) -> Iterator[Member]:
    """Yield the lists of tasks, also those with a duplicate key."""
    for member in walk_members(text, _find_top(text)):
        if member.key in _LISTS and isinstance(member.value, list):
            yield member


def _find_top(text: str) -> int:
    return skip_space(text, 1 if text.startswith("\ufeff") else 0)


class StateEdits:
    """Changes to many tasks, computed from one parse of the text and applied in one pass."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._changes: list[TextChange] = []
        self._gone: set[int] = set()

    def set_fields(self, entry: StateEntry, fields: Mapping[str, object]) -> bool:
        """Set fields of a task; return whether that changes it. Set each field once, and all new fields together."""
        changes = _set_members(self.text, entry.start, fields)
        self._changes += changes
        return bool(changes)

    def set_status(self, entry: StateEntry, marker: str) -> bool:
        """Set the status of a task, in the spelling of the file."""
        return self.set_fields(entry, _want_status(self.text, entry, marker))

    def remove(self, entry: StateEntry) -> None:
        """Remove a task from the file."""
        self._gone.add(entry.start)

    def apply(self) -> str:
        """Return the text with all changes."""
        changes = [*self._changes, *self._cut_gone()]
        return apply(self.text, changes) if changes else self.text

    def _cut_gone(self) -> Iterator[TextChange]:
        for home in _walk_lists(self.text) if self._gone else ():
            items = list(walk_items(self.text, home.start))
            gone = [index for index, item in enumerate(items) if item.start in self._gone]
            if items and len(gone) == len(items):
                yield TextChange(home.start + 1, home.end - 1, "")
            else:
                yield from remove_parts(self.text, items, gone)


def set_fields(text: str, task: int | StateEntry, fields: Mapping[str, object], *, now: str = "") -> str:
    """Set fields of a task, or remove them (`REMOVE`). New fields are appended.

    `now` is the time as `2026-01-02T03:04:05Z`. If given and anything changes, existing `last_updated` fields of the
    task and the file are updated in their own format.
    """
    entry = _resolve(text, task)
    changes = _set_members(text, entry.start, fields)
    if not changes:
        return text
    old = entry.value.get("last_updated")
    if now and old is not None and "last_updated" not in fields:
        changes = _set_members(text, entry.start, {**fields, "last_updated": render_stamp(old, now)})
    return apply(text, [*changes, *_change_stamps(text, now)])


def set_status(
    text: str, task: int | StateEntry, marker: str, fields: Mapping[str, object] | None = None, *, now: str = ""
) -> str:
    """Set the status of a task, in the spelling of the file, together with other fields."""
    entry = _resolve(text, task)
    return set_fields(text, entry, {**_want_status(text, entry, marker), **(fields or {})}, now=now)


def _want_status(text: str, entry: StateEntry, marker: str) -> dict[str, object]:
    """Return the field that gives a task a marker; none if it has this marker."""
    word = str(entry.value.get(STATUS_KEY) or "")
    return {} if read_marker(word) == marker else {STATUS_KEY: spell_status(text, marker, word)}


def spell_status(text: str, marker: str, word: str = "") -> str:
    """Return a marker in the spelling of the file: like `word` (the task's current status), else like other tasks."""
    return spell_marker(marker, (word, *_list_spellings(text), "not_started"))


@remember
def _list_spellings(text: str) -> tuple[str, ...]:
    """Return the distinct statuses of the file, at most as many as could be markers."""
    value = _load(text)
    words = (item.get(STATUS_KEY) for home in _LISTS for item in _list(value, home) if isinstance(item, dict))
    return tuple(islice(dict.fromkeys(each for each in words if isinstance(each, str)), _MAX_SPELLINGS))


def add_link(
    text: str, task: int | StateEntry, link: Linked, fields: Mapping[str, object] | None = None, *, now: str = ""
) -> str:  # fmt: skip
    """Add a file to the artifacts of a task, if it is missing there; a plan becomes the task's plan.

    `fields` describe the artifact. A list of plain paths stays a list of paths.
    """
    entry = _resolve(text, task)
    listed = entry.value.get("artifacts")
    artifacts = listed if isinstance(listed, list) else []
    paths = [each.get("path") if isinstance(each, dict) else each for each in artifacts]
    if link.path not in paths:
        item = {"path": link.path, "type": link.kind, **{key: value for key, value in (fields or {}).items() if value}}
        is_plain = bool(artifacts) and all(isinstance(each, str) for each in artifacts)
        text = append_to_list(text, entry, "artifacts", link.path if is_plain else item, now=now)
    return set_fields(text, entry.number, {"plan_path": link.path}, now=now) if link.kind == "plan" else text


def append_to_list(text: str, task: int | StateEntry, key: str, value: object, *, now: str = "") -> str:
    """Add a value to a list of a task (artifacts, linkedResearch), if it is missing. Create the list if needed."""
    entry = _resolve(text, task)
    listed = entry.value.get(key)
    if not listed and listed in (None, []):
        return set_fields(text, entry, {key: [value]}, now=now)
    if not isinstance(listed, list):
        raise InputError(f"{key} of task {entry.number} in state.json isn't a list", hint="make it a list")
    if any(same(each, value) for each in listed):
        return text
    member = {each.key: each for each in walk_members(text, entry.start)}[key]
    added = add_items(text, member.start, [*walk_items(text, member.start)], [value])
    stamp = {"last_updated": render_stamp(entry.value["last_updated"], now)} if "last_updated" in entry.value else {}
    stamps = _set_members(text, entry.start, stamp) if now else []
    return apply(text, [added, *stamps, *_change_stamps(text, now)])


def set_next_number(text: str, number: int, *, now: str = "") -> str:
    """Set the number of the next task."""
    if read_number(_load(text).get(NEXT_KEY)) == number:
        return text
    return apply(text, [*_change_top(text, {NEXT_KEY: number}), *_change_stamps(text, now)])


def set_file_fields(text: str, fields: Mapping[str, object]) -> str:
    """Set top-level members of the file."""
    return apply(text, _change_top(text, fields)) if fields else text


def add_task(text: str, fields: Mapping[str, object], *, next_number: int | None = None, now: str = "") -> str:
    """Add an active task first or last, wherever the file has the newest one, and set the next number.

    `fields` includes its number. With `now`, `created` and `last_updated` are added in the format of other tasks.
    """
    value = _load(text)
    others = [item for item in _list(value, _HOME) if isinstance(item, dict)]
    stamps: dict[str, object] = {}
    for key in ("created", "last_updated") if now else ():
        stamps[key] = render_stamp(next((item[key] for item in others if item.get(key)), ""), now)
    wanted = {NEXT_KEY: next_number} if next_number not in (None, read_number(value.get(NEXT_KEY))) else {}
    return _insert(text, _HOME, [{**fields, **{k: v for k, v in stamps.items() if k not in fields}}], wanted, now)


def add_tasks(text: str, tasks: Sequence[Mapping[str, object]]) -> str:
    """Add active tasks first or last, wherever the file has the newest one, in the order of their numbers."""
    return _insert(text, _HOME, tasks) if tasks else text


def insert_tasks(text: str, objects: Sequence[RawJson], *, home: str = CLOSED_LISTS[0], now: str = "") -> str:
    """Insert tasks that were removed elsewhere into a list, word for word, in the order of their numbers."""
    return _insert(text, home, objects, now=now) if objects else text


def remove_tasks(text: str, entries: Sequence[StateEntry], *, now: str = "") -> tuple[str, list[RawJson]]:
    """Remove tasks from the file. Return the text without them, and the text of each task."""
    edits = StateEdits(text)
    for entry in entries:
        edits.remove(entry)
    rest = edits.apply()
    stamps = _change_stamps(rest, now) if entries else []
    return apply(rest, stamps) if stamps else rest, [RawJson(text[entry.start : entry.end]) for entry in entries]


def move_tasks(text: str, entries: Sequence[StateEntry], *, home: str = CLOSED_LISTS[0], now: str = "") -> str:
    """Move tasks to a list, word for word, in the order of their numbers."""
    rest, removed = remove_tasks(text, entries)
    return insert_tasks(rest, removed, home=home, now=now)


def _resolve(text: str, task: int | StateEntry) -> StateEntry:
    return task if isinstance(task, StateEntry) else find_task(text, task)


def render_stamp(old: object, now: str) -> str:
    """Return a time in the format of another: a date only, an offset instead of Z, or unchanged."""
    shape = old if isinstance(old, str) else ""
    if len(shape) == _DATE_LENGTH:
        return now[:_DATE_LENGTH]
    return now.removesuffix("Z") + "+00:00" if shape.endswith("+00:00") else now


def _change_stamps(text: str, now: str) -> list[TextChange]:
    """Return the changes that update the file's own time of last change, if it has one."""
    value = _load(text)
    known = [key for key in ("_last_updated", "last_updated") if isinstance(value.get(key), str)]
    return _change_top(text, {key: render_stamp(value[key], now) for key in known}) if now and known else []


def _change_top(text: str, fields: Mapping[str, object]) -> list[TextChange]:
    """Return the changes that set top-level members."""
    return _set_members(text, _find_top(text), fields)


def _set_members(text: str, start: int, fields: Mapping[str, object]) -> list[TextChange]:
    """Return the changes that set members. A number that the file writes as a string stays a string."""
    known = {each.key: each for each in walk_members(text, start)} if {NUMBER_KEY, NEXT_KEY} & fields.keys() else {}
    spelled = {key: _spell_number(known[key], value) if key in known else value for key, value in fields.items()}
    return set_members(text, start, spelled)


def _spell_number(member: Member, value: object) -> object:
    if member.key not in (NUMBER_KEY, NEXT_KEY) or not isinstance(member.value, str) or value is REMOVE:
        return value
    return member.value if read_number(member.value) == value else str(value)


def _insert(
    text: str,
    home: str,
    new: Sequence[Mapping[str, object] | RawJson],
    top: Mapping[str, object] | None = None,
    now: str = "",
) -> str:
    """Insert tasks into a list, and set top-level members."""
    listed = _load(text).get(home)
    if listed is not None and not isinstance(listed, list):
        raise InputError(
            f"{home} in state.json isn't a list",
            hint="make it a list of tasks by hand, such as [], then run the command again",
        )
    if not listed:
        begun = apply(text, [*_change_top(text, {home: [new[0]], **(top or {})}), *_change_stamps(text, now)])
        return _insert(begun, home, new[1:]) if new[1:] else begun
    (*_, start) = (member.start for member in walk_members(text, _find_top(text)) if member.key == home)
    items = list(walk_items(text, start))
    change = add_items(text, start, items, new, first=_newest_first(listed))
    return apply(text, [change, *_change_top(text, top or {}), *_change_stamps(text, now)])


def _newest_first(listed: list[Any]) -> bool:
    numbers = [number for number in map(_number, listed) if number is not None]
    return len(numbers) > 1 and numbers[0] == max(numbers)
