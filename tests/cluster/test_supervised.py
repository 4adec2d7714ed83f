"""No task of a caller or a worker ends without a word, and a worker that hangs doesn't keep its leases."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from remit.cluster.caller import client as caller
from remit.cluster.database import leases, submissions
from remit.cluster.worker import heartbeat
from remit.cluster.worker.worker import Worker
from remit.config import ClusterSettings
from remit.errors import BusyError, StorageError
from remit.ledger.home import Home
from remit.ledger.runs import Run, load_run
from tests.support.cluster_callers import until
from tests.support.cluster_rows import make, meet

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from remit.cluster.database.store import Database

    Play = Callable[[Callable[[Database], Awaitable[Any]]], Any]


def test_a_busy_ledger_is_reported_and_looked_at_again(tmp_path: Path, url: str) -> None:
    """A sibling of the followed session is written into the ledger, which another process keeps locked."""

    async def follow() -> None:
        home = Home(str(tmp_path))
        home.ledger.db.execute("PRAGMA busy_timeout = 50")
        client = caller.ClusterClient(home, url, ClusterSettings(), {}, key=b"k" * 32)
        await client.open()
        for name in ("one", "two"):
            await submissions.post(client.db, make(name, root="one"))
        other = sqlite3.connect(home.ledger.file, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        async with client.follow(Run("one", "worker", 1, ("o", "worker"), root_id="one")) as followed:
            await until(lambda: followed.error)
            assert type(followed.error) is BusyError
            other.execute("ROLLBACK")
            await until(lambda: load_run(home.ledger, "two"))
            assert followed.error is None
        other.close()
        await client.close()

    asyncio.run(asyncio.wait_for(follow(), 30))


@pytest.mark.thorough("True")
@pytest.mark.parametrize("hangs", [False, True])
def test_a_worker_whose_loop_hangs_renews_no_lease(play: Play, url: str, *, hangs: bool) -> None:
    async def work(db: Database) -> None:
        await meet(db)
        await submissions.post(db, make("one"))
        assert await leases.acquire(db, "one", "w1", lease_s=1, timeout_s=60)
        heart = heartbeat.Heartbeat(url, "w1", 1, on_renewal=lambda _: None)
        heart.fences["one"] = 1
        heart.start()
        await asyncio.sleep(0.3)
        if hangs:
            time.sleep(3)  # noqa: ASYNC251 - the loop hangs
        else:
            await asyncio.sleep(3)
        with psycopg.connect(url) as line:  # without the loop, which would renew it
            expired = line.execute("SELECT leased_until < clock_timestamp() FROM remit.sessions").fetchone()
        assert expired == (hangs,)
        await asyncio.sleep(1)
        assert await leases.list_expired(db) == [], "it did not come back"
        await asyncio.to_thread(heart.stop)

    play(work)


def test_a_worker_ends_with_the_error_of_a_task_that_it_needs() -> None:
    async def fail() -> None:
        raise StorageError("the disk is full")

    async def work() -> None:
        worker = Worker.__new__(Worker)
        worker._draining = asyncio.Event()  # noqa: SLF001 - all that it waits for
        waiting = asyncio.ensure_future(asyncio.Event().wait())
        try:
            with pytest.raises(StorageError, match="the disk is full"):
                await worker._wait_until_draining([asyncio.ensure_future(fail()), waiting])  # type: ignore[list-item] # noqa: SLF001
        finally:
            waiting.cancel()

    asyncio.run(asyncio.wait_for(work(), 10))
