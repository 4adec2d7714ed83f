"""Operations on tasks, which change state.json, TODO.md and the plan in one transaction.

A change is computed on the texts and written as a whole (`transaction`); the table in `moves` has the legal status
changes. A task number is allocated once: state.json, TODO.md and the archive are checked.
"""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from remit.errors import StateError, UsageError
from remit.sentences import as_clause
from remit.storage.json_edit import REMOVE
from remit.storage.safe_path import find_inside, retry_if_changed
from remit.storage.spec_root import ARCHIVE, ARCHIVED_TEXTS, LINKS, STATE, TODO
from remit.tasks import state_edits, todo_edits
from remit.tasks.drift import check_drift
from remit.tasks.links import KINDS, find_kind, find_unlinked, read_state_links, walk_below
from remit.tasks.markdown import clean_title
from remit.tasks.plan import find_resume_point, list_open, parse_plan, set_phase, set_plan_status
from remit.tasks.state import (
    CLOSED_LISTS,
    OPEN_LISTS,
    RESTORE,
    find_next_number,
    list_taken,
    load_json,
    parse_archive,
    parse_state,
    read_number,
    read_title,
)
from remit.tasks.task import ENDS, MARKERS, NEED_REASON, OWN_COMMAND, Linked, check_move, read_marker, suggest_marker
from remit.tasks.todo import make_name, parse_todo
from remit.tasks.transaction import (
    decode,
    edit_task_files,
    finish_if_interrupted,
    load_file,
    missing_file_error,
    prepare_files,
    recheck,
)

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
"""The fields that a status change sets: its dates and its reason."""


class StoredTask(NamedTuple):
    """A task as stored in state.json."""

    number: int
    title: str
    marker: str | None
    closed: bool
    fields: dict[str, Any]

    @property
    def is_over(self) -> bool:
        """True if the task has ended."""
        return self.closed or self.marker in ENDS

    @property
    def priority(self) -> str:
        """The priority as the file gives it."""
        return str(self.fields.get("priority") or "")

    @property
    def dates(self) -> dict[str, Any]:
        """The dates and reasons of status changes, which are restored if a change is undone."""
        return {key: self.fields[key] for key in _DATES if key in self.fields}

    @property
    def links(self) -> tuple[str, ...]:
        """The ids of the findings that it is linked to."""
        given = self.fields.get(LINKS)
        return tuple(each for each in given if isinstance(each, str)) if isinstance(given, list) else ()


class TaskChange(NamedTuple):
    """The effect of a change on a task, with the absorbed edits and the remaining diagnostics."""

    number: int
    before: str | None
    after: str | None
    files: tuple[str, ...]
    """The files that were written, below the root."""
    absorbed: tuple[str, ...] = ()
    """Manual edits of one file that were copied to the other, a sentence each."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """The remaining differences."""
    interrupted: tuple[Interrupted, ...] = ()
    diagnostic_files: tuple[str, ...] = ()
    """The file of each diagnostic, below the root."""


class PlanFacts(NamedTuple):
    """A task's plan: its path, its phases, and the phase where work resumes."""

    path: str
    phases: tuple[Phase, ...]
    resume: Phase | None

    @property
    def open(self) -> tuple[Phase, ...]:
        """The phases that haven't ended, including those that are on hold."""
        return list_open(self.phases)


