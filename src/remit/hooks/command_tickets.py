"""Command tickets: files that connect a hook's decision about a shell command with the shell that runs it.

Owns `.remit/confine/` of a workspace:

    bash, zsh, sh   the shell that a harness starts instead of its own (`command_shell` installs it)
    codex           the program in the first line of a command in Codex: it starts the rest in one of these shells
    rules           the rules of `[confine]` that hooks need; exists if commands get tickets
    tickets/ID      `free`, or `confined NAME`: the limits of one command. `ID.taken`: the shell has taken the ticket
    profiles/NAME   the launcher's profile of an agent's commands
    open/SESSION    exists while an agent that has to be confined is running in a session of a harness
    broken/SESSION  why agents of a session get no more shell commands

A ticket has a random name, and the first shell that creates `ID.taken` owns it. Confined commands can't see the
tickets or write to the folder. Loaded on every shell command, so it imports little.
"""

from __future__ import annotations

import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

FOLDER = ".remit/confine"
FREE, CONFINED = "free", "confined"
TAKEN = ".taken"
SIGN = "# remit:"
"""The prefix of a ticket in the comment line before a command."""
STARTER, _ENDING = "codex", " || exit 126"
MAX_AGE_S = 24 * 3600.0
"""How old a ticket may be: a user may answer a prompt about a command hours later."""
LATE_S = 2.0
"""How long a background shell may take to take its ticket after the harness has reported the command."""
_STEP_S = 0.01
_BYTES = 16
_SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")
_MAX_NAME = 100
_OTHER = "other"
_OPENING, _CLOSING = ("write", "reopen"), ("protect", "enclose", "hide", "private")
"""The fields of a profile with paths that a command can write, and with paths that it can't change permanently."""


# --- tickets ---------------------------------------------------------------------------------------------------------


def give_ticket(root: str, profile: str = "") -> str:
    """Return a new ticket for one command: confined by a profile of this workspace, or free."""
    ticket = os.urandom(_BYTES).hex()
    _write(f"{root}/{FOLDER}/tickets", ticket, f"{CONFINED} {profile}\n" if profile else f"{FREE}\n")
    return ticket


def sign(command: str, ticket: str) -> str:
    """Return a command with its ticket in a comment line before it."""
    return f"{SIGN}{ticket}\n{command}"


def split(command: str) -> tuple[str, str]:
    """Return the ticket that a command begins with, and the command without it; no ticket if it begins with none."""
    head, line, rest = command.partition("\n")
    ticket = head.removeprefix(SIGN)
    is_signed = line and head.startswith(SIGN) and _is_ticket(ticket)
    return (ticket, rest) if is_signed else ("", command)


def start(command: str, ticket: str, root: str) -> str:
    """Return a command for Codex, below a line that starts the rest of it again in the shell that takes the ticket.

    All words of the line are plain, so Codex still finds the user's rules for the commands below it.
    """
    place = f"{root}/{FOLDER}/{STARTER}".replace("'", "'\\''")
    return f". '{place}' {ticket}{_ENDING}\n{command}"


def find_start(command: str) -> str:
    """Return the ticket in the line that starts a command in Codex; "" if there is no such line."""
    line = command.partition("\n")[0]
    ticket = line.removesuffix(_ENDING)[-2 * _BYTES :]
    return ticket if line.startswith(". '/") and line.endswith(f"/{STARTER}' {ticket}{_ENDING}") else ""


def is_given(root: str, ticket: str) -> bool:
    """Return whether a hook has given a ticket that isn't removed yet."""
    return bool(parse_ticket(ticket)) and os.path.exists(f"{root}/{FOLDER}/tickets/{ticket}")


def was_taken(root: str, ticket: str) -> bool:
    """Return whether a shell has taken a ticket."""
    return os.path.exists(f"{root}/{FOLDER}/tickets/{ticket}{TAKEN}")


def remove_ticket(root: str, ticket: str, *, wait_s: float = 0.0) -> bool:
    """Remove a ticket; return whether a shell had taken it. `wait_s`: how long to wait for that."""
    until = time.monotonic() + wait_s
    while not (is_taken := was_taken(root, ticket)) and time.monotonic() < until:
        time.sleep(_STEP_S)
    _remove(f"{root}/{FOLDER}/tickets/{ticket}")  # first: without it, no shell takes the name again
    _remove(f"{root}/{FOLDER}/tickets/{ticket}{TAKEN}")
    return is_taken


def load_limits(root: str, ticket: str) -> tuple[int, list[tuple[str, bool]]]:
    """Return when a shell took a ticket, in nanoseconds, 0 if none did; and the paths that its profile names.

    With each path, whether the command may write there; of several that contain a file, the longest decides. There are
    none if nothing limits the command.
    """
    place = f"{root}/{FOLDER}/tickets/{ticket}"
    try:
        began_ns = os.lstat(f"{place}{TAKEN}").st_mtime_ns
    except OSError:
        began_ns = 0
    kind, _, profile = _read(place).strip().partition(" ")
    fields = _read(f"{root}/{FOLDER}/profiles/{profile}").split("\0") if kind == CONFINED else []
    named = [field.partition("=") for field in fields]
    return began_ns, [(path, name in _OPENING) for name, _, path in named if name in (*_OPENING, *_CLOSING)]


def parse_ticket(value: object) -> str:
    """Return a value if it is a ticket; "" if it isn't."""
    return value if isinstance(value, str) and _is_ticket(value) else ""


def _is_ticket(text: str) -> bool:
    return len(text) == 2 * _BYTES and all(char in "0123456789abcdef" for char in text)


