"""Beating: how a worker keeps what it holds.

Owns the thread that renews leases, with a loop and a connection of its own: nothing that takes long elsewhere in the
process may cost a lease. But a lease is renewed only if the worker's own loop has acknowledged a beat within the last
lease: a worker that hangs loses what it has, and others take it. A worker that was frozen learns here what it has lost.
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
"""So many beats fit into a lease."""
_JOIN_S = 2.0


class Heartbeat:
    """A worker's heart. What it holds is read at each beat; what was said is told on the loop that it was made on."""

    def __init__(self, url: str, worker_id: str, lease_s: float, *, on_renewal: OnRenewal) -> None:
        self.fences: dict[str, int] = {}
        """The fence of each session that this worker holds."""
        self._url = url
        self._worker_id = worker_id
        self._lease_s = lease_s
        self._on_renewal = on_renewal
        self._loop = asyncio.get_running_loop()
        self._acknowledged = time.monotonic()
        """When the worker's loop last ran what a beat gave it."""
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="beating", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End; whoever stops looks after its leases first."""
        self._ended.set()
        self._thread.join(_JOIN_S)

    def _acknowledge(self, renewal: leases.LeaseRenewal | ClusterError | None) -> None:
        """On the worker's loop: it runs, so that its leases may be renewed."""
        self._acknowledged = time.monotonic()
        if renewal is not None:
            self._on_renewal(renewal)

    def _run(self) -> None:
        asyncio.run(self._renew_repeatedly())

    async def _renew_repeatedly(self) -> None:
        db = Database(self._url, name="remit beat")
        while not self._ended.is_set():
            renewal: leases.LeaseRenewal | ClusterError | None = None
            if time.monotonic() - self._acknowledged < self._lease_s:
                try:
                    renewal = await leases.renew(db, self._worker_id, dict(self.fences), lease_s=self._lease_s)
                except ClusterError as error:
                    renewal = error
            with suppress(RuntimeError):  # the loop has ended, and with it all that was held
                self._loop.call_soon_threadsafe(self._acknowledge, renewal)
            await asyncio.to_thread(self._ended.wait, self._lease_s / _RENEWALS_PER_LEASE)
        await db.close()
