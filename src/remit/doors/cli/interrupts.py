"""Interrupts: Ctrl-C while an agent is at work, and the other signals that ask for an end.

Owns what the first of them does, and what the second does. A signal that was ignored when the process was started stays
so: that is how a shell keeps Ctrl-C from what runs in its background, and `nohup` the end of its terminal.
"""

from __future__ import annotations

import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import Callable, Iterator

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def held_back() -> Iterator[None]:
    """Let signals wait until somebody meets them: between being written down and being waited for, work has nobody."""
    signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)


class Interrupts:
    """Meets signals as long as it is entered: `first` is called once, `again` from the second on."""

    def __init__(self, loop: AbstractEventLoop, *, first: Callable[[], None], again: Callable[[], None]) -> None:
        self.came = 0
        self._loop = loop
        self._first = first
        self._again = again
        self._met: list[signal.Signals] = []

    def __enter__(self) -> Self:
        for number in _SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                self._loop.add_signal_handler(number, self._meet)
                self._met.append(number)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
        return self

    def __exit__(self, *_: object) -> None:
        for number in self._met:
            self._loop.remove_signal_handler(number)

    def _meet(self) -> None:
        self.came += 1
        (self._first if self.came == 1 else self._again)()
