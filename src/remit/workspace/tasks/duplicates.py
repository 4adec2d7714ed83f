"""Numbers that several tasks have: one keeps it, the others get the next free ones, in both files.

Owns who keeps a number after a merge of two branches that each took it, and what becomes of a task that stands in a
file twice. Pure: texts come in, texts and sentences go out. Every change is worked out from one reading of the two.
"""

from __future__ import annotations

import re
from functools import cached_property
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

from remit.workspace.tasks import state_edits, todo_edits
from remit.workspace.tasks.archived import list_taken, walk_free_numbers
from remit.workspace.tasks.intake import make_name
from remit.workspace.tasks.state import NUMBER_KEY, parse_state
from remit.workspace.tasks.todo import parse_todo
from remit.workspace.tasks.values import TOO_HIGH, read_marker

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

NO_FOLDERS: Mapping[int, list[str]] = {}

_ALIKE = 0.5
_STATUS = re.compile(r"[ \t]{0,8}(?:[-*+][ \t]{1,4})?\*\*Status(?:\*\*[ \t]{0,4}:|:\*\*)", re.IGNORECASE)
_SHOWN = 60
_MAX_NAMED = 3
_MAX_SHARED = 50
"""A number that more tasks have than a merge could leave is no matter for a repair."""
_LATE = "9"  # above every date: a task that does not say when it was made is not the older one


class Parted(NamedTuple):
    """Both texts, each number given once, and what was done."""

    state: str
    todo: str
    told: tuple[str, ...]
    renumbered: tuple[Renumbered, ...] = ()


class Renumbered(NamedTuple):
    """A task that has another number now."""

    name: str
    old: int
    new: int


class _Owner(NamedTuple):
    """A task of state.json that had a number which others had too, and the number it has now."""

    name: str
    number: int


def part_numbers(
    state: str, todo: str, archive: Mapping[int, str], folders: Mapping[int, list[str]] = NO_FOLDERS
) -> Parted:
    """Give each task a number of its own. Where no number is given twice, both texts stay as they are.

    `folders` are those of tasks, by number. None is renamed: what belongs to whom is told as far as names tell it.
    """
    work = _Parting(state, todo, archive, folders)
    for number in work.find_shared():
        entries = work.join_copies(number)
        sections = work.join_sections(number, entries)
        owners = work.part_in_state(number, entries)
        work.part_in_todo(number, sections, owners)
    for number in work.find_repeated():
        work.drop_headings(number)
    work.told += work.tell_folders()
    return Parted(work.state.apply(), work.todo.apply(), tuple(work.told), tuple(work.renumbered.values()))


def tell_entries(task: Renumbered, ids: Sequence[str]) -> str:
    """Say of entries of the manifest, which name the old number of a task, what to do with them."""
    some = ", ".join(repr(each[:_SHOWN]) for each in ids[:_MAX_NAMED])
    more = f" and {len(ids) - _MAX_NAMED} more" if len(ids) > _MAX_NAMED else ""
    return (
        f"entries of the manifest that name task {task.old} were left as they are ({some}{more}): where "
        f"{task.name[:_SHOWN]!r} is meant, run remit task link {task.new} ENTRY, and correct linked_tasks by hand"
    )


