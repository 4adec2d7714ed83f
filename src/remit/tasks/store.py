"""The store of tasks: each thing that can be done to them, in state.json, TODO.md and the plan at once.

Owns the folder of tasks. A change is worked out on the texts and written as a whole (`desk`); what it may do, the table
of moves says (`moves`). A number is taken once: state.json, TODO.md and the archive are asked.
"""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from remit.errors import StateError, UsageError
from remit.sentences import as_tail
from remit.storage.json_edit import REMOVE
from remit.storage.safe_path import find_inside, retry_if_changed
from remit.storage.spec_root import ARCHIVE, ARCHIVED_TEXTS, LINKS, STATE, TODO
from remit.tasks import state_edits, todo_edits
from remit.tasks.archived import find_next_number, list_taken, parse_archive
from remit.tasks.check_files import missing_file_error, prepare_files, recheck
from remit.tasks.drift import check_drift
from remit.tasks.import_task import make_name
from remit.tasks.links import KINDS, find_kind, find_unlinked, read_state_links, walk_below
from remit.tasks.markdown import clean_title
from remit.tasks.moves import ENDS, NEED_REASON, OWN_COMMAND, check_move, suggest_marker
from remit.tasks.plan import find_resume_point, list_open, parse_plan, set_phase, set_plan_status
from remit.tasks.state import CLOSED_LISTS, OPEN_LISTS, RESTORE, load_json, parse_state, read_number, read_title
from remit.tasks.todo import parse_todo
from remit.tasks.transaction import decode, edit_task_files, finish_if_interrupted, load_file
from remit.tasks.values import MARKERS, Linked, read_marker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from contextlib import AbstractContextManager

    from remit.ledger.home import Home
    from remit.ledger.journal import Interrupted
    from remit.model import Artifact, Diagnostic
    from remit.tasks.plan import Phase
    from remit.tasks.state_edits import StateEntry
    from remit.tasks.transaction import TaskFiles

_Listed = TypeVar("_Listed", "state_edits.StateEntry", "todo_edits.TodoSection")

PRIORITIES = ("high", "medium", "low")
_DONE_KEYS = {"RESEARCHED", "PLANNED", "REVISED", "COMPLETED", "BLOCKED", "ABANDONED"}
_REASONS = {marker: f"{marker.lower()}_reason" for marker in sorted(NEED_REASON)}
_DATES = ("started", "last_updated", *sorted(key.lower() for key in _DONE_KEYS), *_REASONS.values())
"""What a move dates in a task, and why it was moved."""


class StoredTask(NamedTuple):
    """A task as state.json has it."""

    number: int
    title: str
    marker: str | None
    closed: bool
    fields: dict[str, Any]

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to be done."""
        return self.closed or self.marker in ENDS

    @property
    def priority(self) -> str:
        """As the file has it."""
        return str(self.fields.get("priority") or "")

    @property
    def dates(self) -> dict[str, Any]:
        """When it was begun, moved and last changed, and why: what is put back where a move is taken back."""
        return {key: self.fields[key] for key in _DATES if key in self.fields}

    @property
    def links(self) -> tuple[str, ...]:
        """The manifest entries that it is linked to."""
        given = self.fields.get(LINKS)
        return tuple(each for each in given if isinstance(each, str)) if isinstance(given, list) else ()


class Moved(NamedTuple):
    """What a change did to a task, and what there was to tell on the way."""

    number: int
    before: str | None
    after: str | None
    files: tuple[str, ...]
    """What was written, below the root."""
    absorbed: tuple[str, ...] = ()
    """What was edited in one of the files, and is in both now."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """Where the files still disagree."""
    interrupted: tuple[Interrupted, ...] = ()
    diagnostic_files: tuple[str, ...] = ()
    """The file that each of these is about, below the root."""


class PlanFacts(NamedTuple):
    """A task's plan: where it is, its phases, and where work goes on."""

    path: str
    phases: tuple[Phase, ...]
    resume: Phase | None

    @property
    def open(self) -> tuple[Phase, ...]:
        """The phases that are not over, also those that are set aside."""
        return list_open(self.phases)


