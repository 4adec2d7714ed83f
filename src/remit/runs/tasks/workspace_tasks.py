"""The tasks of a workspace: add, move, link and archive them, and compare state.json with TODO.md."""

from __future__ import annotations

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

How = Literal["absorb", "newest", "state", "todo"]
_FOCUS = "focus"


class ShownTask(NamedTuple):
    """A task with its plan, entries of the manifest and possible moves."""

    facts: StoredTask
    section: str
    """Its section in TODO.md."""
    plan: PlanFacts | None
    entries: tuple[str, ...]
    """The ids of manifest entries that the task links, or that link the task."""
    moves: tuple[str, ...]
    """The markers that the task can get next."""
    focused: bool


class Tasks:
    """The tasks of a workspace, as its settings say: its own, or an outside system's through its commands."""

    def __init__(self, start: str | None = None, *, here: bool = False) -> None:
        """Open the tasks. `here`: the files of this checkout, even if it is a linked worktree of the workspace."""
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
            check_open(f"{self.root}/{place}/{STATE}")  # unreadable tasks aren't missing tasks
        self.store = TaskStore(self.home, folder)

    # An outside system

    @property
    def outside(self) -> Mapping[str, str]:
        """The commands of an outside task system; empty if the workspace keeps its own tasks (C24)."""
        from remit.runs.workspace_trust import list_outside_commands  # noqa: PLC0415 - only for task systems

        return list_outside_commands(self.settings, root=self.root)

    def ask_outside(self, name: str, task_id: str, *, research: str = "") -> CommandOutput | None:
        """Run a command of the outside task system; None if the workspace keeps its own tasks."""
        if not self.outside:
            return None
        from remit.runs.workspace_trust import check_trust  # noqa: PLC0415 - only with an outside system
        from remit.tasks.outside_system import run_outside  # noqa: PLC0415

        check_trust(self.root, self.settings)
        return run_outside(self.outside, name, task_id=task_id, research=research, folder=self.root)

    # The workspace's own

    def add(self, title: str, **given: str) -> TaskChange:
        """Add a task."""
        self.check_own()
        return self.store.add(title, **given)

    def list_tasks(self) -> list[StoredTask]:
        """Return all tasks, with their titles in TODO.md."""
        self._check_begun()
        titles = self.store.read_titles()
        return [_name(task, titles.get(task.number)) for task in self.store.list_tasks()]

    def count_drift(self) -> int:
        """Count the differences between state.json and TODO.md."""
        from remit.tasks.drift import is_difference  # noqa: PLC0415 - only for this

        return sum(map(is_difference, self.store.check()))

    def show(self, number: int) -> ShownTask:
        """Return a task with its plan, entries and possible moves."""
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
        """Change the marker of a task, or of a phase of its plan.

        `environ` is the environment of the caller, if it isn't this process's own.
        """
        from remit.runs.tasks.task_holders import find_mover  # noqa: PLC0415 - only for this

        self._check_begun()
        by = find_mover(self.home, number, environ)
        if phase is not None:
            return self.store.move_phase(number, phase, marker, by=by)
        return self.store.move(number, marker, reason=reason, by=by)

    def focus(self, number: int) -> TaskChange | None:
        """Focus a task and make it IN PROGRESS if possible; None if its marker stays."""
        from remit.tasks.task import list_moves  # noqa: PLC0415

        self._check_begun()
        facts = self.store.get(number)
        if facts.is_over:
            raise UsageError(f"task {number} is closed", hint="list the open tasks: remit task list")
        may = facts.marker != "IN PROGRESS" and "IN PROGRESS" in list_moves(facts.marker or "")
        fresh = facts.marker in {"NOT STARTED", "BLOCKED"}
        moved = self.store.move(number, "IN PROGRESS") if may and fresh else None
        self.home.ledger.set_note(_FOCUS, str(number))
        return moved

    def get_focus(self) -> int | None:
        """Return the number of the focused task."""
        note = self.home.ledger.get_note(_FOCUS) if self.home.is_made else None
        number = int(note) if note is not None and note.isdigit() else None
        return number if any(task.number == number for task in self.store.list_tasks() if not task.is_over) else None

    def link(self, number: int, entry_id: str) -> TaskChange:
        """Link a task to an existing entry of the manifest."""
        from remit.runs.workspace_findings import check_entry_is_there  # noqa: PLC0415 - only for this

        self._check_begun()
        check_entry_is_there(entry_id)
        return self.store.link(number, entry_id)

    def archive(self, numbers: tuple[int, ...]) -> tuple[list[TaskChange], TaskChange]:
        """Archive closed tasks; without numbers, all of them. Refuses an agent that works on one of them."""
        from remit.runs.tasks.task_holders import find_mover, list_holders  # noqa: PLC0415 - only for this

        self._check_begun()
        for number in numbers or {row.task_number or 0 for row in list_holders(self.home)}:
            if find_mover(self.home, number):
                message = f"an agent can't archive task {number} while it works on it"
                raise RefusedError(message, hint="return first; the user archives the task with remit task archive")
        return self.store.archive(numbers)

    def sync(self, how: How) -> SyncResult:
        """Synchronize state.json and TODO.md: only unambiguous edits, or all differences in favor of one file."""
        from remit.tasks.sync import absorb_edits, repair  # noqa: PLC0415 - only for this

        self._check_begun()
        return absorb_edits(self.store) if how == "absorb" else self._describe_entries(repair(self.store, how))

    def _describe_entries(self, synced: SyncResult) -> SyncResult:
        """Add the manifest entries that have the old number of a renumbered task."""
        from remit.tasks.duplicates import describe_entries  # noqa: PLC0415 - only for this

        notes = []
        for task in synced.renumbered:
            try:
                ids = _find_entries(self.home, task.old)
            except RemitError:  # the repair is done; commands on the manifest report the error
                break
            notes += [describe_entries(task, ids)] if ids else []
        return synced._replace(done=(*synced.done, *notes))

    def load_plan(self, number: int) -> PlanFacts:
        """Load a task's plan, with the phase at which work resumes."""
        self._check_begun()
        plan = self.store.load_plan(number)
        if plan is None:
            hint = f"create one with: remit task plan {number}; or set plan_path in state.json"
            raise InputError(f"task {number} has no plan", hint=hint)
        return plan

    def check_own(self) -> None:
        """Raise if an outside system keeps the tasks: Remit passes only a few commands on to it."""
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
    """Parse a marker in any spelling."""
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
    """The diagnostics on state.json and TODO.md, and the texts of both."""

    folder: str
    tasks: int
    diagnostics: dict[str, tuple[Diagnostic, ...]]
    """By path of the file."""
    texts: dict[str, bytes]

    @property
    def differences(self) -> int:
        """The number of differences between the two files."""
        from remit.tasks.drift import is_difference  # noqa: PLC0415 - only for this

        return sum(is_difference(each) for found in self.diagnostics.values() for each in found)


