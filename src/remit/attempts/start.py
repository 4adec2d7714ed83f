"""Start an agent under its shim, confined if the run requires it."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Literal, NamedTuple

from remit.attempts.confine import BLANK_NS, ConfinedCommand, confine
from remit.attempts.folders import LIVING, SHIM, find_control
from remit.attempts.output import ERR_CAP_BYTES, OUT_CAP_BYTES
from remit.errors import BusyError, RunnerError, StateError, UsageError
from remit.model import NOTHING
from remit.storage.files import remove, storage_error, write_all

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.attempts.confine import Confinement
    from remit.attempts.folders import AttemptFolder
    from remit.attempts.results import Contained
    from remit.ledger.home import Home

_SHIM_FOLDER = os.path.abspath(__file__).rsplit("/", 2)[0]
_RESERVED_NAMES = frozenset((
    "order", "stdin", "out", "err", "out.tail", "err.tail", "started", "pids.json", "result.json",
    "shim.err", "exclude", "profile",
))  # fmt: skip
_LOCK_SECONDS, _ASK_SECONDS = 2.0, 0.005


class ShimOrder(NamedTuple):
    """The instructions for a shim."""

    argv: tuple[str, ...]
    cwd: str
    deadline_ms: int
    """A fixed time of the wall clock."""
    environ: Mapping[str, str]
    """The complete environment of the agent."""
    stdin: bytes = b""
    files: Mapping[str, bytes] = NOTHING
    """Files that are written to the attempt's folder first, by name."""
    out_cap: int = OUT_CAP_BYTES
    err_cap: int = ERR_CAP_BYTES
    contain: Literal["auto"] | Contained = "auto"
    """The strongest containment that is tried."""
    confinement: Confinement | None = None


class Process(subprocess.Popen[bytes]):
    """The process of a shim."""

    def __del__(self) -> None:
        """Don't warn that the process is still running: a shim outlives its supervisor."""


class Started(NamedTuple):
    """A shim that was started by this process."""

    pid: int
    folder: str
    process: Process


def start_shim(home: Home, attempt: AttemptFolder, order: ShimOrder) -> Started:
    """Start an agent under its shim, which continues even if this process ends.

    Raise `StateError` if this attempt was started before, by any process.
    """
    confined = ConfinedCommand(order.argv, (), {})
    if order.confinement is not None:
        confined = confine(order.confinement, attempt.folder, argv=order.argv)
    handles: list[int] = []
    try:
        lock = _take_lock(attempt.folder, handles)
        mark = f"{home.make_folder(LIVING)}/{attempt.session_id}.{attempt.number}"
        _write_order_files(lock, order, {**confined.files, "order": _render_order(order, confined, mark)})
        return _start(attempt.folder, order, mark, lock=lock, handles=handles)
    except OSError as error:
        raise storage_error(attempt.folder, error) from error
    finally:
        for handle in handles:
            os.close(handle)


def _take_lock(folder: str, handles: list[int]) -> int:
    """Lock an attempt's folder, waiting briefly.

    A process that checks whether the attempt is alive has the lock for a moment.
    """
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    handles.append(lock)
    last = time.monotonic() + _LOCK_SECONDS
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            if time.monotonic() > last or os.path.lexists(f"{folder}/started"):
                raise BusyError(f"'{folder}' is already running", hint="wait for it: remit wait") from None
            time.sleep(_ASK_SECONDS)
    if os.path.lexists(f"{folder}/started"):
        raise StateError(f"'{folder}' was already started", hint="make another attempt: remit retry")
    return lock


def _render_order(order: ShimOrder, confined: ConfinedCommand, mark: str) -> bytes:
    """Return the order: fields that end with NUL, which no path and no argument contains."""
    # The interpreter sets this variable if it is missing, but the agent should not get it.
    unset = [] if "LC_CTYPE" in order.environ else [("unset", "LC_CTYPE")]
    fields = [
        ("cwd", order.cwd),
        ("contain", order.contain),
        ("deadline_ms", order.deadline_ms),
        ("out_cap", order.out_cap),
        ("err_cap", order.err_cap),
        ("mark", mark),
        *unset,
        *(("argv", argument) for argument in confined.argv),
    ]
    for blank in confined.blanks:
        fields += [("blank", blank.path), ("blank_text", "/" if blank.is_folder else blank.blank)]
    fields += [("blank_ns", BLANK_NS)]
    values = [f"{name}={value}" for name, value in fields]
    if not confined.argv or any("\0" in value for value in values):
        raise RunnerError("can't start a program with these arguments", hint="give a program and arguments without NUL")
    return b"".join(os.fsencode(value) + b"\0" for value in values)


def _write_order_files(folder: int, order: ShimOrder, own: Mapping[str, bytes]) -> None:
    for name in order.files:
        if name in _RESERVED_NAMES or "/" in name or name.startswith("."):
            raise UsageError(f"{name!r} can't be a file of an attempt", hint="choose another name")
    files = {**order.files, **own}
    if order.stdin:
        files["stdin"] = order.stdin
    for name, data in files.items():
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
        handle = os.open(name, flags, 0o600, dir_fd=folder)
        try:
            write_all(handle, data)
        finally:
            os.close(handle)


def _start(folder: str, order: ShimOrder, mark: str, *, lock: int, handles: list[int]) -> Started:
    # Open for reading and writing: from now on messages reach the shim, even if it reads them later.
    control = os.open(find_control(folder), os.O_RDWR | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    handles.append(control)
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
    log = os.open("shim.err", flags, 0o600, dir_fd=lock)
    handles.append(log)
    os.close(os.open(mark, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
    if not sys.executable:
        raise RunnerError("can't find the Python interpreter", hint="start Remit with the remit command")
    cache = ["-X", f"pycache_prefix={sys.pycache_prefix}"] if sys.pycache_prefix else []
    try:
        process = Process(
            [sys.executable, "-I", "-S", *cache, "-c", SHIM, _SHIM_FOLDER, folder, str(lock), str(control)],
            cwd="/",
            env=dict(order.environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=log,
            pass_fds=(lock, control),
            start_new_session=True,
        )
    except (OSError, ValueError) as error:  # an environment that is too large, or with a NUL; too many processes
        remove(mark)
        raise RunnerError(
            f"can't start the agent: {error}", hint="check its environment and the process limits"
        ) from error
    return Started(process.pid, folder, process)
