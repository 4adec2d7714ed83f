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
from remit.workspace.tasks import state_edits
from remit.workspace.tasks.desk import ARCHIVE, STATE, TODO, at_desk, decode, encode, load_agreed_markers, load_file
from remit.workspace.tasks.examine import settle
from remit.workspace.tasks.plan import parse_plan, set_plan_status
from remit.workspace.tasks.recover import recover_state
from remit.workspace.tasks.repair import plan_repair
from remit.workspace.tasks.state import parse_state
from remit.workspace.tasks.store import read_tasks

if TYPE_CHECKING:
    from remit.model import Finding
    from remit.workspace.journal import Interrupted
    from remit.workspace.tasks.desk import Desk
    from remit.workspace.tasks.repair import Prefer
    from remit.workspace.tasks.store import TaskStore


class Synced(NamedTuple):
    """What was done to make the two files agree, and what is left."""

    done: tuple[str, ...]
    findings: dict[str, tuple[Finding, ...]]
    """What is left to a person, and what a recovery left out, by file below the root."""
    texts: dict[str, bytes]
    """What stands in each of these."""
    files: tuple[str, ...]
    """What was written."""
    recovered: str | None = None
    """Where a state.json that could not be read is kept as it was, below the root."""
    interrupted: tuple[Interrupted, ...] = ()

    @property
    def agree(self) -> bool:
        """Whether the two files say the same now."""
        return not any(each.severity == "error" for found in self.findings.values() for each in found)


class _Kept(NamedTuple):
    """A state.json that could not be read: where it is kept, what stands in it, and what was not saved of it."""

    path: str
    data: bytes
    findings: tuple[Finding, ...]


def take_in(store: TaskStore) -> Synced:
    """Take in what was edited in one of the two files, as far as that is clear."""
    with store.change("tasks taken in") as desk:
        pass
    return _tell(desk)


def repair(store: TaskStore, prefer: Prefer = "newest") -> Synced:
    """Make the two files say the same; where that needs a person, it is told."""
    with at_desk(store.home, store.folder, kind="tasks repaired") as desk:
        kept = _recover(store, desk)
        repaired = plan_repair(
            desk.load(STATE),
            desk.load(TODO),
            archive_text=desk.load(ARCHIVE),
            prefer=prefer,
            baseline=load_agreed_markers(store.home, store.folder),
            plans=load_plan_statuses(store, desk.load(STATE)),
        )
        settle(desk, repaired)
        for number, marker in repaired.plans.items():
            fields = state_edits.find_task(desk.state, number).value
            store.follow_in_plan(desk, fields, partial(set_plan_status, marker=marker))
    return _tell(desk, kept)


def _recover(store: TaskStore, desk: Desk) -> _Kept | None:
    """Read what can be read of a state.json that is no JSON, and keep the original."""
    data = load_file(store.home.root, f"{store.folder}/{STATE}")
    if data is None or parse_state(decode(data)).broken is None:
        return None
    kept = f"{store.home.make_folder('recovered')}/{STATE}.{sha256(data).hexdigest()[:12]}"
    try:
        write_bytes(kept, data)
    except OSError as error:
        raise tell_failure(kept, error) from error
    recovered = recover_state(data, todo=desk.load(TODO))
    desk.put(STATE, recovered.text)
    desk.taken_in += recovered.told
    return _Kept(os.path.relpath(kept, store.home.root), data, recovered.findings)


def load_plan_statuses(store: TaskStore, text: str | None) -> dict[int, str | None]:
    """The status that the plan of each open task of a state.json has."""
    found: dict[int, str | None] = {}
    for task in read_tasks(text) if text is not None else ():
        path = None if task.closed else store.find_plan(task)
        data = None if path is None else load_file(store.home.root, path)
        if data is not None:
            found[task.number] = parse_plan(decode(data)).marker
    return found


def _tell(desk: Desk, kept: _Kept | None = None) -> Synced:
    files = tuple(change.path for change in desk.list_changes() if change.before != change.after)
    findings: dict[str, tuple[Finding, ...]] = {} if kept is None else {kept.path: kept.findings}
    texts = {} if kept is None else {kept.path: kept.data}
    for name in (STATE, TODO):
        about = tuple(each for each, where in zip(desk.told, desk.told_in, strict=True) if where == name)
        if about:
            findings[f"{desk.folder}/{name}"] = about
            texts[f"{desk.folder}/{name}"] = encode(desk.load(name) or "")
    return Synced(desk.taken_in, findings, texts, files, kept and kept.path, tuple(desk.interrupted))
