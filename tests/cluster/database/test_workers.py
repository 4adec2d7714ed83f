"""Workers: who is there, who drains, and what waits for them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from remit.cluster.database import leases, submissions
from remit.cluster.database.workers import deregister, list_queues, list_workers, set_draining
from tests.support.cluster_rows import make, meet, publish

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from remit.cluster.database.session_rows import SessionRow
    from remit.cluster.database.store import Database

    Play = Callable[[Callable[[Database], Awaitable[Any]]], Any]


def test_who_is_there_and_who_is_not(play: Play) -> None:
    async def scene(db: Database) -> None:
        await meet(db, "gone")
        await meet(db, "here", agents=("coder", "tester"))
        await meet(db, "silent", lease_s=0.05)
        await deregister(db, "gone")
        await submissions.post(db, make("one"))
        await leases.acquire(db, "one", "here", lease_s=15, timeout_s=60)
        await asyncio.sleep(0.1)
        gone, here, silent = await list_workers(db)
        assert (gone.state, gone.is_live, gone.running) == ("gone", False, 0)
        assert (here.state, here.is_live, here.running, here.agents) == ("active", True, 1, ("coder", "tester"))
        assert (here.host, here.concurrency, here.lease_s) == ("host-of-here", 4, 15)
        assert (silent.state, silent.is_live) == ("active", False)
        assert [each.worker_id for each in await list_workers(db, only_live=True)] == ["here"]
        await leases.renew(db, "silent", {}, lease_s=15)
        assert (await list_workers(db))[2].beat_ago_s < silent.beat_ago_s
        await meet(db, "gone")
        assert (await list_workers(db))[0].is_live, "it is back"

    play(scene)


def test_a_worker_hears_that_it_shall_drain(play: Play) -> None:
    async def scene(db: Database) -> None:
        for name in ("w1", "w2", "gone"):
            await meet(db, name)
        await deregister(db, "gone")
        heard = db.listen(["remit_drain"])
        assert await anext(heard) == ("", "")
        assert await set_draining(db, "w1") == ["w1"]
        assert await asyncio.wait_for(anext(heard), 10) == ("remit_drain", "w1")
        assert (await leases.renew(db, "w1", {}, lease_s=15)).drains
        assert not (await leases.renew(db, "w2", {}, lease_s=15)).drains
        assert await set_draining(db, None) == ["w1", "w2"]
        assert await set_draining(db, "gone") == await set_draining(db, "nobody") == []
        assert (await leases.renew(db, "w2", {}, lease_s=15)).drains
        assert await set_draining(db, "w2", draining=False) == ["w2"]
        assert not (await leases.renew(db, "w2", {}, lease_s=15)).drains
        await meet(db, "w1")
        assert not (await leases.renew(db, "w1", {}, lease_s=15)).drains, "who starts anew takes work again"
        await heard.aclose()  # type: ignore[attr-defined]

    play(scene)


def test_queues_tell_what_waits_and_for_how_long(play: Play) -> None:
    async def scene(db: Database) -> None:
        async def enqueue(_row: SessionRow, _queue: str) -> None:
            pass

        await meet(db)
        await submissions.post(db, make("one"))
        await asyncio.sleep(0.05)
        for name in ("two", "three"):
            await submissions.post(db, make(name))
        assert await submissions.dispatch(db, enqueue, lambda row, _: f"remit.{row.depth}", limit=10) == 3
        await submissions.post(db, make("four"))
        await submissions.announce(db, make("five"))
        await leases.acquire(db, "three", "w1", lease_s=15, timeout_s=60)
        fresh, queue = await list_queues(db)
        assert (fresh.queue, fresh.waiting, fresh.running) == ("", 1, 0)
        assert (queue.queue, queue.waiting, queue.running) == ("remit.1", 2, 1)
        assert (queue.oldest_s or 0) > 0.05
        await publish(db, "three", 1)
        await submissions.finish_unstarted(db, "four", b"", "failed", "cancelled")
        assert [(each.queue, each.waiting, each.running) for each in await list_queues(db)] == [("remit.1", 2, 0)]

    play(scene)