class TaskStore:
    """The tasks of a workspace."""

    def __init__(self, home: Home, folder: str) -> None:
        self.home = home
        self.folder = folder
        self.interrupted: list[Interrupted] = []
        """What a crash had left, and was finished before something was read."""

    # Reading

    def list_tasks(self) -> list[StoredTask]:
        """Every task of state.json, in its order."""
        self.interrupted += finish_if_interrupted(self.home)
        text = self._load(STATE)
        if text is None and self._load(TODO) is not None:
            raise missing_file_error(STATE, TODO)
        return [] if text is None else list(read_tasks(text))

    def get(self, number: int) -> StoredTask:
        """One task; an archived one too."""
        tasks = [task for task in self.list_tasks() if task.number == number]
        chosen = next((task for task in tasks if not task.closed), None) or (tasks[0] if tasks else None)
        archived = None if chosen is not None else self._load(ARCHIVE)
        if archived is not None:
            chosen = next((task._replace(closed=True) for task in read_tasks(archived) if task.number == number), None)
        if chosen is None:
            raise UsageError(f"there is no task {number}", hint="remit task list shows what there is")
        return chosen

    def read_section(self, number: int) -> str:
        """What TODO.md says of a task, or said when it was put away, word for word; empty where that is nothing."""
        for name in (TODO, ARCHIVED_TEXTS):
            text = self._load(name)
            found = () if text is None else todo_edits.find_tasks(text, number)
            if text is not None and found:
                return todo_edits.read_section(text, found[0])
        return ""

    def read_field(self, number: int, name: str) -> str:
        """The value of a field of a task in TODO.md, with the lines below it, each without its bullet."""
        text = self._load(TODO)
        found = () if text is None else todo_edits.find_tasks(text, number)
        if text is None or not found:
            return ""
        field = todo_edits.TodoEdits(text).find_field(found[0], name)
        if field is None:
            return ""
        below = [text[start:stop] for start, stop in walk_below(text, field, found[0].end)]
        lines = (line.strip().lstrip("-*+ ").removeprefix("[ ] ").removeprefix("[x] ") for line in below)
        return "\n".join(line for line in (field.value, *lines) if line.strip())

    def read_titles(self) -> dict[int, str]:
        """What TODO.md calls each task: state.json may know it by a short name only."""
        text = self._load(TODO)
        tasks = () if text is None else parse_todo(text).tasks
        return {task.number: task.title for task in reversed(tasks) if task.title}

    def check(self) -> list[Diagnostic]:
        """Where the two files disagree at this moment."""
        state, todo = self._load(STATE), self._load(TODO)
        read_state = None if state is None else parse_state(state)
        drift = check_drift(read_state, None if todo is None else parse_todo(todo))
        return [*drift.in_state, *drift.in_todo]

    def load_plan(self, number: int) -> PlanFacts | None:
        """The plan of a task; None where it has none."""
        task = self.get(number)
        path = self.find_plan(task.number, task.fields)
        data = None if path is None else load_file(self.home.root, path)
        if path is None or data is None:
            return None
        plan = parse_plan(decode(data))
        return PlanFacts(path, plan.phases, find_resume_point(plan))

    def _load(self, name: str) -> str | None:
        data = load_file(self.home.root, f"{self.folder}/{name}")
        return None if data is None else decode(data)

    # Changing

    @retry_if_changed
    def add(self, title: str, *, priority: str = "medium", language: str = "", description: str = "") -> Moved:
        """Make a task; it gets the next number that nobody has."""
        title = clean_title(title)
        if not title:
            raise UsageError("the title is empty", hint="say in a few words what is to be done")
        if priority not in PRIORITIES:
            raise UsageError(f"'{priority}' is not a priority", hint=f"use one of {', '.join(PRIORITIES)}")
        now = read_clock()
        given = {name: text for name, text in {"language": language, "description": description}.items() if text}
        with self.change("task added", may_begin=True) as desk:
            number, following = _choose_numbers(desk)
            entry = {"project_number": number, "project_name": make_name(title), "title": title}
            entry |= {"status": state_edits.spell_status(desk.state, "NOT STARTED"), "priority": priority, **given}
            desk.put(STATE, state_edits.add_task(desk.state, entry, next_number=following, now=now))
            shown = {"Status": "NOT STARTED", "Priority": priority.capitalize()}
            shown |= {"Language": language} if language else {}
            shown["Created"] = now[:10]
            todo = todo_edits.add_task(desk.todo, number, title, shown, priority=priority, description=description)
            desk.put(TODO, todo_edits.set_next_number(todo, following))
            desk.markers[number] = "NOT STARTED"
        return _describe_move(desk, number, None, "NOT STARTED")

    @retry_if_changed
    def allocate(self) -> Moved:
        """Allocate the next number for a task that its caller writes; the number is never allocated again (C13)."""
        now = read_clock()
        with self.change("number allocated", may_begin=True) as desk:
            number, following = _choose_numbers(desk)
            desk.put(STATE, state_edits.set_next_number(desk.state, following, now=now))
            desk.put(TODO, todo_edits.set_next_number(desk.todo, following))
        return _describe_move(desk, number, None, None)

    @retry_if_changed
    def move(self, number: int, marker: str, *, reason: str = "", command: str | None = None, by: str = "") -> Moved:
        """Give a task another marker, in state.json, TODO.md and its plan, if the move is legal.

        `by` is the session that asks for it, where that is at work on the task: the event tells it from others.
        """
        wanted = read_marker(marker.strip("[] \t"))
        with self.change("task moved", number=number, marker=wanted, by=by) as desk:
            entry = _find_open(desk, number)
            before = _get_word(entry)
            _check_undoubted(desk, number)
            refusal = check_move(before, marker, reason=reason, command=command)
            if refusal is not None:
                raise StateError(f"task {number}: {refusal.message}", hint=as_tail(refusal.hint))
            self._put_marker(desk, entry, wanted, reason=" ".join(reason.split()))
        return _describe_move(desk, number, before, wanted)

    def _put_marker(self, desk: TaskFiles, entry: StateEntry, marker: str, *, reason: str = "") -> None:
        now, number = read_clock(), entry.number
        stamps: dict[str, object] = {}
        if marker in _DONE_KEYS:
            stamps[marker.lower()] = state_edits.render_stamp(entry.value.get("created") or "", now)
        if marker in OWN_COMMAND and not entry.value.get("started"):
            stamps["started"] = state_edits.render_stamp(entry.value.get("created") or "", now)
        old = {each: key for each, key in _REASONS.items() if each != marker}
        stamps |= {key: REMOVE for key in old.values() if key in entry.value}
        if reason:
            stamps[f"{marker.lower().replace(' ', '_')}_reason"] = reason
        desk.put(STATE, state_edits.set_status(desk.state, entry, marker, stamps, now=now))
        todo = todo_edits.set_status(desk.todo, number, marker)
        for each in old:  # why it was blocked says nothing of a task that has moved on
            todo = todo_edits.set_field(todo, number, f"{each.capitalize()} Reason", None)
        if reason:
            todo = todo_edits.set_field(todo, number, f"{marker.capitalize()} Reason", reason)
        desk.put(TODO, todo)
        self.follow_in_plan(desk, number, entry.value, lambda text: set_plan_status(text, marker))
        desk.markers[number] = marker

    def follow_in_plan(self, desk: TaskFiles, number: int, fields: dict[str, Any], edit: Callable[[str], str]) -> bool:
        """Change a task's plan together with it; whether it has one."""
        path = self.find_plan(number, fields)
        root = os.path.realpath(self.home.root)
        # The folder may be a link to one of another depth, and then so many steps up from it lead elsewhere.
        folder = os.path.realpath(f"{root}/{self.folder}")
        name = None if path is None else os.path.relpath(f"{root}/{path}", folder)
        text = None if name is None else desk.load(name)
        if name is None or text is None:
            return False
        desk.put(name, edit(text))
        return True

    def find_plan(self, number: int, fields: dict[str, Any]) -> str | None:
        """Where a task's plan is, below the root: what state.json or TODO.md links, else the newest in its folder."""
        linked = self.list_linked(number, fields, "plan")
        return self._find_plan(linked) or self._find_plan(self._list_usual_plans(number))

    def list_linked(self, number: int, fields: dict[str, Any], kind: str) -> Iterator[str]:
        """The paths that a task's links of a kind may stand for, below the root, the current one first.

        state.json comes before TODO.md. A path is written from the root or from the folder of the tasks.
        """
        for linked in (read_state_links(fields), self._read_todo_links(number)):
            for each in reversed(linked):
                if each.kind == kind and "\0" not in each.path:
                    yield from (f"{base}{each.path}" for base in ("", f"{self.folder}/"))

    def find_linked(self, number: int, fields: dict[str, Any], kind: str) -> list[str]:
        """The files that a task's links of a kind lead to, below the root, the current one first."""
        inside = (find_inside(self.home.root, path) for path in self.list_linked(number, fields, kind))
        return list(dict.fromkeys(path for path in inside if path and os.path.isfile(f"{self.home.root}/{path}")))

    def _read_todo_links(self, number: int) -> tuple[Linked, ...]:
        text = self._load(TODO)
        found = () if text is None else todo_edits.find_tasks(text, number)
        edits = todo_edits.TodoEdits(text or "")
        return tuple(Linked(link.kind, link.path) for each in found[:1] for link in edits.find_links(each))

    def _find_plan(self, paths: Iterable[str]) -> str | None:
        places = (find_inside(self.home.root, path) for path in paths)
        return next((place for place in places if place is not None and self._is_plan(place)), None)

    def _list_usual_plans(self, number: int) -> list[str]:
        """The plans in the folder of a task, `{number}_{name}/plans`, the newest first."""
        found = []
        for folder in _list_names(f"{self.home.root}/{self.folder}", (f"{number}_", f"{number:03}_")):
            plans = f"{self.folder}/{folder}/plans"
            found += [f"{plans}/{name}" for name in _list_names(f"{self.home.root}/{plans}", ("implementation-",))]
        return sorted(found, reverse=True)

    def _is_plan(self, path: str) -> bool:
        """Whether a file can be a plan: a text of its own, and none of those that change with the plan."""
        own = {find_inside(self.home.root, f"{self.folder}/{name}") for name in (TODO, ARCHIVED_TEXTS)}
        return path.endswith(".md") and path not in own and os.path.isfile(f"{self.home.root}/{path}")

    @retry_if_changed
    def move_phase(self, number: int, phase: str, marker: str, *, by: str = "") -> Moved:
        """Give a phase of a task's plan another marker; `by` as above."""
        wanted = read_marker(marker.strip("[] \t"))
        if wanted not in MARKERS:
            raise UsageError(f"'{marker}' is not a marker", hint=suggest_marker(wanted))
        with self.change("phase moved", number=number, phase=phase, marker=wanted, by=by) as desk:
            entry = state_edits.find_task(desk.state, number)
            if not self.follow_in_plan(desk, number, entry.value, lambda text: set_phase(text, phase, wanted)):
                raise UsageError(f"task {number} has no plan", hint="name it as plan_path in state.json")
        return _describe_move(desk, number, None, wanted)

    @retry_if_changed
    def conclude(
        self,
        number: int,
        follow: Callable[[str], str | None],
        *,
        artifacts: tuple[Artifact, ...] = (),
        counts: Mapping[str, int | float] | None = None,
        are_counts_extra: bool = False,
        reason: str = "",
    ) -> Moved:
        """Put down what came of work on a task: its artifacts, what the return counts, and the marker that follows.

        Extra counts are written only if a new artifact changes state.json.
        """
        with self.change("task concluded", number=number) as desk:
            state = desk.state
            before = _get_word(_find_open(desk, number))
            _check_undoubted(desk, number)
            marker = follow(before or "")
            now = read_clock()
            for artifact in artifacts:
                link = Linked(find_kind(artifact.path, artifact.kind) or artifact.kind, artifact.path)
                points = list(artifact.key_points or ())
                told = {"type": artifact.word or artifact.kind, "summary": artifact.summary, "key_points": points}
                desk.put(STATE, state_edits.add_link(desk.state, number, link, told, now=now))
                self._link_in_todo(desk, number, link)
            if counts and (not are_counts_extra or desk.state != state):
                desk.put(STATE, state_edits.set_fields(desk.state, number, counts, now=now))
            if marker is not None:
                entry = state_edits.find_task(desk.state, number)
                self._put_marker(desk, entry, marker, reason=" ".join(reason.split()) if marker in NEED_REASON else "")
        return _describe_move(desk, number, before, marker)

    def _link_in_todo(self, desk: TaskFiles, number: int, link: Linked) -> None:
        """Link a plan, a report or a summary in TODO.md, unless it is linked there."""
        if link.kind not in KINDS or not todo_edits.find_tasks(desk.todo, number):
            return
        edits = todo_edits.TodoEdits(desk.todo)
        entry = todo_edits.find_task(desk.todo, number)
        linked = [Linked(each.kind, each.path) for each in edits.find_links(entry)]
        if find_unlinked(number, [link], linked):
            edits.add_link(entry, link, todo_edits.read_samples(desk.todo))
            desk.put(TODO, edits.apply())

    @retry_if_changed
    def put_back(self, number: int, marker: str, dates: Mapping[str, Any] | None) -> Moved:
        """Give a task the marker and the dates again that it had before work that nobody began.

        Without dates, of a move that noted none, it is dated as by any other move.
        """
        with self.change("task put back", number=number) as desk:
            entry = _find_open(desk, number)
            before = _get_word(entry)
            _check_undoubted(desk, number)
            self._put_marker(desk, entry, marker, reason=str((dates or {}).get(_REASONS.get(marker, "")) or ""))
            if dates is not None:
                wanted = {key: dates.get(key, REMOVE) for key in _DATES}
                desk.put(STATE, state_edits.set_fields(desk.state, number, wanted))
        return _describe_move(desk, number, before, marker)

    @retry_if_changed
    def link(self, number: int, entry_id: str) -> Moved:
        """Link a task to an entry of the manifest (R4.9)."""
        with self.change("task linked", number=number, entry=entry_id) as desk:
            desk.put(STATE, state_edits.append_to_list(desk.state, number, LINKS, entry_id, now=read_clock()))
        return _describe_move(desk, number, None, None)

    @retry_if_changed
    def archive(self, numbers: tuple[int, ...] = ()) -> tuple[list[Moved], Moved]:
        """Take tasks that are over out of TODO.md and out of the active ones; all of them where none is named.

        Gives each of them, and what there was to tell on the way, also where none is over.
        """
        with self.change("tasks archived", numbers=list(numbers)) as desk:
            chosen = _choose_ended(desk, numbers)
            if chosen:
                _put_away(desk, sorted(number for number, _ in chosen))
        return [_describe_move(desk, number, marker, marker) for number, marker in chosen], _describe_move(
            desk, 0, None, None
        )

    def change(self, kind: str, *, may_begin: bool = False, **details: object) -> AbstractContextManager[TaskFiles]:
        """Come to the desk with files that are there and can be read; what disagrees is taken in, or told.

        Raises `EditedError` at its end if a user has edited a file meanwhile; callers use `retry_if_changed`.
        """
        return _examined(edit_task_files(self.home, self.folder, kind=kind, details=details), may_begin=may_begin)


