"""What arrives of a worker: all of it, or it is not completed."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

import pytest

from remit.runs.request import Request
from remit.runs.workspace import Workspace
from remit.testing.agent import ScriptedAgent
from tests.support.waiting import wait_until
from tests.support.worker_machines import KEY, Settings, machines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from remit.result import Result
    from tests.support.postgres import Server

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def cluster(postgres: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The environment of callers of a cluster of one machine."""
    folder, key = tmp_path_factory.mktemp("cluster"), os.urandom(32).hex()
    with postgres.database() as url, machines(folder, url, key=key, settings=Settings(lease=5)):
        yield os.environ | {"REMIT_BACKEND": url, KEY: key}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    place = tmp_path / "work"
    place.mkdir()
    (place / "remit.toml").write_text("[delegate]\ncommit = false\n")
    (place / "notes.md").write_text("before\n")
    return place


def run(root: Path, environ: dict[str, str], agent: ScriptedAgent, **options: object) -> Result:
    async def act() -> Result:
        async with Workspace.open(root, environ=environ) as ws:
            return await ws.run(Request(None, "Do it.", command=agent.command, timeout_s=60, **options))  # type: ignore[arg-type]

    return asyncio.run(act())


def test_what_was_changed_here_meanwhile_stays_and_is_told(root: Path, tmp_path: Path, cluster: dict[str, str]) -> None:
    gate = tmp_path / "gate"
    agent = ScriptedAgent(str(tmp_path / "agents"), "agent").waits_for(str(gate))
    agent.writes("notes.md", "the agent's\n").writes("new.md", "new\n").returns("notes.md", "new.md")

    async def act() -> Result:
        async with Workspace.open(root, environ=cluster) as ws:
            session = (await ws.start(Request(None, "Do it.", command=agent.command, timeout_s=60))).row.session_id
            await asyncio.to_thread(wait_until, lambda: agent.did("waited"), "the agent is at work")
            (root / "notes.md").write_text("mine\n")
            gate.write_text("")
            return await ws.wait(session)

    result = asyncio.run(act())
    assert result.status == "partial"
    assert "changed here in the meantime or not writable, so left as is: notes.md;" in result.errors[0].message
    assert (root / "notes.md").read_text() == "mine\n"
    assert (root / "new.md").read_text() == "new\n"


def test_a_second_tree_goes_as_what_is_new_in_it(
    root: Path, tmp_path: Path, cluster: dict[str, str], postgres: Server
) -> None:
    (root / "large.bin").write_bytes(os.urandom(300_000))
    agent = (
        ScriptedAgent(str(tmp_path / "agents"), "agent").writes("out/${session}.md", "x").returns("out/${session}.md")
    )
    results = [run(root, cluster, agent) for _ in range(3)]
    assert [result.status for result in results] == ["completed"] * 3
    assert sorted(each.name for each in (root / "out").iterdir()) == sorted(f"{each.session_id}.md" for each in results)
    url = cluster["REMIT_BACKEND"]
    sizes = postgres.ask("SELECT name LIKE '%-on-%', size FROM remit.parcels WHERE name LIKE 'base-%' ORDER BY 2", url)
    whole = [size for is_step, size in sizes if not is_step and isinstance(size, int) and size > 300_000]
    steps = [size for is_step, size in sizes if is_step]
    assert len(whole) == 1
    assert len(steps) >= 2
    assert all(isinstance(size, int) and size < 10_000 for size in steps)


def test_the_same_is_not_done_here_as_well_when_no_engine_is_set(
    root: Path, tmp_path: Path, cluster: dict[str, str]
) -> None:
    agent = ScriptedAgent(str(tmp_path / "agents"), "agent").obeys()

    async def admit() -> str:
        async with Workspace.open(root, environ=cluster) as ws:
            return ws.prepare(Request(None, "Do it.", command=agent.command, timeout_s=60)).row.session_id

    async def come_back(environ: dict[str, str]) -> Result:
        async with Workspace.open(root, environ=environ) as ws:
            return await ws.wait(session)

    session = asyncio.run(admit())
    alone = {name: value for name, value in cluster.items() if name != "REMIT_BACKEND"}
    with pytest.raises(Exception, match="is done by another machine, and no backend is set"):
        asyncio.run(come_back(alone))
    assert not agent.acts
    assert asyncio.run(come_back(cluster)).status == "completed"
    assert len(agent.did("began")) == 1


def test_a_bundle_that_was_changed_is_not_imported(
    root: Path, tmp_path: Path, cluster: dict[str, str], postgres: Server
) -> None:
    """The caller is away until its result is there, and somebody exchanges what the agent made for something else."""
    gate = tmp_path / "gate"
    agent = ScriptedAgent(str(tmp_path / "agents"), "agent").waits_for(str(gate))
    agent.writes("made.md", "x").returns("made.md")

    async def begin() -> str:
        async with Workspace.open(root, environ=cluster) as ws:
            session = (await ws.start(Request(None, "Do it.", command=agent.command, timeout_s=60))).row.session_id
            await asyncio.to_thread(wait_until, lambda: agent.did("waited"), "the agent is at work")
            return session

    async def come_back() -> Result:
        async with Workspace.open(root, environ=cluster) as ws:
            return await ws.wait(session)

    session, url = asyncio.run(begin()), cluster["REMIT_BACKEND"]
    gate.write_text("")
    asked = f"SELECT state FROM remit.sessions WHERE session_id = '{session}'"  # noqa: S608 - an id of our own
    wait_until(lambda: postgres.ask(asked, url) == [("done",)], "the worker has published")
    assert postgres.ask("UPDATE remit.parcels SET data = '\\x00' WHERE name LIKE 'made-%' RETURNING name", url)
    result = asyncio.run(come_back())
    assert result.status == "partial"
    assert "did not arrive" in result.errors[0].message
    assert not (root / "made.md").exists()


@pytest.mark.parametrize("when", ["away", "following"])
@pytest.mark.thorough
def test_what_the_database_has_forgotten_is_not_done_twice(
    root: Path, tmp_path: Path, cluster: dict[str, str], postgres: Server, when: str
) -> None:
    """As after a restore from an older state: nobody knows what became of it, and nobody begins it again."""
    agent = ScriptedAgent(str(tmp_path / "agents"), "agent").waits_for(str(tmp_path / "gate")).obeys()
    url = cluster["REMIT_BACKEND"]

    def forget(session: str) -> None:
        gone = f"DELETE FROM remit.sessions WHERE session_id = '{session}' RETURNING 1"  # noqa: S608 - an id of our own
        assert postgres.ask(gone, url) == [(1,)]

    async def act() -> Result:
        async with Workspace.open(root, environ=cluster) as ws:
            session = (await ws.start(Request(None, "Do it.", command=agent.command, timeout_s=60))).row.session_id
            await asyncio.to_thread(wait_until, lambda: agent.did("waited"), "the agent is at work")
            if when == "following":
                await asyncio.to_thread(forget, session)
                return await ws.wait(session)
        await asyncio.to_thread(forget, session)
        async with Workspace.open(root, environ=cluster) as ws:
            return await ws.wait(session)

    result = asyncio.run(act())
    assert (result.status, result.stop_reason, result.errors[0].code) == ("partial", "orphaned", "ORPHANED")
    assert len(agent.did("began")) == 1