class TaskStore:
    """The tasks of a workspace."""

    def __init__(self, home: Home, folder: str) -> None:
        self.home = home
        self.folder = folder
        self.interrupted: list[Interrupted] = []
        """Changes that a crash had interrupted and that were finished before reading."""

    # Reading

    def list_tasks(self) -> list[StoredTask]:
        """Return every task of state.json, in its order."""
        self.interrupted += finish_if_interrupted(self.home)
        text = self._load(STATE)
        if text is None and self._load(TODO) is not None:
            raise missing_file_error(STATE, TODO)
        return [] if text is None else list(read_tasks(text))

    def get(self, number: int) -> StoredTask:
        """Return a task, also an archived one. Raise `UsageError` if there is none."""
        tasks = [task for task in self.list_tasks() if task.number == number]
        chosen = next((task for task in tasks if not task.closed), None) or (tasks[0] if tasks else None)
        archived = None if chosen is not None else self._load(ARCHIVE)
        if archived is not None:
            chosen = next((task._replace(closed=True) for task in read_tasks(archived) if task.number == number), None)
        if chosen is None:
            raise UsageError(f"there is no task {number}", hint="list the tasks with: remit task list")
        return chosen

    def read_section(self, number: int) -> str:
        """Return the text of a task in TODO.md, or in the archive, word for word; "" if there is none."""
        for name in (TODO, ARCHIVED_TEXTS):
            text = self._load(name)
            found = () if text is None else todo_edits.find_tasks(text, number)
            if text is not None and found:
                return todo_edits.read_section(text, found[0])
        return ""

    def read_field(self, number: int, name: str) -> str:
        """Return a field of a task in TODO.md with the lines below it, without their bullets; "" if there is none."""
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
        """Return the titles in TODO.md by number: state.json may have only a short name."""
        text = self._load(TODO)
        tasks = () if text is None else parse_todo(text).tasks
        return {task.number: task.title for task in reversed(tasks) if task.title}

    def check(self) -> list[Diagnostic]:
        """Return the diagnostics about the two files as they are now."""
        state, todo = self._load(STATE), self._load(TODO)
        read_state = None if state is None else parse_state(state)
        drift = check_drift(read_state, None if todo is None else parse_todo(todo))
        return [*drift.in_state, *drift.in_todo]

    def load_plan(self, number: int) -> PlanFacts | None:
        """Return the plan of a task; None if it has none."""
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
    def add(self, title: str, *, priority: str = "medium", language: str = "", description: str = "") -> TaskChange:
        """Add a task with the next free number."""
        title = clean_title(title)
        if not title:
            raise UsageError("the title is empty", hint="describe the task in a few words")
        if priority not in PRIORITIES:
            raise UsageError(f"'{priority}' isn't a priority", hint=f"available: {', '.join(PRIORITIES)}")
        now = read_clock()
        given = {name: text for name, text in {"language": language, "description": description}.items() if text}
        with self.change("task added", may_begin=True) as files:
            number, following = _choose_numbers(files)
            entry = {"project_number": number, "project_name": make_name(title), "title": title}
            entry |= {"status": state_edits.spell_status(files.state, "NOT STARTED"), "priority": priority, **given}
            files.put(STATE, state_edits.add_task(files.state, entry, next_number=following, now=now))
            shown = {"Status": "NOT STARTED", "Priority": priority.capitalize()}
            shown |= {"Language": language} if language else {}
            shown["Created"] = now[:10]
            todo = todo_edits.add_task(files.todo, number, title, shown, priority=priority, description=description)
            files.put(TODO, todo_edits.set_next_number(todo, following))
            files.markers[number] = "NOT STARTED"
        return _describe_change(files, number, None, "NOT STARTED")

    @retry_if_changed
    def allocate(self) -> TaskChange:
        """Allocate the next number for a task that the caller writes; it is never allocated again (C13)."""
        now = read_clock()
        with self.change("number allocated", may_begin=True) as files:
            number, following = _choose_numbers(files)
            files.put(STATE, state_edits.set_next_number(files.state, following, now=now))
            files.put(TODO, todo_edits.set_next_number(files.todo, following))
        return _describe_change(files, number, None, None)

    @retry_if_changed
    def move(
        self, number: int, marker: str, *, reason: str = "", command: str | None = None, by: str = ""
    ) -> TaskChange:
        """Change the status of a task in state.json, TODO.md and its plan, if the change is legal.

        `by` is the session that asks for it, if it works on the task; it is stored in the event.
        """
        wanted = read_marker(marker.strip("[] \t"))
        with self.change("task moved", number=number, marker=wanted, by=by) as files:
            entry = _find_open(files, number)
            before = _read_word(entry)
            _check_no_doubt(files, number)
            refusal = check_move(before, marker, reason=reason, command=command)
            if refusal is not None:
                raise StateError(f"task {number}: {refusal.message}", hint=as_clause(refusal.hint))
            self._put_marker(files, entry, wanted, reason=" ".join(reason.split()))
        return _describe_change(files, number, before, wanted)

    def _put_marker(self, files: TaskFiles, entry: StateEntry, marker: str, *, reason: str = "") -> None:
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
        files.put(STATE, state_edits.set_status(files.state, entry, marker, stamps, now=now))
        todo = todo_edits.set_status(files.todo, number, marker)
        for each in old:  # the reason of an earlier status doesn't apply to the new one
            todo = todo_edits.set_field(todo, number, f"{each.capitalize()} Reason", None)
        if reason:
            todo = todo_edits.set_field(todo, number, f"{marker.capitalize()} Reason", reason)
        files.put(TODO, todo)
        self.follow_in_plan(files, number, entry.value, lambda text: set_plan_status(text, marker))
        files.markers[number] = marker

    def follow_in_plan(self, files: TaskFiles, number: int, fields: dict[str, Any], edit: Callable[[str], str]) -> bool:
        """Change a task's plan in the same transaction; return whether it has one."""
        path = self.find_plan(number, fields)
        root = os.path.realpath(self.home.root)
        # If the folder is a link to a folder at another depth, a relative path from it would lead elsewhere.
        folder = os.path.realpath(f"{root}/{self.folder}")
        name = None if path is None else os.path.relpath(f"{root}/{path}", folder)
        text = None if name is None else files.load(name)
        if name is None or text is None:
            return False
        files.put(name, edit(text))
        return True

    def find_plan(self, number: int, fields: dict[str, Any]) -> str | None:
        """Return the path of a task's plan: the one that state.json or TODO.md links, else the newest in its folder."""
        linked = self.list_linked(number, fields, "plan")
        return self._find_plan(linked) or self._find_plan(self._list_usual_plans(number))

    def list_linked(self, number: int, fields: dict[str, Any], kind: str) -> Iterator[str]:
        """Yield the paths that a task's links of a kind may mean, below the root, the current one first.

        state.json comes before TODO.md. A path is relative to the root or to the folder of the tasks.
        """
        for linked in (read_state_links(fields), self._read_todo_links(number)):
            for each in reversed(linked):
                if each.kind == kind and "\0" not in each.path:
                    yield from (f"{base}{each.path}" for base in ("", f"{self.folder}/"))

    def find_linked(self, number: int, fields: dict[str, Any], kind: str) -> list[str]:
        """Return the existing files that a task's links of a kind mean, below the root, the current one first."""
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
        """Return the plans in the folder of a task, `{number}_{name}/plans`, the newest first."""
        found = []
        for folder in _list_names(f"{self.home.root}/{self.folder}", (f"{number}_", f"{number:03}_")):
            plans = f"{self.folder}/{folder}/plans"
            found += [f"{plans}/{name}" for name in _list_names(f"{self.home.root}/{plans}", ("implementation-",))]
        return sorted(found, reverse=True)

    def _is_plan(self, path: str) -> bool:
        """True if a file can be a plan: a Markdown file other than TODO.md and the archived tasks."""
        own = {find_inside(self.home.root, f"{self.folder}/{name}") for name in (TODO, ARCHIVED_TEXTS)}
        return path.endswith(".md") and path not in own and os.path.isfile(f"{self.home.root}/{path}")

    @retry_if_changed
    def move_phase(self, number: int, phase: str, marker: str, *, by: str = "") -> TaskChange:
        """Change the status of a phase in a task's plan; `by` as for `move`."""
        wanted = read_marker(marker.strip("[] \t"))
        if wanted not in MARKERS:
            raise UsageError(f"'{marker}' isn't a marker", hint=suggest_marker(wanted))
        with self.change("phase moved", number=number, phase=phase, marker=wanted, by=by) as files:
            entry = state_edits.find_task(files.state, number)
            if not self.follow_in_plan(files, number, entry.value, lambda text: set_phase(text, phase, wanted)):
                raise UsageError(f"task {number} has no plan", hint="set plan_path in state.json")
        return _describe_change(files, number, None, wanted)

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
    ) -> TaskChange:
        """Record the result of work on a task: its artifacts, the counts of the return, and the new marker.

        Extra counts are written only if a new artifact changes state.json.
        """
        with self.change("task concluded", number=number) as files:
            state = files.state
            before = _read_word(_find_open(files, number))
            _check_no_doubt(files, number)
            marker = follow(before or "")
            now = read_clock()
            for artifact in artifacts:
                link = Linked(find_kind(artifact.path, artifact.kind) or artifact.kind, artifact.path)
                points = list(artifact.key_points or ())
                fields = {"type": artifact.word or artifact.kind, "summary": artifact.summary, "key_points": points}
                files.put(STATE, state_edits.add_link(files.state, number, link, fields, now=now))
                self._link_in_todo(files, number, link)
            if counts and (not are_counts_extra or files.state != state):
                files.put(STATE, state_edits.set_fields(files.state, number, counts, now=now))
            if marker is not None:
                entry = state_edits.find_task(files.state, number)
                self._put_marker(files, entry, marker, reason=" ".join(reason.split()) if marker in NEED_REASON else "")
        return _describe_change(files, number, before, marker)

    def _link_in_todo(self, files: TaskFiles, number: int, link: Linked) -> None:
        """Link a plan, report or summary in TODO.md, if it isn't linked there."""
        if link.kind not in KINDS or not todo_edits.find_tasks(files.todo, number):
            return
        edits = todo_edits.TodoEdits(files.todo)
        entry = todo_edits.find_task(files.todo, number)
        linked = [Linked(each.kind, each.path) for each in edits.find_links(entry)]
        if find_unlinked(number, [link], linked):
            edits.add_link(entry, link, todo_edits.read_samples(files.todo))
            files.put(TODO, edits.apply())

    @retry_if_changed
    def restore_status(self, number: int, marker: str, dates: Mapping[str, Any] | None) -> TaskChange:
        """Restore the marker and the dates that a task had before a run that never started.

        Without dates, the change is dated like any other.
        """
        with self.change("task restored", number=number) as files:
            entry = _find_open(files, number)
            before = _read_word(entry)
            _check_no_doubt(files, number)
            self._put_marker(files, entry, marker, reason=str((dates or {}).get(_REASONS.get(marker, "")) or ""))
            if dates is not None:
                wanted = {key: dates.get(key, REMOVE) for key in _DATES}
                files.put(STATE, state_edits.set_fields(files.state, number, wanted))
        return _describe_change(files, number, before, marker)

    @retry_if_changed
    def link(self, number: int, entry_id: str) -> TaskChange:
        """Link a task to a finding in the manifest (R4.9)."""
        with self.change("task linked", number=number, entry=entry_id) as files:
            files.put(STATE, state_edits.append_to_list(files.state, number, LINKS, entry_id, now=read_clock()))
        return _describe_change(files, number, None, None)

    @retry_if_changed
    def archive(self, numbers: tuple[int, ...] = ()) -> tuple[list[TaskChange], TaskChange]:
        """Move tasks that have ended from TODO.md and the active tasks to the archive. Default: all of them.

        Return a change for each task, and one for the whole operation, also if no task has ended.
        """
        with self.change("tasks archived", numbers=list(numbers)) as files:
            chosen = _choose_ended(files, numbers)
            if chosen:
                _archive_tasks(files, sorted(number for number, _ in chosen))
        return [_describe_change(files, number, marker, marker) for number, marker in chosen], _describe_change(
            files, 0, None, None
        )

    def change(self, kind: str, *, may_begin: bool = False, **details: object) -> AbstractContextManager[TaskFiles]:
        """Run a transaction on checked files: unambiguous manual edits are absorbed, others become diagnostics.

        Raises `EditedError` at its end if a user has edited a file meanwhile; callers use `retry_if_changed`.
        """
        return _check_files(edit_task_files(self.home, self.folder, kind=kind, details=details), may_begin=may_begin)


