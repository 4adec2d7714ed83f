"""Run a harness once in a temporary folder against a scripted model, to observe its behavior.

Every program has a time limit, and its whole process group is ended.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from remit.errors import RunnerError
from remit.storage.subprocesses import end, finish, read_line, run_bounded, start

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_MAX_OUTPUT_BYTES = 4 * 1024 * 1024
_MODEL_SECONDS = 20.0
_GRACE_SECONDS = 10.0


class ProbeOutput(NamedTuple):
    """The exit code of a program, None after a timeout, and its output."""

    code: int | None
    out: str
    err: str


@contextmanager
def make_stage() -> Iterator[str]:
    """Create a temporary folder, and remove it afterwards."""
    folder = tempfile.mkdtemp(prefix="remit-probe-")
    try:
        yield os.path.realpath(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def append_text(file: str, text: str) -> None:
    """Append to a file in the temporary folder."""
    with open(file, "a", encoding="utf-8") as stream:
        stream.write(text)


@contextmanager
def play_model(command: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    """Run a program that plays a model; yield the facts that it prints in its first line."""
    process = start(command, cwd="/", with_input=True, with_errors=False)
    try:
        yield _read_first(process)
    finally:
        with suppress(OSError, subprocess.TimeoutExpired):
            process.communicate(timeout=_GRACE_SECONDS)
        end(process)


def _read_first(process: subprocess.Popen[bytes]) -> Mapping[str, Any]:
    line = read_line(process, _MODEL_SECONDS, _MAX_OUTPUT_BYTES)
    try:
        facts: Mapping[str, Any] = json.loads(line)
    except ValueError:
        hint = "check that Python can open a port on 127.0.0.1"
        raise RunnerError("the scripted model doesn't start", hint=hint) from None
    return facts


def run_apart(
    command: Sequence[str], *, folder: str, environ: Mapping[str, str], given: str = "", seconds: float
) -> ProbeOutput:
    """Run a program until it ends or times out."""
    try:
        process = start(command, cwd=folder, env=environ, with_input=True)
        try:
            ran = finish(process, given.encode("utf-8", "surrogateescape"), seconds, _MAX_OUTPUT_BYTES)
        finally:
            end(process)
    except OSError as error:
        return ProbeOutput(127, "", (error.strerror or str(error)).lower())
    return ProbeOutput(ran.code, ran.out.decode("utf-8", "replace"), ran.err.decode("utf-8", "replace"))


def converse(
    command: Sequence[str], *, environ: Mapping[str, str], lines: Sequence[str], until: str, seconds: float
) -> str:
    """Send some lines to a program; return its first line that contains `until`, or "" if there is none."""
    given, mark = "".join(f"{line}\n" for line in lines).encode(), until.encode()
    try:
        ran = run_bounded(
            command, cwd="/", env=environ, given=given, until=mark, seconds=seconds, cap=_MAX_OUTPUT_BYTES
        )
    except OSError:
        return ""
    return next((line.decode("utf-8", "replace") for line in ran.out.split(b"\n")[:-1] if mark in line), "")
