"""Run the commands of an external task system (R4.11), as the workspace configures them.

A command is split into words like in a shell, and the task id is inserted into the words afterwards, so an id can't
become a second word, an option or a command. No shell runs. If the command itself is a shell, ids are still safe: they
may contain only characters without a meaning in a shell.
"""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, NamedTuple

from remit.errors import ConfigError, RemitError, UsageError
from remit.storage.subprocesses import run_bounded

if TYPE_CHECKING:
    from collections.abc import Mapping

CLEO = {
    "show": "cleo show {id}",
    "focus": "cleo focus set {id}",
    "complete": "cleo complete {id}",
    "link": "cleo research link {id} {research}",
}
"""The default commands of R4.11."""
LIMIT_SECONDS = 60
_MAX_SHOWN = 400
_MAX_OUTPUT = 1024 * 1024
_PLACE = re.compile(r"\{(?:id|research)\}")
_ID = re.compile(r"\w[\w.:/#@+-]{0,199}")


class OutsideError(RemitError):
    """The external task system could not be run, or its command failed."""

    code = "TOOL_UNAVAILABLE"


class CommandOutput(NamedTuple):
    """The output of a command."""

    command: str
    output: str
    cut: bool = False
    """True if the output was truncated."""


def run_outside(
    commands: Mapping[str, str],
    name: str,
    *,
    task_id: str,
    research: str = "",
    folder: str,
    seconds: float = LIMIT_SECONDS,
) -> CommandOutput:
    """Run one of the four commands, and return its output. Raise `OutsideError` if it fails."""
    template = commands.get(name)
    if template is None:
        hint = f'set it in remit.toml: [tasks] {name} = "…"'
        raise ConfigError(f"no command to {name} a task in the external task system", hint=hint)
    words = fill(template, name, task_id=task_id, research=research)
    shown = shlex.join(words)
    try:
        ran = run_bounded(words, cwd=folder, seconds=seconds, cap=_MAX_OUTPUT)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        hint = f"install the program, or change tasks.{name} in remit.toml"
        raise OutsideError(f"can't run `{shown}`: {reason}", hint=hint) from error
    if ran.code is None:
        hint = "run it by hand; it may have made some or all of its changes"
        raise OutsideError(f"`{shown}` timed out after {seconds:g} s", hint=hint)
    if ran.code:
        output = " ".join(_decode(ran.err.strip() or ran.out.strip() or b"no output").split())
        how = f"failed with exit code {ran.code}" if ran.code > 0 else f"was killed by signal {-ran.code}"
        raise OutsideError(f"`{shown}` {how}: {output[:_MAX_SHOWN]}", hint="run it by hand to see the whole output")
    return CommandOutput(shown, _decode(ran.out), cut=ran.is_cut)


def _decode(output: bytes) -> str:
    return output.decode("utf-8", "replace")


def fill(template: str, name: str, *, task_id: str, research: str = "") -> list[str]:
    """Return the words of a command with the ids inserted."""
    for given, kind in ((task_id, "task"), (research, "finding")):
        if _ID.fullmatch(given) is None and (given or kind == "task"):
            hint = "use only letters, digits and . : / # @ + - _"
            raise UsageError(f"'{given[:80]}' isn't a valid {kind} id", hint=hint)
    try:
        words = shlex.split(template)
    except ValueError as error:
        raise ConfigError(f"can't split tasks.{name} into words: {error}", hint="close its quotes") from error
    if not words or _PLACE.search(words[0]) or "\0" in template:
        raise ConfigError(f"tasks.{name} has no program", hint='write it like show = "cleo show {id}"')
    ids = {"{id}": task_id, "{research}": research}
    return [_PLACE.sub(lambda found: ids[found[0]], word) for word in words]
