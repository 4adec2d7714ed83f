"""What DBOS has taken for a worker and never begun is begun after all."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import psycopg
import pytest

from remit.app.delegating.asking import Request
from remit.delegate.cluster.worker.queue import Queues, Room
from remit.testing import ScriptedAgent
from tests.cluster.callers import KEY, Caller
from tests.cluster.machines import Settings, machines
from tests.cluster.test_worker import until

if TYPE_CHECKING:
    from pathlib import Path

    from remit.app.delegating.workspace import Workspace

_TAKEN = "UPDATE dbos.workflow_status SET status = 'PENDING', executor_id = %s WHERE workflow_uuid = %s"
"""As it is where the database goes away between taking and beginning."""


@pytest.mark.slow
def test_a_session_that_was_taken_and_never_begun_is_given_back(tmp_path: Path, url: str) -> None:
    gate = tmp_path / "gate"
    busy = ScriptedAgent(tmp_path / "agents", "busy").waits_for(str(gate)).obeys()
    agent = ScriptedAgent(tmp_path / "agents").obeys({"other.md": "done\n"})
    caller = Caller(tmp_path / "caller", url)

    async def scene(ws: Workspace) -> str:
        first = (await ws.start(Request("scout", "Wait.", command=busy.command))).row.session_id
        await until(lambda: busy.did("waited"))
        second = (await ws.start(Request("scout", "Look.", command=agent.command))).row.session_id
        with psycopg.connect(url, autocommit=True) as line:
            await until(lambda: line.execute(_TAKEN, (find_worker(line), second)).rowcount == 1)
        gate.touch()
        assert (await ws.wait(first)).status == "completed"
        return (await ws.wait(second)).status

    with machines(tmp_path / "machines", url, 1, key=KEY, settings=Settings(lease=1), concurrency=1):
        assert caller.play(scene) == "completed"
    assert len(agent.did("began")) == 1


def find_worker(line: psycopg.Connection[tuple[str]]) -> str:
    found = line.execute("SELECT worker_id FROM remit.workers").fetchone()
    assert found is not None
    return str(found[0])


@pytest.mark.slow
def test_a_worker_that_cannot_carry_it_out_has_not_ended_it(url: str) -> None:
    tries: list[str] = []

    async def execute(session: str) -> None:
        tries.append(session)
        if len(tries) == 1:
            raise RuntimeError("not here")

    async def scene() -> None:
        queues = Queues(url, "w1", room=Room(), poll_s=0.05, on_execute=execute)
        await queues.launch()
        try:
            await queues.enqueue("s1", "scout", "remit.1")
            await until(lambda: tries)
            for _ in range(100):
                if left := await queues.list_left(["w1"]):
                    break
                await asyncio.sleep(0.05)
            assert [each.session_id for each in left] == ["s1"]
            assert not await queues.is_over("s1")
            await queues.resume("s1", "remit.1")
            await until(lambda: len(tries) > 1)
        finally:
            await queues.stop()

    asyncio.run(scene())
    assert tries == ["s1", "s1"]
