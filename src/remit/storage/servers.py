"""The HTTP server of a workspace: its address, its login sessions, and whether it is running.

`.remit/server.json` has the server's token, so only its owner may read it. A lock shows whether the server that wrote
the file still runs. Login sessions outlive a server, so that browsers stay logged in after a restart.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from remit.errors import InputError, UsageError
from remit.model import NOTHING
from remit.storage.files import load_bytes, name_half_written, remove, storage_error, write_all
from remit.storage.locks import find_lock_holder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.ledger.home import Home

FILE = "server.json"
SESSIONS = "sessions.json"
_LOCK = "server"
_MAX_BYTES = 64 * 1024
_LOCK_SECONDS, _ASK_SECONDS = 2.0, 0.005


class RunningServer(NamedTuple):
    """The running server of this workspace."""

    url: str
    pid: int
    token: str


class LoginSessions(NamedTuple):
    """The login sessions. A server that restarts on its port knows the browsers that have its pages open."""

    key: str
    """The identity of the server: a hash of the token that the user chose, else empty."""
    until_ms: Mapping[str, int] = NOTHING
    """The hash of each session's token, and when the session expires by the wall clock."""


class Announcement:
    """The registration of this process as the server of a workspace; the address is published once it is known."""

    def __init__(self, home: Home) -> None:
        self._folder = home.make_folder()
        self._lock = f"{home.make_folder('locks')}/{_LOCK}.lock"
        try:
            self._handle = os.open(self._lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise storage_error(self._lock, error) from error
        last = time.monotonic() + _LOCK_SECONDS
        while not self._take():
            # A process that only checks for a server has the lock for a moment, shared. A server has it exclusively.
            if find_lock_holder(self._lock) is not None or time.monotonic() > last:
                os.close(self._handle)
                other = load_server(home)
                where = "" if other is None else f" at {other.url}, by process {other.pid}"
                raise UsageError(f"this workspace already has a server{where}", hint="open it with: remit serve --open")
            time.sleep(_ASK_SECONDS)

    def _take(self) -> bool:
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

    def write(self, url: str, token: str) -> None:
        """Write the address and the token of the server."""
        self._write(FILE, {"url": url, "pid": os.getpid(), "token": token})

    def keep_sessions(self, sessions: LoginSessions) -> None:
        """Store the login sessions for the next server."""
        self._write(SESSIONS, {"key": sessions.key, "until_ms": dict(sessions.until_ms)})

    def _write(self, name: str, stored: Mapping[str, Any]) -> None:
        file, temporary = f"{self._folder}/{name}", f"{self._folder}/{name_half_written(name)}"
        try:
            handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            try:
                write_all(handle, f"{json.dumps(stored, indent=2)}\n".encode())
            finally:
                os.close(handle)
            os.replace(temporary, file)  # also replaces a link
        except OSError as error:
            remove(temporary)
            raise storage_error(file, error) from error

    def end(self) -> None:
        """Unregister the server."""
        remove(f"{self._folder}/{FILE}")
        os.close(self._handle)


def load_server(home: Home) -> RunningServer | None:
    """Return the running server of a workspace; None if there is none."""
    if find_lock_holder(f"{home.folder}/locks/{_LOCK}.lock") is None:
        return None
    try:
        stored = json.loads(load_bytes(f"{home.folder}/{FILE}", max_bytes=_MAX_BYTES))
        return RunningServer(str(stored["url"]), int(stored["pid"]), str(stored["token"]))
    except (InputError, ValueError, KeyError, TypeError):  # it is just starting or ending
        return None


def load_sessions(home: Home, *, key: str) -> LoginSessions:
    """Return the login sessions of the previous server; empty if it had another key, or if they can't be read."""
    try:
        stored = json.loads(load_bytes(f"{home.folder}/{SESSIONS}", max_bytes=_MAX_BYTES))
        if stored["key"] == key:
            found = {str(each): int(until_ms) for each, until_ms in stored["until_ms"].items() if each.isascii()}
            return LoginSessions(key, found)
    except (InputError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        pass
    return LoginSessions(key)
