"""New names: protected names that appear while an enforced agent runs a command.

Owns what is done about them: Remit moves what is new into quarantine if nobody else is known who can have made it;
otherwise it only reports it. `note_names` is called before a command, `check_names` after it, and `check_left` when
the agent returns, for commands whose end no hook reported.
"""

from __future__ import annotations

import os

from remit.harnesses import claude
from remit.hooks.command_tickets import load_limits
from remit.hooks.user_tools import is_user_tool_running
from remit.ledger.hook_runs import find_other_author, keep_names, take_all_names, take_names
from remit.policy.protected_paths import list_names
from remit.storage.quarantine import find_changes, read_time, record_names

TYPE_CHECKING = False  # typing itself would cost 6 ms
if TYPE_CHECKING:
    from remit.ledger.store import Connection
    from remit.storage.quarantine import ProtectedChange

QUARANTINED = "quarantined"
"""The event with a sentence about a protected name."""
_CLOCK_NS = 20 * 10**6
"""So much the time of a file may be behind the clock."""
_BY_HARNESS = {claude.LOCAL_SETTINGS: "Claude Code writes it when the user answers a permission prompt"}


def note_names(db: Connection, session_id: str, tool_use_id: str, root: str) -> None:
    """Record what is at the protected names before a command of an enforced agent."""
    names = list_names(has_git=os.path.isdir(f"{root}/.git"))
    keep_names(db, session_id, tool_use_id, record_names(root, names))


def check_names(
    db: Connection, session_id: str, tool_use_id: str, root: str, *, agent: str, ticket: str = ""
) -> list[str]:
    """Return a sentence for each protected name that appeared while a command ran; what is new is moved away.

    `ticket`: what says when the command began and what it could write, if the kernel limited it.
    """
    record = take_names(db, session_id, tool_use_id)
    if not record:
        return []
    began_ns, limits = load_limits(root, ticket) if ticket else (0, [])
    changes = find_changes(root, record, limits)
    since_ns = max(began_ns, read_time(record))
    when = f"while a command of '{agent}' ran"
    return [_handle(db, session_id, root, each, when=when, doubt=_find_doubt(db, root, each.path, since_ns))
            for each in changes]  # fmt: skip


def check_left(db: Connection, session_id: str, root: str, *, agent: str) -> list[str]:
    """Return a sentence for each protected name that appeared during a run and that no check after a command found."""
    records = take_all_names(db, session_id)
    if not records:
        return []
    first, *left = records
    query = "SELECT json_extract(details, '$.sentence') FROM events WHERE session_id = ? AND kind = ?"
    known = "".join(each for (each,) in db.execute(query, (session_id, QUARANTINED)))
    sentences: list[str] = []
    for record in left:  # of commands whose end no hook reported: they may still run
        for change in find_changes(root, record):
            doubt = _find_doubt(db, root, change.path, read_time(record))
            sentences.append(_handle(db, session_id, root, change, when=f"while '{agent}' ran", doubt=doubt))
    doubt = "it appeared between two commands of the agent"
    for change in find_changes(root, first):
        if f"'{change.path}'" not in known + "".join(sentences):
            sentences.append(_handle(db, session_id, root, change, when=f"while '{agent}' ran", doubt=doubt))
    return sentences


def _find_doubt(db: Connection, root: str, path: str, since_ns: int) -> str:
    """Return why somebody else may have made it; empty if nobody else is known."""
    try:
        if os.lstat(f"{root}/{path}").st_ctime_ns < since_ns - _CLOCK_NS:
            return "it was there before the command began"
    except OSError:  # it is gone, and the move says so
        pass
    return find_author(db, root, path, since_ns)


def find_author(db: Connection, root: str, path: str, since_ns: int) -> str:
    """Return why somebody else may have written at a protected name since a moment; empty if nobody else is known."""
    if is_user_tool_running(root):
        return "the user's own session is using a tool"
    return _BY_HARNESS.get(path) or find_other_author(db, since_ns)


def _handle(db: Connection, session_id: str, root: str, change: ProtectedChange, *, when: str, doubt: str) -> str:
    """Move what is new, or leave it if somebody else may have made it; return the sentence that the result keeps."""
    from remit.ledger.events import add_event
    from remit.storage.quarantine import move_away

    told = f"the protected name '{change.path}' {change.what}; it appeared {when}"
    if doubt or not change.is_movable:
        told += f". Remit left it there, because {doubt or 'it could not find it'}: check it"
    else:
        try:
            told += f". Remit moved it to '{move_away(root, change)}'"
        except OSError as error:
            told += f". Remit could not move it away ({error.strerror}): check it"
    add_event(db, QUARANTINED, {"sentence": told}, session_id=session_id)
    return told
