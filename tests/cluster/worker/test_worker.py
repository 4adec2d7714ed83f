"""Workers: real processes that carry out what a workspace delegates."""

from __future__ import annotations

import asyncio
import time
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import pytest

from remit.cluster.database import output, session_rows
from remit.runs.request import Request
from remit.testing import ScriptedAgent
from tests.support.cluster_callers import KEY, Caller, until
from tests.support.waiting import wait_until
from tests.support.worker_machines import Settings, machines

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from remit.result import Result
    from remit.runs.workspace import Workspace
    from tests.support.worker_machines import Machine


T = TypeVar("T")

pytestmark = pytest.mark.slow


@pytest.fixture
def caller(tmp_path: Path, url: str) -> Caller:
    return Caller(tmp_path / "caller", url)


@pytest.fixture
def agent(tmp_path: Path) -> ScriptedAgent:
    return ScriptedAgent(tmp_path / "agents")


def test_a_session_is_carried_out_elsewhere_and_settled_here(
    tmp_path: Path, url: str, caller: Caller, agent: ScriptedAgent
) -> None:
    agent.obeys({"docs/report.md": "found\n"})

    async def scene(ws: Workspace) -> Result:
        return await ws.delegate("scout", "Look around.", command=agent.command)

    with machines(tmp_path / "machines", url, key=KEY) as (machine,):
        result = caller.play(scene)
        machine.wait_for("done", session=result.session_id)
        assert not (machine.state / "sessions" / result.session_id).exists()
        cancelled = caller.play(partial(cancel, ScriptedAgent(tmp_path / "agents", "hanging").hangs()))
        refused = caller.run("worker", "start", "--name", "m1", "--state", str(machine.state))
        assert (refused.returncode, refused.stdout) == (2, "")
        assert "a worker named m1 already uses" in refused.stderr
        caller.environ["REMIT_CLUSTER_KEY"] = "cd" * 32
        refused = caller.run("worker", "start", "--name", "m2", "--state", str(tmp_path / "m2"))
        assert (refused.returncode, refused.stdout) == (2, "")
        assert "this machine's key isn't the key of the cluster at postgresql://postgres@" in refused.stderr
    assert (result.status, result.verdict) == ("completed", "accepted"), result
    assert (caller.root / "docs/report.md").read_text() == "found\n"
    assert (cancelled.stop_reason, cancelled.errors[0].code) == ("cancelled", "CANCELLED")
    assert "not needed" in cancelled.errors[0].message
    row = caller.load_row(result.session_id)
    assert (row.state, row.status, row.fence) == ("done", "completed", 1)
    assert row.worker_id is not None
    assert row.worker_id.startswith("m1-")


async def cancel(agent: ScriptedAgent, ws: Workspace) -> Result:
    """Cancel an agent that hangs; nothing of it is alive afterwards."""
    session = (await ws.start(Request("scout", "Look.", command=agent.command))).row.session_id
    await until(lambda: agent.did("hung"))
    assert session in await ws.cancel(session, reason="not needed")
    assert not agent.list_living()
    return await ws.wait(session)


@pytest.mark.parametrize(
    ("command", "ends"), [("test -s docs/report.md", ("completed", ["passed"])), ("exit 3", ("partial", ["failed"]))]
)
def test_acceptance_checks_run_on_the_worker(
    tmp_path: Path, url: str, agent: ScriptedAgent, *, command: str, ends: tuple[str, list[str]]
) -> None:
    """A check runs in the tree that the worker's agent left, before the result is sent back."""
    caller = Caller(tmp_path / "caller", url)
    agent.obeys({"docs/report.md": "found\n"})
    where = f"hostname > {tmp_path}/checked; pwd >> {tmp_path}/checked; {command}"

    async def scene(ws: Workspace) -> Result:
        return await ws.delegate("scout", "Look around.", command=agent.command, checks=(where,), reasks=0)

    with machines(tmp_path / "machines", url, key=KEY) as (machine,):
        result = caller.play(scene)
    assert (result.status, [each.answer for each in result.checks]) == ends, result
    assert str(machine.state) in (tmp_path / "checked").read_text()


# --- machines that fail ----------------------------------------------------------------------------------------------

SAFE = '[agents.scout]\nretry = "safe"\n'