def check_sync(tasks: Tasks | None = None) -> CheckedTasks | None:
    """Compare state.json with TODO.md and the plans, without an edit; None if the workspace has no tasks.

    First finishes a change that a crash interrupted. A caller that passes `tasks` also closes them.
    """
    from remit.storage.spec_root import ARCHIVE, STATE, TODO  # noqa: PLC0415
    from remit.tasks.drift import check_drift  # noqa: PLC0415
    from remit.tasks.merge_sides import check_merged  # noqa: PLC0415
    from remit.tasks.state import parse_archive, parse_state  # noqa: PLC0415
    from remit.tasks.todo import parse_todo  # noqa: PLC0415
    from remit.tasks.transaction import decode, finish_if_interrupted, load_file  # noqa: PLC0415

    tasks = tasks or Tasks(here=True)  # a hook in a worktree commits the files there
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
    else:  # text between conflict markers belongs to two versions
        drift = check_drift(state, None)._replace(in_todo=(unmerged,))
    in_state = (*drift.in_state, *_check_plans(tasks.store, state, state_data))
    numbers = {task.number for each in (state, todo) if each is not None for task in each.tasks}
    folder = f"{tasks.root}/{tasks.store.folder}"
    diagnostics = {f"{folder}/{STATE}": in_state, f"{folder}/{TODO}": drift.in_todo}
    texts = dict(zip(diagnostics, (state_data or b"", todo_data or b""), strict=True))
    return CheckedTasks(folder, len(numbers), diagnostics, texts)


def _check_plans(store: TaskStore, state: State | None, data: bytes | None) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each plan with another status than its task."""
    from remit.tasks.drift import check_plans  # noqa: PLC0415
    from remit.tasks.sync import load_plan_statuses  # noqa: PLC0415
    from remit.tasks.transaction import decode  # noqa: PLC0415 - only for this

    if state is not None and state.broken is None and data is not None:
        yield from check_plans(state, load_plan_statuses(store, decode(data)))


def _find_entries(home: Home, number: int) -> tuple[str, ...]:
    """Return the ids of manifest entries that link a task."""
    from remit.runs.workspace_findings import find_entries_of_task  # noqa: PLC0415 - only for this

    return find_entries_of_task(home, number)
