"""Call a Python function that works as an agent.

Owns the thread that it runs in: one of its own, which ends with the process at the latest. Nobody can end a thread, and
in a pool those that hang would leave no room for anything else.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from contextvars import copy_context
from threading import Thread
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    Function = Callable[[str], Any]

LEFT = "its function could not be ended: it goes on in a thread of this process, and nobody listens to it"


class FunctionCall:
    """A function that was called; `answer` is what it says."""

    def __init__(self, function: Function, prompt: str) -> None:
        self._thread: Thread | None = None
        self.answer: asyncio.Future[str] = asyncio.ensure_future(self._call(function, prompt))

    def cancel(self) -> None:
        """Listen to it no longer. One that is asynchronous hears of it, and ends."""
        self.answer.cancel()

    @property
    def notes(self) -> tuple[str, ...]:
        """What there is to tell of one that is no longer listened to."""
        return (LEFT,) if self._thread is not None and self._thread.is_alive() else ()

    async def _call(self, function: Function, prompt: str) -> str:
        from remit.runners.python_host import render_answer  # noqa: PLC0415 - only for functions

        is_async = asyncio.iscoroutinefunction(function)
        answer = function(prompt) if is_async else await self._call_in_thread(function, prompt)
        return render_answer(await answer if hasattr(answer, "__await__") else answer)

    def _call_in_thread(self, function: Function, prompt: str) -> asyncio.Future[Any]:
        loop = asyncio.get_running_loop()
        done: asyncio.Future[Any] = loop.create_future()
        context = copy_context()  # what it hands on itself is known to be its own by this

        def work() -> None:
            told: tuple[Any, BaseException | None]
            try:
                told = context.run(function, prompt), None
            except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
                told = None, error
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(_resolve, done, *told)

        self._thread = Thread(target=work, name="remit-function", daemon=True)
        self._thread.start()
        return done


def _resolve(done: asyncio.Future[Any], answer: Any, error: BaseException | None) -> None:  # noqa: ANN401 - whatever it says
    if done.done():
        return
    if error is None:
        done.set_result(answer)
    elif isinstance(error, Exception) and not isinstance(error, StopIteration):
        done.set_exception(error)
    else:  # what would end a program ends only the thread that it is raised in
        kept = RuntimeError(f"{type(error).__name__}: {error}")
        kept.__cause__ = error
        done.set_exception(kept)