def begin(caller: Caller, agent: ScriptedAgent, number: int, scene: Callable[[list[str]], T]) -> tuple[list[Result], T]:
    """Hand on so many, wait until all of their agents are at work, let something happen, and wait for all of them."""

    async def whole(ws: Workspace) -> tuple[list[Result], T]:
        started = [await ws.start(Request("scout", "Look.", command=agent.command)) for _ in range(number)]
        sessions = [each.row.session_id for each in started]
        await until(lambda: {act.session for act in agent.did("began")} >= set(sessions))
        told = await asyncio.to_thread(scene, sessions)
        return [await ws.wait(session) for session in sessions], told

    told: tuple[list[Result], T] = caller.play(whole)
    return told


def count_runs(agent: ScriptedAgent, session: str) -> int:
    return len(agent.did("began", session=session))


def test_what_a_dead_machine_had_is_done_again_elsewhere(tmp_path: Path, url: str, agent: ScriptedAgent) -> None:
    gate = tmp_path / "gate"
    agent.writes("half.md", "half of it\n").waits_for(str(gate)).obeys({"report.md": "whole\n"})
    caller = Caller(tmp_path / "caller", url, settings=SAFE)

    with machines(tmp_path / "machines", url, 2, key=KEY, settings=Settings(lease=1)) as found:

        def scene(sessions: list[str]) -> tuple[list[str], float]:
            victim, lost = find_holder(caller, found, sessions)
            victim.lose_power()
            gate.touch()
            return lost, time.monotonic()

        results, (lost, died_at) = begin(caller, agent, 3, scene)
        # `make cluster` holds it to the lease and five seconds; here other tests may have the processor.
        assert time.monotonic() - died_at < 60
    assert [each.status for each in results] == ["completed"] * 3
    for each in results:
        is_lost = each.session_id in lost
        assert count_runs(agent, each.session_id) == each.attempts == 1 + is_lost
        assert caller.load_row(each.session_id).fence == 1 + is_lost
    assert (caller.root / "report.md").read_text() == "whole\n"


def find_holder(caller: Caller, found: list[Machine], sessions: list[str]) -> tuple[Machine, list[str]]:
    """A machine that is at work on some of the sessions, and those."""
    held = {session: str(caller.load_row(session).worker_id) for session in sessions}
    holder = next(each for each in found if any(name.startswith(f"{each.name}-") for name in held.values()))
    return holder, [session for session in sessions if held[session].startswith(f"{holder.name}-")]


@pytest.mark.thorough
def test_what_a_dead_machine_had_is_told_as_lost_with_what_was_saved(
    tmp_path: Path, url: str, caller: Caller, agent: ScriptedAgent
) -> None:
    agent.writes("half.md", "half of it\n").hangs()

    with machines(tmp_path / "machines", url, 2, key=KEY, settings=Settings(lease=1, save_every=0.3)) as found:

        def scene(sessions: list[str]) -> None:
            wait_until(lambda: is_saved(caller, sessions[0]), "something was saved")
            find_holder(caller, found, sessions)[0].lose_power()

        (result,), _ = begin(caller, agent, 1, scene)
    assert (result.status, result.stop_reason, result.errors[0].code) == ("partial", "orphaned", "ORPHANED")
    assert [each.path for each in result.artifacts] == ["half.md"]
    assert (caller.root / "half.md").read_text() == "half of it\n"
    assert count_runs(agent, result.session_id) == 1


def is_saved(caller: Caller, session: str) -> bool:
    saved = caller.ask(lambda db: session_rows.load_checkpoint(db, session))
    return saved is not None and b"half.md" in saved


@pytest.mark.thorough
def test_a_worker_that_was_killed_goes_on_with_its_agents(
    tmp_path: Path, url: str, caller: Caller, agent: ScriptedAgent
) -> None:
    gate = tmp_path / "gate"
    agent.says("before\n").waits_for(str(gate)).obeys({"report.md": "whole\n"})

    with machines(tmp_path / "machines", url, 1, key=KEY, settings=Settings(lease=5)) as (machine,):

        def scene(sessions: list[str]) -> None:
            machine.kill()
            machine.start()
            machine.wait_ready()
            assert {each["session_id"] for each in machine.list_events() if each["event"] == "again"} == {*sessions}
            gate.touch()

        results, _ = begin(caller, agent, 3, scene)
    assert [each.status for each in results] == ["completed"] * 3
    for each in results:
        assert count_runs(agent, each.session_id) == 1, "the agent that was at work went on"
        row = caller.load_row(each.session_id)
        assert (row.state, row.fence) == ("done", 2)
        assert b"before" in load_output(caller, each.session_id)


