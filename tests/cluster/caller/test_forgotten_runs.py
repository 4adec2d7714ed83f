"""What DBOS has taken for a worker and never begun is begun after all."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from remit.cluster.caller import cluster_backend
from remit.cluster.database import leases, session_rows
from remit.cluster.worker.queues import QueueLimits, Queues
from remit.errors import BusyError
from remit.ledger.events import load_last_event
from remit.runs.request import Request
from remit.testing import ScriptedAgent
from tests.support.cluster_callers import KEY, Caller, until
from tests.support.cluster_rows import meet, opened
from tests.support.worker_machines import Settings, machines

if TYPE_CHECKING:
    from pathlib import Path

    from remit.cluster.database.store import Database
    from remit.runs.workspace import Workspace

_TAKEN = "UPDATE dbos.workflow_status SET status = 'PENDING', executor_id = %s WHERE workflow_uuid = %s"
"""As it is where the database goes away between taking and beginning."""


@pytest.mark.slow
@pytest.mark.thorough
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
    """Its name in DBOS, where every start of a worker is another one."""
    found = line.execute("SELECT executor_id FROM dbos.workflow_status WHERE status = 'PENDING'").fetchone()
    assert found is not None
    return str(found[0])


@pytest.mark.slow
def test_who_is_sent_while_the_database_is_asked_after_others_is_not_forgotten(
    tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer is older than the session: it says nothing of it."""
    ask = session_rows.list_rows
    is_asked, is_sent = asyncio.Event(), asyncio.Event()

    async def ask_slowly(db: Database, **of_whom: Any) -> list[session_rows.SessionRow]:  # noqa: ANN401 - as it is
        found = await ask(db, **of_whom)
        if of_whom.get("roots") and not is_sent.is_set():
            is_asked.set()
            await is_sent.wait()
        return found

    async def scene(ws: Workspace) -> list[str]:
        first = (await ws.start(Request("scout", "One.", command="true"))).row.session_id
        monkeypatch.setattr(session_rows, "list_rows", ask_slowly)
        await is_asked.wait()
        second = (await ws.start(Request("scout", "Two.", command="true"))).row.session_id
        await until(lambda: load_last_event(ws.home.ledger, second, "submitted") is not None)
        await asyncio.sleep(0.1)  # it is followed now
        is_sent.set()
        await asyncio.sleep(0.5)
        for name in (first, second):
            await ws.cancel(name)
        return [(await ws.wait(name)).stop_reason for name in (first, second)]

    assert Caller(tmp_path / "caller", url).play(scene) == ["cancelled", "cancelled"]


@pytest.mark.slow
def test_a_cancel_that_no_worker_answers_says_so(tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The worker took the session, keeps its lease and does nothing more: it hangs."""
    monkeypatch.setattr(cluster_backend, "CANCEL_S", 0.5)

    async def scene(ws: Workspace) -> None:
        name = (await ws.start(Request("scout", "Wait.", command="true"))).row.session_id
        await until(lambda: load_last_event(ws.home.ledger, name, "submitted") is not None)
        async with opened(url) as db:
            await meet(db)
            assert await leases.acquire(db, name, "w1", lease_s=300, timeout_s=300)
        with pytest.raises(BusyError, match=f"still alive after .* s: {name}"):
            await asyncio.wait_for(ws.cancel(name), 60)

    Caller(tmp_path / "caller", url).play(scene)


@pytest.mark.slow
def test_a_worker_that_cannot_carry_it_out_has_not_ended_it(url: str) -> None:
    tries: list[str] = []

    async def execute(session: str) -> None:
        tries.append(session)
        if len(tries) == 1:
            raise RuntimeError("not here")

    async def scene() -> None:
        queues = Queues(url, "w1", limits=QueueLimits(), poll_s=0.05, on_execute=execute)
        await queues.launch()
        try:
            await queues.enqueue("s1", "scout", "remit.1")
            await until(lambda: tries)
            for _ in range(100):
                if left := await queues.list_abandoned(["w1"]):
                    break
                await asyncio.sleep(0.05)
            assert [each.session_id for each in left] == ["s1"]
            assert not await queues.has_ended("s1")
            await queues.resume("s1", "remit.1")
            await until(lambda: len(tries) > 1)
        finally:
            await queues.stop()

    asyncio.run(scene())
    assert tries == ["s1", "s1"]
