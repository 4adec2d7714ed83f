"""The attempt of a run whose agent is a Python function of this process.

Owns its one attempt: what it is called with, how long it is waited for, and what is kept of what it said or raised.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any

from remit.ledger.events import read_clock_ms
from remit.ledger.texts import store_texts
from remit.runners import RunOutput
from remit.runners.command import join_prompt
from remit.runs.admission.tickets import CARRIED
from remit.runs.supervisor.attempt import AttemptResult
from remit.runs.supervisor.function_call import FunctionCall
from remit.runs.supervisor.launch import make_order, mint
from remit.runs.supervisor.watch import LOOK_EVERY_S
from remit.storage.secrets import redact

if TYPE_CHECKING:
    from remit.runs.supervisor.run_loop import RunLoop

_MOST_FRAMES, _MOST_TRACE_CHARS = -100, 100_000
"""Of an exception's trace: the innermost frames."""


async def call(loop: RunLoop, function: Any) -> AttemptResult:  # noqa: ANN401 - whatever can be called
    """Call a function with the order; what came of it."""
    order = make_order(loop, 1, {})
    ticket = await loop.supervisor.group_commit.write(lambda _: mint(loop), durable=False)
    CARRIED.set(ticket)  # for this task and what it awaits
    loop.calling = FunctionCall(function, join_prompt(order))
    try:
        return await _attend(loop, loop.calling)
    finally:
        loop.calling.cancel()


async def _attend(loop: RunLoop, calling: FunctionCall) -> AttemptResult:
    """Wait for a function, as long as it may take and nobody has cancelled it."""
    answer = calling.answer
    while not answer.done():
        seconds = ((loop.row.deadline_ms or 0) - read_clock_ms()) / 1000
        if seconds <= 0:
            return AttemptResult(1, "timeout", RunOutput(notes=calling.notes))
        await asyncio.wait({answer}, timeout=min(seconds, LOOK_EVERY_S))
        if not answer.done() and loop.supervisor.is_cancelled(loop.row.session_id):
            return AttemptResult(1, "cancelled", RunOutput(notes=calling.notes), reason=loop.cancelling)
    if answer.cancelled():
        return AttemptResult(1, "cancelled", RunOutput(notes=calling.notes), reason=loop.cancelling)
    error = answer.exception()
    if error is not None and not isinstance(error, Exception):
        raise error
    if error is not None:
        trace = _render_trace(error)
        texts = {"trace": trace.encode("utf-8", "surrogatepass")}
        keep = partial(store_texts, loop.home, loop.row.session_id, texts, durable=False)
        await loop.supervisor.group_commit.write(lambda db: keep(db=db), durable=False)
        heard = RunOutput(cause="crash", trouble=f"{type(error).__name__}: {str(error)[:300]}")
        return AttemptResult(1, "exited", heard, trace=trace)
    heard = RunOutput(answer.result())
    await loop.supervisor.group_commit.write(partial(loop.keep_answer, heard, 1), durable=False)
    return AttemptResult(1, "exited", heard, 0, judgement=await loop.judge(heard))


def _render_trace(error: Exception) -> str:
    """Where an exception came from (R2.12): a function has no standard error that would tell."""
    from traceback import format_exception  # noqa: PLC0415 - only where one was raised

    return redact("".join(format_exception(error, limit=_MOST_FRAMES))[:_MOST_TRACE_CHARS])
