"""Workers among others: agents that hand on, a database that is away, orders that nobody should carry out."""

from __future__ import annotations

import asyncio
import os
import subprocess
import time
from typing import TYPE_CHECKING

import pytest

from remit.cluster.database import session_rows, submissions
from remit.cluster.orders import OrderSource, RemoteResult, RunOrder, read_result, render_order
from remit.cluster.row_conversion import make_posted
from remit.cluster.sealing import TicketClaims, seal, sign_ticket, unseal
from remit.ledger.runs import Run
from remit.runs.admission.limits import Budget
from remit.runs.request import Request
from remit.testing import ScriptedAgent
from tests.support.cluster_callers import KEY, Caller
from tests.support.postgres import running
from tests.support.sample_sizes import choose
from tests.support.waiting import wait_until
from tests.support.worker_machines import Settings, machines

if TYPE_CHECKING:
    from pathlib import Path

    from remit.cluster.database.store import Database
    from remit.result import Result
    from remit.runs.workspace import Workspace

pytestmark = pytest.mark.slow


@pytest.mark.thorough
def test_what_an_agent_hands_on_is_carried_out_though_its_worker_was_killed_meanwhile(tmp_path: Path, url: str) -> None:
    gate = tmp_path / "gate"
    caller = Caller(tmp_path / "caller", url)
    below = ScriptedAgent(tmp_path / "agents", "below").obeys({"part.md": "a part\n"})
    lead = ScriptedAgent(tmp_path / "agents", "lead").waits_for(str(gate)).recurses("scout", command=below.command)
    lead.obeys({"report.md": "whole\n"})

    with machines(tmp_path / "machines", url, 1, key=KEY, settings=Settings(lease=5), concurrency=1) as (machine,):

        def kill() -> None:
            wait_until(lambda: lead.did("began"), "it is at work")
            machine.kill()
            machine.start()
            machine.wait_ready()
            gate.touch()

        async def scene(ws: Workspace) -> Result:
            request = Request("lead", "Look.", command=lead.command, budget=Budget(max_turns=50, max_delegations=1))
            session = (await ws.start(request)).row.session_id
            await asyncio.to_thread(kill)
            return await ws.wait(session)

        result = caller.play(scene)
        taken = [each for each in machine.list_events() if each["event"] == "taken"]
    assert result.status == "completed", result
    assert caller.load_row(result.session_id).fence == 2, "the ticket of its agent is that of the first lease"
    assert [each["agent"] for each in taken] == ["lead", "scout"]
    row = caller.load_row(taken[1]["session_id"])
    assert (row.parent_id, row.root_id, row.depth) == (result.session_id, result.session_id, 2)
    assert row.status == "completed"
    assert (caller.root / "part.md").read_text() == "a part\n"
    assert (caller.root / "report.md").read_text() == "whole\n"


