"""Protected changes: protected names and files that change while an enforced agent runs a command.

Remit moves a new name into quarantine, and restores a changed file, if no other author is known; otherwise it only
reports the change. `note_before` records the state before a command, `check_command` compares it after the command,
and `check_left` when the agent returns, for commands whose end no hook reported.
"""

from __future__ import annotations

import os
import time

from remit.harnesses import claude
from remit.hooks.command_tickets import load_limits
from remit.hooks.user_session import is_user_tool_running
from remit.ledger.hook_runs import (
    find_command_ticket,
    find_other_author,
    keep_names,
    list_open_kept,
    load_kept,
    note_kept,
    open_quickly,
    take_all_names,
    take_kept,
    take_names,
)
from remit.light_json import parse_json, render_json
from remit.policy.protected_paths import list_names
from remit.storage.protected_copies import find_altered, keep_files, load_bytes, put_back
from remit.storage.quarantine import ProtectedChange, find_changes, move_away, read_time, record_names

TYPE_CHECKING = False  # importing typing costs 6 ms
if TYPE_CHECKING:
    from remit.hooks.events import HookEvent
    from remit.ledger.store import Connection
    from remit.storage.protected_copies import Altered

QUARANTINED = "quarantined"
"""The kind of event that stores a sentence about a protected name."""
_CLOCK_NS = 20 * 10**6
"""A file's timestamp may be this much behind the clock."""
_MAX_NS = 3600 * 10**9
"""How long a command is assumed to run if no hook reports its end."""
_BY_HARNESS = {claude.LOCAL_SETTINGS: "Claude Code writes it when the user answers a permission prompt"}


def note_before(
    db: Connection, session_id: str, tool_use_id: str, root: str, *, harness: str, is_limited: bool
) -> None:  # fmt: skip
    """Record the protected names before a command, and the bytes of the files unless the kernel limits the command."""
    names = list_names(has_git=os.path.isdir(f"{root}/.git"))
    keep_names(db, session_id, tool_use_id, record_names(root, names))
    if is_limited:
        return
    if harness == "codex":  # it doesn't report the end of every command: the previous one is over by now
        _check_left_files(db, session_id, root)
    known = load_kept(db)
    record = keep_files(root, names, known)
    now_ns = time.time_ns()
    # A running command may have changed a file already, so the oldest record of each file counts.
    running = [each for each in map(parse_json, list_open_kept(db)) if now_ns - each["at_ns"] < _MAX_NS]
    running.sort(key=lambda each: int(each["at_ns"]), reverse=True)
    if record != known:
        note_kept(db, "", record)
    files = parse_json(record)
    for each in running:
        files |= each["files"]
    note_kept(db, f"{session_id} {tool_use_id}", render_json({"at_ns": now_ns, "files": files}))


def check_command(event: HookEvent, root: str) -> str:
    """Return what an enforced agent reads about protected changes while its command ran; empty for none."""
    from remit.hooks.session_lookup import find_own

    db = open_quickly(f"{root}/.remit/ledger.db")
    own = None if db is None else find_own(db, event)
    if db is None or own is None or not own.enforced:
        return ""
    when = f"while a command of '{own.agent}' ran"
    sentences = []
    record = take_names(db, own.session_id, event.tool_use_id)
    if record:
        # The ticket says when the command began, and what it could write if the kernel limited it.
        ticket = find_command_ticket(db, own.session_id, event.tool_use_id)
        began_ns, limits = load_limits(root, ticket) if ticket else (0, [])
        changes = find_changes(root, record, limits)
        since_ns = max(began_ns, read_time(record))
        sentences += [_quarantine(db, own.session_id, root, each, when=when,
                                  doubt=_find_doubt(db, root, each.path, since_ns)) for each in changes]  # fmt: skip
    records = take_kept(db, f"{own.session_id} {event.tool_use_id}")
    sentences += _restore_all(db, own.session_id, root, records, when=when)
    more = "Protected names decide what agents may do; continue without them."
    return f"{'; '.join(sentences)}. {more}" if sentences else ""


