"""The runner `python`: a function that takes the prompt and gives the final message.

Owns two ways to it. An entry point, `package.module:function`, runs in a process of its own, which a deadline ends like
any other; a function that a caller hands over runs in the caller's own process, which is quick and ends nothing.
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

    from remit.runners.protocol import AttemptOrder, Counted, Telling

HOST = "remit.runners.python_host"
_ENTRY = lazy(r"[A-Za-z_][\w.]{0,200}:[A-Za-z_][\w.]{0,200}\Z")


class PythonRunner:
    """A function in Python."""

    name = "python"
    can_resume = False
    tells_tools = False
    counts_thread = False
    tells_usage: Mapping[Counted, Telling] = {}
    holds: tuple[Counted, ...] = ()

    def start(self, order: AttemptOrder) -> Launch:
        """Call the entry point in a process of its own."""
        entry = order.settings.get("entry")
        hint = 'write it as entry = "package.module:function" under [runners.NAME]'
        if not entry:
            raise RunnerError("the runner 'python' has no entry point", hint=hint)
        if not isinstance(entry, str) or not _ENTRY.match(entry):
            raise RunnerError(f"{entry!r} is no entry point for the runner 'python'", hint=hint)
        return Launch((sys.executable, "-m", HOST, entry), join_prompt(order).encode("utf-8", "surrogatepass"))

    def resume(self, order: AttemptOrder, harness_id: str, message: str) -> Launch:
        """Return a function that has returned is not asked again."""
        del order, harness_id, message
        raise RunnerError("a function cannot be resumed", hint="start it again")

    def listen(self, order: AttemptOrder) -> CommandListener:
        """Return what the function gives back is printed by its host."""
        return CommandListener(order.status_words)
