"""No task of a caller or a worker ends without a word, and a worker that hangs doesn't keep its leases."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

import pytest

from remit.config.cluster import ClusterSettings
from remit.delegate.cluster.caller import afar as caller
from remit.delegate.cluster.worker import beating
from remit.delegate.cluster.worker.process import Worker
from remit.errors import BusyError, StorageError
from remit.workspace.cluster import leases, rows
from remit.workspace.home import Home
from remit.workspace.ledger.delegations import Delegation

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


def test_a_busy_ledger_is_reported_and_looked_at_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = 0

    async def list_rows(*_: object, **__: object) -> list[Any]:
        nonlocal looks
        looks += 1
        return []

    async def listen(_: object) -> AsyncIterator[tuple[str, str]]:
        await asyncio.Event().wait()
        yield "", ""

    async def mirror(_: object) -> None:
        if looks == 2:
            raise BusyError("another process has kept the ledger locked")

    async def follow() -> None:
        afar = caller.Afar(Home(str(tmp_path)), "postgresql://x@127.0.0.1:1/x", ClusterSettings(), {}, key=b"k" * 32)
        monkeypatch.setattr(rows, "list_rows", list_rows)
        monkeypatch.setattr(afar.db, "listen", listen)
        monkeypatch.setattr(afar, "mirror", mirror)
        told: list[object] = []
        async with afar.follow(Delegation("sess_1_aaaaaa", "a", 1, ("o", "a"), root_id="sess_1_aaaaaa")) as followed:
            monkeypatch.setattr(followed, "tell", lambda _, trouble=None: told.append(trouble))
            while looks < 4:  # noqa: ASYNC110 - whoever looks tells nobody
                await asyncio.sleep(0.01)
        assert [type(each) for each in told] == [BusyError]
        await afar.close()

    asyncio.run(asyncio.wait_for(follow(), 30))


@pytest.mark.parametrize("hangs", [False, True])
def test_a_worker_whose_loop_hangs_renews_no_lease(monkeypatch: pytest.MonkeyPatch, *, hangs: bool) -> None:
    beats: list[float] = []

    async def beat(*_: object, **__: object) -> leases.Beat:
        beats.append(time.monotonic())
        return leases.Beat({}, set(), drains=False)

    monkeypatch.setattr(leases, "beat", beat)

    async def work() -> tuple[int, int]:
        heart = beating.Beating("postgresql://x@127.0.0.1:1/x", "worker", 0.5, on_heard=lambda _: None)
        heart.start()
        await asyncio.sleep(0.3)
        if hangs:
            time.sleep(2)  # noqa: ASYNC251 - the loop hangs
        else:
            await asyncio.sleep(2)
        late = sum(time.monotonic() - each < 1 for each in beats)
        await asyncio.sleep(0.6)
        again = sum(time.monotonic() - each < 0.5 for each in beats)
        await asyncio.to_thread(heart.stop)
        return late, again

    late, again = asyncio.run(asyncio.wait_for(work(), 30))
    assert (late == 0) is hangs
    assert again, "it did not come back"


def test_a_worker_ends_with_the_error_of_a_task_that_it_needs() -> None:
    async def fail() -> None:
        raise StorageError("the disk is full")

    async def work() -> None:
        worker = Worker.__new__(Worker)
        worker._leaving = asyncio.Event()  # noqa: SLF001 - all that it waits for
        waiting = asyncio.ensure_future(asyncio.Event().wait())
        try:
            with pytest.raises(StorageError, match="the disk is full"):
                await worker._work([asyncio.ensure_future(fail()), waiting])  # type: ignore[list-item] # noqa: SLF001
        finally:
            waiting.cancel()

    asyncio.run(asyncio.wait_for(work(), 10))