def check_left(db: Connection, session_id: str, root: str, *, agent: str) -> None:
    """Quarantine or restore what changed during a run and what no check after a command found."""
    records = take_all_names(db, session_id)
    if records:
        _check_left_names(db, session_id, root, records, when=f"while '{agent}' ran")
    _check_left_files(db, session_id, root)


def _check_left_names(db: Connection, session_id: str, root: str, records: list[str], *, when: str) -> None:
    first, *left = records
    query = "SELECT json_extract(details, '$.sentence') FROM events WHERE session_id = ? AND kind = ?"
    known = "".join(each for (each,) in db.execute(query, (session_id, QUARANTINED)))
    for record in left:  # of commands whose end no hook reported: they may still run
        for change in find_changes(root, record):
            doubt = _find_doubt(db, root, change.path, read_time(record))
            known += _quarantine(db, session_id, root, change, when=when, doubt=doubt)
    doubt = "it appeared between two commands of the agent"
    for change in find_changes(root, first):
        if f"'{change.path}'" not in known:
            known += _quarantine(db, session_id, root, change, when=when, doubt=doubt)


def _check_left_files(db: Connection, session_id: str, root: str) -> None:
    records = take_kept(db, f"{session_id} ", is_prefix=True)
    _restore_all(db, session_id, root, records, when="while a command of the agent ran")


# --- who made a change, and what is done about it --------------------------------------------------------------------


def _find_doubt(db: Connection, root: str, path: str, since_ns: int) -> str:
    """Return why another author may have created a name; empty if no other author is known."""
    try:
        if os.lstat(f"{root}/{path}").st_ctime_ns < since_ns - _CLOCK_NS:
            return "it was there before the command began"
    except OSError:  # it is gone, and the move reports that
        pass
    return _find_author(db, root, path, since_ns)


def _find_author(db: Connection, root: str, path: str, since_ns: int) -> str:
    """Return why another author may have written at a protected name since a moment; empty if none is known."""
    if is_user_tool_running(root):
        return "the user's own session is using a tool"
    return _BY_HARNESS.get(path) or find_other_author(db, since_ns)


def _quarantine(db: Connection, session_id: str, root: str, change: ProtectedChange, *, when: str, doubt: str) -> str:
    """Move a new name away, or leave it if there is doubt; return the sentence that the result contains."""
    sentence = f"the protected name '{change.path}' {change.what}; it appeared {when}"
    if doubt or not change.is_movable:
        sentence += f". Remit left it there, because {doubt or 'it could not find it'}: check it"
    else:
        try:
            sentence += f". Remit moved it to '{move_away(root, change)}'"
        except OSError as error:
            sentence += f". Remit could not move it away ({error.strerror}): check it"
    return _note_sentence(db, session_id, sentence)


def _restore_all(db: Connection, session_id: str, root: str, records: list[str], *, when: str) -> list[str]:
    kept = [parse_json(record) for record in records]
    kept.sort(key=lambda each: int(each["at_ns"]))
    return [
        _restore(db, session_id, root, altered, when=when, since_ns=each["at_ns"])
        for each in kept for altered in find_altered(root, each["files"])
    ]  # fmt: skip


def _restore(db: Connection, session_id: str, root: str, altered: Altered, *, when: str, since_ns: int) -> str:
    """Restore a file, or leave it if another author is possible; return the sentence that the result contains."""
    sentence = f"the protected file '{altered.path}' {altered.what} {when}"
    is_old = time.time_ns() - since_ns > _MAX_NS
    doubt = "its command began more than an hour ago" if is_old else _find_author(db, root, altered.path, since_ns)
    if doubt:
        sentence += f". Remit left it as it is, because {doubt}: check it"
    else:
        try:
            data = load_bytes(root, altered)
            moved = move_away(root, ProtectedChange(altered.place, altered.what, altered.node)) if altered.place else ""
            put_back(root, altered, data)
            sentence += ". Remit restored it" + (f", and moved what was there to '{moved}'" if moved else "")
        except OSError as error:
            sentence += f". Remit could not restore it ({error.strerror}): check it"
    return _note_sentence(db, session_id, sentence)


def _note_sentence(db: Connection, session_id: str, sentence: str) -> str:
    from remit.ledger.events import add_event

    add_event(db, QUARANTINED, {"sentence": sentence}, session_id=session_id)
    return sentence