def load_output(caller: Caller, session: str) -> bytes:
    printed: bytes = caller.ask(lambda db: output.load_output(db, session, 1, "out", 0))
    return printed


@pytest.mark.thorough
def test_a_worker_that_is_ended_leaves_its_agents_and_comes_back_to_them(
    tmp_path: Path, url: str, caller: Caller, agent: ScriptedAgent
) -> None:
    gate = tmp_path / "gate"
    agent.waits_for(str(gate)).obeys({"report.md": "whole\n"})

    with machines(tmp_path / "machines", url, 2, key=KEY, settings=Settings(lease=1)) as found:

        def scene(sessions: list[str]) -> None:
            holder, _ = find_holder(caller, found, sessions)
            assert holder.stop() == 0
            assert agent.list_living()
            time.sleep(1.5)  # longer than its lease
            holder.start()
            holder.wait_for("again", session=sessions[0])
            gate.touch()

        (result,), _ = begin(caller, agent, 1, scene)
    assert result.status == "completed"
    assert count_runs(agent, result.session_id) == 1


@pytest.mark.thorough
def test_a_worker_that_was_frozen_changes_nothing_when_it_thaws(tmp_path: Path, url: str, agent: ScriptedAgent) -> None:
    gate = tmp_path / "gate"
    agent.waits_for(str(gate)).obeys({"report.md": "the second\n"})
    caller = Caller(tmp_path / "caller", url, settings=SAFE)

    with machines(tmp_path / "machines", url, 2, key=KEY, settings=Settings(lease=1)) as found:

        def scene(sessions: list[str]) -> Machine:
            holder, _ = find_holder(caller, found, sessions)
            holder.freeze()
            wait_until(lambda: count_runs(agent, sessions[0]) == 2, "it was begun elsewhere")
            holder.thaw()
            holder.wait_for("lost", session=sessions[0])
            wait_until(lambda: len(agent.list_living()) == 1, "the first agent was ended")
            gate.touch()
            return holder

        (result,), holder = begin(caller, agent, 1, scene)
        assert not (holder.state / "sessions" / result.session_id).exists()
        assert [each["event"] for each in holder.list_events() if each["event"] == "done"] == []
    assert result.status == "completed"
    assert caller.load_row(result.session_id).fence == 2


# --- machines that are to end ---------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_a_worker_that_is_drained_finishes_and_takes_nothing_more(
    tmp_path: Path, url: str, caller: Caller, agent: ScriptedAgent
) -> None:
    gate = tmp_path / "gate"
    agent.waits_for(str(gate)).obeys({"first.md": "whole\n"})
    quick = ScriptedAgent(tmp_path / "agents", "quick").obeys()

    with machines(tmp_path / "machines", url, 2, key=KEY) as found:

        async def scene(ws: Workspace) -> tuple[list[Result], Machine]:
            first = (await ws.start(Request("scout", "Look.", command=agent.command))).row.session_id
            await until(lambda: agent.did("began"))
            holder, _ = await asyncio.to_thread(find_holder, caller, found, [first])
            draining = await asyncio.to_thread(caller.start, "worker", "drain", holder.name, "--timeout", "60")
            await asyncio.to_thread(holder.wait_for, "draining")
            done = [await ws.delegate("scout", "Look.", command=quick.command) for _ in range(4)]
            assert draining.poll() is None
            gate.touch()
            done.append(await ws.wait(first))
            assert await asyncio.to_thread(draining.wait, 30) == 0
            assert await asyncio.to_thread(holder.process.wait, 30) == 0
            return done, holder

        results, holder = caller.play(scene)
        taken = [each["session_id"] for each in holder.list_events() if each["event"] == "taken"]
    assert [each.status for each in results] == ["completed"] * 5
    assert taken == [results[-1].session_id]
