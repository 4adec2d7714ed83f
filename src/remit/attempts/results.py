"""Find the state of an attempt, and wait for and load the result that its shim wrote."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Literal, NamedTuple

from remit.attempts.folders import is_alive, read_small
from remit.errors import BusyError

if TYPE_CHECKING:
    from remit.attempts.start import Process, Started

Contained = Literal["namespace", "subreaper", "group"]
State = Literal["none", "alive", "finished", "lost"]
"""Not started; running; finished with a result; started, but neither alive nor finished."""
_ASK_SECONDS, _POLL_SECONDS = 0.005, 0.05


class ShimResult(NamedTuple):
    """How an attempt ended, as its shim reports it."""

    stop_reason: Literal["exited", "timeout", "cancelled", "stopped", "crashed"]
    """Crashed: ended by a signal that Remit didn't send, or it couldn't be executed."""
    exit_code: int | None
    signal: int | None
    errno: int | None
    """Why it couldn't be executed."""
    reason: str
    """The reason in `stop REASON`."""
    contained: Contained
    survivors: int | None
    """How many processes the agent left at least, all ended now; None if they couldn't be counted."""
    started_ms: int
    ended_ms: int
    out_bytes: int
    out_kept: int
    out_cut: bool
    err_bytes: int
    err_kept: int
    err_cut: bool
    out_tail_kept: int = 0
    """The size of the end of longer output, which is in a separate file."""
    stuck: bool = False
    """True if the agent left a process that can't be ended: frozen, or in an uninterruptible wait."""


def load_boot_id() -> str:
    """Return the boot id of the machine; "" if there is none."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read(64).strip()
    except OSError:
        return ""


def find_state(folder: str, *, boot_id: str = "") -> State:
    """Return the state of an attempt.

    `boot_id` is the machine's boot id when the attempt was to be started, from the ledger: after a crash of the
    machine, an attempt may have started although its folder wasn't written to disk.
    """
    alive = is_alive(folder)
    if load_result(folder) is not None:
        return "finished"
    if alive:
        return "alive"
    is_from_before = bool(boot_id) and boot_id != load_boot_id()
    return "lost" if is_from_before or os.path.lexists(f"{folder}/started") else "none"


def load_result(folder: str) -> ShimResult | None:
    """Return how an attempt ended; None if it hasn't, or if the result is incomplete.

    Raises `BusyError` or `StorageError` if the file can't be read: an attempt is not lost because of that.
    """
    data = read_small(f"{folder}/result.json")
    try:
        return ShimResult(**json.loads(data))
    except (ValueError, TypeError, RecursionError):  # invalid JSON, or other fields than a shim writes
        return None


async def wait_result(folder: str, *, started: Started | None = None) -> ShimResult | None:
    """Wait until no process of an attempt is alive that can be ended; return its result, or None if it is lost.

    `started`: the shim, if this process has started it; the kernel then reports its end. Other processes poll twenty
    times a second.
    """
    from asyncio import sleep  # noqa: PLC0415 - 30 ms, and a caller that waits has loaded it already

    if started is not None:
        await _wait_process(started.process)
    pause = _ASK_SECONDS if started is not None else _POLL_SECONDS
    while is_alive(folder):
        with suppress(BusyError):  # without a free descriptor it is unknown: try again
            result = load_result(folder)
            if result is not None and result.stuck:  # its shim has ended, and what it left keeps the lock
                return result
        await sleep(pause)  # nothing reports when a lock becomes free
    return load_result(folder)


async def _wait_process(process: Process) -> None:
    """Wait for a child process without a thread."""
    from asyncio import get_running_loop, sleep  # noqa: PLC0415 - as above

    if process.poll() is not None:
        return
    try:
        handle = os.pidfd_open(process.pid)
    except (AttributeError, OSError):  # not Linux, or an old version
        while process.poll() is None:  # noqa: ASYNC110 - there is no event to wait for
            await sleep(_POLL_SECONDS)
        return
    loop = get_running_loop()
    ended = loop.create_future()

    def resolve() -> None:
        if not ended.done():
            ended.set_result(None)

    try:
        loop.add_reader(handle, resolve)
        await ended
    finally:
        loop.remove_reader(handle)
        os.close(handle)
    process.wait()
