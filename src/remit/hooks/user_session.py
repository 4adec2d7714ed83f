"""User session: what Remit notes of the tools and commands that the user's own session uses.

A protected file that changes while the user's session uses a tool may be the user's work, so Remit doesn't move it
away. Tools in use are files, because the hooks of the user's own tools load no database for them. The agents that a
session starts under a command such as `/research 12` have the command in their path (R2.3).
"""

from __future__ import annotations

import os
import time

from remit.harnesses import claude

TYPE_CHECKING = False
if TYPE_CHECKING:
    from remit.hooks.events import HookEvent
    from remit.ledger.home import Home

FOLDER = ".remit/user-tools"
_MAX_AGE_S = 24 * 3600.0
"""A tool that began earlier ended without a hook."""
_MAX_NAME = 200
_NOTE = "commands"
_MOST_SESSIONS = 20
_COMMAND = r"/([A-Za-z][A-Za-z0-9:_-]{0,60})(?![^\s])"


# --- tools in use ----------------------------------------------------------------------------------------------------


def note_user_tool(event: HookEvent, root: str) -> None:
    """Record that the user's session begins or ends the use of a tool that may write files."""
    from remit.harnesses.tool_names import get_operation

    if not event.tool_use_id or get_operation(event.tool) not in {"run", "write", "other"}:
        return
    file = _find_file(root, f"{event.session}-{event.tool_use_id}")
    if event.kind == claude.BEFORE_TOOL:
        _create(file, root)
        return
    if not os.path.lexists(file):
        return
    from remit.ledger.hook_runs import note_user_tool as add_note
    from remit.ledger.hook_runs import open_quickly

    db = open_quickly(f"{root}/.remit/ledger.db")
    if db is not None:
        add_note(db, event.session)  # before the file is removed, so that there is a record at any moment
    try:
        os.unlink(file)
    except OSError:  # another hook has removed it
        return


def is_user_tool_running(root: str) -> bool:
    """Return whether the user's own session is using a tool, and remove records that are older than a day."""
    is_running = False
    try:
        entries = [*os.scandir(f"{root}/{FOLDER}")]
    except OSError:  # the folder doesn't exist
        return False
    for entry in entries:
        try:
            is_old = time.time() - entry.stat(follow_symlinks=False).st_mtime > _MAX_AGE_S
            if is_old:
                os.unlink(entry.path)
        except OSError:  # the tool ended meanwhile
            continue
        is_running = is_running or not is_old
    return is_running


def _create(file: str, root: str) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    for _ in range(2):
        try:
            os.close(os.open(file, flags, 0o600))
        except FileNotFoundError:
            if not os.path.isdir(f"{root}/.remit"):  # Remit has never run an agent here
                return
            os.makedirs(f"{root}/{FOLDER}", 0o700, exist_ok=True)
        else:
            return


def _find_file(root: str, tool_use_id: str) -> str:
    name = "".join(char if char.isascii() and (char.isalnum() or char in "-_") else "_" for char in tool_use_id)
    return f"{root}/{FOLDER}/{name[:_MAX_NAME]}"


# --- commands --------------------------------------------------------------------------------------------------------


def note_command(event: HookEvent, root: str) -> None:
    """Store the command that a prompt consists of; any other prompt ends the previous command."""
    from remit.ledger.hook_runs import open_quickly

    db = open_quickly(f"{root}/.remit/ledger.db")
    if db is None:
        return
    command = _parse_command(event.prompt)
    row = db.execute("SELECT value FROM notes WHERE name = ?", (_NOTE,)).fetchone()
    if row is None and not command:
        return
    import json

    known: dict[str, str] = {} if row is None else json.loads(row[0])
    if not command and event.session not in known:
        return
    from remit.ledger.home import Home

    known.pop(event.session, None)
    if command:
        known[event.session] = command
    home = Home(root)
    try:
        home.ledger.set_note(_NOTE, json.dumps(dict(list(known.items())[-_MOST_SESSIONS:])))
    finally:
        home.close()


def _parse_command(prompt: str) -> str:
    if not prompt.startswith("/"):
        return ""
    import re

    found = re.match(_COMMAND, prompt)
    return "" if found is None else found[1]


def load_command(home: Home, session: str) -> str:
    """Return the last command that the user gave in a session; empty for none."""
    import json

    return str(json.loads(home.ledger.get_note(_NOTE) or "{}").get(session, ""))
