"""Synchronization of state.json and TODO.md on disk: absorb unambiguous edits, or repair both files.

A file with the conflict markers of a merge, and a state.json that isn't valid JSON, are copied to `.remit/recovered/`
before they are rewritten. Nothing is guessed from a state.json that isn't valid JSON: it is replaced by its last valid
version in git, and without one the files stay as they are.
"""

from __future__ import annotations

import os
import re
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from remit.errors import StateError
from remit.ledger.journal import MAX_BYTES
from remit.positions import LineIndex
from remit.storage.files import storage_error, write_bytes
from remit.storage.safe_path import find_inside, retry_if_changed
from remit.storage.spec_root import ARCHIVE, STATE, TODO
from remit.tasks import state_edits
from remit.tasks.drift import check_drift, is_difference, task_lost
from remit.tasks.merge_sides import check_merged, join_sides, join_states
from remit.tasks.plan import parse_plan, set_plan_status
from remit.tasks.repair import Restored, plan_repair
from remit.tasks.state import NUMBER_KEY, parse_archive, parse_state
from remit.tasks.store import list_folders, read_tasks
from remit.tasks.todo import parse_todo
from remit.tasks.transaction import apply_repair, decode, edit_task_files, encode, load_agreed_markers, load_file

if TYPE_CHECKING:
    from remit.ledger.journal import Interrupted
    from remit.model import Diagnostic
    from remit.tasks.duplicates import Renumbered
    from remit.tasks.repair import Prefer
    from remit.tasks.store import TaskStore
    from remit.tasks.task import ParseProblem
    from remit.tasks.transaction import TaskFiles

_NUMBER = re.compile(rf'"{NUMBER_KEY}"[ \t\r\n]*+:[ \t\r\n]*+"?([0-9]{{1,9}})(?![0-9])')
_MAX_LOST = 100


class RestoredState(NamedTuple):
    """A valid state.json, sentences about its origin, and facts for the repair."""

    text: str
    done: tuple[str, ...]
    restored: Restored | None = None


def load_last_version(root: str, folder: str, text: str, broken: ParseProblem, *, has_todo: bool) -> RestoredState:
    """Return the last committed version of a broken state.json that is valid. Raise `StateError` if there is none."""
    from remit.git.file_history import load_file_at, walk_versions  # noqa: PLC0415 - only for a broken file

    place = "" if broken.place is None else f" (line {broken.place.line}, column {broken.place.column})"
    state, todo = (find_inside(root, path) or path for path in (f"{folder}/{STATE}", f"{folder}/{TODO}"))
    for version in walk_versions(root, state, max_bytes=MAX_BYTES):
        earlier = decode(version.data)
        if parse_state(earlier).broken is None:
            beside = load_file_at(root, version.commit, todo, max_bytes=MAX_BYTES)
            listed = parse_todo("" if beside is None else decode(beside.data)).tasks
            markers = {task.number: task.marker for task in reversed(listed)}
            source = f"commit {version.commit[:12]} of {version.day}"
            done = f"{broken.message}{place}: restored it from {source}"
            return RestoredState(earlier, (done,), Restored(find_named(text), markers))
    hint = "correct it by hand, or restore it from a backup"
    if has_todo:
        hint += "; to create it again from TODO.md alone, move it away and run: remit task sync --repair"
    raise StateError(f"{broken.message}{place}, and git has no version that is valid JSON", hint=hint)


def find_named(text: str) -> dict[int, tuple[int, int]]:
    """Return the task numbers that a broken state.json names, with the first span of each."""
    return {int(found[1]): found.span(1) for found in reversed([*_NUMBER.finditer(text)])}


class SyncResult(NamedTuple):
    """What a synchronization changed, and what is left."""

    done: tuple[str, ...]
    diagnostics: dict[str, tuple[Diagnostic, ...]]
    """The remaining errors and warnings, by file below the root."""
    texts: dict[str, bytes]
    """The content of each of these files."""
    files: tuple[str, ...]
    """The files that were written."""
    recovered: tuple[str, ...] = ()
    """The copies of files that couldn't be parsed, below the root."""
    interrupted: tuple[Interrupted, ...] = ()
    renumbered: tuple[Renumbered, ...] = ()
    """The tasks that got a new number."""

    @property
    def agree(self) -> bool:
        """True if the two files agree now."""
        return not any(is_difference(each) for found in self.diagnostics.values() for each in found)


@retry_if_changed
def absorb_edits(store: TaskStore) -> SyncResult:
    """Copy unambiguous edits of one file into the other."""
    with store.change("edits absorbed") as files:
        pass
    return _summarize(files)