class _Parting:
    """Both texts while numbers are given out."""

    def __init__(self, state: str, todo: str, archive: Mapping[int, str], folders: Mapping[int, list[str]]) -> None:
        self.state = state_edits.Edits(state)
        self.todo = todo_edits.Edits(todo)
        self.archive = archive
        self.folders = folders
        self.keepers: dict[int, str] = {}
        """What the task is called that keeps a number."""
        self.renumbered: dict[tuple[int, int], Renumbered] = {}
        self.told: list[str] = []
        self.entries: dict[int, list[state_edits.Entry]] = {}
        self.sections: dict[int, list[todo_edits.Entry]] = {}
        for entry in state_edits.list_tasks(state):
            self.entries.setdefault(entry.number, []).append(entry)
        for section in todo_edits.list_tasks(todo):
            self.sections.setdefault(section.number, []).append(section)

    def find_shared(self) -> list[int]:
        shared = []
        for number in self.entries | self.sections:
            times = max(len(self.entries.get(number, ())), len(self.list_sections(number)))
            if 1 < times <= _MAX_SHARED:
                shared.append(number)
        return sorted(shared)

    def find_repeated(self) -> list[int]:
        """The tasks whose heading stands somewhere once more, with nothing below it."""
        known = ((number, self.sections.get(number, ())) for number in self.entries)
        return sorted(number for number, found in known if len(found) > 1 and any(each.bare for each in found))

    @cached_property
    def numbers(self) -> Iterator[int]:
        """The free numbers that TODO.md can hold, in their order."""
        known, listed = parse_state(self.state.text), parse_todo(self.todo.text)
        taken = list_taken(known, listed, self.archive) | (self.folders.keys() if known.wraps else set())
        counters = [each.next_number.number for each in (known, listed) if each.next_number is not None]
        free = walk_free_numbers(counters, taken, wraps=known.wraps)
        return takewhile(lambda number: number < TOO_HIGH, free)

    def list_sections(self, number: int) -> list[todo_edits.Entry]:
        return [section for section in self.sections.get(number, ()) if not section.bare]

    def join_copies(self, number: int) -> list[state_edits.Entry]:
        """Of a task that stands in state.json twice one copy goes; what only that one says comes to the other."""
        kept: dict[str, state_edits.Entry] = {}
        for entry in self.entries.get(number, ()):
            other = kept.setdefault(_name(entry), entry)
            if other is not entry:
                kept[_name(entry)] = self._join(other, entry)
        found = {entry.start: entry for entry in self.entries.get(number, ())}
        for entry in kept.values():
            self.state.set_fields(entry, {k: v for k, v in entry.value.items() if k not in found[entry.start].value})
        return sorted(kept.values(), key=lambda entry: entry.start)

    def _join(self, first: state_edits.Entry, second: state_edits.Entry) -> state_edits.Entry:
        newer = (_updated(second), second.closed) > (_updated(first), first.closed)
        kept, copy = (second, first) if newer and first.value != second.value else (first, second)
        different = any(kept.value.get(key) != value for key, value in copy.value.items())
        self.state.remove(copy)
        how = f"they were joined, and {_tell(kept)} was kept as the newer" if different else "one copy was removed"
        self.told.append(f"task {kept.number} stood in state.json twice ({_tell(kept)}, {_tell(copy)}): {how}")
        return kept._replace(value={**kept.value, **{k: v for k, v in copy.value.items() if k not in kept.value}})

    def join_sections(self, number: int, entries: list[state_edits.Entry]) -> list[todo_edits.Entry]:
        """Of a section that stands in TODO.md twice, with one status or two, one goes."""
        markers = {read_marker(str(entry.value.get("status") or "")) for entry in entries}
        kept: dict[tuple[str, ...], todo_edits.Entry] = {}
        for section in self.list_sections(number):
            words = self._read_words(section)
            pair = kept.setdefault(words, section), section
            if pair[0] is section:
                continue
            statuses = [self._read_status(each) for each in pair]
            copy = 0 if [read_marker(word) in markers for word in statuses] == [False, True] else 1
            kept[words] = pair[1 - copy]
            self.todo.remove(pair[copy])
            changed = f"[{statuses[1 - copy]}] was kept, [{statuses[copy]}] was not"
            how = "word for word" if statuses[0] == statuses[1] else changed
            self.told.append(f"task {number} stood in TODO.md twice: one copy was removed ({how})")
        return sorted(kept.values(), key=lambda section: section.start)

    def _read_words(self, section: todo_edits.Entry) -> tuple[str, ...]:
        """What a section says, but for its status."""
        lines = self.todo.text[section.start : section.end].rstrip("- \t\r\n").split("\n")
        return tuple(" ".join(line.split()) for line in lines if line.strip() and not _STATUS.match(line))

    def _read_status(self, section: todo_edits.Entry) -> str:
        return parse_todo(self.todo.text[section.start : section.end]).tasks[0].word

    def part_in_state(self, number: int, entries: list[state_edits.Entry]) -> list[_Owner]:
        """The older task keeps its number, or the first. The owner of the number comes first."""
        if not entries:
            return []
        keeper = min(entries, key=lambda entry: (str(entry.value.get("created") or _LATE), entry.start))
        owners = [_Owner(_name(keeper), number)]
        self.keepers[number] = _name(keeper)
        others = (entry for entry in entries if entry is not keeper)
        for entry, new in zip(others, self.numbers, strict=False):
            owner = _Owner(_name(entry), new)
            self.state.set_fields(entry, {NUMBER_KEY: owner.number})
            owners.append(owner)
            self._note(owner.name, number, new)
            self.told.append(
                f"number {number} was given to {owners[0].name[:_SHOWN]!r}, which keeps it as the older one or the "
                f"first, and to {owner.name[:_SHOWN]!r}, which is {owner.number} now in state.json"
            )
        return owners

    def part_in_todo(self, number: int, sections: list[todo_edits.Entry], owners: list[_Owner]) -> None:
        """Each section follows its task of state.json; one without a task gets a number of its own."""
        titles = [section.title for section in sections]
        wanted = _match(titles, owners)
        names = {make_name(title) for title, new in zip(titles, wanted, strict=True) if new is not None}
        if number not in wanted and None in wanted:
            wanted[wanted.index(None)] = number
            names.add(make_name(titles[wanted.index(number)]))
        for section, given in zip(sections, wanted, strict=True):
            if given is None and make_name(section.title) in names:
                continue  # the same task in other words: for a person
            new = next(self.numbers, number) if given is None else given
            if new == number:
                self.keepers.setdefault(number, section.title)
            if self.todo.renumber(section, new):
                self._note(section.title, number, new)
                self.told.append(f"{section.title[:_SHOWN]!r} had number {number} in TODO.md too, and is {new} now")

    def _note(self, name: str, old: int, new: int) -> None:
        self.renumbered.setdefault((old, new), Renumbered(name, old, new))

    def tell_folders(self) -> Iterator[str]:
        """Say which folders carry an old number and seem to belong to the task that has lost it."""
        for task in self.renumbered.values():
            for folder in self.folders.get(task.old, ()):
                digits, _, rest = folder.partition("_")
                own, other = (
                    _liken(_split(rest), _split(name)) for name in (task.name, self.keepers.get(task.old, ""))
                )
                if own < other:
                    continue
                whose = "belongs" if own > other else "may belong"
                yield (
                    f"the folder {folder!r} was left as it is: by its name it {whose} to {task.name[:_SHOWN]!r}; if "
                    f"so, rename it to {f'{task.new:0{len(digits)}}_{rest}'!r}, and correct the paths that name it"
                )

    def drop_headings(self, number: int) -> None:
        """Of the headings of a task those go that have nothing below them, where another one has its title."""
        sections = sorted(self.sections[number], key=lambda section: section.bare)
        titles = {make_name(section.title): section for section in reversed(sections)}
        for section in sections:
            if section.bare and len(self._read_words(section)) == 1 and titles[make_name(section.title)] is not section:
                self.todo.remove(section)
                self.told.append(f"the heading of task {number} stood in TODO.md again, alone: it was removed")


