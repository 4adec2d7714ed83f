"""Restoring: protected files that a command changed or removed which the kernel didn't limit.

Owns what is done about them: Remit writes the kept bytes back, and moves what is there now into quarantine, if nobody
else is known who can have changed it; otherwise it only reports it. `note_files` is called before a command,
`check_files` after it, and `check_left` when the agent returns, for commands whose end no hook reported.
"""

from __future__ import annotations

import os
import time

from remit.hooks.new_protected_names import QUARANTINED, find_author
from remit.ledger.hook_runs import list_open_kept, load_kept, note_kept, take_kept
from remit.light_json import parse_json, render_json
from remit.policy.protected_paths import list_names
from remit.storage.protected_copies import find_altered, keep_files, load_bytes, put_back

TYPE_CHECKING = False  # typing itself would cost 6 ms
if TYPE_CHECKING:
    from remit.ledger.store import Connection
    from remit.storage.protected_copies import Altered

MAX_NS = 3600 * 10**9
"""So long a command is thought to run whose end no hook reports."""


def note_files(db: Connection, session_id: str, tool_use_id: str, root: str, *, harness: str) -> None:
    """Keep the bytes of the protected files before a command of an enforced agent.

    What another command may have changed that still runs isn't kept: its own record is the older one, and holds.
    """
    if harness == "codex":  # it doesn't report the end of every command: the one before is over by now
        check_left(db, session_id, root)
    names = list_names(has_git=os.path.isdir(f"{root}/.git"))
    known = load_kept(db)
    record = keep_files(root, names, known)
    now_ns = time.time_ns()
    running = [each for each in map(parse_json, list_open_kept(db)) if now_ns - each["at_ns"] < MAX_NS]
    running.sort(key=lambda each: int(each["at_ns"]), reverse=True)
    note_kept(db, "", record) if record != known else None
    files = parse_json(record)
    for each in running:
        files |= each["files"]
    note_kept(db, f"{session_id} {tool_use_id}", render_json({"at_ns": now_ns, "files": files}))


def check_files(db: Connection, session_id: str, tool_use_id: str, root: str, *, agent: str) -> list[str]:
    """Return a sentence for each protected file that was changed while a command ran; restore those."""
    records = take_kept(db, f"{session_id} {tool_use_id}")
    return _compare(db, session_id, root, records, when=f"while a command of '{agent}' ran")


def check_left(db: Connection, session_id: str, root: str) -> list[str]:
    """Return such sentences for the commands of a run whose end no hook reported: they may still run."""
    records = take_kept(db, f"{session_id} ", is_prefix=True)
    return _compare(db, session_id, root, records, when="while a command of the agent ran")


def _compare(db: Connection, session_id: str, root: str, records: list[str], *, when: str) -> list[str]:
    kept = [parse_json(record) for record in records]
    kept.sort(key=lambda each: int(each["at_ns"]))
    return [
        _restore(db, session_id, root, altered, when=when, since_ns=each["at_ns"])
        for each in kept for altered in find_altered(root, each["files"])
    ]  # fmt: skip


def _restore(db: Connection, session_id: str, root: str, altered: Altered, *, when: str, since_ns: int) -> str:
    """Restore a file, or leave it if somebody else may have changed it; return the sentence that the result keeps."""
    from remit.ledger.events import add_event
    from remit.storage.quarantine import ProtectedChange, move_away

    told = f"the protected file '{altered.path}' {altered.what} {when}"
    is_old = time.time_ns() - since_ns > MAX_NS
    doubt = "its command began more than an hour ago" if is_old else find_author(db, root, altered.path, since_ns)
    if doubt:
        told += f". Remit left it as it is, because {doubt}: check it"
    else:
        try:
            data = load_bytes(root, altered)
            moved = move_away(root, ProtectedChange(altered.place, altered.what, altered.node)) if altered.place else ""
            put_back(root, altered, data)
            told += ". Remit restored it" + (f", and moved what was there to '{moved}'" if moved else "")
        except OSError as error:
            told += f". Remit could not restore it ({error.strerror}): check it"
    add_event(db, QUARANTINED, {"sentence": told}, session_id=session_id)
    return told
