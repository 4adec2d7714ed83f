"""The runner `command`: any program. Its input is the prompt, and its output is the final message.

No shell reads the command line. `{prompt}`, `{session}` and `{root}` are replaced by their values.
"""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from remit.errors import RunnerError
from remit.runners.protocol import Launch, RunOutput

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.runners.protocol import AttemptOrder, Cause, Counted, ReportTime

MAX_BYTES = 8 * 1024 * 1024
"""How much of the end of the output is read, because a return comes last."""
_SHOWN = 300
_GAP = rb"\W{0,12}:\W{0,12}"
"""The characters between the key and the value of a return's status, with any quotes."""
_OVERLAP_BYTES = 64 * 1024
"""How far after the cut the status of a return can be that begins before the cut."""
_LOST = "it printed more than Remit reads, and the omitted output may contain another return"


def missing_command_error() -> RunnerError:
    """Return the error for a runner without a command."""
    hint = 'give it with --command "prog args", or as command = "prog args" under [runners.NAME] in remit.toml'
    return RunnerError("the runner 'command' has no command", hint=hint)


class CommandRunner:
    """Any program."""

    name = "command"
    can_resume = False
    reports_tools = False
    counts_thread = False
    reports_usage: Mapping[Counted, ReportTime] = {}
    enforces: tuple[Counted, ...] = ()

    def start(self, order: AttemptOrder) -> Launch:
        """Return how to start the program; the command line is split like a shell does, but not expanded."""
        line = order.settings.get("command")
        if not line:
            raise missing_command_error()
        try:
            words = shlex.split(line)
        except ValueError as error:
            raise RunnerError(f"'{line}' isn't a valid command line: {error}", hint="check its quotes") from error
        if not words:
            raise RunnerError("the command is empty", hint='give a program, such as --command "my-agent --json"')
        has_placeholder = any("{prompt}" in word for word in words)
        argv = [_fill(word, order) for word in words]
        by_argument = order.settings.get("prompt") == "argument"
        whole = join_prompt(order)
        if by_argument and not has_placeholder:
            argv.append(whole)
        return Launch(tuple(argv), b"" if has_placeholder or by_argument else whole.encode("utf-8", "surrogatepass"))

    def resume(self, order: AttemptOrder, harness_id: str, message: str) -> Launch:
        """Raise RunnerError: a command can't be resumed."""
        del order, harness_id, message
        raise RunnerError("a command can't be resumed", hint="start it again")

    def listen(self, order: AttemptOrder) -> CommandListener:
        """Return the listener for one run."""
        return CommandListener(order.status_words)


class CommandListener:
    """Keeps the end of the output of a program."""

    def __init__(self, status_words: tuple[str, ...] = ()) -> None:
        self._own_words = status_words
        self._data = bytearray()
        self._cut = self._has_lost = False

    def feed(self, data: bytes) -> None:
        """Add new output."""
        self._data += data
        if len(self._data) > 2 * MAX_BYTES:  # not for every piece, because moving the end costs time
            self._search_cut()
            del self._data[:-MAX_BYTES]
            self._cut = True

    def _search_cut(self) -> None:
        """Record whether the omitted output may contain another return than the one at the end."""
        from remit.returns.formats import FORMATS  # noqa: PLC0415 - output is rarely that long

        words = {*self._own_words, *(word for each in FORMATS.values() for word in each.statuses)}
        known = b"|".join(re.escape(word.encode("utf-8", "replace")) for word in words)
        member = re.compile(rb"status" + _GAP + rb"(?:" + known + rb")(?!\w)", re.IGNORECASE)
        end = len(self._data) + _OVERLAP_BYTES - MAX_BYTES
        self._has_lost = self._has_lost or member.search(self._data, 0, end) is not None

    def report(self) -> RunOutput:
        """Return the last line of the output, for users who watch the run."""
        return RunOutput(activity=_last_line(bytes(self._data[-_SHOWN * 4 :])))

    def finish(self, *, errors: bytes, exit_code: int | None) -> RunOutput:
        """Return the whole output as the final message."""
        if len(self._data) > MAX_BYTES:
            self._search_cut()
        cut = self._cut or len(self._data) > MAX_BYTES
        text = bytes(self._data[-MAX_BYTES:]).decode("utf-8", "replace")
        notes = (f"only the last {MAX_BYTES:,} bytes of its output were read",) if cut else ()
        last = _last_line(errors[-_SHOWN * 4 :])
        what = f"the program ended with exit code {exit_code}" if exit_code else "the program printed nothing"
        trouble = f"{what}: {last}" if last else what
        if text.strip() and self._has_lost and not exit_code:
            return RunOutput(text, notes=notes, cause="cut", trouble=_LOST)
        if text.strip():
            return RunOutput(text, notes=notes, trouble=trouble if exit_code else "")
        cause: Cause = "crash" if exit_code else "no_answer"
        return RunOutput(None, cause=cause, trouble=trouble)


def join_prompt(order: AttemptOrder) -> str:
    """Return the instructions of the agent file followed by the prompt, for harnesses with a single input."""
    return f"{order.instructions.rstrip()}\n\n{order.prompt}" if order.instructions.strip() else order.prompt


def _fill(word: str, order: AttemptOrder) -> str:
    """Replace the placeholders in a word, the prompt last, so that placeholders in the prompt stay."""
    word = word.replace("{session}", order.session_id).replace("{root}", order.root)
    return word.replace("{prompt}", join_prompt(order))


def _last_line(data: bytes) -> str:
    lines = data.decode("utf-8", "replace").strip().splitlines()
    return "".join(char for char in lines[-1] if char.isprintable())[:_SHOWN] if lines else ""