def _name(entry: state_edits.Entry) -> str:
    return str(entry.value.get("project_name") or entry.value.get("title") or "")


def _updated(entry: state_edits.Entry) -> str:
    return str(entry.value.get("last_updated") or entry.value.get("created") or "")


def _tell(entry: state_edits.Entry) -> str:
    return str(entry.value.get("status") or ("completed" if entry.closed else "no status"))[:_SHOWN]


def _match(titles: list[str], owners: list[_Owner]) -> list[int | None]:
    """The number of the task that each title belongs to; the most alike are matched first, each task once."""
    ours, theirs = [_split(title) for title in titles], [_split(owner.name) for owner in owners]
    pairs = sorted(
        (-likeness, at, which)
        for at, title in enumerate(ours)
        for which, name in enumerate(theirs)
        if (likeness := _liken(title, name)) >= _ALIKE
    )
    found: list[int | None] = [None] * len(titles)
    used = set()
    for _, at, which in pairs:
        if found[at] is None and which not in used:
            found[at] = owners[which].number
            used.add(which)
    return found


def _liken(one: set[str], other: set[str]) -> float:
    """How alike two names are by their words: 1 where all are in both."""
    return 2 * len(one & other) / (len(one) + len(other))


def _split(name: str) -> set[str]:
    """The words of a name."""
    return set(make_name(name).split("_"))
