"""Group commit: all writes that are queued in one iteration of the event loop share one transaction.

Syncing a hundred rows takes as long as syncing one, and a single write waits no longer than without the group. Each
write has a savepoint of its own: if it fails, the others are still written.
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
"""The longest transaction, because other processes wait: longer groups are split."""


class _QueuedWrite(NamedTuple):
    work: Work
    context: Context
    """The context of the task, which identifies the caller."""
    durable: bool
    done: asyncio.Future[Any]


class GroupCommit:
    """The queued writes of a process."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._parts: list[_QueuedWrite] = []

    async def write(self, work: Callable[[Connection], T], *, durable: bool = True) -> T:
        """Execute a write in a transaction, wait until it is committed, and return its result.

        A write that isn't `durable` survives the end of this process, but reaches the disk with the next durable one.
        """
        loop = asyncio.get_running_loop()
        if not self._parts:
            loop.call_soon(self._flush)
        done: asyncio.Future[T] = loop.create_future()
        self._parts.append(_QueuedWrite(work, copy_context(), durable, done))
        return await done

    def _flush(self) -> None:
        """Commit all queued writes, then resolve their futures."""
        waiting = [part for part in self._parts if not part.done.done()]  # a cancelled task no longer wants its write
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
            for part, result in written:
                if isinstance(result, Exception):
                    part.done.set_exception(result)
                else:
                    part.done.set_result(result)


def _do(ledger: Ledger, db: Connection, part: _QueuedWrite) -> Any:  # noqa: ANN401 - any result
    """Execute one write, and return its result, or its exception after a rollback."""
    db.execute("SAVEPOINT part")
    try:
        with ledger.reading():  # reports SQLite's errors in a sentence
            result: Any = part.context.run(part.work, db)
    except Exception as error:  # noqa: BLE001 - raised again in the task that waits
        db.execute("ROLLBACK TO part")
        result = error
    db.execute("RELEASE part")
    return result
