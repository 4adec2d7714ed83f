"""Repair: state.json and TODO.md made to say the same, and what of it needs a person.

Owns which of the two is followed. state.json is the truth; a hand edit of TODO.md that is clear is taken in, and what
both have changed is left and told with both values. Every change is made by the edits of the two files, so whatever it
is not about stays as it is. Pure: texts come in, texts, sentences and findings go out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from remit.workspace.tasks import state_edits, todo_edits
from remit.workspace.tasks.archived import NO_TASKS, TOO_HIGH, find_next_number, list_taken, parse_archive
from remit.workspace.tasks.drift import (
    agrees,
    changed_in_both,
    check_drift,
    check_plans,
    is_archived,
    move_not_legal,
    state_broken,
    status_differs,
)
from remit.workspace.tasks.duplicates import part_numbers
from remit.workspace.tasks.intake import read_fields
from remit.workspace.tasks.markdown import clean_title, find_fences, find_line_end, walk_fields
from remit.workspace.tasks.moves import ENDS, NEED_REASON, check_move
from remit.workspace.tasks.state import NUMBER_KEY, OPEN_LISTS, load_json, parse_state, read_number
from remit.workspace.tasks.todo import parse_todo
from remit.workspace.tasks.values import MARKERS, read_marker

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from remit.model import Finding
    from remit.workspace.tasks.markdown import Field
    from remit.workspace.tasks.state import State
    from remit.workspace.tasks.todo import Todo
    from remit.workspace.tasks.values import Task

Prefer = Literal["newest", "state", "todo"]
Kind = Literal["same", "todo_edited", "state_edited", "both", "unknown"]

_SHOWN = 60
_SHOWN_FIELDS = ("priority", "language", "type", "effort", "created")
_NO_MARKERS: Mapping[int, str] = {}


class Repair(NamedTuple):
    """Both files as they should be."""

    state: str
    todo: str
    told: tuple[str, ...]
    """One sentence for each change."""
    left: tuple[Finding, ...]
    """What needs a person; places are in the new texts."""
    plans: Mapping[int, str] = _NO_MARKERS
    """The marker that the plan of a task should get."""


def classify_drift(state: State, todo: Todo, baseline: Mapping[int, str] | None) -> dict[int, Kind]:
    """Say for each task of both files which of them was edited since they last agreed.

    `baseline` is the marker that each task had then; a task that is not in it is unknown where the two differ.
    """
    before = {number: read_marker(marker) for number, marker in (baseline or {}).items()}
    kinds: dict[int, Kind] = {}
    for listed, known in _walk_pairs(state, todo):
        old = before.get(known.number)
        if agrees(listed, known):
            kinds[known.number] = "same"
        elif old is None:
            kinds[known.number] = "unknown"
        elif listed.marker == old:
            kinds[known.number] = "state_edited"
        else:
            kinds[known.number] = "todo_edited" if _marker(known) == old else "both"
    return kinds


def plan_repair(
    state_text: str | None,
    todo_text: str | None,
    *,
    archive_text: str | None = None,
    prefer: Prefer = "newest",
    baseline: Mapping[int, str] | None = None,
    plans: Mapping[int, str | None] | None = None,
) -> Repair:
    """Work out how the two files become one again; None is a file that is not there.

    `prefer` says which is followed where they differ: one of them, in status, priority and title; or, as "newest", the
    one that was edited, by the `baseline`, and state.json where that is not known. `plans` are the statuses of plans.
    """
    broken = parse_state(state_text).broken if state_text is not None else None
    if state_text is not None and broken is not None:
        return Repair(state_text, todo_text or "", (), (state_broken(broken),))
    work = _Work(state_text, todo_text, parse_archive(archive_text))
    work.part_numbers()
    work.share_tasks()
    work.settle_statuses(prefer, baseline)
    if prefer != "newest":
        work.settle_fields(prefer)
    work.settle_next_number()
    return work.finish(plans or {})


def plan_intake(state_text: str, todo_text: str, baseline: Mapping[int, str] | None) -> Repair:
    """Work out what is clear without being asked: a status that was edited in one of the files, and legally.

    Everything else stays as it is, and is told.
    """
    broken = parse_state(state_text).broken
    if broken is not None:
        return Repair(state_text, todo_text, (), (state_broken(broken),))
    work = _Work(state_text, todo_text, NO_TASKS)
    work.settle_statuses(None, baseline)
    return work.finish({})


def _walk_pairs(state: State, todo: Todo) -> Iterator[tuple[Task, Task]]:
    """Each task that both files have, as TODO.md and as state.json tell of it: the first of its number in each."""
    known = _index(state.tasks)
    listed = _index(todo.tasks) | _index(todo.tasks, bare=False)
    for number in sorted(listed.keys() & known.keys()):
        yield listed[number], known[number]


def _index(tasks: tuple[Task, ...], *, bare: bool = True) -> dict[int, Task]:
    """The first task of each number, by number; or the first that is more than a heading."""
    first = {task.number: task for task in reversed(tasks) if bare or not task.bare}
    return {number: first[number] for number in sorted(first)}


def _marker(known: Task) -> str | None:
    """What a task of state.json is. One that is put away without a word is over."""
    return "COMPLETED" if known.closed and known.marker is None else known.marker


class _Work:
    """Both texts on their way."""

    def __init__(self, state: str | None, todo: str | None, archive: Mapping[int, str]) -> None:
        self.archive = archive
        self.told: list[str] = []
        self.doubts: dict[int, str] = {}
        """Why a status is left to a person, by number; empty where both were edited."""
        self.before: dict[int, str] = {}
        if state is None:
            self.told.append("state.json was not there, and was written from TODO.md")
        if todo is None:
            self.told.append("TODO.md was not there, and was written from state.json")
        self.state = state_edits.render_empty_state() if state is None else state
        self.todo = todo_edits.render_empty_todo() if todo is None else todo

    def part_numbers(self) -> None:
        """Give each number to one task."""
        self.state, self.todo, told = part_numbers(self.state, self.todo, self.archive)
        self.told += told

    def share_tasks(self) -> None:
        """Write what only one of the files has into the other one."""
        state, todo = parse_state(self.state), parse_todo(self.todo)
        listed = {task.number for task in todo.tasks}
        known = _index(state.tasks)
        new = [task for task in _index(todo.tasks, bare=False).values() if task.number not in known]
        new = [task for task in new if not is_archived(task, self.archive, wraps=state.wraps)]
        taken_in = sorted(read_fields(self.todo, new), key=lambda pair: pair[0].number)
        for task in known.values():
            if not task.closed and task.number not in listed:
                self._list(task)
        for task, fields in taken_in:
            marker = task.marker or "NOT STARTED"
            fields["status"] = state_edits.spell_status(self.state, marker)
            self.state = state_edits.add_task(self.state, fields)
            self.told.append(f"task {task.number} was only in TODO.md, and was taken into state.json as {marker}")

    def _list(self, known: Task) -> None:
        """Write a task into TODO.md, or put it away where it is over."""
        if known.marker in ENDS:
            entry = state_edits.find_tasks(self.state, known.number)[0]
            self.state, _ = state_edits.move_to_completed(self.state, entry)
            self.told.append(f"task {known.number} is {known.word} and not in TODO.md: it went to completed_projects")
            return
        if known.number >= TOO_HIGH or (known.marker is not None and known.marker not in MARKERS):
            return  # the list cannot hold such a number, or a status that is none
        value = state_edits.find_tasks(self.state, known.number)[0].value
        shown = {"Status": f"[{known.marker or 'NOT STARTED'}]"}
        for key in _SHOWN_FIELDS:
            given = value.get(key)
            if isinstance(given, str) and given.strip():
                shown[key.capitalize()] = given.capitalize() if key == "priority" else given
        named = value.get("title") if isinstance(value.get("title"), str) else ""
        title = named or known.title.replace("_", " ").capitalize()
        title = title if clean_title(title) else f"Task {known.number}"
        about = value.get("description")
        self.todo = todo_edits.add_task(
            self.todo,
            known.number,
            title,
            shown,
            priority=str(value.get("priority") or ""),
            description=about if isinstance(about, str) else "",
        )
        self.told.append(f"task {known.number} was only in state.json, and was written into TODO.md")

    def settle_statuses(self, prefer: Prefer | None, baseline: Mapping[int, str] | None) -> None:
        """Make each task say one status in both files; `prefer` None changes only what is clear."""
        state, todo = parse_state(self.state), parse_todo(self.todo)
        kinds = classify_drift(state, todo, baseline)
        for listed, known in _walk_pairs(state, todo):
            kind = kinds[known.number]
            if kind == "same":
                if prefer is not None:
                    self._fill_in(listed, known)
                continue
            self.before[known.number] = read_marker((baseline or {}).get(known.number, ""))
            winner = self._choose(listed, known, kind, prefer)
            if winner == "todo":
                self._follow_todo(listed, known)
            elif winner == "state":
                self._follow_state(listed, known)

    def _fill_in(self, listed: Task, known: Task) -> None:
        """Where one of the files gives no status, take the other's."""
        if listed.bare:
            return
        if listed.marker is None and _marker(known) in MARKERS:
            self._follow_state(listed, known)
        elif known.marker is None and not known.closed and listed.marker in MARKERS:
            self._follow_todo(listed, known)

    def _choose(self, listed: Task, known: Task, kind: Kind, prefer: Prefer | None) -> str | None:
        """Whose status is followed; None where it is left to a person."""
        chosen: str | None = prefer if prefer in ("state", "todo") else None
        if chosen is None and kind == "todo_edited":
            reason = self._find_reason(listed)
            refusal = check_move(_marker(known), listed.word, reason=reason)
            if refusal is not None:
                self.doubts[known.number] = refusal.message
                return None
            chosen = "todo"
        elif chosen is None and kind == "both":
            self.doubts[known.number] = ""
            return None
        elif chosen is None and kind == "unknown" and prefer is None:
            return None
        chosen = chosen or "state"
        real = {"state": _marker(known) in MARKERS, "todo": listed.marker in MARKERS}
        other = "todo" if chosen == "state" else "state"
        return chosen if real[chosen] else other if real[other] else None

    def _find_reason(self, listed: Task) -> str:
        """The reason that a section gives for its status."""
        if listed.marker not in NEED_REASON:
            return ""
        wanted = {f"{listed.marker.lower()} reason", "reason", "blocking reason"}
        for entry in todo_edits.find_tasks(self.todo, listed.number):
            for field in _walk_fields(self.todo, entry):
                if field.name.lower() in wanted and field.value:
                    return field.value
        return ""

    def _follow_todo(self, listed: Task, known: Task) -> None:
        marker = listed.marker or "NOT STARTED"
        entry = state_edits.find_tasks(self.state, known.number)[0]
        if entry.closed and marker not in ENDS:
            self.state, removed = state_edits.remove_task(self.state, entry)
            self.state = state_edits.insert_task(self.state, removed, home=OPEN_LISTS[0])
            entry = state_edits.find_tasks(self.state, known.number)[0]
        self.state = state_edits.set_status(self.state, entry, marker)
        was = known.word[:_SHOWN] or "without a status"
        self.told.append(f"task {known.number} was {was} in state.json, and is {marker} now, as in TODO.md")

    def _follow_state(self, listed: Task, known: Task) -> None:
        marker = _marker(known) or "NOT STARTED"
        entries = todo_edits.find_tasks(self.todo, known.number)
        entry = next((each for each in entries if not each.bare), entries[0])
        self.todo = todo_edits.set_status(self.todo, entry, marker)
        was = f"[{listed.word[:_SHOWN]}]" if listed.word else "without a status"
        self.told.append(f"task {known.number} was {was} in TODO.md, and is [{marker}] now, as in state.json")

    def settle_fields(self, prefer: Prefer) -> None:
        """Make priority and title follow one of the files, where both give them."""
        tasks = _index(parse_todo(self.todo).tasks, bare=False)
        values = _read_open(self.state)
        for task, given in list(read_fields(self.todo, tasks.values())):
            value = values.get(task.number, {})
            priority, title = value.get("priority"), value.get("title")
            listed = str(given.get("priority") or "")
            if isinstance(priority, str) and listed and priority.lower() != listed:
                self._settle_field(task, "priority", priority, listed, prefer)
            if isinstance(title, str) and clean_title(title) and clean_title(title) != clean_title(task.title):
                self._settle_field(task, "title", title, task.title, prefer)

    def _settle_field(self, task: Task, key: str, known: str, listed: str, prefer: Prefer) -> None:
        before = self.state, self.todo
        if prefer == "todo":
            entry = state_edits.find_tasks(self.state, task.number)[0]
            value = listed.capitalize() if key == "priority" and known[:1].isupper() else listed
            self.state = state_edits.set_fields(self.state, entry, {key: value})
        else:
            entries = todo_edits.find_tasks(self.todo, task.number)
            section = next(each for each in entries if not each.bare)
            if key == "title":
                self.todo = _set_title(self.todo, section, known)
            elif any(field.name.lower() == key for field in _walk_fields(self.todo, section)):
                self.todo = todo_edits.set_field(self.todo, section, key, known.capitalize())
        if (self.state, self.todo) != before:
            now, old, where = (listed, known, "state.json") if prefer == "todo" else (known, listed, "TODO.md")
            self.told.append(f"task {task.number} had the {key} {old[:_SHOWN]!r} in {where}, and has {now[:_SHOWN]!r}")

    def settle_next_number(self) -> None:
        """Raise the next number above all that are taken, and give it alike in both files."""
        state, todo = parse_state(self.state), parse_todo(self.todo)
        counters = [each.next_number.number for each in (state, todo) if each.next_number is not None]
        number = find_next_number(counters, list_taken(state, todo, self.archive), wraps=state.wraps)
        before = self.state, self.todo
        self.state = state_edits.set_next_number(self.state, number)
        self.todo = todo_edits.set_next_number(self.todo, number)
        if (self.state, self.todo) != before:
            self.told.append(f"the next number is {number}")

    def finish(self, plans: Mapping[int, str | None]) -> Repair:
        """What came of it, and what is still wrong."""
        state, todo = parse_state(self.state), parse_todo(self.todo)
        drift = check_drift(state, todo, self.archive)
        left = [each for each in (*drift.in_state, *drift.in_todo) if each.severity == "error"]
        for listed, known in _walk_pairs(state, todo):
            doubt = self.doubts.get(known.number)
            if doubt is None:
                continue
            plain = status_differs(listed, known)
            told = move_not_legal(listed, known, doubt) if doubt else changed_in_both(
                listed, known, self.before[known.number]
            )  # fmt: skip
            left = [told if each == plain else each for each in left]
        markers = {task.number: task.marker for task in state.tasks if task.marker is not None}
        following = {number: markers[number] for number in _find_late_plans(state, plans)}
        for number, marker in following.items():
            self.told.append(f"the plan of task {number} is [{marker}] now, as in state.json")
        return Repair(self.state, self.todo, tuple(self.told), tuple(left), following)


