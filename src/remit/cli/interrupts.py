"""Interrupts: Ctrl-C while an agent is at work, and the other signals that ask for an end.

Owns what the first of them does, and what the second does. A signal that was ignored when the process was started stays
so: that is how a shell keeps Ctrl-C from what runs in its background, and `nohup` the end of its terminal.
"""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import Callable

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupts:
    """Meets signals as long as it is entered. One that comes before it is said what to do is met then.

    Enter it before work is written down: between that and its being waited for, the work would have nobody who ends it.
    """

    def __init__(self, loop: AbstractEventLoop) -> None:
        self._loop = loop
        self._came = 0
        self._first: Callable[[], None] | None = None
        self._again: Callable[[], None] | None = None
        self._met: list[signal.Signals] = []

    def __enter__(self) -> Self:
        for number in _SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                self._loop.add_signal_handler(number, self._meet)
                self._met.append(number)
        return self

    def __exit__(self, *_: object) -> None:
        for number in self._met:
            self._loop.remove_signal_handler(number)

    def answer(self, *, first: Callable[[], None], again: Callable[[], None]) -> None:
        """What a signal does from now on: `first` once, `again` from the second on."""
        self._first, self._again = first, again
        if self._came:
            first()

    def _meet(self) -> None:
        self._came += 1
        call = self._first if self._came == 1 else self._again
        if call is not None:
            call()
