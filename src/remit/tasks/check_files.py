"""Checks of state.json and TODO.md before and after every change.

If both files still have the bytes from when they last agreed, nothing is parsed. Otherwise unambiguous manual edits of
one file are copied into the other, and conflicting edits become diagnostics.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.errors import StateError, UsageError
from remit.storage.spec_root import ARCHIVE, STATE, TODO
from remit.tasks.archived import parse_archive
from remit.tasks.drift import check_drift
from remit.tasks.merge_sides import check_merged
from remit.tasks.repair import classify_drift, plan_absorb
from remit.tasks.state import RESTORE, parse_state
from remit.tasks.state_edits import render_empty_state
from remit.tasks.todo import parse_todo
from remit.tasks.todo_edits import render_empty_todo
from remit.tasks.transaction import load_agreed, load_agreed_markers

if TYPE_CHECKING:
    from remit.model import Diagnostic
    from remit.tasks.repair import RepairPlan
    from remit.tasks.state import State
    from remit.tasks.todo import Todo
    from remit.tasks.transaction import TaskFiles

_BY_HAND = {"SYN017", "SYN018", "SYN020"}


def prepare_files(files: TaskFiles, *, may_begin: bool = False) -> None:
    """Check that both files exist and can be parsed, and absorb unambiguous edits. Raise `StateError` otherwise."""
    _check_there(files, may_begin=may_begin)
    if load_agreed(files.home, files.folder) == files.take_hash():
        return
    broken = parse_state(files.state).broken
    if broken is not None:
        raise StateError(broken.message, hint=RESTORE)
    unmerged = check_merged(files.todo)
    if unmerged is not None:
        raise StateError(unmerged.message, hint=f"{unmerged.hint[:1].lower()}{unmerged.hint[1:].rstrip('.')}")
    baseline = load_agreed_markers(files.home, files.folder)
    apply_repair(files, plan_absorb(files.state, files.todo, baseline))


def _check_there(files: TaskFiles, *, may_begin: bool) -> None:
    there = [name for name in (STATE, TODO) if files.load(name) is not None]
    if not there:
        if not may_begin:
            raise UsageError("this workspace has no tasks", hint="create the first one with: remit task new TITLE")
        files.put(STATE, render_empty_state())
        files.put(TODO, render_empty_todo())
    elif len(there) == 1:
        raise missing_file_error(TODO if there[0] == STATE else STATE, there[0])


def missing_file_error(missing: str, other: str) -> StateError:
    """Return the error for one missing file."""
    return StateError(
        f"{missing} is missing, but {other} exists", hint=f"create it from {other} with: remit task sync --repair"
    )


def apply_repair(files: TaskFiles, repair: RepairPlan) -> None:
    """Put a planned repair into the files, and note what is left for the user."""
    files.put(STATE, repair.state)
    files.put(TODO, repair.todo)
    files.absorbed += repair.done
    files.agrees = not repair.left
    state, todo = parse_state(repair.state), parse_todo(repair.todo)
    _record_left(files, repair.left, state, todo)
    kinds = classify_drift(state, todo, None)
    # For tasks that differ, keep the marker from when the files last agreed: it shows later which file was edited.
    files.markers = {
        task.number: task.marker for task in state.tasks if task.marker and kinds.get(task.number) == "same"
    }


def recheck(files: TaskFiles) -> None:
    """Compute the remaining diagnostics again after a change: it may have fixed them, and has moved their places."""
    if files.diagnostics:
        baseline = load_agreed_markers(files.home, files.folder) | files.markers
        again = plan_absorb(files.state, files.todo, baseline)
        _record_left(files, again.left, parse_state(files.state), parse_todo(files.todo))
        files.agrees = not again.left and (again.state, again.todo) == (files.state, files.todo)


def _record_left(files: TaskFiles, left: tuple[Diagnostic, ...], state: State, todo: Todo) -> None:
    """Store the diagnostics that the user has to decide, the file of each, and the tasks that were edited by hand."""
    in_state = set(check_drift(state, todo, parse_archive(files.load(ARCHIVE))).in_state) if left else set()
    files.diagnostics = list(left)
    files.diagnostic_files = [STATE if finding in in_state else TODO for finding in left]
    edited = {finding.place: finding for finding in left if finding.code in _BY_HAND}
    places = [(task.number, place) for task in todo.tasks for place in (task.marker_place, task.place)]
    files.doubts = {number: edited[place] for number, place in places if place in edited}
