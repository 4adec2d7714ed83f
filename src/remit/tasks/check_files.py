"""Examining the desk: whether state.json and TODO.md can be worked on, and still say the same.

Owns what happens before every change. Most of the time the two are, byte for byte, what they were when they last
agreed, and nothing needs to be read. Else the edits of one side are taken in; what both sides changed is told.
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


def prepare_files(desk: TaskFiles, *, may_begin: bool = False) -> None:
    """See that both files are there and readable, and take in what was edited in one of them."""
    _check_there(desk, may_begin=may_begin)
    if load_agreed(desk.home, desk.folder) == desk.take_hash():
        return
    broken = parse_state(desk.state).broken
    if broken is not None:
        raise StateError(broken.message, hint=RESTORE)
    unmerged = check_merged(desk.todo)
    if unmerged is not None:
        raise StateError(unmerged.message, hint=f"{unmerged.hint[:1].lower()}{unmerged.hint[1:].rstrip('.')}")
    baseline = load_agreed_markers(desk.home, desk.folder)
    apply_repair(desk, plan_absorb(desk.state, desk.todo, baseline))


def _check_there(desk: TaskFiles, *, may_begin: bool) -> None:
    there = [name for name in (STATE, TODO) if desk.load(name) is not None]
    if not there:
        if not may_begin:
            raise UsageError("this workspace keeps no tasks", hint="remit task new TITLE makes the first")
        desk.put(STATE, render_empty_state())
        desk.put(TODO, render_empty_todo())
    elif len(there) == 1:
        raise missing_file_error(TODO if there[0] == STATE else STATE, there[0])


def missing_file_error(missing: str, other: str) -> StateError:
    """What to say where only one of the two files is there."""
    return StateError(
        f"{missing} is not there, and {other} is", hint="remit task sync --repair makes it from the other"
    )


def apply_repair(desk: TaskFiles, repair: RepairPlan) -> None:
    """Put what was worked out on the desk."""
    desk.put(STATE, repair.state)
    desk.put(TODO, repair.todo)
    desk.absorbed += repair.done
    desk.agrees = not repair.left
    state, todo = parse_state(repair.state), parse_todo(repair.todo)
    _record_left(desk, repair.left, state, todo)
    kinds = classify_drift(state, todo, None)
    # Where they disagree, what they last agreed on is kept: it tells later which of them was edited.
    desk.markers = {
        task.number: task.marker for task in state.tasks if task.marker and kinds.get(task.number) == "same"
    }


def recheck(desk: TaskFiles) -> None:
    """After a change, look again at what was left: the change may have put it right, and has moved its place."""
    if desk.diagnostics:
        baseline = load_agreed_markers(desk.home, desk.folder) | desk.markers
        again = plan_absorb(desk.state, desk.todo, baseline)
        _record_left(desk, again.left, parse_state(desk.state), parse_todo(desk.todo))
        desk.agrees = not again.left and (again.state, again.todo) == (desk.state, desk.todo)


def _record_left(desk: TaskFiles, left: tuple[Diagnostic, ...], state: State, todo: Todo) -> None:
    """Note what is left to a person, which file it is about, and which tasks were edited by hand."""
    in_state = set(check_drift(state, todo, parse_archive(desk.load(ARCHIVE))).in_state) if left else set()
    desk.diagnostics = list(left)
    desk.diagnostic_files = [STATE if finding in in_state else TODO for finding in left]
    edited = {finding.place: finding for finding in left if finding.code in _BY_HAND}
    places = [(task.number, place) for task in todo.tasks for place in (task.marker_place, task.place)]
    desk.doubts = {number: edited[place] for number, place in places if place in edited}
