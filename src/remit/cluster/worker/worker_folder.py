"""A worker's folder: what one machine keeps of the sessions that it carries out for others.

Owns `workers/NAME` in the user's folder for state. Whoever starts again with the same name finds there who it was, and
the sessions that it had begun; their agents may still be at work.

    lock               held while a worker of this name runs
    worker.json        who it is to the others
    store/             objects of git that sessions share
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

    from remit.cluster.worker.worker_context import WorkerContext


_MAX_NAME = 64
_MAX_BYTES = 64 * 1024


class WorkerFolderFacts(NamedTuple):
    """What is to be known of a session that was begun here."""

    session_id: str
    fence: int
    """The lease that this worker held last."""
    signed: int
    """The lease that its agent's ticket was signed under."""
    root: str
    """The workspace's root in the checkout."""
    deadline_ms: int = 0
    """When its time is up, by this machine's clock."""


def find_folder(name: str, environ: Mapping[str, str]) -> str:
    """Where a worker of this name keeps what it has."""
    base = environ.get("XDG_STATE_HOME", "")
    if not os.path.isabs(base):  # the standard has it ignored then
        base = os.path.join(os.path.expanduser("~"), ".local", "state")
    if not os.path.isabs(base):
        raise InputError("your home folder is not known", hint="set HOME, or say where: --state")
    return os.path.join(base, "remit", "workers", name)


class WorkerFolder:
    """The folder of the worker that this process is. It is nobody else's until it is closed."""

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
            hint = "end that one first, or give this one another --name"
            raise BusyError(f"a worker called {name} runs here already, with '{self.folder}'", hint=hint)
        self.worker_id = self._find_id(name)

    def _find_id(self, name: str) -> str:
        """Who it was when it was first started: two machines of one name are two workers."""
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
        """Let another worker of this name start."""
        self._lock.close()

    # --- sessions -----------------------------------------------------------------------------------------------------

    def find_tree(self, session_id: str) -> str:
        """Where the checkout of a session is, or is to be."""
        return f"{self._find(session_id)}/tree"

    def record(self, facts: WorkerFolderFacts) -> None:
        """Keep what is to be known of a session; on disk when this ends."""
        folder = self._find(facts.session_id)
        try:
            os.makedirs(folder, mode=0o700, exist_ok=True)
        except OSError as error:
            raise storage_error(folder, error) from error
        _write(f"{folder}/facts.json", facts._asdict())

    def load(self, session_id: str) -> WorkerFolderFacts | None:
        """What is known of a session; None where none was begun here, or not far enough."""
        file = f"{self._find(session_id)}/facts.json"
        if not os.path.isfile(file):
            return None
        values = _load(file)
        return WorkerFolderFacts(**values) if values.keys() == {*WorkerFolderFacts._fields} else None

    def list_sessions(self) -> list[str]:
        """The sessions of which something is kept."""
        return sorted(name for name in os.listdir(f"{self.folder}/sessions") if not name.startswith("."))

    def drop(self, session_id: str) -> None:
        """Remove all that is kept of a session. Nothing of it may be alive."""
        folder = self._find(session_id)
        renamed = f"{self.folder}/sessions/.{session_id}.{os.urandom(3).hex()}"
        try:
            if os.path.isdir(folder):
                os.rename(folder, renamed)  # half of one must never look like one
        except OSError as error:
            raise storage_error(folder, error) from error
        rmtree(renamed, ignore_errors=True)

    def sweep(self) -> None:
        """Remove what could not be removed before."""
        for name in os.listdir(f"{self.folder}/sessions"):
            if name.startswith("."):
                rmtree(f"{self.folder}/sessions/{name}", ignore_errors=True)

    def _find(self, session_id: str) -> str:
        if "/" in session_id or session_id.startswith(".") or not session_id:
            raise InputError(f"{session_id!r} is not a session's id", hint="somebody has made up an order")
        return f"{self.folder}/sessions/{session_id}"


def check_name(name: str) -> str:
    """The name of a worker; it stands in paths and tables."""
    plain = name.replace("-", "").replace("_", "").replace(".", "")
    if plain.isalnum() and plain.isascii() and len(name) <= _MAX_NAME and not name.startswith("."):
        return name
    raise InputError(f"'{name[:80]}' cannot be the name of a worker", hint="use letters, digits, dots and dashes")


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


_POLL_S = 0.05


async def remove_session(context: WorkerContext, session_id: str) -> None:
    """Remove what a worker has of a session; an agent of it that is still at work is ended first."""
    facts = context.folder.load(session_id)
    await asyncio.to_thread(_remove, context, session_id, "" if facts is None else facts.root)


def _remove(context: WorkerContext, session_id: str, root: str) -> None:
    tree = context.folder.find_tree(session_id)
    if root and os.path.isdir(root):
        _end_agents(Home(root))
        revoke(root)
    if os.path.isdir(tree):
        clones.remove(tree)
    context.folder.drop(session_id)


def _end_agents(home: Home) -> None:
    while living := list_living(home):
        for attempt in living:
            send_control(attempt.folder, "cancel")
        time.sleep(_POLL_S)
