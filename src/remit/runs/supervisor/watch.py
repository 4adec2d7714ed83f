"""Watch an attempt while it runs: read output, enforce the budget, ask for a partial return in time.

Owns what is done about it meanwhile: listen, hold the budget, ask to hand back in time, end what does not end, and tell
those who follow.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from remit.attempts.folders import send_control
from remit.attempts.results import wait_result
from remit.errors import RemitError
from remit.ledger.events import read_clock_ms
from remit.runs.supervisor.attempt import ANSWERED, BUDGET, HANDBACK, TIMEOUT
from remit.runs.supervisor.confined_calls import open_calls
from remit.runs.supervisor.output_reader import PIECE_BYTES, OutputReader
from remit.storage.secrets import redact

if TYPE_CHECKING:
    from remit.runs.supervisor.run_loop import RunLoop

HANDBACK_SHARE, HANDBACK_MAX_S, HANDBACK_MIN_S = 0.1, 60.0, 3.0
"""How long before its end an agent is asked to hand back what it has; under the least there is no time for it."""
LOOK_EVERY_S = 0.25
_LATE_MS = 1000
_TELL_EVERY_S = 1.0
_WAITING_MS = 5000
"""How long a program may wait for commands in the background once its agent has answered."""
_GRACE_MS = 4000
"""So long an agent whose budget is used up is let be, while somebody whom it handed work to ends for the same."""
_SAID = 200
"""How much of what an agent says is shown."""


async def watch(loop: RunLoop, number: int) -> None:
    """Wait until an attempt is over, and look at it now and then."""
    folder = loop.find_folder(number)
    started, loop.started = loop.started, None
    waiter = asyncio.ensure_future(wait_result(folder, started=started))
    watcher = _Watcher(loop, folder)
    calls = open_calls(loop, folder)
    try:
        while not (await asyncio.wait({waiter}, timeout=LOOK_EVERY_S))[0]:
            with suppress(RemitError):  # the ledger is busy: the agent goes on, and is looked at again
                watcher.check()
        waiter.result()
    finally:
        waiter.cancel()
        if calls is not None:
            calls.close()


class _Watcher:
    """Looks at an attempt now and then while it runs."""

    def __init__(self, loop: RunLoop, folder: str) -> None:
        self.loop = loop
        self.folder = folder
        self.hearing = OutputReader(folder, loop.listen(1))
        self.heard_ms = self.told_ms = read_clock_ms()
        self.told = ""
        self.stopped = False
        self.idle = False
        self.exhausted_ms: int | None = None

    def check(self) -> None:
        """Take in what was printed since, and act on it."""
        now_ms = read_clock_ms()
        begin = self.hearing.offset
        if self.hearing.read_more():
            self.loop.live = self.hearing.listener.tell()
            self.heard_ms, self.idle = now_ms, False
        if self.hearing.offset - begin < PIECE_BYTES:  # nothing is left to read
            self.loop.live_ms = now_ms
        if not self.stopped and self.loop.supervisor.is_cancelled(self.loop.row.session_id):
            self._stop("cancel")  # whoever asked was too early for the shim
        if not self.stopped:
            self._enforce_limits(now_ms)
        self._report_progress(now_ms)

    def _stop(self, word: str) -> None:
        """Have the agent ended."""
        self.stopped = send_control(self.folder, word)

    def _enforce_limits(self, now_ms: int) -> None:
        loop = self.loop
        if now_ms > (loop.row.deadline_ms or now_ms) + _LATE_MS:
            # The shim keeps the deadline by a clock that stands still while the machine sleeps.
            self._stop(f"stop {TIMEOUT}")
        elif loop.remaining_budget.is_exhausted(loop.usage, is_running=True):
            self.exhausted_ms = now_ms if self.exhausted_ms is None else self.exhausted_ms
            if loop.remaining_budget.has_open_below() and now_ms - self.exhausted_ms < _GRACE_MS:
                return  # they are held to the same, and shall write down first what became of them
            self._stop(f"stop {BUDGET}")
        elif loop.live.is_waiting and now_ms - self.heard_ms >= _WAITING_MS:
            self._stop(f"stop {ANSWERED}")
        elif loop.runner.can_resume and self._is_time_to_hand_back(now_ms):
            self._stop(f"stop {HANDBACK}")

    def _is_time_to_hand_back(self, now_ms: int) -> bool:
        loop = self.loop
        window_s = min(HANDBACK_SHARE * loop.config.timeout_s, HANDBACK_MAX_S)
        asked = any(turn.stop_reason == HANDBACK for turn in loop.attempts)
        known = bool(loop.live.harness_id or loop.harness_id)
        is_time = now_ms >= (loop.row.deadline_ms or 0) - window_s * 1000
        return window_s >= HANDBACK_MIN_S and not asked and known and is_time

    def _report_progress(self, now_ms: int) -> None:
        """Tell those who follow, not too often; and once when nothing was heard for long."""
        loop, live = self.loop, self.loop.live
        if not self.idle and now_ms - self.heard_ms > loop.config.idle_s * 1000:
            self.idle = True
            loop.supervisor.note(loop.row.session_id, "idle", {"seconds": (now_ms - self.heard_ms) // 1000})
        told = f"{live.said}{live.usage}"
        if told != self.told and now_ms - self.told_ms >= _TELL_EVERY_S * 1000:
            self.told, self.told_ms = told, now_ms
            usage = loop.usage
            said = redact(live.said)[:_SAID]  # in this order: of half a key nobody can tell that it is one
            details = {"said": said, "tokens": usage.tokens, "cost_usd": usage.cost_usd}
            with loop.home.ledger.transaction() as db:
                loop.remaining_budget.note_usage(db, usage)
                loop.supervisor.note(loop.row.session_id, "progress", details)
