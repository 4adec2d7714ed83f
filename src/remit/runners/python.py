"""The runner `python`: a function that takes the prompt and returns the final message.

An entry point, `package.module:function`, runs in a process of its own, which a deadline can end. A function that a
caller passes runs in the caller's own process: that is faster, but a deadline can't end it.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from remit.errors import RunnerError
from remit.lazy_regex import lazy
from remit.runners.command import CommandListener, join_prompt
from remit.runners.protocol import Launch

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.runners.protocol import AttemptOrder, Counted, ReportTime

HOST = "remit.runners.python_host"
_ENTRY = lazy(r"[A-Za-z_][\w.]{0,200}:[A-Za-z_][\w.]{0,200}\Z")


class PythonRunner:
    """A function in Python."""

    name = "python"
    can_resume = False
    reports_tools = False
    counts_thread = False
    reports_usage: Mapping[Counted, ReportTime] = {}
    enforces: tuple[Counted, ...] = ()

    def start(self, order: AttemptOrder) -> Launch:
        """Return how to call the entry point in a process of its own."""
        entry = order.settings.get("entry")
        hint = 'write it as entry = "package.module:function" under [runners.NAME]'
        if not entry:
            raise RunnerError("the runner 'python' has no entry point", hint=hint)
        if not isinstance(entry, str) or not _ENTRY.match(entry):
            raise RunnerError(f"{entry!r} isn't an entry point for the runner 'python'", hint=hint)
        return Launch((sys.executable, "-m", HOST, entry), join_prompt(order).encode("utf-8", "surrogatepass"))

    def resume(self, order: AttemptOrder, harness_id: str, message: str) -> Launch:
        """Raise RunnerError: a function can't be resumed."""
        del order, harness_id, message
        raise RunnerError("a function can't be resumed", hint="start it again")

    def listen(self, order: AttemptOrder) -> CommandListener:
        """Return the listener for the output of the host, which prints the function's result."""
        return CommandListener(order.status_words)
