"""An outside task system: the four commands of R4.11, as the workspace has set them.

Owns running them. A command is split into words as a shell would, and the task's id is put into the words afterwards,
so that no id can become a second word, an option or a command. No shell runs. What goes wrong is told in a sentence
with what the program said.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
from typing import TYPE_CHECKING, NamedTuple

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
_PLACE = re.compile(r"\{(?:id|research)\}")


class OutsideError(RemitError):
    """The outside task system could not be run, or said no."""

    code = "TOOL_UNAVAILABLE"


class Answer(NamedTuple):
    """What the program printed."""

    command: str
    output: str


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
        code, printed, complained = _run(words, folder, seconds)
    except subprocess.TimeoutExpired:
        raise OutsideError(f"`{shown}` did not end within {seconds:.0f} s", hint="try it by hand") from None
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise OutsideError(f"`{shown}` cannot be run: {reason}", hint=f"install it, or change tasks.{name}") from error
    if code:
        said = " ".join((complained.strip() or printed.strip() or "nothing").split())
        raise OutsideError(f"`{shown}` ended with {code} and said: {said[:_MAX_SHOWN]}", hint="try it by hand")
    return Answer(shown, printed)


def _run(words: list[str], folder: str, seconds: float) -> tuple[int, str, str]:
    """Run a program in a group of its own, and end the whole group when it takes too long."""
    pipe = subprocess.PIPE
    with subprocess.Popen(  # noqa: S603 - no shell; the user has trusted the command
        words, cwd=folder, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, process_group=0
    ) as process:
        try:
            printed, complained = process.communicate(timeout=seconds)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    return process.returncode, _decode(printed), _decode(complained)


def _decode(output: bytes) -> str:
    return output[:_MAX_OUTPUT].decode("utf-8", "replace")


def fill(template: str, name: str, *, task_id: str, research: str = "") -> list[str]:
    """The words of a command, with the ids in their places."""
    if task_id.startswith("-") or research.startswith("-") or not task_id.strip() or "\0" in task_id + research:
        raise UsageError(f"'{task_id[:80]}' is not the id of a task", hint="give the id as the task system has it")
    try:
        words = shlex.split(template)
    except ValueError as error:
        raise ConfigError(f"tasks.{name} cannot be split into words: {error}", hint="close its quotes") from error
    ids = {"{id}": task_id, "{research}": research}
    return [_PLACE.sub(lambda found: ids[found[0]], word) for word in words]
