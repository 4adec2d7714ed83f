"""The heartbeat of a worker: a thread that renews its leases.

The thread has an event loop and a connection of its own, so slow work elsewhere in the process doesn't cost a lease.
It renews leases only if the worker's loop has acknowledged a heartbeat within the last lease time: a worker that hangs
loses its leases to others. A worker that was frozen learns from the next renewal which leases it has lost.
"""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from remit.cluster.database import leases
from remit.cluster.database.store import Database
from remit.errors import ClusterError

if TYPE_CHECKING:
    from collections.abc import Callable

    OnRenewal = Callable[[leases.LeaseRenewal | ClusterError], None]

_RENEWALS_PER_LEASE = 5
"""Number of renewals in the time of a lease."""
_JOIN_S = 2.0


class Heartbeat:
    """Renews the leases in `fences`, and passes each result to `on_renewal` on the loop that created it."""

    def __init__(self, url: str, worker_id: str, lease_s: float, *, on_renewal: OnRenewal) -> None:
        self.fences: dict[str, int] = {}
        """The fencing token of each session whose lease this worker has."""
        self._url = url
        self._worker_id = worker_id
        self._lease_s = lease_s
        self._on_renewal = on_renewal
        self._loop = asyncio.get_running_loop()
        self._acknowledged = time.monotonic()
        """When the worker's loop last handled a heartbeat."""
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread; the leases run out unless they are extended."""
        self._ended.set()
        self._thread.join(_JOIN_S)

    def _acknowledge(self, renewal: leases.LeaseRenewal | ClusterError | None) -> None:
        """Record, on the worker's loop, that this loop runs; report the result of the renewal."""
        self._acknowledged = time.monotonic()
        if renewal is not None:
            self._on_renewal(renewal)

    def _run(self) -> None:
        asyncio.run(self._renew_repeatedly())

    async def _renew_repeatedly(self) -> None:
        db = Database(self._url, name="remit heartbeat")
        while not self._ended.is_set():
            renewal: leases.LeaseRenewal | ClusterError | None = None
            if time.monotonic() - self._acknowledged < self._lease_s:
                try:
                    renewal = await leases.renew(db, self._worker_id, dict(self.fences), lease_s=self._lease_s)
                except ClusterError as error:
                    renewal = error
            with suppress(RuntimeError):  # the worker's loop has ended
                self._loop.call_soon_threadsafe(self._acknowledge, renewal)
            await asyncio.to_thread(self._ended.wait, self._lease_s / _RENEWALS_PER_LEASE)
        await db.close()
