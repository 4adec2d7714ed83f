"""The runner `command`: any program. The prompt is its input, its output the final message.

Owns how a command line is read. No shell sees it; `{prompt}`, `{session}` and `{root}` stand for what they say.
"""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from remit.errors import RunnerError
from remit.runners.protocol import Launch, RunOutput

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.runners.protocol import AttemptOrder, Cause, Counted, Telling

MAX_BYTES = 8 * 1024 * 1024
"""Of what a program prints, the end: a return comes last."""
_SHOWN = 300
_GAP = rb"\W{0,12}:\W{0,12}"
"""Between the key and the word by which a return tells its end, whatever quotes it has: a text without holds none."""
_OVERLAP_BYTES = 64 * 1024
"""A return that begins before the cut gives its status before that."""
_LOST = "it printed more than is read, and what was left out may hold another return"


def command_missing() -> RunnerError:
    """Return what to say where nobody has said which program to run."""
    hint = 'give it with --command "prog args", or as command = "prog args" under [runners.NAME] in remit.toml'
    return RunnerError("the runner 'command' has no command", hint=hint)


class CommandRunner:
    """Any program."""

    name = "command"
    can_resume = False
    tells_tools = False
    counts_thread = False
    tells_usage: Mapping[Counted, Telling] = {}
    holds: tuple[Counted, ...] = ()

    def start(self, order: AttemptOrder) -> Launch:
        """Split the command line as a shell would, and run nothing else of it."""
        line = order.settings.get("command")
        if not line:
            raise command_missing()
        try:
            words = shlex.split(line)
        except ValueError as error:
            raise RunnerError(f"'{line}' is no command line: {error}", hint="see to its quotes") from error
        if not words:
            raise RunnerError("the command is empty", hint='give a program, such as --command "my-agent --json"')
        names = any("{prompt}" in word for word in words)
        argv = [_fill(word, order) for word in words]
        by_argument = order.settings.get("prompt") == "argument"
        whole = join_prompt(order)
        if by_argument and not names:
            argv.append(whole)
        return Launch(tuple(argv), b"" if names or by_argument else whole.encode("utf-8", "surrogatepass"))

    def resume(self, order: AttemptOrder, harness_id: str, message: str) -> Launch:
        """Return a program that has ended is not asked again."""
        del order, harness_id, message
        raise RunnerError("a command cannot be resumed", hint="start it again")

    def listen(self, order: AttemptOrder) -> CommandListener:
        """Something that keeps what is printed."""
        return CommandListener(order.status_words)


class CommandListener:
    """Keeps the end of what a program prints."""

    def __init__(self, status_words: tuple[str, ...] = ()) -> None:
        self._own_words = status_words
        self._data = bytearray()
        self._cut = self._has_lost = False

    def feed(self, data: bytes) -> None:
        """Take in what was printed since."""
        self._data += data
        if len(self._data) > 2 * MAX_BYTES:  # not at every piece: to move the end costs as much as it is long
            self._search_cut()
            del self._data[:-MAX_BYTES]
            self._cut = True

    def _search_cut(self) -> None:
        """Whether what is cut off may hold a return: another one than that at the end."""
        from remit.returns.formats import FORMATS  # noqa: PLC0415 - hardly any output is that long

        words = {*self._own_words, *(word for each in FORMATS.values() for word in each.statuses)}
        known = b"|".join(re.escape(word.encode("utf-8", "replace")) for word in words)
        member = re.compile(rb"status" + _GAP + rb"(?:" + known + rb")(?!\w)", re.IGNORECASE)
        end = len(self._data) + _OVERLAP_BYTES - MAX_BYTES
        self._has_lost = self._has_lost or member.search(self._data, 0, end) is not None

    def tell(self) -> RunOutput:
        """Return the last line, for people who watch."""
        return RunOutput(said=_last_line(bytes(self._data[-_SHOWN * 4 :])))

    def finish(self, *, errors: bytes, exit_code: int | None) -> RunOutput:
        """Return all of it is the final message."""
        if len(self._data) > MAX_BYTES:
            self._search_cut()
        cut = self._cut or len(self._data) > MAX_BYTES
        text = bytes(self._data[-MAX_BYTES:]).decode("utf-8", "replace")
        notes = (f"only the last {MAX_BYTES:,} bytes of what it printed were read",) if cut else ()
        said = _last_line(errors[-_SHOWN * 4 :])
        what = f"the program ended with exit code {exit_code}" if exit_code else "the program printed nothing"
        trouble = f"{what}: {said}" if said else what
        if text.strip() and self._has_lost and not exit_code:
            return RunOutput(text, notes=notes, cause="cut", trouble=_LOST)
        if text.strip():
            return RunOutput(text, notes=notes, trouble=trouble if exit_code else "")
        cause: Cause = "crash" if exit_code else "no_answer"
        return RunOutput(None, cause=cause, trouble=trouble)


def join_prompt(order: AttemptOrder) -> str:
    """Return all that an agent is told, for whoever has one place for it: the instructions of its file come first."""
    return f"{order.instructions.rstrip()}\n\n{order.prompt}" if order.instructions.strip() else order.prompt


def _fill(word: str, order: AttemptOrder) -> str:
    """Return the prompt last: whatever stands in it is no longer looked at."""
    word = word.replace("{session}", order.session_id).replace("{root}", order.root)
    return word.replace("{prompt}", join_prompt(order))


def _last_line(data: bytes) -> str:
    lines = data.decode("utf-8", "replace").strip().splitlines()
    return "".join(char for char in lines[-1] if char.isprintable())[:_SHOWN] if lines else ""
