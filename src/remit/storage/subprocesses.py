"""Run a program with limits on its time and output.

Programs are started without a shell or a terminal, and their whole process group is ended. Git, the commands of an
outside task system, the checks of `remit doctor` and the probes of harnesses all run through here.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import IO

_PIECE = 1 << 16
_PIPE_BYTES = 1 << 20
"""The most that a pipe can contain."""
_POLL_SECONDS = 0.5
_LINGER_SECONDS = 0.5
"""How long to wait for output after the program has ended: a helper that it left may keep the pipes open forever."""
_GRACE_SECONDS = 2.0
"""The time between SIGTERM and SIGKILL, in which a program can remove its locks."""


class CompletedRun(NamedTuple):
    """The exit code of a program, and the start of each of its two outputs."""

    code: int | None
    """The exit code, negative for a signal. None if the deadline, the cap or the mark ended it."""
    out: bytes
    err: bytes
    is_cut: bool
    """True if it printed more than `cap` bytes to either output."""


def run_bounded(
    command: Sequence[str],
    *,
    cwd: str,
    seconds: float,
    cap: int,
    env: Mapping[str, str] | None = None,
    given: bytes = b"",
    until: bytes = b"",
) -> CompletedRun:
    """Run a program until it ends or times out. Raise `OSError` if it can't be started.

    It keeps `cap` bytes of each output and discards the rest. With `until`, standard input stays open, and the run ends
    as soon as a whole line that contains these bytes was printed.
    """
    return finish(start(command, cwd=cwd, env=env, with_input=bool(given or until)), given, seconds, cap, until=until)


def start(
    command: Sequence[str],
    *,
    cwd: str,
    env: Mapping[str, str] | None = None,
    with_input: bool = False,
    with_errors: bool = True,
) -> subprocess.Popen[bytes]:
    """Start a program in its own session: it has no terminal for prompts, and one signal reaches all its processes."""
    return subprocess.Popen(  # noqa: S603 - no shell; callers look programs up or have them trusted
        command,
        cwd=cwd,
        env=env,
        stdin=subprocess.PIPE if with_input else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE if with_errors else subprocess.DEVNULL,
        start_new_session=True,
    )


def finish(
    process: subprocess.Popen[bytes],
    given: bytes,
    seconds: float,
    cap: int,
    *,
    until: bytes = b"",
    stop_at_cap: bool = False,
) -> CompletedRun:
    """Send a started program its input and collect its output until it ends. On a timeout, end its process group.

    With `stop_at_cap` it also ends when it prints more than `cap` bytes.
    """
    deadline = time.monotonic() + seconds
    if not given and not until:
        _close(process.stdin)
    try:
        out, err, stops = _exchange(process, memoryview(given), deadline, cap, until=until, stop_at_cap=stop_at_cap)
        code = None
        if not stops:
            with suppress(subprocess.TimeoutExpired):
                code = process.wait(max(0.0, deadline - time.monotonic()))
        if code is None:
            end(process)
        return CompletedRun(code, bytes(out[:cap]), bytes(err[:cap]), is_cut=max(len(out), len(err)) > cap)
    except BaseException:
        end(process)
        raise
    finally:
        _close_pipes(process)


def read_line(process: subprocess.Popen[bytes], seconds: float, cap: int) -> bytes:
    """Return the first line of a started program that keeps running; empty if it prints none in time, or ends first."""
    deadline = time.monotonic() + seconds
    out, _, _ = _exchange(process, memoryview(b""), deadline, cap, until=b"\n", stop_at_cap=True)
    line, end_of_line, _ = out.partition(b"\n")
    return bytes(line) if end_of_line else b""


def _exchange(
    process: subprocess.Popen[bytes], rest: memoryview, deadline: float, cap: int, *, until: bytes, stop_at_cap: bool
) -> tuple[bytearray, bytearray, bool]:
    """Return the two outputs, each with one byte more than `cap` if there was more, and whether to end the program."""
    out, err = bytearray(), bytearray()
    streams = ((process.stdout, out), (process.stderr, err))
    kept = {stream.fileno(): data for stream, data in streams if stream is not None}
    patience = None
    with selectors.DefaultSelector() as pipes:
        for handle in kept:
            pipes.register(handle, selectors.EVENT_READ)
        if process.stdin is not None and rest:
            os.set_blocking(process.stdin.fileno(), False)
            pipes.register(process.stdin.fileno(), selectors.EVENT_WRITE)
        while pipes.get_map():
            now = time.monotonic()
            if patience is None and process.poll() is not None:
                patience = min(deadline, now + _LINGER_SECONDS)
            is_over = now >= (deadline if patience is None else patience)
            for key, _ in pipes.select(0 if is_over else min(deadline - now, _POLL_SECONDS)):
                if key.fd in kept:
                    piece = os.read(key.fd, _PIPE_BYTES)
                    kept[key.fd] += piece[: max(0, cap + 1 - len(kept[key.fd]))]
                    is_open = bool(piece)
                else:
                    rest = _write(key.fd, rest)
                    is_open = bool(rest)
                if not is_open:
                    pipes.unregister(key.fd)
            if not rest and not until:
                _close(process.stdin)
            if is_over or (stop_at_cap and max(len(out), len(err)) > cap) or _has_line(out, until):
                return out, err, patience is None or not is_over
    return out, err, False


def _has_line(out: bytearray, mark: bytes) -> bool:
    """Return whether a whole line that contains a mark was printed."""
    at = out.find(mark) if mark else -1
    return at >= 0 and out.find(b"\n", at) >= 0


def _write(handle: int, rest: memoryview) -> memoryview:
    """Write as much as the pipe takes; return the rest, which is empty if the program doesn't read."""
    try:
        return rest[os.write(handle, rest[:_PIECE]) :]
    except BlockingIOError:
        return rest
    except BrokenPipeError:
        return rest[:0]


def end(process: subprocess.Popen[bytes]) -> None:
    """End a program with its whole process group: SIGTERM, a moment to clean up, SIGKILL."""
    _signal(process, signal.SIGTERM)
    with suppress(subprocess.TimeoutExpired):
        process.wait(_GRACE_SECONDS)
    _signal(process, signal.SIGKILL)
    process.wait()
    _close_pipes(process)


def _signal(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def _close_pipes(process: subprocess.Popen[bytes]) -> None:
    for stream in (process.stdin, process.stdout, process.stderr):
        _close(stream)


def _close(stream: IO[bytes] | None) -> None:
    if stream is not None:
        with suppress(OSError):
            stream.close()
