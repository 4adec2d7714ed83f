"""Duplicate task numbers: the oldest task keeps its number, later ones get the next free numbers in both files.

This happens after a merge of two branches that each used a number. Two copies of one task in a file are joined. No
side effects: texts come in, texts and sentences go out. All changes are computed from one parse of both texts.
"""

from __future__ import annotations

import re
from functools import cached_property
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

from remit.tasks import state_edits, todo_edits
from remit.tasks.drift import list_words
from remit.tasks.state import NUMBER_KEY, list_taken, parse_state, walk_free_numbers
from remit.tasks.task import TOO_HIGH, read_marker
from remit.tasks.todo import make_name, parse_todo

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

NO_FOLDERS: Mapping[int, list[str]] = {}

_STATUS = re.compile(r"[ \t]{0,8}(?:[-*+][ \t]{1,4})?\*\*Status(?:\*\*[ \t]{0,4}:|:\*\*)", re.IGNORECASE)
_SHOWN = 60
_MAX_NAMED = 3
_MAX_SHARED = 50
"""A number with more tasks than this doesn't come from a merge, and isn't repaired."""
_DATES = ("created", "created_at", "added")
_LATE = "9"  # sorts after every date: a task without a date isn't the older one


class SplitNumbers(NamedTuple):
    """Both texts with unique numbers, and what changed."""

    state: str
    todo: str
    done: tuple[str, ...]
    renumbered: tuple[Renumbered, ...] = ()
    has_dropped: bool = False
    """True if a value of state.json is lost: two versions of a task had different values."""


class Renumbered(NamedTuple):
    """A task that got a new number."""

    name: str
    old: int
    new: int


class _Owner(NamedTuple):
    """A task with a duplicate number: its entry in state.json and its section in TODO.md, if it has them."""

    entry: state_edits.StateEntry | None
    section: todo_edits.TodoSection | None

    @property
    def name(self) -> str:
        """The name of the task."""
        if self.entry is not None:
            return _name(self.entry)
        return "" if self.section is None else self.section.title


def split_numbers(
    state: str, todo: str, archive: Mapping[int, str], folders: Mapping[int, list[str]] = NO_FOLDERS
) -> SplitNumbers:
    """Give each task a unique number. Without duplicates, both texts stay as they are.

    `folders` has the folders of tasks by number. They aren't renamed: a folder stays with the task that keeps its
    number.
    """
    split = _NumberSplit(state, todo, archive, folders)
    for number in split.find_shared():
        entries = split.join_entries(number)
        sections = split.join_sections(number, entries)
        split.renumber(number, entries, sections)
    for number in split.find_repeated():
        split.remove_headings(number)
    return SplitNumbers(
        split.state.apply(), split.todo.apply(), tuple(split.done), tuple(split.renumbered), split.has_dropped
    )


def describe_entries(task: Renumbered, ids: Sequence[str]) -> str:
    """Return a sentence about the findings that name the old number of a task, and how to change them."""
    some = ", ".join(repr(each[:_SHOWN]) for each in ids[:_MAX_NAMED])
    more = f" and {len(ids) - _MAX_NAMED} more" if len(ids) > _MAX_NAMED else ""
    return (
        f"findings that name task {task.old} were not changed ({some}{more}): if they mean {task.name[:_SHOWN]!r}, "
        f"run remit task link {task.new} FINDING, and correct linked_tasks by hand"
    )


