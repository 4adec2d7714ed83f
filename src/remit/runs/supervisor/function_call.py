"""The call of a Python function that is a run's agent, in a thread of its own.

A thread can't be ended, so a hanging function would block a pool; its thread ends with the process.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from contextvars import copy_context
from threading import Thread
from typing import TYPE_CHECKING, Any

from remit.storage.secrets import redact

if TYPE_CHECKING:
    from collections.abc import Callable

    Function = Callable[[str], Any]

LEFT = "its function could not be ended: it continues in a thread of this process, and its answer is ignored"
_MOST_FRAMES, _MOST_TRACE_CHARS = -100, 100_000
"""Of an exception's trace: the innermost frames."""


class FunctionCall:
    """A function that was called; `answer` is its result."""

    def __init__(self, function: Function, prompt: str) -> None:
        self._thread: Thread | None = None
        self.answer: asyncio.Future[str] = asyncio.ensure_future(self._call(function, prompt))

    def cancel(self) -> None:
        """Stop waiting for the result. An asynchronous function is cancelled."""
        self.answer.cancel()

    @property
    def notes(self) -> tuple[str, ...]:
        """A note if the thread still runs."""
        return (LEFT,) if self._thread is not None and self._thread.is_alive() else ()

    async def _call(self, function: Function, prompt: str) -> str:
        from remit.runners.python_host import render_answer  # noqa: PLC0415 - only for functions

        is_async = asyncio.iscoroutinefunction(function)
        answer = function(prompt) if is_async else await self._call_in_thread(function, prompt)
        return render_answer(await answer if hasattr(answer, "__await__") else answer)

    def _call_in_thread(self, function: Function, prompt: str) -> asyncio.Future[Any]:
        loop = asyncio.get_running_loop()
        done: asyncio.Future[Any] = loop.create_future()
        context = copy_context()  # identifies the caller of nested runs

        def work() -> None:
            outcome: tuple[Any, BaseException | None]
            try:
                outcome = context.run(function, prompt), None
            except BaseException as error:  # noqa: BLE001 - raised again in the task that waits
                outcome = None, error
            with suppress(RuntimeError):  # the event loop is closed, so no task waits
                loop.call_soon_threadsafe(_resolve, done, *outcome)

        self._thread = Thread(target=work, name="remit-function", daemon=True)
        self._thread.start()
        return done


def _resolve(done: asyncio.Future[Any], answer: Any, error: BaseException | None) -> None:  # noqa: ANN401 - any result
    if done.done():
        return
    if error is None:
        done.set_result(answer)
    elif isinstance(error, Exception) and not isinstance(error, StopIteration):
        done.set_exception(error)
    else:  # an exception that would end the program ends only its thread
        kept = RuntimeError(f"{type(error).__name__}: {error}")
        kept.__cause__ = error
        done.set_exception(kept)


def render_trace(error: Exception) -> str:
    """The stack trace of a function's exception (R2.12): a function has no standard error."""
    from traceback import format_exception  # noqa: PLC0415 - only for a function that raised

    return redact("".join(format_exception(error, limit=_MOST_FRAMES))[:_MOST_TRACE_CHARS])
