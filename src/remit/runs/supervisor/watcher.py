"""Watch an attempt while it runs: read output, enforce limits, ask for a partial return in time, report progress."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from remit.attempts.folders import send_control
from remit.attempts.results import wait_result
from remit.errors import RemitError
from remit.ledger.events import read_clock_ms
from remit.runners import RunOutput
from remit.runs.judging.attempt import ANSWERED, BUDGET, HANDBACK, TIMEOUT
from remit.runs.supervisor.allowed_calls import open_calls
from remit.runs.supervisor.attempt_output import PIECE_BYTES, OutputReader
from remit.runs.supervisor.usage import sum_usage
from remit.storage.secrets import redact

if TYPE_CHECKING:
    from collections.abc import Sequence

    from remit.attempts.start import Started
    from remit.ledger.runs import Run
    from remit.runners import Listener, Runner, Usage
    from remit.runs.admission.run_config import RunConfig
    from remit.runs.supervisor.supervisor import Supervisor
    from remit.runs.supervisor.usage import RemainingBudget

HANDBACK_SHARE, HANDBACK_MAX_S, HANDBACK_MIN_S = 0.1, 60.0, 3.0
"""How long before its deadline an agent is asked for what it has; below the minimum there is no time for it."""
CHECK_EVERY_S = 0.25
_LATE_MS = 1000
_REPORT_EVERY_S = 1.0
_WAITING_MS = 5000
"""How long a program may wait for commands in the background once its agent has answered."""
_GRACE_MS = 4000
"""How long an agent without budget may run on while a nested run ends because of the same limit."""
_MAX_SHOWN_CHARS = 200


class AttemptWatcher:
    """Watches one attempt until it ends; `output` is what the agent has printed so far."""

    def __init__(
        self,
        supervisor: Supervisor,
        run: Run,
        config: RunConfig,
        *,
        runner: Runner,
        listener: Listener,
        folder: str,
        budget: RemainingBudget,
        earlier: Sequence[RunOutput],
        hands_back: bool,
    ) -> None:
        """`earlier`: the output of earlier attempts. `hands_back`: the agent may be asked for a partial return."""
        self.output = RunOutput()
        self.read_ms = 0
        """When all output was last read."""
        self._supervisor = supervisor
        self._run = run
        self._config = config
        self._runner = runner
        self._reader = OutputReader(folder, listener)
        self._folder = folder
        self._budget = budget
        self._earlier = earlier
        self._hands_back = hands_back
        self._printed_ms = self._reported_ms = read_clock_ms()
        self._reported = ""
        self._is_stopped = False
        self._is_idle = False
        self._exhausted_ms: int | None = None

    async def watch(self, started: Started | None) -> None:
        """Wait until the attempt has ended, and check it regularly. `started`: its shim, if this process started it."""
        waiter = asyncio.ensure_future(wait_result(self._folder, started=started))
        calls = open_calls(self._supervisor, self._run.session_id, self._config, self._folder)
        try:
            while not (await asyncio.wait({waiter}, timeout=CHECK_EVERY_S))[0]:
                with suppress(RemitError):  # the ledger is busy: the agent continues, and the next check comes soon
                    self._check()
            waiter.result()
        finally:
            waiter.cancel()
            if calls is not None:
                calls.close()

    def _check(self) -> None:
        """Read new output, and act on it."""
        now_ms = read_clock_ms()
        begin = self._reader.offset
        if self._reader.read_more():
            self.output = self._reader.listener.report()
            self._printed_ms, self._is_idle = now_ms, False
        if self._reader.offset - begin < PIECE_BYTES:  # nothing is left to read
            self.read_ms = now_ms
        if not self._is_stopped and self._supervisor.is_cancelled(self._run.session_id):
            self._stop("cancel")  # the request came before the shim could take it
        usage = sum_usage((*self._earlier, self.output), counts_thread=self._runner.counts_thread)
        if not self._is_stopped:
            self._enforce_limits(now_ms, usage)
        self._report_progress(now_ms, usage)

    def _stop(self, control: str) -> None:
        """Ask the shim to end the agent."""
        self._is_stopped = send_control(self._folder, control)

    def _enforce_limits(self, now_ms: int, usage: Usage) -> None:
        if now_ms > (self._run.deadline_ms or now_ms) + _LATE_MS:
            # The shim enforces the deadline by a clock that stands still while the machine sleeps.
            self._stop(f"stop {TIMEOUT}")
        elif self._budget.is_exhausted(usage, is_running=True):
            self._exhausted_ms = now_ms if self._exhausted_ms is None else self._exhausted_ms
            if self._budget.has_open_nested() and now_ms - self._exhausted_ms < _GRACE_MS:
                return  # the same limit ends the nested runs, and their results are recorded first
            self._stop(f"stop {BUDGET}")
        elif self.output.is_waiting and now_ms - self._printed_ms >= _WAITING_MS:
            self._stop(f"stop {ANSWERED}")
        elif self._is_time_to_hand_back(now_ms):
            self._stop(f"stop {HANDBACK}")

    def _is_time_to_hand_back(self, now_ms: int) -> bool:
        window_s = min(HANDBACK_SHARE * self._config.timeout_s, HANDBACK_MAX_S)
        is_known = any(output.harness_id for output in (self.output, *self._earlier)) or bool(self._config.harness_id)
        is_time = now_ms >= (self._run.deadline_ms or 0) - window_s * 1000
        return self._hands_back and self._runner.can_resume and window_s >= HANDBACK_MIN_S and is_known and is_time

    def _report_progress(self, now_ms: int, usage: Usage) -> None:
        """Add events: progress at most once per second, and one if the agent has been idle for long."""
        session_id = self._run.session_id
        if not self._is_idle and now_ms - self._printed_ms > self._config.idle_s * 1000:
            self._is_idle = True
            self._supervisor.report(session_id, "idle", {"seconds": (now_ms - self._printed_ms) // 1000})
        state = f"{self.output.activity}{self.output.usage}"
        if state != self._reported and now_ms - self._reported_ms >= _REPORT_EVERY_S * 1000:
            self._reported, self._reported_ms = state, now_ms
            shown = redact(self.output.activity)[:_MAX_SHOWN_CHARS]  # redacted first: half a key isn't recognized
            details = {"activity": shown, "tokens": usage.tokens, "cost_usd": usage.cost_usd}
            with self._supervisor.home.ledger.transaction() as db:
                self._budget.write_usage(db, usage)
                self._supervisor.report(session_id, "progress", details)
