"""Writes the progress of a session to the cluster's database: the last text, usage, output and checkpoints.

Unchanged values aren't written again. A failed write doesn't delay the agent and is repeated later.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any, Literal

from remit.attempts.folders import find_folder
from remit.attempts.output import read_out
from remit.cluster.database import leases, output, session_rows
from remit.cluster.orders import Packed, seal_checkpoint
from remit.cluster.transfer import send_changes
from remit.cluster.worker.session_import import mirror_rows
from remit.errors import RefusedError, RemitError
from remit.ledger.runs import count_attempts
from remit.runners import Usage
from remit.runs.admission.run_tree import load_tree
from remit.storage.secrets import redact

if TYPE_CHECKING:
    from collections.abc import Callable

    from remit.cluster.orders import RunOrder
    from remit.cluster.worker.worker_context import WorkerContext
    from remit.runs.supervisor.supervisor import Supervisor

_REPORT_S = 0.3
_MIRROR_S = 1.0
_MAX_ACTIVITY = 200
_PIECE_BYTES = 64 * 1024
_STREAMS: tuple[Literal["out", "err"], ...] = ("out", "err")


class ProgressReporter:
    """Reports the progress of one session."""

    def __init__(
        self,
        context: WorkerContext,
        supervisor: Supervisor,
        order: RunOrder,
        fence: int,
        *,
        on_lost: Callable[[], None],
    ) -> None:
        self.context = context
        self.supervisor = supervisor
        self.order = order
        self.fence = fence
        self.signed = fence
        """The fencing token in the agent's ticket."""
        self.packed = Packed()
        """The changes of the last checkpoint."""
        self._on_lost = on_lost
        self._reported: Any = None
        self._reported_bytes: dict[tuple[int, str], int] = {}
        """The reported bytes of each attempt's streams."""
        self._drained = 0
        """The last attempt whose output was reported completely."""
        self._saved_at = time.monotonic()
        self._saved_attempt = 0
        self._mirrored_at = 0.0
        self._is_limited = _is_limited(supervisor, order.session_id)

    @property
    def attempt(self) -> int:
        """The current or last attempt."""
        return count_attempts(self.supervisor.home.ledger, self.order.session_id)

    @property
    def usage(self) -> Usage:
        """The usage so far, as far as the harness has reported it."""
        active_run = self.supervisor.active.get(self.order.session_id)
        return Usage() if active_run is None else active_run.usage

    async def run(self) -> None:
        """Report at intervals until this task is cancelled."""
        while True:
            try:
                await self.report_progress()
                await self._mirror_tree()
                await self._save_if_due()
            except RemitError:  # the database is unreachable or the ledger busy: repeated later
                pass
            await asyncio.sleep(_REPORT_S)

    async def report_progress(self) -> None:
        """Report new output, text, usage and attempts."""
        await self.report_output()
        active_run = self.supervisor.active.get(self.order.session_id)
        live = {
            "activity": "" if active_run is None else redact(active_run.activity)[:_MAX_ACTIVITY],
            "attempt": self.attempt,
            "signed": self.signed,
        }
        usage = self.usage
        reported = (live, usage[:3])
        if reported == self._reported or active_run is None:
            return
        is_own = await leases.report_progress(
            self.context.db, self.order.session_id, self.fence, live=live, tokens=usage.tokens, cost_usd=usage.cost_usd,
            turns=usage.turns,
        )  # fmt: skip
        self._reported = reported
        if not is_own:
            self._on_lost()

    async def report_output(self) -> None:
        """Report new output of the current attempt and of earlier ones that aren't complete."""
        last = self.attempt
        for number in range(self._drained + 1, last + 1):
            for stream in _STREAMS:
                await self._report_stream(number, stream)
        self._drained = max(self._drained, last - 1)

    async def _report_stream(self, number: int, stream: Literal["out", "err"]) -> None:
        session_id, place, reported = self.order.session_id, (number, stream), self._reported_bytes
        if place not in reported:  # a restarted worker continues there
            reported[place] = await output.measure_output(self.context.db, session_id, number, stream)
        folder = find_folder(self.supervisor.home, session_id, number)
        while (offset := reported[place]) <= output.MAX_STREAM:
            data = read_out(folder, offset, _PIECE_BYTES, stream=stream)
            if not data:
                return
            await output.add_output(self.context.db, session_id, number, stream, offset, data, fence=self.fence)
            reported[place] = offset + len(data)

    async def _mirror_tree(self) -> None:
        """Copy the usage of the tree's other runs into the ledger if they share a limit."""
        if not self._is_limited or time.monotonic() - self._mirrored_at < _MIRROR_S:
            return
        found = await session_rows.list_rows(self.context.db, roots=[self.order.root_id], limit=100_000)
        mirror_rows(self.supervisor.home.ledger, [row for row in found if row.session_id != self.order.session_id])
        self._mirrored_at = time.monotonic()

    async def _save_if_due(self) -> None:
        ended = max(self.attempt - 1, 0)
        if time.monotonic() - self._saved_at < self.context.settings.save_every and ended <= self._saved_attempt:
            return
        self._saved_at, self._saved_attempt = time.monotonic(), ended
        await self.save_checkpoint()

    async def save_checkpoint(self) -> None:
        """Send the changes so far, for a worker that may have to continue."""
        context = self.context
        sent = await send_changes(
            context.bulk_db, self.supervisor.home.root, self.order, self.fence,
            megabytes=context.settings.parcel_megabytes, sent_commit=self.packed.commit,
        )  # fmt: skip
        if sent.packed != self.packed:
            self.packed = sent.packed
            await self.record_checkpoint()

    async def record_checkpoint(self) -> None:
        """Store the checkpoint. It also shows that an agent may have started, so no worker blindly restarts the run."""
        body = seal_checkpoint(self.context.key, self.packed, self.attempt)
        if not await leases.save_checkpoint(self.context.db, self.order.session_id, self.fence, body):
            self._on_lost()


def _is_limited(supervisor: Supervisor, session_id: str) -> bool:
    try:
        tree = load_tree(supervisor.home, session_id=session_id)
    except RefusedError:
        return True
    return tree is not None and tree.is_limited()
