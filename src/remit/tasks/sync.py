"""Sync: state.json and TODO.md made to say the same again, on disk.

Owns taking in what one of them was edited to, and the repair of both. A file with the marks of a merge, and a
state.json that isn't JSON, are kept as they were before anything of them is written anew.
"""

from __future__ import annotations

import os
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from remit.positions import LineIndex
from remit.storage.files import storage_error, write_bytes
from remit.storage.safe_path import retry_if_changed
from remit.storage.spec_root import ARCHIVE, STATE, TODO
from remit.tasks import state_edits
from remit.tasks.archived import parse_archive
from remit.tasks.check_files import apply_repair
from remit.tasks.drift import check_drift, is_difference, task_lost
from remit.tasks.merge_sides import check_merged, join_sides, join_states
from remit.tasks.plan import parse_plan, set_plan_status
from remit.tasks.recover import RestoredState, load_last_version
from remit.tasks.repair import plan_repair
from remit.tasks.state import parse_state
from remit.tasks.store import list_folders, read_tasks
from remit.tasks.todo import parse_todo
from remit.tasks.transaction import decode, edit_task_files, encode, load_agreed_markers, load_file

if TYPE_CHECKING:
    from remit.ledger.journal import Interrupted
    from remit.model import Diagnostic
    from remit.tasks.duplicates import Renumbered
    from remit.tasks.repair import Prefer, Restored
    from remit.tasks.store import TaskStore
    from remit.tasks.transaction import TaskFiles


_MAX_LOST = 100


class SyncResult(NamedTuple):
    """What was done to make the two files agree, and what is left."""

    done: tuple[str, ...]
    findings: dict[str, tuple[Diagnostic, ...]]
    """What is left to a person, also where that can wait, by file below the root."""
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


@retry_if_changed
def absorb_edits(store: TaskStore) -> SyncResult:
    """Take in what was edited in one of the two files, as far as that is clear."""
    with store.change("tasks taken in") as desk:
        pass
    return _summarize(desk)


@retry_if_changed
def repair(store: TaskStore, prefer: Prefer = "newest") -> SyncResult:
    """Make the two files say the same; where that needs a person, it is told."""
    with edit_task_files(store.home, store.folder, kind="tasks repaired") as desk:
        kept, restored = _restore_state(desk)
        others = _join_todo(desk)
        repaired = plan_repair(
            desk.load(STATE),
            desk.load(TODO),
            archive_text=desk.load(ARCHIVE),
            prefer=prefer,
            baseline=load_agreed_markers(store.home, store.folder),
            plans=load_plan_statuses(store, desk.load(STATE)),
            folders=list_folders(store.home.root, store.folder),
            restored=restored,
        )
        if repaired.has_dropped and not kept:
            kept = _keep(desk, STATE, desk.state)
        apply_repair(desk, repaired)
        for number, marker in repaired.plans.items():
            fields = state_edits.find_task(desk.state, number).value
            store.follow_in_plan(desk, number, fields, partial(set_plan_status, marker=marker))
    synced = _summarize(desk)._replace(recovered=(*kept, *others), renumbered=repaired.renumbered)
    if restored is None or not repaired.lost:
        return synced
    lines = LineIndex("".join(map(decode, kept.values())))
    lost = tuple(task_lost(each, lines.locate(*restored.named[each])) for each in repaired.lost[:_MAX_LOST])
    findings = dict.fromkeys(kept, lost) | synced.findings
    return synced._replace(findings=findings, texts=kept | synced.texts)


def _join_todo(desk: TaskFiles) -> dict[str, bytes]:
    """Join the sides of a TODO.md that a merge left unfinished; the original, by the path where it is kept."""
    if check_merged(desk.todo) is None:
        return {}
    kept = _keep(desk, TODO, desk.todo)
    joined = join_sides(desk.todo)
    desk.put(TODO, joined.text)
    desk.absorbed += joined.done
    return kept


def _restore_state(desk: TaskFiles) -> tuple[dict[str, bytes], Restored | None]:
    """Put a state.json that can be read in the place of one that can't: both sides of a merge, or the last version.

    Gives the original by the path where it is kept, and what to know about an earlier version.
    """
    text = desk.load(STATE)
    broken = None if text is None else parse_state(text).broken
    if text is None or broken is None:
        return {}, None
    joined = join_states(text)
    if joined is not None:
        version = RestoredState(*joined)
    else:
        has_todo = desk.load(TODO) is not None
        version = load_last_version(desk.home.root, desk.folder, text, broken, has_todo=has_todo)
    kept = _keep(desk, STATE, text)
    desk.put(STATE, version.text)
    desk.absorbed += version.done
    return kept, version.restored


def _keep(desk: TaskFiles, name: str, text: str) -> dict[str, bytes]:
    """Keep a file as it was; its bytes, by the path below the root."""
    data = encode(text)
    kept = f"{desk.home.make_folder('recovered')}/{name}.{sha256(data).hexdigest()[:12]}"
    try:
        write_bytes(kept, data)
    except OSError as error:
        raise storage_error(kept, error) from error
    return {os.path.relpath(kept, desk.home.root): data}


def load_plan_statuses(store: TaskStore, text: str | None) -> dict[int, str | None]:
    """The status that the plan of each open task of a state.json has."""
    found: dict[int, str | None] = {}
    for task in read_tasks(text) if text is not None else ():
        path = None if task.closed else store.find_plan(task.number, task.fields)
        data = None if path is None else load_file(store.home.root, path)
        if data is not None:
            found[task.number] = parse_plan(decode(data)).marker
    return found


def _summarize(desk: TaskFiles) -> SyncResult:
    files = tuple(change.path for change in desk.list_changes() if change.before != change.after)
    findings: dict[str, tuple[Diagnostic, ...]] = {}
    texts: dict[str, bytes] = {}
    state, todo = parse_state(desk.state), parse_todo(desk.todo)
    drift = check_drift(state, todo, parse_archive(desk.load(ARCHIVE)))
    for name, found in ((STATE, drift.in_state), (TODO, drift.in_todo)):
        about = tuple(
            each for each, where in zip(desk.diagnostics, desk.diagnostic_files, strict=True) if where == name
        )
        about += tuple(each for each in found if each.severity != "error")
        if about:
            findings[f"{desk.folder}/{name}"] = about
            texts[f"{desk.folder}/{name}"] = encode(desk.load(name) or "")
    return SyncResult(desk.absorbed, findings, texts, files, interrupted=tuple(desk.interrupted))
