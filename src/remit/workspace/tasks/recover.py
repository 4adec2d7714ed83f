"""A state.json that is no JSON → one that is, with every task that was whole.

Owns what becomes of the parts of a broken file: which are tasks, which of two versions is kept, what TODO.md can give
back, and what is said about the rest. Nothing is dropped without a finding; the caller keeps the original.
Pure: bytes come in, a text and findings go out. Linear in the file.
"""

from __future__ import annotations

import codecs
import json
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from remit.errors import InputError
from remit.places import Lines
from remit.workspace.json_edit import walk_members
from remit.workspace.merge_conflicts import split_sides
from remit.workspace.tasks.archived import find_next_number
from remit.workspace.tasks.drift import part_left_out, taken_from_todo, task_cut_off, version_left_out
from remit.workspace.tasks.intake import read_fields
from remit.workspace.tasks.salvage import LIST_KEYS, NUMBER_TEXT, Part, render_container, render_part, salvage
from remit.workspace.tasks.state import (
    NEXT_KEY,
    NUMBER_KEY,
    NUMBERING_KEY,
    OPEN_LISTS,
    STATUS_KEY,
    read_number,
    read_numbering,
)
from remit.workspace.tasks.todo import parse_todo

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from remit.model import Finding, Place
    from remit.workspace.tasks.salvage import Salvaged

MAX_BYTES = 8 * 1024 * 1024
"""Of a broken file. Every value of it may have to be looked at alone, which takes far longer than reading JSON."""
MAX_BRACKETS = 500_000
"""An empty list is two characters of a text, and many times that in memory."""
_MAX_STRETCHES = 50
_MAX_FINDINGS = 500
_MAX_DOUBLED = 50_000
"""Values of objects that give a key twice, which are looked at one by one."""
_SHOWN = 40
_HOME = f'"{OPEN_LISTS[0]}"'
_NEXT = f'"{NEXT_KEY}"'
_WIDE = {"utf-16": (b"\xff\xfe", b"\xfe\xff"), "utf-32": (b"\xff\xfe\0\0", b"\0\0\xfe\xff")}


class Recovered(NamedTuple):
    """What was saved of a broken state.json."""

    text: str
    findings: tuple[Finding, ...]
    """What was left out, mended or taken from elsewhere; places are in the original."""
    told: tuple[str, ...]
    """What happened, in sentences."""


class _Item(NamedTuple):
    """An entry of a list of tasks; its number is None where it is no task."""

    number: int | None
    name: str
    word: str
    updated: str
    source: str
    part: Part
    lines: Lines
    """Of the text that the part was read from."""
    doubled: bool = False
    """It gives a key twice."""

    @property
    def span(self) -> tuple[Lines, int, int]:
        """Where it stands."""
        return self.lines, self.part.start, self.part.end


def recover_state(data: bytes, *, todo: str | None) -> Recovered:
    """Save what can be saved of a state.json. One that is JSON comes back as it is."""
    if len(data) > MAX_BYTES:
        raise _refuse_size(f"{MAX_BYTES:,} bytes")
    text, told = decode_state(data)
    if text.count("{") + text.count("[") > MAX_BRACKETS:
        raise _refuse_size(f"{MAX_BRACKETS:,} brackets")
    try:
        if _is_object(text):
            return Recovered(text, (), tuple(told))
        gathering = _Gathering()
        sides = split_sides(text, keep_lines=True) or (text,)
        if len(sides) > 1:
            told.append("the two sides of an unfinished merge were joined")
        for side in sides:
            gathering.take(Lines(side), salvage(side))
        gathering.fill_in(todo)
        found = gathering.finish(told)
        # Where one side was blotted out, empty lines are left; no string goes over the end of a line.
        return found if len(sides) == 1 else found._replace(text=_drop_empty_lines(found.text))
    except RecursionError:
        raise InputError("state.json is nested too deeply to be read", hint="restore it from git") from None


def _drop_empty_lines(text: str) -> str:
    return "\n".join([line for line in text.split("\n") if line.strip()]) + "\n"


def _refuse_size(limit: str) -> InputError:
    return InputError(
        f"state.json has more than {limit}, too many to be recovered piece by piece",
        hint="restore it from git, or cut it by hand to what is whole, then run: remit sync --repair",
    )


