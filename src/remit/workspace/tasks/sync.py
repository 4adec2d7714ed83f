"""Sync: state.json and TODO.md made to say the same again, on disk.

Owns taking in what one of them was edited to, and the repair of both. A state.json that is no JSON is kept as it was
before anything of it is written anew.
"""

from __future__ import annotations

import os
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from remit.workspace.files import tell_failure, write_bytes
from remit.workspace.inside import start_over
from remit.workspace.tasks import state_edits
from remit.workspace.tasks.archived import parse_archive
from remit.workspace.tasks.desk import at_desk, decode, encode, load_agreed_markers, load_file
from remit.workspace.tasks.drift import check_drift, is_difference
from remit.workspace.tasks.examine import settle
from remit.workspace.tasks.places import ARCHIVE, STATE, TODO
from remit.workspace.tasks.plan import parse_plan, set_plan_status
from remit.workspace.tasks.recover import recover_state
from remit.workspace.tasks.repair import plan_repair
from remit.workspace.tasks.sides import check_merged, join_sides
from remit.workspace.tasks.state import parse_state
from remit.workspace.tasks.store import list_folders, read_tasks
from remit.workspace.tasks.todo import parse_todo

if TYPE_CHECKING:
    from collections.abc import Iterable

    from remit.model import Finding
    from remit.workspace.journal import Interrupted
    from remit.workspace.tasks.desk import Desk
    from remit.workspace.tasks.duplicates import Renumbered
    from remit.workspace.tasks.repair import Prefer
    from remit.workspace.tasks.store import TaskStore


class Synced(NamedTuple):
    """What was done to make the two files agree, and what is left."""

    done: tuple[str, ...]
    findings: dict[str, tuple[Finding, ...]]
    """What is left to a person, also where that can wait, and what a recovery left out, by file below the root."""
    texts: dict[str, bytes]
    """What stands in each of these."""
    files: tuple[str, ...]
    """What was written."""
    recovered: tuple[str, ...] = ()
    """Where files that could not be read are kept as they were, below the root."""
    interrupted: tuple[Interrupted, ...] = ()
    renumbered: tuple[Renumbered, ...] = ()
    """The tasks that have another number now."""

    @property
    def agree(self) -> bool:
        """Whether the two files say the same now."""
        return not any(is_difference(each) for found in self.findings.values() for each in found)


class _Kept(NamedTuple):
    """A file that could not be read: where it is kept, what stands in it, and what was not saved of it."""

    path: str
    data: bytes
    findings: tuple[Finding, ...] = ()


@start_over
def take_in(store: TaskStore) -> Synced:
    """Take in what was edited in one of the two files, as far as that is clear."""
    with store.change("tasks taken in") as desk:
        pass
    return _tell(desk)


@start_over
def repair(store: TaskStore, prefer: Prefer = "newest") -> Synced:
    """Make the two files say the same; where that needs a person, it is told."""
    with at_desk(store.home, store.folder, kind="tasks repaired") as desk:
        kept = [each for each in (_join_sides(desk), _recover(desk)) if each is not None]
        repaired = plan_repair(
            desk.load(STATE),
            desk.load(TODO),
            archive_text=desk.load(ARCHIVE),
            prefer=prefer,
            baseline=load_agreed_markers(store.home, store.folder),
            plans=load_plan_statuses(store, desk.load(STATE)),
            folders=list_folders(store.home.root, store.folder),
        )
        settle(desk, repaired)
        for number, marker in repaired.plans.items():
            fields = state_edits.find_task(desk.state, number).value
            store.follow_in_plan(desk, number, fields, partial(set_plan_status, marker=marker))
    return _tell(desk, kept)._replace(renumbered=repaired.renumbered)


def _join_sides(desk: Desk) -> _Kept | None:
    """Join the sides of a TODO.md that a merge left unfinished, and keep the original."""
    if check_merged(desk.todo) is None:
        return None
    kept = _keep(desk, TODO, encode(desk.todo))
    joined = join_sides(desk.todo)
    desk.put(TODO, joined.text)
    desk.taken_in += joined.told
    return kept


def _recover(desk: Desk) -> _Kept | None:
    """Read what can be read of a state.json that is no JSON, and keep the original."""
    text = desk.load(STATE)
    if text is None or parse_state(text).broken is None:
        return None
    kept = _keep(desk, STATE, encode(text))
    recovered = recover_state(kept.data, todo=desk.load(TODO))
    desk.put(STATE, recovered.text)
    desk.taken_in += recovered.told
    return kept._replace(findings=recovered.findings)


def _keep(desk: Desk, name: str, data: bytes) -> _Kept:
    kept = f"{desk.home.make_folder('recovered')}/{name}.{sha256(data).hexdigest()[:12]}"
    try:
        write_bytes(kept, data)
    except OSError as error:
        raise tell_failure(kept, error) from error
    return _Kept(os.path.relpath(kept, desk.home.root), data)


def load_plan_statuses(store: TaskStore, text: str | None) -> dict[int, str | None]:
    """The status that the plan of each open task of a state.json has."""
    found: dict[int, str | None] = {}
    for task in read_tasks(text) if text is not None else ():
        path = None if task.closed else store.find_plan(task.number, task.fields)
        data = None if path is None else load_file(store.home.root, path)
        if data is not None:
            found[task.number] = parse_plan(decode(data)).marker
    return found


def _tell(desk: Desk, kept: Iterable[_Kept] = ()) -> Synced:
    files = tuple(change.path for change in desk.list_changes() if change.before != change.after)
    findings = {each.path: each.findings for each in kept}
    texts = {each.path: each.data for each in kept}
    recovered = tuple(findings)
    state, todo = parse_state(desk.state), parse_todo(desk.todo)
    drift = check_drift(state, todo, parse_archive(desk.load(ARCHIVE)))
    for name, found in ((STATE, drift.in_state), (TODO, drift.in_todo)):
        about = tuple(each for each, where in zip(desk.told, desk.told_in, strict=True) if where == name)
        about += tuple(each for each in found if each.severity != "error")
        if about:
            findings[f"{desk.folder}/{name}"] = about
            texts[f"{desk.folder}/{name}"] = encode(desk.load(name) or "")
    return Synced(desk.taken_in, findings, texts, files, recovered, tuple(desk.interrupted))
