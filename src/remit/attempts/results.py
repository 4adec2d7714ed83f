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
"""Not started; running; there is a result; started, but neither alive nor a result."""
_ASK_SECONDS, _POLL_SECONDS = 0.005, 0.05


class ShimResult(NamedTuple):
    """How an attempt ended, as its shim reports it."""

    stop_reason: Literal["exited", "timeout", "cancelled", "stopped", "crashed"]
    """Crashed: by a signal that nobody here sent, or it could not be executed."""
    exit_code: int | None
    signal: int | None
    errno: int | None
    """Why it could not be executed."""
    reason: str
    """Of `stop REASON`."""
    contained: Contained
    survivors: int | None
    """How many processes the agent had left, at least, all ended now; None where nobody could count."""
    started_ms: int
    ended_ms: int
    out_bytes: int
    out_kept: int
    out_cut: bool
    err_bytes: int
    err_kept: int
    err_cut: bool
    out_tail_kept: int = 0
    """How much of the end of a longer output is in a file of its own."""
    stuck: bool = False
    """Whether the agent has left a process that can't be ended: frozen, or in an uninterruptible wait."""


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
    except (ValueError, TypeError, RecursionError):  # no JSON, or other fields than a shim writes
        return None


async def wait_result(folder: str, *, started: Started | None = None) -> ShimResult | None:
    """Wait until nothing of an attempt is alive that can be ended; how it ended, or None where it is lost.

    `started` is the shim where this process has started it: then the kernel tells when it ends. Who is no parent asks
    twenty times a second.
    """
    from asyncio import sleep  # noqa: PLC0415 - 30 ms, and whoever waits has it already

    if started is not None:
        await _wait_process(started.process)
    pause = _ASK_SECONDS if started is not None else _POLL_SECONDS
    while is_alive(folder):
        with suppress(BusyError):  # without a free descriptor it is unknown: ask again
            result = load_result(folder)
            if result is not None and result.stuck:  # its shim has ended, and what it left keeps the lock
                return result
        await sleep(pause)  # nothing reports when a lock becomes free
    return load_result(folder)


async def _wait_process(process: Process) -> None:
    """Wait for a child without a thread."""
    from asyncio import get_running_loop, sleep  # noqa: PLC0415 - as above

    if process.poll() is not None:
        return
    try:
        handle = os.pidfd_open(process.pid)
    except (AttributeError, OSError):  # no Linux, or an old one
        while process.poll() is None:  # noqa: ASYNC110 - nobody tells
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
