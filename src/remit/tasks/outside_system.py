"""An outside task system: the four commands of R4.11, as the workspace has set them.

Owns running them. A command is split into words as a shell would, and the task's id is put into the words afterwards,
so that no id can become a second word, an option or a command. No shell runs; where a command is a shell itself, no id
holds what a shell would take for more than a name. What goes wrong is told in a sentence with what the program said.
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
"""What R4.11 gives as defaults."""
LIMIT_SECONDS = 60
_MAX_SHOWN = 400
_MAX_OUTPUT = 1024 * 1024
_PLACE = re.compile(r"\{(?:id|research)\}")
_ID = re.compile(r"\w[\w.:/#@+-]{0,199}")


class OutsideError(RemitError):
    """The outside task system could not be run, or said no."""

    code = "TOOL_UNAVAILABLE"


class CommandOutput(NamedTuple):
    """What the program printed."""

    command: str
    output: str
    cut: bool = False
    """Whether it printed more than is kept."""


def run_outside(
    commands: Mapping[str, str],
    name: str,
    *,
    task_id: str,
    research: str = "",
    folder: str,
    seconds: float = LIMIT_SECONDS,
) -> CommandOutput:
    """Run one of the four commands."""
    template = commands.get(name)
    if template is None:
        hint = f'set it in remit.toml: [tasks] {name} = "…"'
        raise ConfigError(f"the outside task system has no command for {name}", hint=hint)
    words = fill(template, name, task_id=task_id, research=research)
    shown = shlex.join(words)
    try:
        ran = run_bounded(words, cwd=folder, seconds=seconds, cap=_MAX_OUTPUT)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise OutsideError(f"`{shown}` cannot be run: {reason}", hint=f"install it, or change tasks.{name}") from error
    if ran.code is None:
        hint = "try it by hand; it may have done its work or a part of it"
        raise OutsideError(f"`{shown}` did not end within {seconds:g} s", hint=hint)
    if ran.code:
        said = " ".join(_decode(ran.err.strip() or ran.out.strip() or b"nothing").split())
        how = f"ended with {ran.code}" if ran.code > 0 else f"was ended by signal {-ran.code}"
        raise OutsideError(f"`{shown}` {how} and said: {said[:_MAX_SHOWN]}", hint="try it by hand")
    return CommandOutput(shown, _decode(ran.out), cut=ran.is_cut)


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
