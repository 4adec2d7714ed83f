"""Execute one acceptance check under the shim: in the agent's tree, with a time limit, bounded output and no survivors.

The shim keeps the output and seals the result, so a supervisor that takes over reads the same result, or waits for the
same process.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import asynccontextmanager, suppress
from signal import Signals
from typing import TYPE_CHECKING, Literal, NamedTuple

from remit.attempts.folders import find_folder, make_attempt, send_control
from remit.attempts.output import load_tail, measure_out, read_out
from remit.attempts.results import find_state, load_result, wait_result
from remit.attempts.start import ShimOrder, start_shim
from remit.errors import RemitError
from remit.ledger.events import read_clock_ms
from remit.light_hash import take_sha256
from remit.runs.checks.junit import JUnitCounts, count_tests
from remit.storage.locks import try_lock
from remit.storage.secrets import redact

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

    from remit.attempts.confine import Confinement
    from remit.attempts.results import ShimResult
    from remit.ledger.home import Home
    from remit.runs.checks.definition import AcceptanceCheck

Answer = Literal["passed", "failed", "not run"]
OUT_CAP_BYTES = 4 << 20
_TAIL_LINES, _TAIL_CHARS, _END_BYTES = 30, 3000, 16_384
_POLL_S = 0.1
CHECKED_TREE = "REMIT_CHECKED_TREE"
"""The variable that names the tree of a check to the processes in it."""
_NOT_STARTED = {126: "a program can't be executed", 127: "a program isn't installed"}
"""The exit codes of a shell for a command that it can't start."""
_FROM_OUTSIDE = {Signals.SIGKILL, Signals.SIGTERM, Signals.SIGINT, Signals.SIGHUP}
"""Signals that a program doesn't get by its own fault."""


class CheckPlace(NamedTuple):
    """Where and how the checks of a run execute."""

    home: Home
    session_id: str
    root: str
    environ: Mapping[str, str]
    is_cancelled: Callable[[], bool]
    confinement: Confinement | None = None
    contain: Literal["auto", "subreaper"] = "auto"
    launcher: tuple[str, ...] = ()
    """The words before each command that confine it, if `confinement` doesn't: those of an agent in a harness."""

    @property
    def is_confined(self) -> bool:
        """Whether the commands are confined."""
        return self.confinement is not None or bool(self.launcher)


class Execution(NamedTuple):
    """How one execution of a check ended."""

    answer: Answer
    reason: str = ""
    """How it failed, or why it was not run."""
    duration_ms: int = 0
    output: str = ""
    """The last lines of its output, without secrets."""
    counts: JUnitCounts = JUnitCounts()
    folder: str = ""
    is_fresh: bool = False
    """Whether this call started it, so that it ran on the tree as it is now."""


async def execute(check: AcceptanceCheck, place: CheckPlace, *, number: int, limit_ms: int | None = None) -> Execution:
    """Run a check to its end. If it was started before, wait for that execution, or return how it ended.

    `number` is that of the folder of this execution. `limit_ms`: the time by which the caller needs the result.
    """
    timeout_s = check.timeout_s
    deadline_ms = read_clock_ms() + round(timeout_s * 1000)
    if limit_ms is not None and limit_ms < deadline_ms:
        timeout_s, deadline_ms = round((limit_ms - read_clock_ms()) / 1000, 1), limit_ms
        if timeout_s <= 0:
            return Execution("not run", "there was no time left")
    cwd = os.path.join(place.root, check.cwd) if check.cwd else place.root
    if not os.path.isdir(cwd):  # noqa: ASYNC240 - a local folder
        return Execution("not run", f"the folder '{check.cwd}' doesn't exist")
    try:
        attempt = make_attempt(place.home, place.session_id, number)
        state = find_state(attempt.folder)
        started = None
        if state == "none":
            order = ShimOrder(
                (*place.launcher, "/bin/sh", "-c", f"exec 2>&1\n{check.run}"), cwd, deadline_ms,
                {**place.environ, CHECKED_TREE: place.root},
                out_cap=OUT_CAP_BYTES, contain=place.contain, confinement=place.confinement,
            )  # fmt: skip
            started = start_shim(place.home, attempt, order)
        elif state == "lost":
            return Execution("not run", "it was lost with its process or machine", folder=attempt.folder)
        waiter = asyncio.ensure_future(wait_result(attempt.folder, started=started))
        try:
            while not (await asyncio.wait({waiter}, timeout=_POLL_S))[0]:
                if place.is_cancelled():
                    send_control(attempt.folder, "cancel")
            result = waiter.result()
        finally:
            waiter.cancel()
    except RemitError as error:
        return Execution("not run", f"it can't be started: {error.message}")
    if result is None:
        return Execution("not run", "it was lost with its process or machine", folder=attempt.folder)
    answer, reason = judge_exit(result, timeout_s=timeout_s)
    counts = JUnitCounts()
    if check.junit and answer != "not run":
        # In a thread: all other runs of this process would wait while a large report is parsed.
        counts = await asyncio.to_thread(count_tests, f"{cwd}/{check.junit}", since_ns=result.started_ms * 1_000_000)
    return Execution(
        answer, reason, result.ended_ms - result.started_ms, read_end(attempt.folder), counts, attempt.folder,
        started is not None,
    )  # fmt: skip