def read_clock() -> str:
    """The time, as the files have it."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


@contextmanager
def _examined(coming: AbstractContextManager[TaskFiles], *, may_begin: bool) -> Iterator[TaskFiles]:
    with coming as desk:
        prepare_files(desk, may_begin=may_begin)
        yield desk
        recheck(desk)


def read_tasks(text: str) -> Iterator[StoredTask]:
    """The tasks of a state.json, in its order."""
    try:
        value = load_json(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        broken = parse_state(text).broken
        message = broken.message if broken is not None else "state.json cannot be read"
        raise StateError(message, hint=RESTORE)
    for home, items in value.items():
        if home in OPEN_LISTS or home in CLOSED_LISTS:
            for item in items if isinstance(items, list) else ():
                number = read_number(item.get("project_number")) if isinstance(item, dict) else None
                if number is not None:
                    word = item.get("status")
                    marker = read_marker(word) if isinstance(word, str) else None
                    title = read_title(item)
                    yield StoredTask(number, title, marker or None, home in CLOSED_LISTS, item)


def _find_open(desk: TaskFiles, number: int) -> StateEntry:
    entry = state_edits.find_task(desk.state, number)
    if entry.closed:
        raise StateError(f"task {number} is over and put away", hint="make a new one with: remit task new TITLE")
    return entry


def _check_undoubted(desk: TaskFiles, number: int) -> None:
    """What somebody wrote by hand, and could not be taken in, is not written over."""
    doubt = desk.doubts.get(number)
    if doubt is not None:
        raise StateError(doubt.message.replace(" here", " in TODO.md", 1), hint=as_tail(doubt.hint))


def _get_word(entry: StateEntry) -> str | None:
    """The status of a task, as the file has it."""
    word = entry.value.get("status")
    return word if isinstance(word, str) else None


def _list_names(folder: str, starts: tuple[str, ...]) -> list[str]:
    """The names in a folder that begin so; none where there is no folder."""
    try:
        return sorted(name for name in os.listdir(folder) if name.startswith(starts))
    except (OSError, ValueError):
        return []


def _choose_numbers(desk: TaskFiles) -> tuple[int, int]:
    """The next number, which is what the files say, above everything that is taken; and the one after it."""
    state, todo = parse_state(desk.state), parse_todo(desk.todo)
    taken = list_taken(state, todo, parse_archive(desk.load(ARCHIVE)))
    if state.wraps:  # a folder that is still there would lend its plan to the new task
        taken |= list_folders(desk.home.root, desk.folder).keys()
    counters = [each.next_number.number for each in (state, todo) if each.next_number is not None]
    number = find_next_number(counters, taken, wraps=state.wraps)
    return number, find_next_number([number + 1], taken | {number}, wraps=state.wraps)


def list_folders(root: str, folder: str) -> dict[int, list[str]]:
    """The folders of tasks, `{number}_{name}`, by number."""
    found: dict[int, list[str]] = {}
    for name in _list_names(f"{root}/{folder}", tuple("0123456789")):
        number = read_number(name.partition("_")[0]) if "_" in name else None
        if number is not None and os.path.isdir(f"{root}/{folder}/{name}"):
            found.setdefault(number, []).append(name)
    return found


def _choose_ended(desk: TaskFiles, numbers: tuple[int, ...]) -> list[tuple[int, str]]:
    """The tasks to put away: each is over, and each that was named is there."""
    tasks = {task.number: task for task in read_tasks(desk.state) if not task.closed}
    for number in numbers:
        task = tasks.get(number)
        if task is None:
            raise UsageError(f"there is no active task {number}", hint="remit task list shows what there is")
        if task.marker not in ENDS:
            hint = "complete or abandon it first"
            raise StateError(f"task {number} is {task.marker or 'without a status'} and not over", hint=hint)
    wanted = tuple(dict.fromkeys(numbers)) or tuple(tasks)
    return [(number, task.marker) for number in wanted if (task := tasks[number]).marker in ENDS and task.marker]


def _put_away(desk: TaskFiles, numbers: list[int]) -> None:
    """Take tasks out of TODO.md and the active ones, all in one pass over each file."""
    now, old = read_clock(), desk.load(ARCHIVE)
    entries = _index((entry for entry in state_edits.list_tasks(desk.state) if not entry.closed), numbers)
    tasks = [_only(entries[number]) or state_edits.find_task(desk.state, number) for number in numbers]
    if old is None:
        desk.put(STATE, state_edits.move_tasks(desk.state, tasks, now=now))
    else:
        rest, removed = state_edits.remove_tasks(desk.state, tasks, now=now)
        desk.put(STATE, rest)
        desk.put(ARCHIVE, state_edits.insert_tasks(old, removed, now=now))
    listed = _index(todo_edits.list_tasks(desk.todo), numbers)
    found = [_only(listed[number]) or todo_edits.find_task(desk.todo, number) for number in numbers if listed[number]]
    if found:
        todo, texts = todo_edits.remove_tasks(desk.todo, found)
        desk.put(TODO, todo)
        kept = desk.load(ARCHIVED_TEXTS) or "# Archived tasks\n"
        desk.put(ARCHIVED_TEXTS, "\n\n".join([kept.rstrip(), *(text.strip() for text in texts)]) + "\n")


def _index(entries: Iterable[_Listed], numbers: list[int]) -> dict[int, list[_Listed]]:
    """Those of some tasks that have one of these numbers, by number."""
    found: dict[int, list[_Listed]] = {number: [] for number in numbers}
    for entry in entries:
        if entry.number in found:
            found[entry.number].append(entry)
    return found


def _only(entries: list[_Listed]) -> _Listed | None:
    """The one there is. Where there are more, whoever looks for it by its number tells so."""
    return entries[0] if len(entries) == 1 else None


def _describe_move(desk: TaskFiles, number: int, before: str | None, after: str | None) -> Moved:
    files = tuple(change.path for change in desk.list_changes() if change.before != change.after)
    marker = None if before is None else read_marker(before)
    told_in = tuple(f"{desk.folder}/{name}" for name in desk.diagnostic_files)
    return Moved(number, marker, after, files, desk.absorbed, tuple(desk.diagnostics), tuple(desk.interrupted), told_in)
