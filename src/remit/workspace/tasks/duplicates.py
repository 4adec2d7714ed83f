"""Numbers that several tasks have: one keeps it, the others get the next free ones, in both files.

Owns who keeps a number after a merge of two branches that each took it, and what becomes of a task that stands in a
file twice. Pure: texts come in, texts and sentences go out.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from remit.workspace.tasks import state_edits, todo_edits
from remit.workspace.tasks.archived import find_next_number, list_taken
from remit.workspace.tasks.intake import make_name
from remit.workspace.tasks.state import parse_state
from remit.workspace.tasks.todo import parse_todo
from remit.workspace.tasks.values import read_marker

if TYPE_CHECKING:
    from collections.abc import Mapping

_ALIKE = 0.5
_STATUS = re.compile(r"[ \t]{0,8}(?:[-*+][ \t]{1,4})?\*\*Status(?:\*\*[ \t]{0,4}:|:\*\*)", re.IGNORECASE)
_SHOWN = 60
_MAX_SHARED = 50
"""A number that more tasks have than a merge could leave is no matter for a repair."""
_LATE = "9"  # above every date: a task that does not say when it was made is not the older one


class Parted(NamedTuple):
    """Both texts, each number given once, and what was done."""

    state: str
    todo: str
    told: tuple[str, ...]


class _Owner(NamedTuple):
    """A task of state.json that had a number which others had too, and the number it has now."""

    name: str
    number: int


def part_numbers(state: str, todo: str, archive: Mapping[int, str]) -> Parted:
    """Give each task a number of its own. Where no number is given twice, both texts stay as they are."""
    work = _Parting(state, todo, archive)
    for number in work.find_shared():
        work.join_copies(number)
        work.join_sections(number)
        owners = work.part_in_state(number)
        work.part_in_todo(number, owners)
    return Parted(work.state, work.todo, tuple(work.told))


class _Parting:
    """Both texts while numbers are given out."""

    def __init__(self, state: str, todo: str, archive: Mapping[int, str]) -> None:
        self.state = state
        self.todo = todo
        self.told: list[str] = []
        known, listed = parse_state(state), parse_todo(todo)
        self.wraps = known.wraps
        self.taken = list_taken(known, listed, archive)
        self.counters = [each.next_number.number for each in (known, listed) if each.next_number is not None]

    def find_shared(self) -> list[int]:
        known = Counter(task.number for task in parse_state(self.state).tasks)
        listed = Counter(task.number for task in parse_todo(self.todo).tasks if not task.bare)
        shared = {number for counts in (known, listed) for number, times in counts.items() if times > 1}
        return sorted(number for number in shared if max(known[number], listed[number]) <= _MAX_SHARED)

    def take_number(self) -> int:
        number = find_next_number(self.counters, self.taken, wraps=self.wraps)
        self.taken.add(number)
        return number

    def list_sections(self, number: int) -> list[todo_edits.Entry]:
        return [entry for entry in todo_edits.find_tasks(self.todo, number) if not entry.bare]

    def join_copies(self, number: int) -> None:
        """Of a task that stands in state.json twice one copy goes; what only that one says comes to the other."""
        while (pair := _find_copies(state_edits.find_tasks(self.state, number))) is not None:
            kept, copy = pair
            missing = {key: value for key, value in copy.value.items() if key not in kept.value}
            different = any(kept.value.get(key) != value for key, value in copy.value.items())
            at = [entry.start for entry in state_edits.find_tasks(self.state, number)].index(copy.start)
            if missing:
                self.state = state_edits.set_fields(self.state, kept, missing)
            again = state_edits.find_tasks(self.state, number)[at]
            self.state, _ = state_edits.remove_task(self.state, again)
            how = f"they were joined, and {_tell(kept)} was kept as the newer" if different else "one copy was removed"
            self.told.append(f"task {number} stood in state.json twice ({_tell(kept)}, {_tell(copy)}): {how}")

    def join_sections(self, number: int) -> None:
        """Of a section that stands in TODO.md twice, with one status or two, one goes."""
        while (pair := self._find_same_sections(number)) is not None:
            markers = {str(entry.value.get("status") or "") for entry in state_edits.find_tasks(self.state, number)}
            words = [self._read_status(section) for section in pair]
            follows = [read_marker(word) in map(read_marker, markers) for word in words]
            copy = 0 if follows == [False, True] else 1
            self.todo, _ = todo_edits.remove_task(self.todo, pair[copy])
            how = "word for word" if words[0] == words[1] else f"[{words[1 - copy]}] was kept, [{words[copy]}] was not"
            self.told.append(f"task {number} stood in TODO.md twice: one copy was removed ({how})")

    def _find_same_sections(self, number: int) -> tuple[todo_edits.Entry, todo_edits.Entry] | None:
        """Two sections that are one task, and differ in its status at most."""
        seen: dict[tuple[str, ...], todo_edits.Entry] = {}
        for entry in self.list_sections(number):
            lines = self.todo[entry.start : entry.end].rstrip("- \t\r\n").split("\n")
            words = tuple(" ".join(line.split()) for line in lines if line.strip() and not _STATUS.match(line))
            if words in seen:
                return seen[words], entry
            seen[words] = entry
        return None

    def _read_status(self, entry: todo_edits.Entry) -> str:
        return parse_todo(self.todo[entry.start : entry.end]).tasks[0].word

    def part_in_state(self, number: int) -> list[_Owner]:
        """The older task keeps its number, or the first. The owner of the number comes first."""
        entries = state_edits.find_tasks(self.state, number)
        if not entries:
            return []
        keeper = min(range(len(entries)), key=lambda at: (str(entries[at].value.get("created") or _LATE), at))
        owners = [_Owner(_name(entries[keeper]), number)]
        names = [_name(entry) for entry in entries]
        for name in names[:keeper] + names[keeper + 1 :]:
            entry = next(each for each in state_edits.find_tasks(self.state, number) if _name(each) == name)
            new = self.take_number()
            self.state = state_edits.renumber(self.state, entry, new)
            owners.append(_Owner(name, new))
            self.told.append(
                f"number {number} was given to {owners[0].name[:_SHOWN]!r}, which keeps it as the older one or the "
                f"first, and to {name[:_SHOWN]!r}, which is {new} now in state.json"
            )
        return owners

    def part_in_todo(self, number: int, owners: list[_Owner]) -> None:
        """Each section follows its task of state.json; one without a task gets a number of its own."""
        titles = [entry.title for entry in self.list_sections(number)]
        wanted = _match(titles, owners)
        names = {make_name(title) for title, new in zip(titles, wanted, strict=True) if new is not None}
        if number not in wanted and None in wanted:
            wanted[wanted.index(None)] = number
            names.add(make_name(titles[wanted.index(number)]))
        kept = 0  # sections that keep the number, before the one that is looked at
        for title, given in zip(titles, wanted, strict=True):
            if given is None and make_name(title) in names:
                kept += 1  # the same task in other words: for a person
                continue
            new = self.take_number() if given is None else given
            if new == number:
                kept += 1
                continue
            self.todo = todo_edits.renumber(self.todo, self.list_sections(number)[kept], new)
            self.told.append(f"{title[:_SHOWN]!r} had number {number} in TODO.md too, and is {new} now")


def _find_copies(entries: tuple[state_edits.Entry, ...]) -> tuple[state_edits.Entry, state_edits.Entry] | None:
    """Two entries that are one task: the one to keep, and its copy."""
    for at, entry in enumerate(entries):
        for other in entries[at + 1 :]:
            if _name(entry) == _name(other):
                newer = (_updated(other), other.closed) > (_updated(entry), entry.closed)
                return (other, entry) if newer and entry.value != other.value else (entry, other)
    return None


def _name(entry: state_edits.Entry) -> str:
    return str(entry.value.get("project_name") or entry.value.get("title") or "")


def _updated(entry: state_edits.Entry) -> str:
    return str(entry.value.get("last_updated") or entry.value.get("created") or "")


def _tell(entry: state_edits.Entry) -> str:
    return str(entry.value.get("status") or ("completed" if entry.closed else "no status"))[:_SHOWN]


def _match(titles: list[str], owners: list[_Owner]) -> list[int | None]:
    """The number of the task that each title belongs to; the most alike are matched first, each task once."""
    pairs = sorted(
        (
            (_compare(title, owner.name), at, which)
            for at, title in enumerate(titles)
            for which, owner in enumerate(owners)
        ),
        key=lambda pair: (-pair[0], pair[1:]),
    )
    found: list[int | None] = [None] * len(titles)
    used = set()
    for likeness, at, which in pairs:
        if likeness >= _ALIKE and found[at] is None and which not in used:
            found[at] = owners[which].number
            used.add(which)
    return found


def _compare(title: str, name: str) -> float:
    """How many of the words are in both: 1 where all are."""
    ours, theirs = set(make_name(title).split("_")), set(make_name(name).split("_"))
    return 2 * len(ours & theirs) / (len(ours) + len(theirs))