# --- sessions of a harness -------------------------------------------------------------------------------------------


def open_session(root: str, session: str, shell_session: str) -> None:
    """Refuse commands without a ticket in a session. `shell_session`: the session's id in the environment of shells."""
    own, other = _name_file(session), _name_file(shell_session)
    if other != own:
        _write(f"{root}/{FOLDER}/open", other, "")
    _write(f"{root}/{FOLDER}/open", own, other)


def close_session(root: str, session: str) -> None:
    """Let commands without a ticket run again in a session."""
    own = _name_file(session)
    other = _read(f"{root}/{FOLDER}/open/{own}")
    for name in filter(None, (other, own)):
        _remove(f"{root}/{FOLDER}/open/{name}")


def stop(root: str) -> None:
    """Let all commands run without a ticket, because no hook gives tickets any more."""
    keep_rules(root, "")
    for name in _list_names(f"{root}/{FOLDER}/open"):
        _remove(f"{root}/{FOLDER}/open/{name}")


def has_open(root: str) -> bool:
    """Return whether an agent that has to be confined is running in any session."""
    return bool(_list_names(f"{root}/{FOLDER}/open"))


def is_open(root: str, name: str) -> bool:
    """Return whether commands without a ticket are refused in a session."""
    return os.path.exists(f"{root}/{FOLDER}/open/{_name_file(name)}")


def break_session(root: str, name: str, reason: str) -> None:
    """Refuse all further shell commands of confined agents in a session, and say why."""
    _write(f"{root}/{FOLDER}/broken", _name_file(name), reason)


def find_break(root: str, name: str) -> str:
    """Return why the agents of a session get no more shell commands; "" if they do."""
    return _read(f"{root}/{FOLDER}/broken/{_name_file(name)}")


def mend_session(root: str, name: str) -> None:
    """Allow the agents of a session shell commands again."""
    _remove(f"{root}/{FOLDER}/broken/{_name_file(name)}")


def _name_file(session: str) -> str:
    """Return the name of a session's file; all sessions with unusual names share one file."""
    return session if 0 < len(session) <= _MAX_NAME and _SAFE.issuperset(session) else _OTHER


# --- rules and profiles ----------------------------------------------------------------------------------------------


def has_rules(root: str) -> bool:
    """Return whether commands in a workspace get tickets."""
    return os.path.exists(f"{root}/{FOLDER}/rules")


def is_read_only(root: str) -> bool:
    """Return whether this process is confined, and can't give tickets."""
    return bool(os.statvfs(f"{root}/{FOLDER}").f_flag & os.ST_RDONLY)


def load_rules(root: str) -> str:
    """Return the stored rules of `[confine]` as JSON; "" if commands get no tickets."""
    return _read(f"{root}/{FOLDER}/rules")


def keep_rules(root: str, text: str) -> None:
    """Store the rules of `[confine]`. Without a text, commands get no tickets."""
    if not text:
        _remove(f"{root}/{FOLDER}/rules")
    elif load_rules(root) != text:
        _write(f"{root}/{FOLDER}", "rules", text)


def keep_profile(root: str, name: str, data: bytes, later: tuple[str, ...] = ()) -> None:
    """Store the profile of an agent's commands. `later`: files that the profile has to contain once they exist."""
    _write(f"{root}/{FOLDER}/profiles", f"{name}.later", "\n".join(later))
    _write(f"{root}/{FOLDER}/profiles", name, data.decode(errors="surrogateescape"))


def make_folders(paths: Sequence[str]) -> None:
    """Create the missing folders that an agent may write to, because a profile can only open existing folders."""
    for path in paths:
        if not os.path.lexists(path):
            os.makedirs(path)


def has_profile(root: str, name: str) -> bool:
    """Return whether an agent's profile exists, and its paths are still the same."""
    place = f"{root}/{FOLDER}/profiles/{name}"
    fields = _read(place).split("\0")
    opened = [field.removeprefix("write=") for field in fields if field.startswith("write=")]
    later = _read(f"{place}.later").split("\n")
    return len(fields) > 1 and all(map(os.path.lexists, opened)) and not any(map(os.path.lexists, filter(None, later)))


def list_old(root: str, *, age_s: float = MAX_AGE_S) -> Iterator[str]:
    """Yield the files of tickets and profiles that are older than `age_s`."""
    now = time.time()
    for folder in ("tickets", "profiles"):
        try:
            entries = [*os.scandir(f"{root}/{FOLDER}/{folder}")]
        except OSError:  # the folder doesn't exist
            continue
        for entry in entries:
            try:
                if now - entry.stat(follow_symlinks=False).st_mtime > age_s:
                    yield entry.path
            except OSError:  # it is gone
                continue


def sweep(root: str) -> None:
    """Remove tickets and profiles that are older than a day. The next command makes a new profile."""
    for path in list_old(root):
        _remove(path)


# --- files -----------------------------------------------------------------------------------------------------------


def _list_names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:  # the folder doesn't exist
        return []


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.read()
    except OSError:
        return ""


def _write(folder: str, name: str, text: str) -> None:
    """Replace a file atomically, so that a shell never reads a partial one."""
    fresh = f"{folder}/.{name}-{os.getpid()}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        handle = os.open(fresh, flags, 0o600)
    except FileNotFoundError:
        os.makedirs(folder, 0o700, exist_ok=True)
        handle = os.open(fresh, flags, 0o600)
    try:
        os.write(handle, text.encode("utf-8", "surrogateescape"))
    finally:
        os.close(handle)
    os.rename(fresh, f"{folder}/{name}")


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:  # it doesn't exist
        return
