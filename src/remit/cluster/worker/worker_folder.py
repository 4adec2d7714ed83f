"""A worker's folder: `workers/NAME` in the user's state folder, with the sessions that the worker has started.

A worker that is started again with the same name finds its id and its sessions here; their agents may still be running.

    lock               locked while a worker of this name runs
    worker.json        its id
    store/             git objects that sessions share
    sessions/SESSION/  `facts.json`, and `tree`, the checkout that the agent works in
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from contextlib import ExitStack
from shutil import rmtree
from typing import TYPE_CHECKING, Any, NamedTuple

from remit.attempts.folders import list_living, send_control
from remit.errors import BusyError, InputError
from remit.git import clones
from remit.ledger.home import Home
from remit.storage.files import load_bytes, storage_error, sync_folder, write_bytes
from remit.storage.locks import try_lock
from remit.storage.trust import revoke

if TYPE_CHECKING:
    from collections.abc import Mapping

_MAX_NAME = 64
_MAX_BYTES = 64 * 1024
_POLL_S = 0.05


class WorkerFolderFacts(NamedTuple):
    """The facts of a session that was started here."""

    session_id: str
    fence: int
    """The fencing token of this worker's last lease."""
    signed: int
    """The fencing token in the agent's ticket."""
    root: str
    """The workspace's root in the checkout."""
    deadline_ms: int = 0
    """The deadline, by this machine's clock."""


def find_folder(name: str, environ: Mapping[str, str]) -> str:
    """Return the folder of a worker with this name."""
    base = environ.get("XDG_STATE_HOME", "")
    if not os.path.isabs(base):  # the XDG standard ignores relative paths
        base = os.path.join(os.path.expanduser("~"), ".local", "state")
    if not os.path.isabs(base):
        raise InputError("your home folder is unknown", hint="set HOME, or use --state")
    return os.path.join(base, "remit", "workers", name)


class WorkerFolder:
    """The folder of this process's worker, locked until it is closed."""

    def __init__(self, folder: str, name: str) -> None:
        self.folder = os.path.abspath(folder)
        self.store = f"{self.folder}/store"
        self._lock = ExitStack()
        try:
            os.makedirs(f"{self.folder}/sessions", mode=0o700, exist_ok=True)
            os.makedirs(self.store, mode=0o700, exist_ok=True)
        except OSError as error:
            raise storage_error(self.folder, error) from error
        if not self._lock.enter_context(try_lock(f"{self.folder}/lock")):
            hint = "stop that worker first, or use another --name"
            raise BusyError(f"a worker named {name} already uses '{self.folder}'", hint=hint)
        self.worker_id = self._find_id(name)

    def _find_id(self, name: str) -> str:
        """Return the worker's id, created at its first start: machines with the same name get different ids."""
        file = f"{self.folder}/worker.json"
        if os.path.lexists(file):
            values = _load(file)
            if isinstance(values.get("id"), str):
                return str(values["id"])
        worker_id = f"{name}-{os.urandom(4).hex()}"
        _write(file, {"id": worker_id})
        sync_folder(self.folder)
        return worker_id

    def close(self) -> None:
        """Unlock the folder."""
        self._lock.close()

    # --- sessions -----------------------------------------------------------------------------------------------------

    def find_tree(self, session_id: str) -> str:
        """Return the path of a session's checkout, which may not exist yet."""
        return f"{self._find(session_id)}/tree"

    def record(self, facts: WorkerFolderFacts) -> None:
        """Write the facts of a session durably."""
        folder = self._find(facts.session_id)
        try:
            os.makedirs(folder, mode=0o700, exist_ok=True)
        except OSError as error:
            raise storage_error(folder, error) from error
        _write(f"{folder}/facts.json", facts._asdict())

    def load(self, session_id: str) -> WorkerFolderFacts | None:
        """Return the facts of a session; None if it wasn't started here, or a crash left no complete file."""
        file = f"{self._find(session_id)}/facts.json"
        if not os.path.isfile(file):
            return None
        values = _load(file)
        return WorkerFolderFacts(**values) if values.keys() == {*WorkerFolderFacts._fields} else None

    def list_sessions(self) -> list[str]:
        """Return the ids of the sessions in this folder."""
        return sorted(name for name in os.listdir(f"{self.folder}/sessions") if not name.startswith("."))

    def drop(self, session_id: str) -> None:
        """Remove the folder of a session, whose agents must have ended."""
        folder = self._find(session_id)
        renamed = f"{self.folder}/sessions/.{session_id}.{os.urandom(3).hex()}"
        try:
            if os.path.isdir(folder):
                os.rename(folder, renamed)  # a partly removed folder must not look like a session
        except OSError as error:
            raise storage_error(folder, error) from error
        rmtree(renamed, ignore_errors=True)

    def sweep(self) -> None:
        """Remove leftovers of earlier removals."""
        for name in os.listdir(f"{self.folder}/sessions"):
            if name.startswith("."):
                rmtree(f"{self.folder}/sessions/{name}", ignore_errors=True)

    def _find(self, session_id: str) -> str:
        if "/" in session_id or session_id.startswith(".") or not session_id:
            raise InputError(
                f"{session_id!r} isn't a session id", hint="another client of the database has forged an order"
            )
        return f"{self.folder}/sessions/{session_id}"


def check_name(name: str) -> str:
    """Check the name of a worker, which is used in paths and tables."""
    plain = name.replace("-", "").replace("_", "").replace(".", "")
    if plain.isalnum() and plain.isascii() and len(name) <= _MAX_NAME and not name.startswith("."):
        return name
    raise InputError(f"'{name[:80]}' isn't a valid worker name", hint="use letters, digits, dots and dashes")


def _load(file: str) -> dict[str, Any]:
    try:
        values = json.loads(load_bytes(file, max_bytes=_MAX_BYTES))
    except ValueError:
        return {}
    return values if isinstance(values, dict) else {}


def _write(file: str, values: Mapping[str, object]) -> None:
    try:
        write_bytes(file, json.dumps(values).encode())
    except OSError as error:
        raise storage_error(file, error) from error


async def remove_session(folder: WorkerFolder, session_id: str) -> None:
    """End the agents of a session that are still running, and remove its files."""
    facts = folder.load(session_id)
    await asyncio.to_thread(_remove, folder, session_id, "" if facts is None else facts.root)


def _remove(folder: WorkerFolder, session_id: str, root: str) -> None:
    tree = folder.find_tree(session_id)
    if root and os.path.isdir(root):
        home = Home(root)
        while living := list_living(home):
            for attempt in living:
                send_control(attempt.folder, "cancel")
            time.sleep(_POLL_S)
        revoke(root)
    if os.path.isdir(tree):
        clones.remove(tree)
    folder.drop(session_id)
