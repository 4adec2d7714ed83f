"""An outside task system: the four commands of R4.11, as the workspace has set them.

Owns running them. A command is split into words as a shell would, and the task's id is put into the words afterwards,
so that no id can become a second word, an option or a command. No shell runs; where a command is a shell itself, no id
holds what a shell would take for more than a name. What goes wrong is told in a sentence with what the program said.
"""

from __future__ import annotations

import os
import re
import selectors
import shlex
import signal
import subprocess
import time
from contextlib import suppress
from typing import IO, TYPE_CHECKING, NamedTuple

from remit.errors import ConfigError, RemitError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

CLEO = {
    "show": "cleo show {id}",
    "focus": "cleo focus set {id}",
    "complete": "cleo complete {id}",
    "link": "cleo research link {id} {research}",
}
"""What R4.11 gives as defaults."""
LIMIT_SECONDS = 60
_MAX_SHOWN = 400
_MAX_OUTPUT = 1024 * 1024
_CHUNK = 64 * 1024
_GRACE_SECONDS = 0.5
_PLACE = re.compile(r"\{(?:id|research)\}")
_ID = re.compile(r"\w[\w.:/#@+-]{0,199}")


class OutsideError(RemitError):
    """The outside task system could not be run, or said no."""

    code = "TOOL_UNAVAILABLE"


class Answer(NamedTuple):
    """What the program printed."""

    command: str
    output: str
    cut: bool = False
    """Whether it printed more than is kept."""


class _Ended(NamedTuple):
    """How a program ended: its exit code, and the beginning of what it printed and complained."""

    code: int
    printed: bytes
    complained: bytes


def run_outside(
    commands: Mapping[str, str],
    name: str,
    *,
    task_id: str,
    research: str = "",
    folder: str,
    seconds: float = LIMIT_SECONDS,
) -> Answer:
    """Run one of the four commands."""
    template = commands.get(name)
    if template is None:
        hint = f'set it in remit.toml: [tasks] {name} = "…"'
        raise ConfigError(f"the outside task system has no command for {name}", hint=hint)
    words = fill(template, name, task_id=task_id, research=research)
    shown = shlex.join(words)
    try:
        ended = _run(words, folder, seconds)
    except subprocess.TimeoutExpired:
        hint = "try it by hand; it may have done its work or a part of it"
        raise OutsideError(f"`{shown}` did not end within {seconds:g} s", hint=hint) from None
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise OutsideError(f"`{shown}` cannot be run: {reason}", hint=f"install it, or change tasks.{name}") from error
    if ended.code:
        said = " ".join(_decode(ended.complained.strip() or ended.printed.strip() or b"nothing").split())
        how = f"ended with {ended.code}" if ended.code > 0 else f"was ended by signal {-ended.code}"
        raise OutsideError(f"`{shown}` {how} and said: {said[:_MAX_SHOWN]}", hint="try it by hand")
    return Answer(shown, _decode(ended.printed[:_MAX_OUTPUT]), cut=len(ended.printed) > _MAX_OUTPUT)


def _run(words: list[str], folder: str, seconds: float) -> _Ended:
    """Run a program in a group of its own, and end the whole group when it takes too long."""
    pipe = subprocess.PIPE
    with subprocess.Popen(  # noqa: S603 - no shell; the user has trusted the command
        words, cwd=folder, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, process_group=0
    ) as process:
        try:
            printed, complained = _listen(process, seconds)
        except BaseException:
            with suppress(ProcessLookupError):  # all of them have just ended
                os.killpg(process.pid, signal.SIGKILL)
            raise
    return _Ended(process.returncode, printed, complained)


def _listen(process: subprocess.Popen[bytes], seconds: float) -> tuple[bytes, bytes]:
    """Take what a program says until it ends. One that never stops talking is heard out and not kept.

    A helper that it leaves behind may hold its streams open; nobody waits for that.
    """
    heard: dict[IO[bytes] | None, bytearray] = {process.stdout: bytearray(), process.stderr: bytearray()}
    deadline = time.monotonic() + seconds
    with selectors.DefaultSelector() as streams:
        for stream in heard:
            if stream is not None:
                streams.register(stream, selectors.EVENT_READ)
        while streams.get_map():
            left = deadline - time.monotonic()
            if left <= 0 and process.poll() is None:
                raise subprocess.TimeoutExpired(process.args, seconds)
            if left <= 0:
                break
            for key, _ in streams.select(min(left, _GRACE_SECONDS)):
                chunk = os.read(key.fd, _CHUNK)
                kept = heard[key.fileobj]  # type: ignore[index] # what was registered above
                kept += chunk[: max(0, _MAX_OUTPUT + 1 - len(kept))]
                if not chunk:
                    streams.unregister(key.fileobj)
            if process.poll() is not None:
                deadline = min(deadline, time.monotonic() + _GRACE_SECONDS)
    process.wait(max(0.0, deadline - time.monotonic()))
    return bytes(heard[process.stdout]), bytes(heard[process.stderr])


def _decode(output: bytes) -> str:
    return output.decode("utf-8", "replace")


def fill(template: str, name: str, *, task_id: str, research: str = "") -> list[str]:
    """The words of a command, with the ids in their places."""
    for given, kind in ((task_id, "a task"), (research, "an entry")):
        if _ID.fullmatch(given) is None and (given or kind == "a task"):
            hint = "an id has letters, digits and . : / # @ + - _ only"
            raise UsageError(f"'{given[:80]}' is not the id of {kind}", hint=hint)
    try:
        words = shlex.split(template)
    except ValueError as error:
        raise ConfigError(f"tasks.{name} cannot be split into words: {error}", hint="close its quotes") from error
    if not words or _PLACE.search(words[0]) or "\0" in template:
        raise ConfigError(f"tasks.{name} names no program", hint='write it like show = "cleo show {id}"')
    ids = {"{id}": task_id, "{research}": research}
    return [_PLACE.sub(lambda found: ids[found[0]], word) for word in words]
