"""Retry: repeat a database operation until the database answers, and wait for events and tasks with a time limit.

`asyncio.wait_for` of Python 3.11 is not used: if it is cancelled at the moment in which the awaited task finishes, the
cancellation is lost, and the code that cancelled it waits forever.
"""

from __future__ import annotations

import asyncio
from math import inf
from typing import TYPE_CHECKING, Any, TypeVar

from remit.errors import ClusterError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

T = TypeVar("T")

_PAUSES_S = (0.1, 2.0)


async def retry_forever(operation: Callable[[], Awaitable[T]]) -> T:
    """Repeat an operation until the database answers. A permanent error is raised."""
    return await retry_for(operation, inf)


async def retry_for(operation: Callable[[], Awaitable[T]], seconds: float) -> T:
    """Repeat an operation until the database answers, or raise its error after this many seconds."""
    loop = asyncio.get_running_loop()
    last, pause = loop.time() + seconds, _PAUSES_S[0]
    while True:
        try:
            return await operation()
        except ClusterError as error:
            if not error.recoverable or loop.time() >= last:
                raise
        await asyncio.sleep(pause)
        pause = min(pause * 2, _PAUSES_S[1])


async def wait_for_event(event: asyncio.Event, seconds: float) -> None:
    """Wait for an event, at most this many seconds."""
    await wait_or_cancel(asyncio.ensure_future(event.wait()), seconds)


async def wait_or_cancel(task: asyncio.Future[Any], seconds: float) -> bool:
    """Wait for a task, at most this many seconds, and cancel it then; return whether it is done."""
    try:
        await asyncio.wait({task}, timeout=seconds)
        return task.done()
    finally:
        if not task.done():
            task.cancel()