def _find_late_plans(state: State, plans: Mapping[int, str | None]) -> list[int]:
    return [
        task.number
        for task in state.tasks
        if task.number in plans and any(check_plans(state._replace(tasks=(task,)), plans))
    ]


def _read_open(text: str) -> dict[int, dict[str, object]]:
    """The open tasks of a state.json as they stand, by number: the first of each."""
    value = load_json(text)
    found: dict[int, dict[str, object]] = {}
    for home in OPEN_LISTS:
        items = value.get(home) if isinstance(value, dict) else None
        for item in items if isinstance(items, list) else ():
            number = read_number(item.get(NUMBER_KEY)) if isinstance(item, dict) else None
            if number is not None:
                found.setdefault(number, item)
    return found


def _walk_fields(text: str, entry: todo_edits.Entry) -> Iterator[Field]:
    """The fields of a task of TODO.md."""
    below = find_line_end(text, entry.start, entry.end) + 1
    return walk_fields(text, below, entry.end, find_fences(text[: entry.end]))


def _set_title(text: str, entry: todo_edits.Entry, title: str) -> str:
    """A task of TODO.md with another title on its heading."""
    stop = text.find("\n", entry.start, entry.end)
    line = text[entry.start : stop if stop >= 0 else entry.end]
    end = entry.start + len(line.rstrip())
    return f"{text[: end - len(entry.title)]}{clean_title(title)}{text[end:]}"