def has_started(place: CheckPlace, number: int) -> bool:
    """Return whether an execution has begun, also if it has ended."""
    return find_state(find_folder(place.home, place.session_id, number)) != "none"


def load_execution(home: Home, session_id: str, check: AcceptanceCheck, number: int) -> Execution | None:
    """Return how an execution ended, by the files in its folder; None if it hasn't ended or nothing is left of it."""
    folder = find_folder(home, session_id, number)
    result = load_result(folder)
    if result is None:
        return None
    answer, reason = judge_exit(result, timeout_s=check.timeout_s)
    return Execution(answer, reason, result.ended_ms - result.started_ms, read_end(folder), folder=folder)


def judge_exit(result: ShimResult, *, timeout_s: float) -> tuple[Answer, str]:
    """Return what the end of a command says. One that was ended from outside, or couldn't start, says nothing."""
    if result.errno is not None:
        return "not run", f"it can't be started: {os.strerror(result.errno).lower()}"
    if result.stop_reason == "timeout":
        return "not run", f"it didn't finish within {timeout_s:g} s"
    if result.stop_reason in ("cancelled", "stopped"):
        return "not run", "it was cancelled"
    number = result.signal
    if number is None and result.exit_code is not None and result.exit_code > 128:  # noqa: PLR2004 - a shell's
        number = result.exit_code - 128
    with suppress(ValueError):
        if number is not None:
            ended_by = Signals(number)
            return ("not run" if ended_by in _FROM_OUTSIDE else "failed"), f"ended by {ended_by.name}"
    if result.exit_code in _NOT_STARTED:
        return "not run", f"{_NOT_STARTED[result.exit_code]} (exit code {result.exit_code})"
    return ("passed", "") if result.exit_code == 0 else ("failed", f"exit code {result.exit_code}")


def read_end(folder: str) -> str:
    """Return the last lines of a check's output, without secrets."""
    begin = max(0, measure_out(folder) - _END_BYTES)
    data = read_out(folder, begin, _END_BYTES)
    result = load_result(folder)
    tail = None if result is None else load_tail(folder, result)
    if tail is not None and tail.data:
        begin, data = 1, tail.data[-_END_BYTES:]
    lines = data.decode("utf-8", "replace").rstrip().splitlines()
    whole = lines[1:] if begin and len(lines) > 1 else lines  # half a secret can't be recognized
    return redact("\n".join(whole[-_TAIL_LINES:]))[-_TAIL_CHARS:]


@asynccontextmanager
async def lock_tree(
    home: Home, root: str, *, is_cancelled: Callable[[], bool], on_wait: Callable[[], object]
) -> AsyncIterator[None]:
    """Let one process at a time check a tree. `on_wait` is called once if another one does.

    A check that runs `remit checks` in its own tree has the lock already, and would wait for itself.
    """
    if os.environ.get(CHECKED_TREE) == root:
        yield
        return
    file = f"{home.make_folder('locks')}/checks-{take_sha256(os.fsencode(root))[:16]}.lock"
    has_waited = False
    while True:
        with try_lock(file) as is_ours:
            if is_ours or is_cancelled():
                yield
                return
        if not has_waited:
            has_waited = True
            on_wait()
        await asyncio.sleep(_POLL_S)