def read_clock() -> str:
    """Return the current time in the format of the files."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


@contextmanager
def _check_files(transaction: AbstractContextManager[TaskFiles], *, may_begin: bool) -> Iterator[TaskFiles]:
    with transaction as files:
        prepare_files(files, may_begin=may_begin)
        yield files
        recheck(files)


def read_tasks(text: str) -> Iterator[StoredTask]:
    """Yield the tasks of a state.json, in its order. Raise `StateError` if it can't be parsed."""
    try:
        value = load_json(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        broken = parse_state(text).broken
        message = broken.message if broken is not None else "state.json can't be parsed"
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


def _find_open(files: TaskFiles, number: int) -> StateEntry:
    entry = state_edits.find_task(files.state, number)
    if entry.closed:
        raise StateError(f"task {number} has ended and can't change", hint="add a new one with: remit task new TITLE")
    return entry


def _check_no_doubt(files: TaskFiles, number: int) -> None:
    """Raise `StateError` rather than overwrite a status that was edited by hand and couldn't be absorbed."""
    doubt = files.doubts.get(number)
    if doubt is not None:
        raise StateError(doubt.message.replace(" here", " in TODO.md", 1), hint=as_clause(doubt.hint))


def _read_word(entry: StateEntry) -> str | None:
    """Return the status of a task in the spelling of the file; None if it has none."""
    word = entry.value.get("status")
    return word if isinstance(word, str) else None


def _list_names(folder: str, starts: tuple[str, ...]) -> list[str]:
    """Return the names in a folder with one of these prefixes; none if there is no folder."""
    try:
        return sorted(name for name in os.listdir(folder) if name.startswith(starts))
    except (OSError, ValueError):
        return []


def _choose_numbers(files: TaskFiles) -> tuple[int, int]:
    """Return the next number, which is at least the counters and above all used numbers; and the one after it."""
    state, todo = parse_state(files.state), parse_todo(files.todo)
    taken = list_taken(state, todo, parse_archive(files.load(ARCHIVE)))
    if state.wraps:  # the new task would get the plan in an old folder of this number
        taken |= list_folders(files.home.root, files.folder).keys()
    counters = [each.next_number.number for each in (state, todo) if each.next_number is not None]
    number = find_next_number(counters, taken, wraps=state.wraps)
    return number, find_next_number([number + 1], taken | {number}, wraps=state.wraps)


def list_folders(root: str, folder: str) -> dict[int, list[str]]:
    """Return the folders of tasks, `{number}_{name}`, by number."""
    found: dict[int, list[str]] = {}
    for name in _list_names(f"{root}/{folder}", tuple("0123456789")):
        number = read_number(name.partition("_")[0]) if "_" in name else None
        if number is not None and os.path.isdir(f"{root}/{folder}/{name}"):
            found.setdefault(number, []).append(name)
    return found


def _choose_ended(files: TaskFiles, numbers: tuple[int, ...]) -> list[tuple[int, str]]:
    """Return the tasks to archive. Raise if a given task doesn't exist or hasn't ended."""
    tasks = {task.number: task for task in read_tasks(files.state) if not task.closed}
    for number in numbers:
        task = tasks.get(number)
        if task is None:
            raise UsageError(f"there is no active task {number}", hint="list the tasks with: remit task list")
        if task.marker not in ENDS:
            hint = "complete or abandon it first"
            raise StateError(f"task {number} hasn't ended: its status is {task.marker or 'missing'}", hint=hint)
    wanted = tuple(dict.fromkeys(numbers)) or tuple(tasks)
    return [(number, task.marker) for number in wanted if (task := tasks[number]).marker in ENDS and task.marker]


def _archive_tasks(files: TaskFiles, numbers: list[int]) -> None:
    """Move tasks from TODO.md and the active tasks to the archive, in one pass over each file."""
    now, old = read_clock(), files.load(ARCHIVE)
    entries = _index((entry for entry in state_edits.list_tasks(files.state) if not entry.closed), numbers)
    tasks = [_only(entries[number]) or state_edits.find_task(files.state, number) for number in numbers]
    if old is None:
        files.put(STATE, state_edits.move_tasks(files.state, tasks, now=now))
    else:
        rest, removed = state_edits.remove_tasks(files.state, tasks, now=now)
        files.put(STATE, rest)
        files.put(ARCHIVE, state_edits.insert_tasks(old, removed, now=now))
    listed = _index(todo_edits.list_tasks(files.todo), numbers)
    found = [_only(listed[number]) or todo_edits.find_task(files.todo, number) for number in numbers if listed[number]]
    if found:
        todo, texts = todo_edits.remove_tasks(files.todo, found)
        files.put(TODO, todo)
        kept = files.load(ARCHIVED_TEXTS) or "# Archived tasks\n"
        files.put(ARCHIVED_TEXTS, "\n\n".join([kept.rstrip(), *(text.strip() for text in texts)]) + "\n")


def _index(entries: Iterable[_Listed], numbers: list[int]) -> dict[int, list[_Listed]]:
    """Group tasks by number, only those with one of these numbers."""
    found: dict[int, list[_Listed]] = {number: [] for number in numbers}
    for entry in entries:
        if entry.number in found:
            found[entry.number].append(entry)
    return found


def _only(entries: list[_Listed]) -> _Listed | None:
    """Return the only item; None if there are several, for which `find_task` raises an error."""
    return entries[0] if len(entries) == 1 else None


def _describe_change(files: TaskFiles, number: int, before: str | None, after: str | None) -> TaskChange:
    changed = tuple(change.path for change in files.list_changes() if change.before != change.after)
    marker = None if before is None else read_marker(before)
    places = tuple(f"{files.folder}/{name}" for name in files.diagnostic_files)
    return TaskChange(
        number, marker, after, changed, files.absorbed, tuple(files.diagnostics), tuple(files.interrupted), places
    )
