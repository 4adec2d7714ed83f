"""The one place that calls the program git.

Owns its settings, its environment, how long it may take and how much it may say. Every call switches off whatever a
repository could have it execute, and takes file names as nothing but names.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from remit.workspace.git.told import Refused, commit_failed, git_missing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MAX_SECONDS = 60.0
MAX_OUTPUT_BYTES = 16 * 1024 * 1024
_PIECE = 1 << 16
_GRACE_SECONDS = 2.0

SAFE = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.pager=cat",
    "core.editor=false",
    "commit.gpgSign=false",
    "diff.external=",
    "gc.auto=0",
    "maintenance.auto=false",
    "submodule.recurse=false",
    "credential.helper=",
    "i18n.commitEncoding=UTF-8",
    "user.useConfigOnly=true",
)
"""The settings of every call; they win over those of any file."""

_KEPT = ("GIT_AUTHOR_", "GIT_COMMITTER_", "GIT_CONFIG_", "GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM")
_ALWAYS = {
    "LC_ALL": "C",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_LITERAL_PATHSPECS": "1",
    # No protocol of this name exists, so none is allowed, whatever the settings of single ones say: a repository that
    # lacks an object would else fetch it, by a command of its own.
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
}


class Answer(NamedTuple):
    """What git said, and how it ended."""

    code: int
    out: bytes
    told: str
    """What it complained of."""

    @property
    def reason(self) -> str:
        """The first thing that it complained of, without the word before it."""
        for line in self.told.splitlines():
            if line and not line.startswith(("hint:", "warning:")):
                return line.removeprefix("fatal: ").removeprefix("error: ")
        return f"git ended with {self.code}"


def run(
    folder: str,
    *arguments: str,
    given: bytes = b"",
    more: Mapping[str, str] | None = None,
    alone: bool = False,
    seconds: float = 0.0,
    max_bytes: int = 0,
) -> Answer:
    """Call git in a folder. `more` is added to its environment; `alone` takes the user's settings away as well.

    It may take as many `seconds` and print as many `max_bytes`, or as many of each as it usually may.
    """
    process = _start(folder, arguments, {**_make_environment(alone=alone), **(more or {})})
    return _finish(process, given, seconds or MAX_SECONDS, max_bytes or MAX_OUTPUT_BYTES)


def run_both(
    folder: str, first: Sequence[str], second: Sequence[str], *, seconds: float | None = None
) -> tuple[Answer, Answer]:
    """Call git twice in a folder, at the same time, for two short answers. Each may take as many seconds."""
    environment = _make_environment(alone=False)
    seconds = seconds or MAX_SECONDS
    started = _start(folder, first, environment)
    try:
        other = _start(folder, second, environment)
    except BaseException:
        _end(started)
        raise
    try:
        answer = _finish(started, b"", seconds, MAX_OUTPUT_BYTES)
    except BaseException:
        _end(other)
        raise
    return answer, _finish(other, b"", seconds, MAX_OUTPUT_BYTES)


def _start(folder: str, arguments: Sequence[str], environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    command = [_find_git(), *(part for setting in SAFE for part in ("-c", setting)), *arguments]
    try:
        return subprocess.Popen(  # noqa: S603 - a program that was looked up, and arguments that no shell reads
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # it has no terminal to ask on, and ends together with whatever it started
        )
    except (OSError, ValueError) as error:
        raise Refused(git_missing(_tell(error), is_there=True)) from error


def _finish(process: subprocess.Popen[bytes], given: bytes, seconds: float, max_bytes: int) -> Answer:
    """What a git says that was started, with `given` as its input."""
    try:
        out, told = _converse(process, given, seconds, max_bytes)
        return Answer(process.wait(), out, told.decode("utf-8", "replace"))
    except BaseException as error:
        _end(process)
        if isinstance(error, OSError):  # a pipe that fails, or none to be had
            raise Refused(commit_failed(f"git cannot be listened to: {_tell(error)}")) from error
        raise
    finally:
        _close_pipes(process)


def _tell(error: OSError | ValueError) -> str:
    return (getattr(error, "strerror", None) or str(error)).lower()


def _find_git() -> str:
    """Git as the path has it. A place that is relative to where one stands could be one in the repository."""
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        file = os.path.join(folder, "git")
        if os.path.isabs(folder) and os.path.isfile(file) and os.access(file, os.X_OK):
            return file
    raise Refused(git_missing("it is not on the path"))


def _make_environment(*, alone: bool) -> dict[str, str]:
    """The user's environment without what would lead git elsewhere: a hook's GIT_DIR, a pager, a trace."""
    kept = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith("GIT_") or (key.startswith(_KEPT) and key != "GIT_CONFIG_PARAMETERS")
    }
    if alone:
        kept = {key: value for key, value in kept.items() if not key.startswith("GIT_CONFIG_")}
        kept |= {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null"}
    return kept | _ALWAYS


def _converse(process: subprocess.Popen[bytes], given: bytes, seconds: float, most: int) -> tuple[bytes, bytes]:
    """Hand over what is given and collect what is said, both at once, so that neither waits for the other."""
    assert process.stdin is not None and process.stdout is not None and process.stderr is not None  # noqa: S101, PT018 - all three are pipes
    said: dict[int, list[bytes]] = {process.stdout.fileno(): [], process.stderr.fileno(): []}
    deadline, size, rest = time.monotonic() + seconds, 0, memoryview(given)
    with selectors.DefaultSelector() as waiting:
        for handle in said:
            waiting.register(handle, selectors.EVENT_READ)
        os.set_blocking(process.stdin.fileno(), False)
        waiting.register(process.stdin.fileno(), selectors.EVENT_WRITE)
        while waiting.get_map():
            ready = waiting.select(deadline - time.monotonic())
            if time.monotonic() >= deadline:
                raise Refused(commit_failed(f"git took longer than {seconds:.0f} s"))
            for key, _ in ready:
                if key.fd not in said:
                    rest = _hand_over(key.fd, rest)
                    if not rest:
                        waiting.unregister(key.fd)
                        process.stdin.close()
                    continue
                piece = os.read(key.fd, _PIECE)
                said[key.fd].append(piece)
                size += len(piece)
                if not piece:
                    waiting.unregister(key.fd)
                if size > most:
                    raise Refused(commit_failed(f"git said more than {most // 1024 // 1024} MiB"))
    out, told = said.values()
    return b"".join(out), b"".join(told)


def _hand_over(handle: int, rest: memoryview) -> memoryview:
    try:
        return rest[os.write(handle, rest[:_PIECE]) :]
    except BlockingIOError:
        return rest
    except BrokenPipeError:  # it has ended already, and says why
        return rest[:0]


def _close_pipes(process: subprocess.Popen[bytes]) -> None:
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with suppress(OSError):
                stream.close()


def _end(process: subprocess.Popen[bytes]) -> None:
    """End git with all it started: first so that it removes its locks, then for certain."""
    _close_pipes(process)
    for how in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, how)
        try:
            process.wait(_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            continue
        return
