"""Progress reports: what a worker writes to the cluster's database about a session while its agent works.

These are the last text, the usage, the output, and checkpoints of the work so far. Unchanged
values aren't written again, and a write that fails doesn't delay the agent: it is repeated later.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any, Literal

from remit.attempts.folders import find_folder
from remit.attempts.output import read_out
from remit.cluster.database import leases, output, session_rows
from remit.cluster.orders import Packed, seal_checkpoint
from remit.cluster.transfer import send_work
from remit.cluster.worker.import_session import learn
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

_TELL_S = 0.3
_LEARN_S = 1.0
_SAID = 200
_PIECE_BYTES = 64 * 1024
_STREAMS: tuple[Literal["out", "err"], ...] = ("out", "err")


class ProgressReporter:
    """What is told of one session."""

    def __init__(
        self, site: WorkerContext, supervisor: Supervisor, order: RunOrder, fence: int, *, on_lost: Callable[[], None]
    ) -> None:
        self.site = site
        self.supervisor = supervisor
        self.order = order
        self.fence = fence
        self.signed = fence
        """The lease that its agent's ticket was signed under."""
        self.packed = Packed()
        """What was saved last."""
        self._on_lost = on_lost
        self._told: Any = None
        self._told_bytes: dict[tuple[int, str], int] = {}
        """How much of each stream was told, by attempt."""
        self._drained = 0
        """The last attempt of which all output was told."""
        self._saved_at = time.monotonic()
        self._saved_attempt = 0
        self._learnt_at = 0.0
        self._is_limited = _is_limited(supervisor, order.session_id)

    @property
    def attempt(self) -> int:
        """The attempt that runs, or ran last."""
        return count_attempts(self.supervisor.home.ledger, self.order.session_id)

    @property
    def usage(self) -> Usage:
        """What it has used so far, as far as that is heard."""
        drive = self.supervisor.active.get(self.order.session_id)
        return Usage() if drive is None else drive.usage

    async def run(self) -> None:
        """Tell, again and again, until it is cancelled."""
        while True:
            try:
                await self.tell()
                await self._learn()
                await self._save_sometimes()
            except RemitError:  # the database is away, or the ledger is busy: it is said later
                pass
            await asyncio.sleep(_TELL_S)

    async def tell(self) -> None:
        """Say what is new."""
        await self._tell_output()
        drive = self.supervisor.active.get(self.order.session_id)
        live = {
            "said": "" if drive is None else redact(drive.said)[:_SAID],
            "attempt": self.attempt,
            "signed": self.signed,
        }
        usage = self.usage
        told = (live, usage[:3])
        if told == self._told or drive is None:
            return
        is_own = await leases.tell(
            self.site.db, self.order.session_id, self.fence, live=live, tokens=usage.tokens, cost_usd=usage.cost_usd,
            turns=usage.turns,
        )  # fmt: skip
        self._told = told
        if not is_own:
            self._on_lost()

    async def _tell_output(self) -> None:
        """Say what was printed since, of the attempt that runs and of those before it."""
        last = self.attempt
        for number in range(self._drained + 1, last + 1):
            for stream in _STREAMS:
                await self._tell_stream(number, stream)
        self._drained = max(self._drained, last - 1)

    async def _tell_stream(self, number: int, stream: Literal["out", "err"]) -> None:
        session_id, place, told = self.order.session_id, (number, stream), self._told_bytes
        if place not in told:  # a worker that has started again goes on from there
            told[place] = await output.measure_output(self.site.db, session_id, number, stream)
        folder = find_folder(self.supervisor.home, session_id, number)
        while (at := told[place]) <= output.MAX_STREAM:
            data = read_out(folder, at, _PIECE_BYTES, stream=stream)
            if not data:
                return
            await output.add_output(self.site.db, session_id, number, stream, at, data, fence=self.fence)
            told[place] = at + len(data)

    async def tell_rest(self) -> None:
        """Say what there is to say of an agent that has ended."""
        await self._tell_output()

    async def _learn(self) -> None:
        """Let the ledger here know what the others of the tree use, where there is a limit for all of them."""
        if not self._is_limited or time.monotonic() - self._learnt_at < _LEARN_S:
            return
        found = await session_rows.list_rows(self.site.db, roots=[self.order.root_id], limit=100_000)
        learn(self.supervisor.home.ledger, [row for row in found if row.session_id != self.order.session_id])
        self._learnt_at = time.monotonic()

    async def _save_sometimes(self) -> None:
        over = max(self.attempt - 1, 0)
        if time.monotonic() - self._saved_at < self.site.settings.save_every and over <= self._saved_attempt:
            return
        self._saved_at, self._saved_attempt = time.monotonic(), over
        await self.save()

    async def save(self) -> None:
        """Keep what was made so far where others find it."""
        site = self.site
        sent = await send_work(
            site.goods, self.supervisor.home.root, self.order, self.fence, megabytes=site.settings.parcel_megabytes,
            known=self.packed.commit,
        )  # fmt: skip
        if sent.packed != self.packed:
            self.packed = sent.packed
            await self.note()

    async def note(self) -> None:
        """Say what was saved. Where anything was, an agent may have begun: nobody else starts it without a thought."""
        body = seal_checkpoint(self.site.key, self.packed, self.attempt)
        if not await leases.save(self.site.db, self.order.session_id, self.fence, body):
            self._on_lost()


def _is_limited(supervisor: Supervisor, session_id: str) -> bool:
    try:
        tree = load_tree(supervisor.home, session_id=session_id)
    except RefusedError:
        return True
    return tree is not None and tree.is_limited()
