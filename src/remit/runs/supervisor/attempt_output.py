"""The output of attempts: read while they run and afterwards, with the files that their tools wrote.

An answer counts only if all of the stored output is still there.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from remit.attempts.output import OUT_CAP_BYTES, feed_output, read_out
from remit.runners import RunOutput
from remit.runs.judging.attempt import ANSWERED, BUDGET, HANDBACK, TIMEOUT, Attempt

if TYPE_CHECKING:
    from collections.abc import Iterable

    from remit.attempts.results import ShimResult
    from remit.errors import RemitError
    from remit.runners import Listener

PIECE_BYTES = 1024 * 1024
_STUCK = "the agent left a process that can't be ended yet (frozen, or waiting for a device); it ends when it can"
_INCOMPLETE = "a part of its stored output is missing, so its answer is unknown"


class OutputReader:
    """The output of one attempt, read piece by piece while the agent runs."""

    def __init__(self, folder: str, listener: Listener) -> None:
        self.folder = folder
        self.listener = listener
        self.offset = 0

    def read_more(self) -> bool:
        """Read the next piece of output, and return whether there was any. A shim's limit ends the reading, too."""
        limit = min(PIECE_BYTES, OUT_CAP_BYTES - self.offset)
        data = read_out(self.folder, self.offset, limit)
        if data:
            self.offset += len(data)
            self.listener.feed(data)
        return bool(data)


def read_output(folder: str, listener: Listener, result: ShimResult | None) -> RunOutput:
    """Return what an ended attempt printed; without an answer if a part of the output is missing."""
    is_complete = True
    if result is not None:
        is_complete = feed_output(folder, result, listener.feed)
    else:
        reader = OutputReader(folder, listener)
        while reader.read_more():
            pass
    errors = read_out(folder, 0, PIECE_BYTES, stream="err")
    output = listener.finish(errors=errors, exit_code=None if result is None else result.exit_code)
    if result is not None and result.out_cut and not result.out_tail_kept:
        lost = f"the disk was full: {result.out_bytes - result.out_kept:,} bytes of its output could not be stored"
        output = output._replace(notes=(*output.notes, lost), trouble=lost if output.cause else output.trouble)
    return output if is_complete else RunOutput(usage=output.usage, cause="no_answer", trouble=_INCOMPLETE)


def make_attempt(number: int, result: ShimResult, output: RunOutput) -> Attempt:
    """An attempt as its shim recorded its end, before its return is judged."""
    if result.stuck:
        output = output._replace(notes=(*output.notes, _STUCK))
    code = result.exit_code
    if result.stop_reason == "crashed":
        code = None if result.signal is None else 128 + result.signal
        output = _add_signal(output, result.signal)
    return Attempt(_name_stop_reason(result), output, number=number, exit_code=code, reason=result.reason)


def make_refused(number: int, error: RemitError) -> Attempt:
    """An attempt that could not start."""
    output = RunOutput(cause="refused", trouble=error.message)
    return Attempt("rejected", output, number=number, reason=str(error), code=error.code)


def _name_stop_reason(result: ShimResult) -> str:
    if result.stop_reason == "stopped" and result.reason == ANSWERED:
        return "exited"
    if result.stop_reason == "stopped":
        return result.reason if result.reason in (HANDBACK, BUDGET, TIMEOUT) else "cancelled"
    return result.stop_reason


def _add_signal(output: RunOutput, number: int | None) -> RunOutput:
    """The output of a program that a signal ended, with the signal's name."""
    from signal import Signals  # noqa: PLC0415 - only for a program that a signal ended

    ended = "the program was ended with the process that kept it"  # only that process knew the signal
    if number is not None:
        name = Signals(number).name if number in {*Signals} else f"signal {number}"
        ended = f"the program was ended by {name}"
    trouble = f"{ended}; {output.trouble}" if output.trouble else ended
    return output._replace(cause=output.cause or "crash", trouble=trouble)


# --- written files ----------------------------------------------------------------------------------------------------


def list_written(output: RunOutput, root: str) -> set[str]:
    """The files below the root that the agent's own tools wrote."""
    return name_below_root(_list_written_paths(output), root)


def list_written_outside(output: RunOutput, root: str, workspace_root: str) -> set[str]:
    """The files in hyper's workspace root outside the project that the agent's own tools wrote, by absolute path."""
    if not workspace_root:
        return set()
    paths = {os.path.realpath(os.path.join(root, path)) for path in _list_written_paths(output) if "\0" not in path}
    real, outer = os.path.realpath(root), os.path.realpath(workspace_root)
    return {path for path in paths if path.startswith(f"{outer}/") and not path.startswith(f"{real}/")}


def name_below_root(paths: Iterable[str], root: str) -> set[str]:
    """Paths that a harness reported, relative to the root; without those outside of it."""
    real = os.path.realpath(root)
    below = {os.path.relpath(os.path.realpath(os.path.join(real, path)), real) for path in paths if "\0" not in path}
    return {path for path in below if not path.startswith("..")}


def _list_written_paths(output: RunOutput) -> list[str]:
    return [use.path for use in output.tools or () if use.operation == "write" and use.path and not use.failed]
