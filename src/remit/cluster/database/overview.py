"""A read-only snapshot of a cluster for status displays: one transaction, which creates no tables."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from remit.cluster.database.session_rows import SessionRow, list_rows
from remit.cluster.database.workers import QueueRow, WorkerRow, list_queues, list_workers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from remit.cluster.database.store import Database

MAX_ROWS = 10_000


class DatabaseOverview(NamedTuple):
    """A snapshot of a cluster."""

    schema: int = 0
    """The version of its tables; 0 if it has none yet."""
    oldest: int = 0
    """The oldest version that can use these tables."""
    fingerprint: str = ""
    """The fingerprint of its key; empty if it has none yet."""
    ahead_ms: int = 0
    """How far this machine's clock is ahead of the database's clock."""
    workers: tuple[WorkerRow, ...] = ()
    queues: tuple[QueueRow, ...] = ()
    rows: tuple[SessionRow, ...] = ()


async def load_overview(
    db: Database, *, roots: Sequence[str] | None = None, only_open: bool = False, timeout_s: float
) -> DatabaseOverview:  # fmt: skip
    """Return the workers, the queues, and the sessions of some trees. Default: of all trees."""
    async with db.separate_transaction(timeout_s=timeout_s) as transaction:
        before_s = time.time()
        found = await transaction.execute(
            "SELECT to_regclass('remit.sessions') IS NOT NULL, extract(epoch FROM clock_timestamp())::float8",
            timeout_s=timeout_s,
        )
        ahead_ms = round(((before_s + time.time()) / 2 - found[0][1]) * 1000)
        if not found[0][0]:
            return DatabaseOverview(ahead_ms=ahead_ms)
        meta: dict[str, str] = dict(await transaction.execute("SELECT key, value FROM remit.meta"))
        return DatabaseOverview(
            int(meta.get("schema", 0)),
            int(meta.get("oldest", 0)),
            meta.get("key", ""),
            ahead_ms,
            tuple(await list_workers(transaction)),
            tuple(await list_queues(transaction)),
            tuple(await list_rows(transaction, roots=roots, only_open=only_open, limit=MAX_ROWS)),
        )
