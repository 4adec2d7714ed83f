"""The queues by themselves: what is enqueued twice is done once, few at a time, and what is over is forgotten."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from remit.cluster.worker.queues import QueueLimits, Queues

if TYPE_CHECKING:
    from tests.support.postgres import Server


@pytest.mark.slow
@pytest.mark.thorough
def test_a_session_is_carried_out_once_and_then_forgotten(url: str, postgres: Server) -> None:
    names = [f"s{number}" for number in range(6)]
    done: list[str] = []
    at_once = [0, 0]

    async def execute(session: str) -> None:
        at_once[0] += 1
        at_once[1] = max(at_once)
        await asyncio.sleep(0.1)
        done.append(session)
        at_once[0] -= 1

    async def scene() -> None:
        queues = Queues(url, "w1", limits=QueueLimits(per_agent=4, per_worker=2), poll_s=0.02, on_execute=execute)
        await queues.launch()
        try:
            for name in (*names, *names):
                await queues.enqueue(name, "scout", "remit.1")
            await queues.enqueue("elsewhere", "scout", "remit.lead.1")
            await wait_over(queues, names)
            assert await queues.is_waiting("elsewhere", "remit.lead.1")
            assert await queues.list_abandoned(["w1"]) == []
            assert await queues.delete_finished(3600) == 0
            assert await queues.delete_finished(-1) == 6
            await queues.resume("elsewhere", "remit.1")
            await wait_over(queues, ["elsewhere"])
        finally:
            await queues.stop()

    asyncio.run(scene())
    assert sorted(done) == ["elsewhere", *names]
    assert at_once[1] == 2
    kept = postgres.ask("SELECT workflow_uuid, queue_partition_key FROM dbos.workflow_status", url)
    assert kept == [("elsewhere", "scout")]


@pytest.mark.slow
@pytest.mark.thorough
def test_what_a_worker_had_before_it_was_started_anew_still_counts_among_those_that_run(url: str) -> None:
    """Its agents go on meanwhile: were they not counted, others would begin beside them."""
    begun: list[str] = []
    is_begun = asyncio.Event()

    async def hang(session: str) -> None:
        begun.append(session)
        is_begun.set()
        await asyncio.Event().wait()

    async def execute(session: str) -> None:
        begun.append(session)

    async def scene() -> None:
        one = QueueLimits(running=1, per_agent=1)
        before = Queues(url, "w1", limits=one, poll_s=0.02, on_execute=hang)
        await before.launch()
        await before.enqueue("first", "scout", "remit.1")
        await is_begun.wait()
        await before.enqueue("second", "planner", "remit.1")
        await before.stop()
        assert begun == ["first"]
        anew = Queues(url, "w1", limits=one, poll_s=0.02, on_execute=execute)
        await anew.launch()
        try:
            await asyncio.sleep(1)
            assert begun == ["first"]
            assert [each.session_id for each in await anew.list_abandoned(["w1"])] == ["first"]
            await anew.resume("first", "remit.1")
            await wait_over(anew, ["first", "second"])
        finally:
            await anew.stop()

    asyncio.run(scene())
    assert sorted(begun) == ["first", "first", "second"]


async def wait_over(queues: Queues, names: list[str]) -> None:
    for name in names:
        for _ in range(400):
            if await queues.has_ended(name):
                break
            await asyncio.sleep(0.05)
        else:
            raise AssertionError(f"{name} is not over")