class _NumberSplit:
    """Both texts while duplicate numbers are resolved."""

    def __init__(self, state: str, todo: str, archive: Mapping[int, str], folders: Mapping[int, list[str]]) -> None:
        self.state = state_edits.StateEdits(state)
        self.todo = todo_edits.TodoEdits(todo)
        self.archive = archive
        self.folders = folders
        self.renumbered: list[Renumbered] = []
        self.has_dropped = False
        self.done: list[str] = []
        self.entries: dict[int, list[state_edits.StateEntry]] = {}
        self.sections: dict[int, list[todo_edits.TodoSection]] = {}
        for entry in state_edits.list_tasks(state):
            self.entries.setdefault(entry.number, []).append(entry)
        for section in todo_edits.list_tasks(todo):
            self.sections.setdefault(section.number, []).append(section)

    def find_shared(self) -> list[int]:
        """Return the numbers that several tasks of a file have."""
        shared = []
        for number in self.entries | self.sections:
            times = max(len(self.entries.get(number, ())), len(self.list_sections(number)))
            if 1 < times <= _MAX_SHARED:
                shared.append(number)
        return sorted(shared)

    def find_repeated(self) -> list[int]:
        """Return the numbers of tasks with a second heading that has no fields below it."""
        known = ((number, self.sections.get(number, ())) for number in self.entries)
        return sorted(number for number, found in known if len(found) > 1 and any(each.bare for each in found))

    @cached_property
    def numbers(self) -> Iterator[int]:
        """The free numbers that fit into TODO.md, in ascending order."""
        known, listed = parse_state(self.state.text), parse_todo(self.todo.text)
        taken = list_taken(known, listed, self.archive) | (self.folders.keys() if known.wraps else set())
        counters = [each.next_number.number for each in (known, listed) if each.next_number is not None]
        free = walk_free_numbers(counters, taken, wraps=known.wraps)
        return takewhile(lambda number: number < TOO_HIGH, free)

    def list_sections(self, number: int) -> list[todo_edits.TodoSection]:
        """Return the sections of a number in TODO.md that are more than a heading."""
        return [section for section in self.sections.get(number, ()) if not section.bare]

    def join_entries(self, number: int) -> list[state_edits.StateEntry]:
        """Remove one of two copies of a task in state.json, after copying the fields that only this copy has."""
        kept: dict[str, state_edits.StateEntry] = {}
        for entry in self.entries.get(number, ()):
            other = kept.setdefault(_name(entry), entry)
            if other is not entry:
                kept[_name(entry)] = self._join(other, entry)
        found = {entry.start: entry for entry in self.entries.get(number, ())}
        for entry in kept.values():
            self.state.set_fields(entry, {k: v for k, v in entry.value.items() if k not in found[entry.start].value})
        return sorted(kept.values(), key=lambda entry: entry.start)

    def _join(self, first: state_edits.StateEntry, second: state_edits.StateEntry) -> state_edits.StateEntry:
        newer = (_read_update(second), second.closed) > (_read_update(first), first.closed)
        kept, copy = (second, first) if newer and first.value != second.value else (first, second)
        different = any(kept.value.get(key) != value for key, value in copy.value.items())
        self.has_dropped |= different
        self.state.remove(copy)
        how = f"joined them, and kept {_describe_entry(kept)} as the newer one" if different else "removed one copy"
        self.done.append(
            f"task {kept.number} was in state.json twice ({_describe_entry(kept)}, {_describe_entry(copy)}): {how}"
        )
        return kept._replace(value={**kept.value, **{k: v for k, v in copy.value.items() if k not in kept.value}})

    def join_sections(self, number: int, entries: list[state_edits.StateEntry]) -> list[todo_edits.TodoSection]:
        """Remove one of two copies of a section in TODO.md that differ at most in their status."""
        markers = {read_marker(str(entry.value.get("status") or "")) for entry in entries}
        kept: dict[tuple[str, ...], todo_edits.TodoSection] = {}
        for section in self.list_sections(number):
            words = self._read_words(section)
            pair = kept.setdefault(words, section), section
            if pair[0] is section:
                continue
            statuses = [self._read_status(each) for each in pair]
            copy = 0 if [read_marker(word) in markers for word in statuses] == [False, True] else 1
            kept[words] = pair[1 - copy]
            self.todo.remove(pair[copy])
            changed = f"kept [{statuses[1 - copy]}], not [{statuses[copy]}]"
            how = "they were identical" if statuses[0] == statuses[1] else changed
            self.done.append(f"task {number} was in TODO.md twice: removed one copy ({how})")
        return sorted(kept.values(), key=lambda section: section.start)

    def _read_words(self, section: todo_edits.TodoSection) -> tuple[str, ...]:
        """Return the normalized lines of a section without its status."""
        lines = self.todo.text[section.start : section.end].rstrip("- \t\r\n").split("\n")
        return tuple(" ".join(line.split()) for line in lines if line.strip() and not _STATUS.match(line))

    def _read_status(self, section: todo_edits.TodoSection) -> str:
        return parse_todo(self.todo.text[section.start : section.end]).tasks[0].word

    def renumber(
        self, number: int, entries: Sequence[state_edits.StateEntry], sections: Sequence[todo_edits.TodoSection]
    ) -> None:
        """Let the oldest task keep the number, and give the others new numbers in both files."""
        owners = self._find_owners(entries, sections)
        keeper = owners[0].name[:_SHOWN] if owners else ""
        for owner, new in zip(owners[1:], self.numbers, strict=False):
            name, files = owner.name[:_SHOWN], []
            if owner.entry is not None:
                self.state.set_fields(owner.entry, {NUMBER_KEY: new})
                files.append("state.json")
            if owner.section is not None:
                self.todo.renumber(owner.section, new)
                files.append("TODO.md")
            self.renumbered.append(Renumbered(owner.name, number, new))
            self.done.append(
                f"two tasks had number {number}: {keeper!r} keeps it, and the later {name!r} is now {new} in "
                f"{' and '.join(files)}"
            )
            self.done += [
                f"the folder {folder!r} stays with {keeper!r}: if it has files of {name!r}, move them to a folder "
                f"with number {new}, and correct the paths that name them"
                for folder in self.folders.get(number, ())
            ]

    def _find_owners(
        self, entries: Sequence[state_edits.StateEntry], sections: Sequence[todo_edits.TodoSection]
    ) -> list[_Owner]:
        """Return the tasks with one number, oldest first: those of state.json with their sections, then the rest.

        A task's section is the one with its name, or else the first whose title shares a word with it.
        """
        left = sorted(sections, key=self._read_date)
        found: dict[int, todo_edits.TodoSection] = {}
        ordered = sorted(entries, key=lambda entry: (_read_date(entry), entry.start))
        for is_alike in (_has_name, _shares_word):
            for entry in ordered:
                alike = (each for each in left if entry.start not in found and is_alike(entry, each))
                section = next(alike, None)
                if section is not None:
                    found[entry.start] = section
                    left.remove(section)
        # The section has the same number. If it is another task, check_drift reports SYN020.
        if ordered and left and ordered[0].start not in found:
            found[ordered[0].start] = left.pop(0)
        names = {make_name(section.title) for section in found.values()}
        alone = [section for section in left if make_name(section.title) not in names]  # the user decides the others
        return [_Owner(each, found.get(each.start)) for each in ordered] + [_Owner(None, each) for each in alone]

    def _read_date(self, section: todo_edits.TodoSection) -> tuple[str, int]:
        field = self.todo.find_field(section, "created")
        return (field.value if field is not None else "") or _LATE, section.start

    def remove_headings(self, number: int) -> None:
        """Remove headings of a task with nothing below them, if another section has the same title."""
        sections = sorted(self.sections[number], key=lambda section: section.bare)
        titles = {make_name(section.title): section for section in reversed(sections)}
        for section in sections:
            if section.bare and len(self._read_words(section)) == 1 and titles[make_name(section.title)] is not section:
                self.todo.remove(section)
                self.done.append(f"removed a second, empty heading of task {number} from TODO.md")


def _name(entry: state_edits.StateEntry) -> str:
    return str(entry.value.get("project_name") or entry.value.get("title") or "")


def _read_date(entry: state_edits.StateEntry) -> str:
    """Return the date when a task was created."""
    return next((str(entry.value[key]) for key in _DATES if entry.value.get(key)), _LATE)


def _read_update(entry: state_edits.StateEntry) -> str:
    return str(entry.value.get("last_updated") or entry.value.get("created") or "")


def _describe_entry(entry: state_edits.StateEntry) -> str:
    return str(entry.value.get("status") or ("completed" if entry.closed else "no status"))[:_SHOWN]


def _list_names(entry: state_edits.StateEntry) -> list[str]:
    return [str(entry.value[key]) for key in ("title", "project_name") if entry.value.get(key)]


def _has_name(entry: state_edits.StateEntry, section: todo_edits.TodoSection) -> bool:
    return make_name(section.title) in map(make_name, _list_names(entry))


def _shares_word(entry: state_edits.StateEntry, section: todo_edits.TodoSection) -> bool:
    words = list_words(section.title)
    return any(not words.isdisjoint(list_words(name)) for name in _list_names(entry))