@pytest.mark.thorough
def test_agents_go_on_while_the_database_is_away(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    agent = ScriptedAgent(tmp_path / "agents").waits_for(str(gate)).obeys({"report.md": "whole\n"})

    with running() as server, server.database() as url:
        caller = Caller(tmp_path / "caller", url)
        with machines(tmp_path / "machines", url, 1, key=KEY, settings=Settings(lease=1)) as (machine,):

            def go_away(session: str) -> None:
                wait_until(lambda: agent.did("began"), "its agent is at work")
                server.stop("immediate")
                machine.wait_for("away")
                gate.touch()
                wait_until(lambda: agent.did("ended", session=session), "the agent has ended meanwhile")
                time.sleep(1.5)  # longer than its lease
                server.start()

            async def scene(ws: Workspace) -> Result:
                session = (await ws.start(Request("scout", "Look.", command=agent.command))).row.session_id
                await asyncio.to_thread(go_away, session)
                return await ws.wait(session)

            result = caller.play(scene)
            machine.wait_for("back")
            assert (
                caller.play(lambda ws: ws.delegate("scout", "Once more.", command=agent.command)).stop_reason
                == "exited"
            )
    assert result.status == "completed", result
    assert len(agent.did("began", session=result.session_id)) == 1


@pytest.mark.thorough
def test_orders_that_nobody_should_carry_out_are_refused(tmp_path: Path, url: str) -> None:
    caller = Caller(tmp_path / "caller", url)
    key = bytes.fromhex(KEY)
    token = sign_ticket(
        key, TicketClaims("sess_1_parent", "sess_1_parent", "lead", 1, ("orchestrator", "lead"), 7), b"r" * 16
    )

    def make(name: str, **changes: object) -> RunOrder:
        order = RunOrder(
            name, name, None, "scout", 1, ("orchestrator", "scout"), "command", details={"timeout_s": 60},
            source=OrderSource(parcel=f"base-{'0' * 40}"), commit="0" * 40,
        )  # fmt: skip
        return order._replace(**changes)  # type: ignore[arg-type]

    nested = {"parent_id": "sess_1_parent", "root_id": "sess_1_parent", "depth": 2, "ticket": token}
    path = ("orchestrator", "lead", "scout")
    bodies = {
        "sess_1_forged": seal(os.urandom(32), "order", render_order(make("sess_1_forged"))),
        "sess_1_other": seal(key, "order", render_order(make("sess_1_elsewhere"))),
        "sess_1_gone": seal(key, "order", render_order(make("sess_1_gone"))),
        "sess_1_over": seal(key, "order", render_order(make("sess_1_over", **nested, path=path))),
        "sess_1_deep": seal(key, "order", render_order(make("sess_1_deep", **nested | {"depth": 3}, path=path))),
        "sess_1_kind": seal(key, "outcome", render_order(make("sess_1_kind"))),
    }
    words = {
        "sess_1_forged": "wasn't sealed with this machine's key", "sess_1_other": "the order is that of",
        "sess_1_gone": "the database no longer has", "sess_1_over": "of the ticket has ended",
        "sess_1_deep": "call chain doesn't match its ticket", "sess_1_kind": "wasn't sealed",
    }  # fmt: skip

    async def post(db: Database) -> None:
        for name, body in bodies.items():
            row = Run(name, "scout", 1, ("orchestrator", "scout"), root_id=name, details={"timeout_s": 60})
            assert await submissions.post(db, make_posted(row, body))

    with machines(tmp_path / "machines", url, 1, key=KEY):
        caller.ask(post)
        wait_until(lambda: all(caller.load_row(name).state == "done" for name in bodies), "all have a result")
    for name, word in words.items():
        result = load_outcome(caller, name).report["result"]
        assert (result["status"], result["remit"]["stop_reason"]) == ("failed", "rejected")
        assert word in result["summary"], result["summary"]


def load_outcome(caller: Caller, session: str) -> RemoteResult:
    return read_result(
        unseal(bytes.fromhex(KEY), "outcome", caller.ask(lambda db: session_rows.load_result(db, session)))
    )


@pytest.mark.thorough
def test_a_machine_that_cannot_leaves_it_to_one_that_can(tmp_path: Path, url: str) -> None:
    caller = Caller(tmp_path / "caller", url)
    agent = ScriptedAgent(tmp_path / "agents").obeys()

    with machines(tmp_path / "machines", url, 2, key=KEY, settings=Settings(lease=1)) as (broken, whole):
        store = broken.state / "store"
        store.rmdir()
        store.write_text("no folder\n")
        results = [
            caller.play(lambda ws: ws.delegate("scout", "Look.", command=agent.command)) for _ in range(choose(3, 5))
        ]
        whole.stop()
        alone = caller.play(lambda ws: ws.delegate("scout", "Look.", command=agent.command))
        assert [each for each in broken.list_events() if each["event"] == "unable"]
    assert [each.status for each in results] == ["completed"] * choose(3, 5)
    assert (alone.status, alone.stop_reason) == ("failed", "rejected"), "there is nobody else"


@pytest.mark.thorough
def test_a_small_worker_gives_back_what_it_has_no_room_for(tmp_path: Path, url: str) -> None:
    gate = tmp_path / "gate"
    agent = ScriptedAgent(tmp_path / "agents").waits_for(str(gate)).obeys({"report.md": "whole\n"})
    caller = Caller(tmp_path / "caller", url)

    async def scene(ws: Workspace) -> list[Result]:
        requests = [Request("scout", "Look.", command=agent.command) for _ in range(5)]
        started = [await ws.start(request) for request in requests]
        sessions = [each.row.session_id for each in started]
        await asyncio.to_thread(wait_until, lambda: len(agent.did("began")) == 5, "all are at work at once")
        gate.touch()
        return [await ws.wait(session) for session in sessions]

    with (
        machines(tmp_path / "large", url, 1, key=KEY, concurrency=4) as (large,),
        machines(tmp_path / "small", url, 1, key=KEY, concurrency=1) as (small,),
    ):
        results = caller.play(scene)
        taken = [
            len([each for each in machine.list_events() if each["event"] == "taken"]) for machine in (large, small)
        ]
    assert [each.status for each in results] == ["completed"] * 5
    assert taken == [4, 1]


@pytest.mark.thorough
def test_trees_travel_by_a_remote_and_each_owner_has_a_branch(tmp_path: Path, url: str) -> None:
    gate, remote = tmp_path / "gate", tmp_path / "remote.git"
    subprocess.run(["git", "init", "-q", "--bare", str(remote)], check=True)
    settings = f'[agents.scout]\nretry = "safe"\n[cluster]\nremote = "file://{remote}"\n'
    caller = Caller(tmp_path / "caller", url, settings=settings)
    agent = ScriptedAgent(tmp_path / "agents").writes("half.md", "half\n").waits_for(str(gate)).obeys()

    with machines(tmp_path / "machines", url, 2, key=KEY, settings=Settings(lease=1, save_every=0.2)) as found:

        def lose(session: str) -> None:
            wait_until(lambda: f"remit/{session}" in list_branches(remote), "something was saved")
            worker_id = str(caller.load_row(session).worker_id)
            next(each for each in found if worker_id.startswith(f"{each.name}-")).lose_power()
            gate.touch()

        async def scene(ws: Workspace) -> Result:
            session = (await ws.start(Request("scout", "Look.", command=agent.command))).row.session_id
            await asyncio.to_thread(lose, session)
            return await ws.wait(session)

        result = caller.play(scene)
    assert result.status == "completed", result
    assert {f"remit/{result.session_id}", f"remit/{result.session_id}.2"} <= list_branches(remote)
    assert (caller.root / "half.md").read_text() == "half\n"


def list_branches(remote: Path) -> set[str]:
    command = ["git", "-C", str(remote), "for-each-ref", "--format=%(refname:short)", "refs/heads"]
    return set(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split())
