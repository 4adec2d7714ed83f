"""Ctrl-C and the other termination signals while an agent runs: the first cancels, the second kills.

A signal that was ignored when the process started stays ignored: a shell does this for Ctrl-C in background jobs, and
`nohup` does it for SIGHUP.
"""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import Callable

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupts:
    """Handles signals inside its `with` block. A signal that arrives before `set_handlers` is handled by that call.

    Enter the block before the run is written to the ledger; otherwise a signal before the wait could not cancel it.
    """

    def __init__(self, loop: AbstractEventLoop) -> None:
        self._loop = loop
        self._signals = 0
        self._first: Callable[[], None] | None = None
        self._again: Callable[[], None] | None = None
        self._handled: list[signal.Signals] = []

    def __enter__(self) -> Self:
        for number in _SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                self._loop.add_signal_handler(number, self._handle)
                self._handled.append(number)
        return self

    def __exit__(self, *_: object) -> None:
        for number in self._handled:
            self._loop.remove_signal_handler(number)

    def set_handlers(self, *, first: Callable[[], None], again: Callable[[], None]) -> None:
        """Call `first` on the first signal, and `again` on each later one."""
        self._first, self._again = first, again
        if self._signals:
            first()

    def _handle(self) -> None:
        self._signals += 1
        call = self._first if self._signals == 1 else self._again
        if call is not None:
            call()