def decode_state(data: bytes) -> tuple[str, list[str]]:
    """The text of a file, whatever encoding it has, without the zeros that a crash left at its end."""
    told: list[str] = []
    encoding = next((name for name in ("utf-32", "utf-16") if data.startswith(_WIDE[name])), "")
    if not encoding:
        bare = data.strip(b"\0")
        if len(bare) < len(data) and b"\0" not in bare[:4]:
            told.append(f"{len(data) - len(bare):,} zero bytes were left out")
            data = bare
        encoding = json.detect_encoding(data)
    if encoding.startswith(("utf-16", "utf-32")):
        told.append(f"it was written as {encoding.upper()[:6]}, and is UTF-8 now")
    # The last character may have been cut in two; that half is no part of the text.
    text = codecs.getincrementaldecoder(encoding)("replace").decode(data)
    if "\ufffd" in text and "\ufffd".encode() not in data:
        told.append("bytes that are no text were replaced by \ufffd")
    return text.removeprefix("\ufeff").rstrip("\0"), told


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text, parse_constant=_refuse), dict)
    except (ValueError, RecursionError):
        return False


def _refuse(word: str) -> object:
    raise ValueError(word)


class _Gathering:
    """The state that is put together from the parts of a broken one."""

    def __init__(self) -> None:
        self.members: dict[str, str] = {}
        """Every member but the lists and the next number, as JSON, in the order of the file."""
        self.lists: dict[str, list[_Item | None]] = {}
        self.at: dict[tuple[int, str], tuple[str, int]] = {}
        """Where in the lists a task is, by number and name."""
        self.counters: list[int] = []
        self.lost: set[int] = set()
        self.findings: list[Finding] = []
        self.told: list[str] = []
        self.states, self.bare, self.copies, self.mended = 0, 0, 0, 0
        self.doubled, self.untold = 0, 0
        self.ended = True

    def take(self, lines: Lines, salvaged: Salvaged) -> None:
        """Take in the parts of one text."""
        for key, part in salvaged.parts:
            if key:
                self.take_member(lines, key, part)
            elif part.kind == "{" and self.is_state(part):
                self.states += 1
                self.ended = self.ended and lines.text[part.end - 1] == "}"
                for name, each in part.parts:
                    self.take_member(lines, name, each)
            else:
                for _, each in (("", part),) if part.kind == "{" else part.parts:
                    self.bare += 1
                    self.take_item(_HOME, read_item(lines, each))
        for start, end in salvaged.dropped[:_MAX_STRETCHES]:
            self.note(part_left_out, lines, start, end)
        if len(salvaged.dropped) > _MAX_STRETCHES:
            self.note(part_left_out, lines, salvaged.dropped[_MAX_STRETCHES][0], salvaged.dropped[-1][1])

    def note(self, tell: Callable[[Place], Finding], lines: Lines, start: int, end: int) -> None:
        """Say something about a stretch of a text; a great many of these are counted only."""
        if len(self.findings) < _MAX_FINDINGS:
            self.findings.append(tell(lines.locate(start, end)))
        else:
            self.untold += 1

    def is_state(self, part: Part) -> bool:
        """Whether an object is a state, or what is left of one, and not of a task."""
        keys = {key for key, _ in part.parts}
        task = bool(part.source) or NUMBER_TEXT in keys or '"project_name"' in keys
        return not task or not keys.isdisjoint({_NEXT, *LIST_KEYS})

    def take_member(self, lines: Lines, key: str, part: Part) -> None:
        if key in LIST_KEYS and part.kind == "[":
            self.lists.setdefault(key, [])
            self.members.setdefault(key, "")
            for _, each in part.parts:
                self.take_item(key, read_item(lines, each))
        elif key == _NEXT and (number := read_number(_load(part.source))) is not None:
            self.counters.append(number)
            self.members.setdefault(key, "")
        elif key not in LIST_KEYS or key not in self.lists:
            source = render_part(part, lines.text, 2)
            if self.members.get(key, source) != source:
                self.told.append(f"{key[1:-1][:60]} was given twice, and the last was kept")
            self.members[key] = source

    def take_item(self, home: str, item: _Item) -> None:
        """Take an entry of a list, unless what makes it a task was lost, or a newer version is there."""
        if item.part.lossy:
            whole = item.number is not None and bool(item.word)
            if item.number is not None:
                self.note(partial(task_cut_off, item.number, kept=whole), *item.span)
            if not whole:
                self.lost.update(() if item.number is None else (item.number,))
                self.note(part_left_out, *item.span)
                return
        self.mended += not item.part.source
        if item.doubled:
            item = self.drop_repeated(item)
        listed = self.lists.setdefault(home, [])
        self.members.setdefault(home, "")
        found = None if item.number is None else self.at.get((item.number, item.name))
        if found is None:
            if item.number is not None and item.name:
                self.at[item.number, item.name] = home, len(listed)
            listed.append(item)
        else:
            self.choose(item, home, found)

    def drop_repeated(self, item: _Item) -> _Item:
        """Say what an entry loses by giving a key twice, as two tasks do that a merge has made one."""
        self.doubled += item.source.count(":")
        if self.doubled > _MAX_DOUBLED:  # the rest stays as it is, with all that it says
            self.untold += 1
            return item
        part, repeated = _drop_repeated(item.lines.text, item.part)
        last = {str(_load(key)): render_part(each, item.lines.text, 4) for key, each in part.parts}
        values = {key: _load(source) for key, source in last.items()}
        for key, each in repeated:
            source = render_part(each, item.lines.text, 4)
            value = _load(source)
            if value != values[key]:
                kept, left = (f"{key[:_SHOWN]} {shown[:_SHOWN]}" for shown in (last[key], source))
                told = part_left_out if item.number is None else partial(version_left_out, item.number, kept, left)
                self.note(told, item.lines, each.start, each.end)
                number = read_number(value) if key == NUMBER_KEY else None
                self.lost.update(() if number is None else (number,))
        return item._replace(part=part, source=render_part(part, item.lines.text, 4))

    def choose(self, item: _Item, home: str, found: tuple[str, int]) -> None:
        """Keep the better of two versions of a task: the whole one, then the newer, then the later."""
        there, index = found
        other = self.lists[there][index]
        if other is None or item.number is None:
            return
        if item.source == other.source or _load(item.source) == _load(other.source):
            self.copies += 1
            return
        better = (not item.part.lossy, item.updated) >= (not other.part.lossy, other.updated)
        kept, left = (item, other) if better else (other, item)
        self.note(partial(version_left_out, item.number, kept.word, left.word), *left.span)
        if better and there == home:
            self.lists[there][index] = item
        elif better:
            self.lists[there][index] = None
            self.at[item.number, item.name] = home, len(self.lists[home])
            self.lists[home].append(item)

    def fill_in(self, todo: str | None) -> None:
        """Take from TODO.md the tasks and the fields that are not there any more, and the next number."""
        listed = parse_todo(todo or "")
        known = self.list_numbers()
        first = {task.number: task for task in reversed(listed.tasks) if not task.bare}
        fields = {task.number: each for task, each in read_fields(todo or "", first.values())}
        for items in self.lists.values():
            for index, item in enumerate(items):
                if item is not None and item.part.lossy and item.number in fields:
                    items[index] = _add_missing(item, fields[item.number])
        missing = [number for number in fields if number not in known]
        for number in missing:
            self.lists.setdefault(_HOME, []).append(_make_item(number, fields[number]))
            self.findings.append(taken_from_todo(first[number]))
        if missing:
            self.told.append(f"{_count(len(missing), 'task')} came back from TODO.md")
        if listed.next_number is not None:
            self.counters.append(listed.next_number.number)

    def list_numbers(self) -> set[int]:
        items = (item for each in self.lists.values() for item in each if item is not None)
        return {item.number for item in items if item.number is not None}

    def finish(self, told: list[str]) -> Recovered:
        known = self.list_numbers()
        wraps = read_numbering(_load(self.members.get(f'"{NUMBERING_KEY}"', "")))
        next_number = find_next_number(self.counters, known | self.lost, wraps=wraps)
        if next_number not in self.counters:
            self.told.append(f"the next number is {next_number}")
        lost = tuple(sorted(self.lost - known))
        told += self.tell()
        told.append(f"{_count(len(known), 'task')} are there" if len(known) != 1 else "1 task is there")
        if lost:
            told.append(f"lost: {', '.join(map(str, lost[:_MAX_STRETCHES]))}{' …' if lost[_MAX_STRETCHES:] else ''}")
        if self.untold:
            told.append(f"{self.untold:,} places more have lost something: compare with the original, which is kept")
        return Recovered(self.render(next_number), tuple(self.findings), tuple(told))

    def tell(self) -> list[str]:
        told = []
        if self.states > 1:
            told.append(f"{self.states} states stood in it, and were joined")
        if self.bare:
            told.append(f"{_count(self.bare, 'task')} stood outside of any list, and went to {OPEN_LISTS[0]}")
        if self.copies:
            told.append(f"{_count(self.copies, 'task')} stood in it twice, and were kept once")
        if not self.ended:
            told.append("its end was missing")
        if self.mended:
            told.append(f"brackets, commas or quotes were put right in {_count(self.mended, 'task')}")
        return told + self.told

    def render(self, next_number: int) -> str:
        order = [*([] if _NEXT in self.members else [_NEXT]), *self.members]
        order += [] if _HOME in order else [_HOME]
        lines = []
        for key in order:
            if key == _NEXT:
                value = str(next_number)
            elif key in self.lists or key == _HOME:
                items = [f"    {item.source}" for item in self.lists.get(key, ()) if item is not None]
                value = render_container("[]", items, 2) if items else "[]"
            else:
                value = self.members[key]
            lines.append(f"  {key}: {value}")
        return render_container("{}", lines, 0) + "\n"


