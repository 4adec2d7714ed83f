"""Probing: programs that are run once, to see what they do.

Owns starting them: a harness in a throwaway folder, and the scripted model that it talks to. Each has a time limit, and
ends with everything it started.
"""

from __future__ import annotations

import json
import os
import selectors
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from remit.errors import RunnerError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_MAX_OUTPUT_BYTES = 4 * 1024 * 1024
_PIECE = 1 << 16
_MODEL_SECONDS = 20.0
_GRACE_SECONDS = 10.0


class Ran(NamedTuple):
    """How a program ended, None where it took too long, and what it said."""

    code: int | None
    out: str
    err: str


@contextmanager
def make_stage() -> Iterator[str]:
    """A folder that is gone afterwards."""
    folder = tempfile.mkdtemp(prefix="remit-probe-")
    try:
        yield os.path.realpath(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def append_text(file: str, text: str) -> None:
    """Add to a file of the stage."""
    with open(file, "a", encoding="utf-8") as stream:
        stream.write(text)


@contextmanager
def play_model(command: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    """A program that plays a model until it is told to stop; what it says of itself in its first line."""
    process = subprocess.Popen(  # noqa: S603 - Remit's own
        command, cwd="/", stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip
    try:
        yield _read_first(process)
    finally:
        with suppress(OSError, subprocess.TimeoutExpired):
            process.communicate(timeout=_GRACE_SECONDS)
        _end(process)


def _read_first(process: subprocess.Popen[bytes]) -> Mapping[str, Any]:
    assert process.stdout is not None  # noqa: S101 - it is a pipe
    with selectors.DefaultSelector() as waiting:
        waiting.register(process.stdout, selectors.EVENT_READ)
        line = process.stdout.readline() if waiting.select(_MODEL_SECONDS) else b""
    try:
        told: Mapping[str, Any] = json.loads(line)
    except ValueError:
        hint = "see whether Python can open a port on 127.0.0.1"
        raise RunnerError("the model that plays a part does not start", hint=hint) from None
    return told


def run_apart(
    command: Sequence[str], *, folder: str, environ: Mapping[str, str], given: str = "", seconds: float
) -> Ran:
    """Run a program to its end, or until its time is over."""
    try:
        process = subprocess.Popen(  # noqa: S603 - a harness on the user's path, or a line that Remit itself has written
            command, cwd=folder, env=dict(environ), start_new_session=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
    except OSError as error:
        return Ran(127, "", (error.strerror or str(error)).lower())
    try:
        out, err = _converse(process, given.encode("utf-8", "surrogateescape"), time.monotonic() + seconds)
        return Ran(process.poll(), out.decode("utf-8", "replace"), err.decode("utf-8", "replace"))
    finally:
        _end(process)


def converse(
    command: Sequence[str], *, environ: Mapping[str, str], lines: Sequence[str], until: str, seconds: float
) -> str:
    """Say lines to a program that answers each, and hear the one that has a mark in it; empty where none has."""
    process = subprocess.Popen(  # noqa: S603 - a harness on the user's path
        command, cwd="/", env=dict(environ), start_new_session=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    assert process.stdin is not None  # noqa: S101 - it is a pipe
    assert process.stdout is not None  # noqa: S101 - it is a pipe
    deadline, heard = time.monotonic() + seconds, b""
    try:
        with suppress(OSError):
            process.stdin.write("".join(f"{line}\n" for line in lines).encode())
            process.stdin.flush()
        with selectors.DefaultSelector() as waiting:
            waiting.register(process.stdout, selectors.EVENT_READ)
            while len(heard) < _MAX_OUTPUT_BYTES and waiting.select(max(0.0, deadline - time.monotonic())):
                piece = os.read(process.stdout.fileno(), _PIECE)
                heard += piece
                found = next((line for line in heard.split(b"\n")[:-1] if until.encode() in line), None)
                if found is not None or not piece:
                    return (found or b"").decode("utf-8", "replace")
        return ""
    finally:
        _end(process)


def _converse(process: subprocess.Popen[bytes], given: bytes, deadline: float) -> tuple[bytes, bytes]:
    """Give a program what it reads, and hear what it says, until it ends or its time does."""
    assert process.stdin is not None  # noqa: S101 - they are pipes
    assert process.stdout is not None  # noqa: S101
    assert process.stderr is not None  # noqa: S101
    said: dict[int, bytes] = {process.stdout.fileno(): b"", process.stderr.fileno(): b""}
    rest = memoryview(given)
    with selectors.DefaultSelector() as waiting:
        for stream in said:
            waiting.register(stream, selectors.EVENT_READ)
        os.set_blocking(process.stdin.fileno(), False)
        waiting.register(process.stdin, selectors.EVENT_WRITE)
        while waiting.get_map() and (ready := waiting.select(max(0.0, deadline - time.monotonic()))):
            for key, _ in ready:
                if key.fileobj is process.stdin:
                    try:
                        rest = rest[os.write(key.fd, rest[:_PIECE]) :]
                    except BlockingIOError:
                        continue
                    except OSError:
                        rest = rest[:0]
                    if not rest:
                        waiting.unregister(process.stdin)
                        process.stdin.close()
                    continue
                piece = os.read(key.fd, _PIECE)
                said[key.fd] = (said[key.fd] + piece)[-_MAX_OUTPUT_BYTES:]
                if not piece:
                    waiting.unregister(key.fd)
    with suppress(subprocess.TimeoutExpired):
        process.wait(max(0.0, deadline - time.monotonic()))
    out, err = said.values()
    return out, err


def _end(process: subprocess.Popen[bytes]) -> None:
    """See that a program and its group are gone."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with suppress(OSError):
                stream.close()
