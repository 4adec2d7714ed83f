"""The result of an attempt, read from its folder.

Owns what ended it and what was heard of it. The words of an agent count only if all that was stored is still there.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from remit.attempts.output import OUT_CAP_BYTES, feed_output, read_out
from remit.runners import RunOutput
from remit.runs.supervisor.output_reader import PIECE_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from remit.attempts.results import ShimResult
    from remit.errors import RemitError
    from remit.runners import Listener
    from remit.runs.judging.judge import AttemptVerdict

HANDBACK, BUDGET, TIMEOUT, ANSWERED = "handback", "budget", "timeout", "answered"
"""Why the supervisor stops an agent; answered: its program only waits for commands that it left in the background."""
OWN_END = ("exited", "crashed")
"""The endings that nobody asked for."""
_STUCK = "the agent left a process that can't be ended yet (frozen, or waiting for a device); it ends when it can"
_INCOMPLETE = "a part of its stored output is missing, so its answer is unknown"


class AttemptResult(NamedTuple):
    """One attempt that is over."""

    number: int
    stop_reason: str
    """exited, crashed, timeout, cancelled, handback, budget, orphaned or refused."""
    heard: RunOutput
    exit_code: int | None = None
    reason: str = ""
    judgement: AttemptVerdict | None = None
    code: str = ""
    """Of the error that kept it from beginning."""
    trace: str = ""
    """The end of its stack trace, or of what its program printed on standard error before it failed."""


def refuse(number: int, error: RemitError) -> AttemptResult:
    """An attempt that could not begin."""
    heard = RunOutput(cause="refused", trouble=error.message)
    return AttemptResult(number, "rejected", heard, reason=str(error), code=error.code)


def make_result(number: int, result: ShimResult, heard: RunOutput) -> AttemptResult:
    """An attempt whose shim reports how it ended."""
    if result.stuck:
        heard = heard._replace(notes=(*heard.notes, _STUCK))
    turn = AttemptResult(number, _name_stop_reason(result), heard, result.exit_code, result.reason)
    if result.stop_reason != "crashed":
        return turn
    code = None if result.signal is None else 128 + result.signal
    return turn._replace(heard=_describe_signal(heard, result.signal), exit_code=code)


def _name_stop_reason(result: ShimResult) -> str:
    if result.stop_reason == "stopped" and result.reason == ANSWERED:
        return "exited"
    if result.stop_reason == "stopped":
        return result.reason if result.reason in (HANDBACK, BUDGET, TIMEOUT) else "cancelled"
    return result.stop_reason


def _describe_signal(heard: RunOutput, number: int | None) -> RunOutput:
    """What was heard of a program that a signal ended: the signal, and what there is to say besides."""
    from signal import Signals  # noqa: PLC0415 - only where one did

    told = "the program was ended with the process that kept it"  # and that would have told by what
    if number is not None:
        name = Signals(number).name if number in {*Signals} else f"signal {number}"
        told = f"the program was ended by {name}"
    trouble = f"{told}; {heard.trouble}" if heard.trouble else told
    return heard._replace(cause=heard.cause or "crash", trouble=trouble)


def listen_to(folder: str, listener: Listener, result: ShimResult | None) -> RunOutput:
    """Hear an attempt from its beginning. Output of which a part is missing is no answer."""
    is_whole, offset = True, 0
    if result is not None:
        is_whole = feed_output(folder, result, listener.feed)
    else:
        while data := read_out(folder, offset, min(PIECE_BYTES, OUT_CAP_BYTES - offset)):
            offset += len(data)
            listener.feed(data)
    errors = read_out(folder, 0, PIECE_BYTES, stream="err")
    heard = listener.finish(errors=errors, exit_code=None if result is None else result.exit_code)
    if result is not None and result.out_cut and not result.out_tail_kept:
        lost = f"the disk was full: {result.out_bytes - result.out_kept:,} bytes of its output could not be stored"
        heard = heard._replace(notes=(*heard.notes, lost), trouble=lost if heard.cause else heard.trouble)
    return heard if is_whole else RunOutput(usage=heard.usage, cause="no_answer", trouble=_INCOMPLETE)


def list_written(heard: RunOutput, root: str) -> set[str]:
    """The files below the root that the agent's own tools wrote."""
    uses = [use.path for use in heard.tools or () if use.operation == "write" and use.path and not use.failed]
    return name_below_root(uses, root)


def list_written_outside(heard: RunOutput, root: str, workspace_root: str) -> set[str]:
    """The files in hyper's workspace root outside the project that the agent's own tools wrote, by their full names."""
    if not workspace_root:
        return set()
    uses = [use.path for use in heard.tools or () if use.operation == "write" and use.path and not use.failed]
    whole = {os.path.realpath(os.path.join(root, path)) for path in uses if "\0" not in path}
    real, outer = os.path.realpath(root), os.path.realpath(workspace_root)
    return {path for path in whole if path.startswith(f"{outer}/") and not path.startswith(f"{real}/")}


def name_below_root(paths: Iterable[str], root: str) -> set[str]:
    """What files that a harness names are called below the root; without those that lie elsewhere."""
    real = os.path.realpath(root)
    below = {os.path.relpath(os.path.realpath(os.path.join(real, path)), real) for path in paths if "\0" not in path}
    return {path for path in below if not path.startswith("..")}
