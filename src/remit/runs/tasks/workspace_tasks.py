"""The tasks of a workspace: add, move, link and archive them, and compare state.json with TODO.md."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal, NamedTuple

from remit.errors import InputError, RefusedError, RemitError, UsageError
from remit.storage.settings import check_open, find_root, find_workspace, load_settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from remit.ledger.home import Home
    from remit.model import Diagnostic
    from remit.tasks.outside_system import CommandOutput
    from remit.tasks.state import State
    from remit.tasks.store import PlanFacts, StoredTask, TaskChange, TaskStore
    from remit.tasks.sync import SyncResult

How = Literal["take in", "newest", "state", "todo"]
_FOCUS = "focus"


class ShownTask(NamedTuple):
    """A task with what belongs to it."""

    facts: StoredTask
    section: str
    """What TODO.md says of it."""
    plan: PlanFacts | None
    entries: tuple[str, ...]
    """The entries of the manifest that it is linked to, from either end."""
    moves: tuple[str, ...]
    """The markers that may follow."""
    focused: bool


class Tasks:
    """The tasks of a workspace, as its settings say: its own, or an outside system's through its commands."""

    def __init__(self, start: str | None = None, *, here: bool = False) -> None:
        """`here` means the files of this checkout, also where it is a linked worktree of the workspace."""
        from remit.ledger.home import Home  # noqa: PLC0415 - only with tasks
        from remit.storage.spec_root import FOLDERS, STATE, find_folder, find_spec_root  # noqa: PLC0415
        from remit.tasks.store import TaskStore  # noqa: PLC0415

        self.root = find_root(start) if here else find_workspace(start)
        self.settings = load_settings(self.root)
        self.home: Home = Home(self.root)
        folder = find_folder(self.root, self.settings.tasks.folder)
        self.is_begun = folder is not None
        folder = folder or find_spec_root(self.root, self.settings.tasks.folder)
        for place in () if self.is_begun else (folder, *FOLDERS):
            check_open(f"{self.root}/{place}/{STATE}")  # tasks that may not be seen are not none
        self.store = TaskStore(self.home, folder)

    # An outside system

    @property
    def outside(self) -> Mapping[str, str]:
        """The commands of an outside task system; none where the workspace keeps its own tasks (C24)."""
        from remit.tasks.outside_system import CLEO  # noqa: PLC0415

        given = self.settings.tasks.commands
        if given:
            return given
        return CLEO if not self.is_begun and os.path.isdir(f"{self.root}/.cleo") else {}

    def ask_outside(self, name: str, task_id: str, *, research: str = "") -> CommandOutput | None:
        """Have an outside system do something; None where the workspace keeps its own tasks."""
        if not self.outside:
            return None
        from remit.runs.workspace_trust import check_trust  # noqa: PLC0415 - only with an outside system
        from remit.tasks.outside_system import run_outside  # noqa: PLC0415

        check_trust(self.root, self.settings)
        return run_outside(self.outside, name, task_id=task_id, research=research, folder=self.root)

    # The workspace's own

    def add(self, title: str, **given: str) -> TaskChange:
        """Make a task."""
        self.check_own()
        return self.store.add(title, **given)

    def list_tasks(self) -> list[StoredTask]:
        """Every task, by the title that people gave it."""
        self._check_begun()
        titles = self.store.read_titles()
        return [_name(task, titles.get(task.number)) for task in self.store.list_tasks()]

    def count_drift(self) -> int:
        """In how many places state.json and TODO.md disagree."""
        from remit.tasks.drift import is_difference  # noqa: PLC0415 - only for this

        return sum(map(is_difference, self.store.check()))

    def show(self, number: int) -> ShownTask:
        """A task with all that belongs to it."""
        from remit.tasks.task import list_moves  # noqa: PLC0415

        self._check_begun()
        facts = self.store.get(number)
        facts = _name(facts, self.store.read_titles().get(number))
        entries = dict.fromkeys((*facts.links, *_find_entries(self.home, number)))
        return ShownTask(
            facts,
            self.store.read_section(number),
            self.store.load_plan(number),
            tuple(entries),
            list_moves(facts.marker or ""),
            focused=self.get_focus() == number,
        )

    def move(
        self,
        number: int,
        marker: str,
        *,
        reason: str = "",
        phase: str | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> TaskChange:
        """Give a task, or a phase of its plan, another marker.

        `environ` is the environment of the caller, if it isn't this process's own.
        """
        from remit.runs.tasks.task_holders import find_mover  # noqa: PLC0415 - only for this

        self._check_begun()
        by = find_mover(self.home, number, environ)
        if phase is not None:
            return self.store.move_phase(number, phase, marker, by=by)
        return self.store.move(number, marker, reason=reason, by=by)

    def focus(self, number: int) -> TaskChange | None:
        """Take a task up: it becomes IN PROGRESS if it may, and is the one in focus. None where it moved nowhere."""
        from remit.tasks.task import list_moves  # noqa: PLC0415

        self._check_begun()
        facts = self.store.get(number)
        if facts.is_over:
            raise UsageError(f"task {number} is over", hint="remit task list shows what is open")
        may = facts.marker != "IN PROGRESS" and "IN PROGRESS" in list_moves(facts.marker or "")
        fresh = facts.marker in {"NOT STARTED", "BLOCKED"}
        moved = self.store.move(number, "IN PROGRESS") if may and fresh else None
        self.home.ledger.set_note(_FOCUS, str(number))
        return moved

    def get_focus(self) -> int | None:
        """The task in focus."""
        note = self.home.ledger.get_note(_FOCUS) if self.home.is_made else None
        number = int(note) if note is not None and note.isdigit() else None
        return number if any(task.number == number for task in self.store.list_tasks() if not task.is_over) else None

    def link(self, number: int, entry_id: str) -> TaskChange:
        """Link a task to an entry of the manifest, which must be there."""
        from remit.runs.workspace_findings import check_entry_is_there  # noqa: PLC0415 - only for this

        self._check_begun()
        check_entry_is_there(entry_id)
        return self.store.link(number, entry_id)

    def archive(self, numbers: tuple[int, ...]) -> tuple[list[TaskChange], TaskChange]:
        """Archive tasks that are over; all of them if none is named. An agent at work on one of them may not."""
        from remit.runs.tasks.task_holders import find_mover, list_holders  # noqa: PLC0415 - only for this

        self._check_begun()
        for number in numbers or {row.task_number or 0 for row in list_holders(self.home)}:
            if find_mover(self.home, number):
                told = f"an agent can't archive task {number} while it works on it"
                raise RefusedError(told, hint="return first; the user archives the task with remit task archive")
        return self.store.archive(numbers)

    def sync(self, how: How) -> SyncResult:
        """Make state.json and TODO.md say the same: only what is clear, or all of it, following one or the other."""
        from remit.tasks.sync import absorb_edits, repair  # noqa: PLC0415 - only for this

        self._check_begun()
        return absorb_edits(self.store) if how == "take in" else self._describe_entries(repair(self.store, how))

    def _describe_entries(self, synced: SyncResult) -> SyncResult:
        """Add which entries of the manifest name the old number of a task that has another one now."""
        from remit.tasks.duplicates import describe_entries  # noqa: PLC0415 - only for this

        told = []
        for task in synced.renumbered:
            try:
                ids = _find_entries(self.home, task.old)
            except RemitError:  # the repair is done, and whoever asks for the manifest is told
                break
            told += [describe_entries(task, ids)] if ids else []
        return synced._replace(done=(*synced.done, *told))

    def load_plan(self, number: int) -> PlanFacts:
        """A task's plan, with the phase where work goes on."""
        self._check_begun()
        plan = self.store.load_plan(number)
        if plan is None:
            hint = f"create one with: remit task plan {number}; or set plan_path in state.json"
            raise InputError(f"task {number} has no plan", hint=hint)
        return plan

    def check_own(self) -> None:
        """Raise if an outside system keeps the tasks: it is asked only to show, focus, complete and link them."""
        if not self.is_begun and self.outside:
            message = f"the tasks of this workspace are in `{next(iter(self.outside.values())).split()[0]}`"
            known = ", ".join(self.outside)
            raise UsageError(message, hint=f"Remit passes only {known} on to it; use it directly for the rest")

    def _check_begun(self) -> None:
        self.check_own()
        if not self.is_begun:
            raise UsageError("this workspace has no tasks", hint="create the first one with: remit task new TITLE")


def _name(task: StoredTask, listed: str | None) -> StoredTask:
    return task._replace(title=listed) if listed and not task.closed and not task.fields.get("title") else task


def parse_marker(word: str) -> str:
    """A marker in any spelling."""
    from remit.tasks.task import (  # noqa: PLC0415
        MARKERS,
        read_marker,
        suggest_marker,
    )

    marker = read_marker(word.strip("[] "))
    if marker not in MARKERS:
        raise UsageError(f"'{word}' isn't a marker", hint=suggest_marker(marker))
    return marker


class CheckedTasks(NamedTuple):
    """What there is to say about the two files, each with its text."""

    folder: str
    tasks: int
    findings: dict[str, tuple[Diagnostic, ...]]
    """By file."""
    texts: dict[str, bytes]

    @property
    def differences(self) -> int:
        """In how many places the two files differ."""
        from remit.tasks.drift import is_difference  # noqa: PLC0415 - only for this

        return sum(is_difference(each) for found in self.findings.values() for each in found)


def check_sync(tasks: Tasks | None = None) -> CheckedTasks | None:
    """Compare state.json with TODO.md and the plans, and edit none; None where the workspace keeps no tasks.

    A change that a crash interrupted is finished first. Whoever goes on afterwards gives the tasks, and closes them.
    """
    from remit.storage.spec_root import ARCHIVE, STATE, TODO  # noqa: PLC0415
    from remit.tasks.drift import check_drift  # noqa: PLC0415
    from remit.tasks.merge_sides import check_merged  # noqa: PLC0415
    from remit.tasks.state import parse_archive, parse_state  # noqa: PLC0415
    from remit.tasks.todo import parse_todo  # noqa: PLC0415
    from remit.tasks.transaction import decode, finish_if_interrupted, load_file  # noqa: PLC0415

    tasks = tasks or Tasks(here=True)  # a hook in a worktree is about to commit what is here
    if not tasks.is_begun:
        return None
    finish_if_interrupted(tasks.home)
    names = (STATE, TODO, ARCHIVE)
    state_data, todo_data, archive = (load_file(tasks.root, f"{tasks.store.folder}/{name}") for name in names)
    state = None if state_data is None else parse_state(decode(state_data))
    todo = None if todo_data is None else parse_todo(decode(todo_data))
    unmerged = None if todo_data is None else check_merged(decode(todo_data))
    if unmerged is None:
        drift = check_drift(state, todo, parse_archive(None if archive is None else decode(archive)))
    else:  # what stands between the marks belongs to two files
        drift = check_drift(state, None)._replace(in_todo=(unmerged,))
    in_state = (*drift.in_state, *_check_plans(tasks.store, state, state_data))
    numbers = {task.number for each in (state, todo) if each is not None for task in each.tasks}
    folder = f"{tasks.root}/{tasks.store.folder}"
    findings = {f"{folder}/{STATE}": in_state, f"{folder}/{TODO}": drift.in_todo}
    texts = dict(zip(findings, (state_data or b"", todo_data or b""), strict=True))
    return CheckedTasks(folder, len(numbers), findings, texts)


def _check_plans(store: TaskStore, state: State | None, data: bytes | None) -> Iterator[Diagnostic]:
    """Where the plan of a task has another status than the task."""
    from remit.tasks.drift import check_plans  # noqa: PLC0415
    from remit.tasks.sync import load_plan_statuses  # noqa: PLC0415
    from remit.tasks.transaction import decode  # noqa: PLC0415 - only for this

    if state is not None and state.broken is None and data is not None:
        yield from check_plans(state, load_plan_statuses(store, decode(data)))


def _find_entries(home: Home, number: int) -> tuple[str, ...]:
    """The entries of the manifest that name a task."""
    from remit.runs.workspace_findings import find_entries_of_task  # noqa: PLC0415 - only for this

    return find_entries_of_task(home, number)