@retry_if_changed
def repair(store: TaskStore, prefer: Prefer = "newest") -> SyncResult:
    """Make the two files agree; what the user has to decide is returned as diagnostics."""
    with edit_task_files(store.home, store.folder, kind="tasks repaired") as files:
        kept, restored = _restore_state(files)
        others = _join_todo(files)
        repaired = plan_repair(
            files.load(STATE),
            files.load(TODO),
            archive_text=files.load(ARCHIVE),
            prefer=prefer,
            baseline=load_agreed_markers(store.home, store.folder),
            plans=load_plan_statuses(store, files.load(STATE)),
            folders=list_folders(store.home.root, store.folder),
            restored=restored,
        )
        if repaired.has_dropped and not kept:
            kept = _keep(files, STATE, files.state)
        apply_repair(files, repaired)
        for number, marker in repaired.plans.items():
            fields = state_edits.find_task(files.state, number).value
            store.follow_in_plan(files, number, fields, partial(set_plan_status, marker=marker))
    synced = _summarize(files)._replace(recovered=(*kept, *others), renumbered=repaired.renumbered)
    if restored is None or not repaired.lost:
        return synced
    lines = LineIndex("".join(map(decode, kept.values())))
    lost = tuple(task_lost(each, lines.locate(*restored.named[each])) for each in repaired.lost[:_MAX_LOST])
    diagnostics = dict.fromkeys(kept, lost) | synced.diagnostics
    return synced._replace(diagnostics=diagnostics, texts=kept | synced.texts)


def _join_todo(files: TaskFiles) -> dict[str, bytes]:
    """Join both sides of a TODO.md with conflict markers; return the original by the path of its copy."""
    if check_merged(files.todo) is None:
        return {}
    kept = _keep(files, TODO, files.todo)
    joined = join_sides(files.todo)
    files.put(TODO, joined.text)
    files.absorbed += joined.done
    return kept


def _restore_state(files: TaskFiles) -> tuple[dict[str, bytes], Restored | None]:
    """Replace a state.json that can't be parsed: by both sides of a merge joined, or by its last version in git.

    Return the original by the path of its copy, and facts about the restored version.
    """
    text = files.load(STATE)
    broken = None if text is None else parse_state(text).broken
    if text is None or broken is None:
        return {}, None
    joined = join_states(text)
    if joined is not None:
        version = RestoredState(*joined)
    else:
        has_todo = files.load(TODO) is not None
        version = load_last_version(files.home.root, files.folder, text, broken, has_todo=has_todo)
    kept = _keep(files, STATE, text)
    files.put(STATE, version.text)
    files.absorbed += version.done
    return kept, version.restored


def _keep(files: TaskFiles, name: str, text: str) -> dict[str, bytes]:
    """Copy a file to `.remit/recovered/`; return its bytes by the path of the copy, below the root."""
    data = encode(text)
    kept = f"{files.home.make_folder('recovered')}/{name}.{sha256(data).hexdigest()[:12]}"
    try:
        write_bytes(kept, data)
    except OSError as error:
        raise storage_error(kept, error) from error
    return {os.path.relpath(kept, files.home.root): data}


def load_plan_statuses(store: TaskStore, text: str | None) -> dict[int, str | None]:
    """Return the status of the plan of each open task of a state.json, by number."""
    found: dict[int, str | None] = {}
    for task in read_tasks(text) if text is not None else ():
        path = None if task.closed else store.find_plan(task.number, task.fields)
        data = None if path is None else load_file(store.home.root, path)
        if data is not None:
            found[task.number] = parse_plan(decode(data)).marker
    return found


def _summarize(files: TaskFiles) -> SyncResult:
    changed = tuple(change.path for change in files.list_changes() if change.before != change.after)
    diagnostics: dict[str, tuple[Diagnostic, ...]] = {}
    texts: dict[str, bytes] = {}
    state, todo = parse_state(files.state), parse_todo(files.todo)
    drift = check_drift(state, todo, parse_archive(files.load(ARCHIVE)))
    for name, found in ((STATE, drift.in_state), (TODO, drift.in_todo)):
        about = tuple(
            each for each, where in zip(files.diagnostics, files.diagnostic_files, strict=True) if where == name
        )
        about += tuple(each for each in found if each.severity != "error")
        if about:
            diagnostics[f"{files.folder}/{name}"] = about
            texts[f"{files.folder}/{name}"] = encode(files.load(name) or "")
    return SyncResult(files.absorbed, diagnostics, texts, changed, interrupted=tuple(files.interrupted))