def _load(source: str) -> object:
    value: object = json.loads(source) if source else None
    return value


class _Doubled(dict[str, object]):
    """An object that gives a key twice."""


def _join_pairs(pairs: list[tuple[str, object]]) -> dict[str, object]:
    value = dict(pairs)
    return value if len(value) == len(pairs) else _Doubled(value)


_PAIRS = json.JSONDecoder(object_pairs_hook=_join_pairs)


def read_item(lines: Lines, part: Part) -> _Item:
    """An entry of a list of tasks."""
    source = render_part(part, lines.text, 4)
    value = _PAIRS.decode(source)
    if not isinstance(value, dict):
        return _Item(None, "", "", "", source, part, lines)
    name = str(value.get("project_name") or value.get("title") or "")
    word = value.get(STATUS_KEY)
    word = word if isinstance(word, str) else ""
    updated = value.get("last_updated") or value.get("created")
    updated = updated if isinstance(updated, str) else ""
    doubled = isinstance(value, _Doubled)
    return _Item(read_number(value.get(NUMBER_KEY)), name, word, updated, source, part, lines, doubled)


def _drop_repeated(text: str, part: Part) -> tuple[Part, list[tuple[str, Part]]]:
    """An object with the last value of each key, as every reader takes it, and those that stood before it."""
    parts = part.parts
    if part.source:
        parts = tuple(
            (json.dumps(member.key), Part("", member.start, member.end, text[member.start : member.end]))
            for member in walk_members(text, part.start)
        )
    keys = [str(_load(key)) for key, _ in parts]
    last = {key: index for index, key in enumerate(keys)}
    kept = tuple(pair for index, pair in enumerate(parts) if last[keys[index]] == index)
    repeated = [(keys[index], each) for index, (_, each) in enumerate(parts) if last[keys[index]] != index]
    return part._replace(source="", parts=kept), repeated


def _add_missing(item: _Item, fields: Mapping[str, object]) -> _Item:
    """A task that has lost a part of itself, with the fields that TODO.md knows and it does not."""
    known = {key for key, _ in item.part.parts}
    # It was not called anything but its name before.
    wanted = {key: value for key, value in fields.items() if key != "title" or '"project_name"' not in known}
    given = {json.dumps(key): json.dumps(value, ensure_ascii=False) for key, value in wanted.items()}
    more = [(key, Part("", 0, 0, source)) for key, source in given.items() if key not in known]
    part = item.part._replace(parts=(*item.part.parts, *more))
    return item._replace(part=part, source=render_part(part, item.lines.text, 4))


def _make_item(number: int, fields: Mapping[str, object]) -> _Item:
    source = json.dumps(fields, indent=2, ensure_ascii=False).replace("\n", "\n    ")
    name, word = str(fields.get("project_name")), str(fields.get(STATUS_KEY))
    return _Item(number, name, word, "", source, Part("{", 0, 0, source), Lines(""))


def _count(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"
