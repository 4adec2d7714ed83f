"""Group commit: all writes that are queued in one turn of the event loop share one transaction.

Owns who writes with whom. To see one row on disk takes as long as to see a hundred, and whoever writes alone waits no
longer than without this. Each part is done or not done by itself: one that is refused costs the others nothing.
"""

from __future__ import annotations

import asyncio
import time
from contextvars import copy_context
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextvars import Context

    from remit.ledger.home import Home
    from remit.ledger.store import Connection, Ledger

    Work = Callable[[Connection], Any]

T = TypeVar("T")

_MOST_SECONDS = 0.05
"""Other processes wait meanwhile: what takes longer is written in several transactions."""


class _QueuedWrite(NamedTuple):
    work: Work
    context: Context
    """That of the task: who asks is read from it."""
    durable: bool
    done: asyncio.Future[Any]


class GroupCommit:
    """The writes of a process."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._parts: list[_QueuedWrite] = []

    async def write(self, work: Callable[[Connection], T], *, durable: bool = True) -> T:
        """Do something in a transaction, all or nothing, and wait until it is on disk; what the work gave.

        What is not `durable` is on disk with the next thing that is, and outlives this process in any case.
        """
        loop = asyncio.get_running_loop()
        if not self._parts:
            loop.call_soon(self._flush)
        done: asyncio.Future[T] = loop.create_future()
        self._parts.append(_QueuedWrite(work, copy_context(), durable, done))
        return await done

    def _flush(self) -> None:
        """Write all that has come, and then tell them."""
        waiting = [part for part in self._parts if not part.done.done()]  # who was cancelled wants it no more
        self._parts.clear()
        while waiting:
            written: list[tuple[_QueuedWrite, Any]] = []
            try:
                durable = any(part.durable for part in waiting)
                with self._home.ledger.transaction(durable=durable) as db:
                    last = time.monotonic() + _MOST_SECONDS
                    while waiting and (not written or time.monotonic() < last):
                        part = waiting.pop(0)
                        written.append((part, None))
                        written[-1] = part, _do(self._home.ledger, db, part)
            except BaseException as error:
                for part, _ in written:
                    part.done.set_exception(error)
                for part in waiting:
                    part.done.set_exception(error)
                if not isinstance(error, Exception):
                    raise
                return
            for part, told in written:
                if isinstance(told, Exception):
                    part.done.set_exception(told)
                else:
                    part.done.set_result(told)


def _do(ledger: Ledger, db: Connection, part: _QueuedWrite) -> Any:  # noqa: ANN401 - whatever the work gives
    """Do one part; what it gave, or what it raised, and then nothing of it is written."""
    db.execute("SAVEPOINT part")
    try:
        with ledger.reading():  # what SQLite has against it is reported in a sentence
            told = part.context.run(part.work, db)
    except Exception as error:  # noqa: BLE001 - raised again where it is waited for
        db.execute("ROLLBACK TO part")
        told = error
    db.execute("RELEASE part")
    return told
