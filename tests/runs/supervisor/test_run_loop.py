"""A drive that is in trouble: what cannot be started is told and never begun later, and what runs is not given up."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import time
from typing import TYPE_CHECKING

import pytest

from remit.attempts.folders import find_folder, is_alive
from remit.attempts.process_owner import load_pids
from remit.errors import StorageError
from remit.ledger.runs import Run, add_run, load_run
from remit.runs.request import Request
from remit.runs.run_control import wait_for
from remit.runs.workspace import Workspace
from tests.support.spoiled_ledger import spoil_ledger

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from remit.result import Result
    from remit.testing.agent import ScriptedAgent


def make_request(agent: ScriptedAgent) -> Request:
    return Request(None, "Write a report.", command=agent.command, finishes=False)


async def wait_until(holds: Callable[[], object]) -> None:
    while not holds():  # noqa: ASYNC110 - what happens in another process
        await asyncio.sleep(0.01)


def run(root: Path, request: Request) -> Result:
    async def delegate() -> Result:
        async with Workspace.open(root) as ws:
            return await ws.run(request)

    return asyncio.run(delegate())


def test_what_was_told_to_have_failed_is_not_begun_by_the_next(root: Path, agent: ScriptedAgent) -> None:
    (root / ".remit").mkdir()
    (root / ".remit/living").touch()  # where a folder would have to be
    told = run(root, make_request(agent.obeys()))
    assert (told.status, told.stop_reason) == ("failed", "rejected")
    assert "living" in told.errors[0].message
    (root / ".remit/living").unlink()
    assert run(root, make_request(agent)).status == "completed"
    assert len(agent.did("began")) == 1


def test_an_attempt_whose_place_an_agent_has_taken_is_refused(root: Path) -> None:
    script = "mkdir -p .remit/sessions/$REMIT_SESSION_ID/2; touch .remit/sessions/$REMIT_SESSION_ID/2/started; echo no"
    command = f"sh -c '{script}'"
    (root / "remit.toml").write_text('[agents.claude]\nretry = "safe"\n')
    told = run(root, Request("claude", "Do it.", command=command, finishes=False, reasks=1))
    assert (told.status, told.stop_reason) == ("failed", "rejected")
    assert told.errors[0].message.endswith("was already started")


def test_a_note_that_cannot_be_written_ends_nothing(
    root: Path, agent: ScriptedAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed: list[str] = []

    async def delegate() -> Result:
        async with Workspace.open(root) as ws:
            ledger = ws.home.ledger

            def fail(*_: object, **__: object) -> None:
                failed.append("report")
                raise StorageError("the disk is full")

            write = ledger.transaction
            report = ws.supervisor.report

            def report_nothing(session_id: str, kind: str, details: dict[str, object]) -> None:
                monkeypatch.setattr(ledger, "transaction", fail)
                report(session_id, kind, details)
                monkeypatch.setattr(ledger, "transaction", write)

            monkeypatch.setattr(ws.supervisor, "report", report_nothing)
            return await ws.run(make_request(agent.obeys()))

    assert asyncio.run(delegate()).status == "completed"
    assert failed


@pytest.mark.slow
def test_a_ledger_that_is_busy_for_long_is_waited_for(
    root: Path, agent: ScriptedAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("remit.ledger.store.BUSY_SECONDS", 0.1)
    monkeypatch.setattr("remit.runs.supervisor.supervisor._BUSY_PAUSE_S", 0.1)
    drives = 0

    async def delegate() -> Result:
        nonlocal drives
        async with Workspace.open(root) as ws:
            drive = ws.supervisor._run  # noqa: SLF001 - one more try

            async def count(session_id: str) -> Result:
                nonlocal drives
                drives += 1
                return await drive(session_id)

            monkeypatch.setattr(ws.supervisor, "_run", count)
            prepared = await ws.start(make_request(agent.obeys()))
            await wait_until(lambda: agent.did("began"))
            other = sqlite3.connect(ws.home.ledger_file, isolation_level=None)
            other.execute("BEGIN IMMEDIATE")
            asyncio.get_running_loop().call_later(1.0, other.execute, "ROLLBACK")
            result = await ws.wait(prepared.row.session_id)
            other.close()
            return result

    assert asyncio.run(delegate()).status == "completed"
    assert drives > 1
    assert len(agent.did("began")) == 1


def test_who_cannot_go_on_says_that_it_is_not_over_and_takes_it_up_again(root: Path, agent: ScriptedAgent) -> None:
    async def delegate() -> Result:
        async with Workspace.open(root) as ws:
            prepared = await ws.start(make_request(agent.obeys()))
            await wait_until(lambda: agent.did("began"))
            spoil_ledger(root, "BEFORE UPDATE ON attempts")
            session_id = prepared.row.session_id
            with pytest.raises(StorageError) as raised:
                await ws.wait(session_id)
            assert str(raised.value).endswith(f"; the run isn't finished; to continue it: remit wait {session_id}")
            with sqlite3.connect(ws.home.ledger_file) as db:
                db.execute("DROP TRIGGER broken")
            return await ws.wait(session_id)

    assert asyncio.run(delegate()).status == "completed"
    assert len(agent.did("began")) == 1


def test_what_is_settled_is_not_kept_in_the_process(root: Path) -> None:
    async def work() -> None:
        async with Workspace.open(root) as ws:
            request = Request("worker", "Do it.", function=lambda _: "no return", finishes=False, evidence=False)
            results = [await ws.run(request) for _ in range(3)]
            assert [await ws.wait(each.session_id) for each in results] == results
            assert not ws.backend._tasks  # type: ignore[attr-defined]  # noqa: SLF001 - what nobody else sees
            assert not ws.supervisor.functions

    asyncio.run(work())


# --- a runner that is gone -------------------------------------------------------------------------------------------


def test_a_runner_that_was_taken_out_of_the_settings_is_still_understood(
    root: Path, agent: ScriptedAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("remit.runs.admission.draft.check_trust", lambda *_: None)
    (root / "remit.toml").write_text(f"[runners.mine]\ncommand = {agent.obeys().command!r}\n")
    ws = Workspace.open(root)
    session_id = ws.prepare(Request(None, "Write a report.", runner="mine"), owner="1-gone").row.session_id
    ws.home.close()
    (root / "remit.toml").unlink()

    async def wait() -> Result:
        async with Workspace.open(root) as ws:
            return await ws.wait(session_id)

    assert asyncio.run(wait()).status == "completed"


def test_a_delegation_whose_runner_nobody_knows_ends_and_costs_no_other_its_result(
    root: Path, agent: ScriptedAgent
) -> None:
    good = run(root, make_request(agent.obeys()))

    async def wait() -> tuple[list[str], str]:
        async with Workspace.open(root) as ws:
            row = Run("sess_bad", "worker", 1, ("orchestrator", "worker"), owner="1-gone", runner="ghost")
            add_run(ws.home.ledger, row)
            waited = await wait_for(ws, ["sess_bad", good.session_id], timeout_s=20)
            bad = load_run(ws.home.ledger, "sess_bad")
            assert bad is not None
            told = waited[0].result
            assert told is not None
            assert "there is no runner 'ghost'" in f"{told.summary}{told.errors}"
            return [each.result.stop_reason for each in waited if each.result is not None], bad.state

    assert asyncio.run(wait()) == (["orphaned", "exited"], "finished")


def test_an_agent_of_a_runner_that_is_gone_is_ended(root: Path) -> None:
    async def wait() -> None:
        async with Workspace.open(root) as ws:
            request = Request(None, "Hang.", command="sleep 100", finishes=False)
            prepared = await ws.start(request)
            folder = find_folder(ws.home, prepared.row.session_id, 1)
            await wait_until(lambda: os.path.exists(f"{folder}/started"))  # noqa: PTH110 - a string
        async with Workspace.open(root) as ws:
            with ws.home.ledger.transaction() as db:
                db.execute("UPDATE runs SET runner = 'ghost', owner = '1-gone'")
            began = time.monotonic()
            assert is_alive(folder)
            assert (await ws.wait(prepared.row.session_id)).stop_reason == "orphaned"
            assert not is_alive(folder)
            assert time.monotonic() - began < 10

    asyncio.run(wait())


def test_one_that_nobody_can_wait_for_costs_no_other_its_result(root: Path, agent: ScriptedAgent) -> None:
    good = run(root, make_request(agent.obeys()))

    async def wait() -> None:
        async with Workspace.open(root) as ws:
            bad, waited = await wait_for(ws, ["sess_nobody", good.session_id], timeout_s=20)
            assert (bad.result, str(bad.error).startswith("there is no run sess_nobody")) == (None, True)
            assert waited.result is not None
            assert waited.result.status == "completed"

    asyncio.run(wait())


def test_an_agent_whose_keeper_was_killed_is_told_so(root: Path) -> None:
    async def work() -> None:
        async with Workspace.open(root) as ws:
            prepared = await ws.start(Request(None, "Hang.", command="sleep 100", finishes=False))
            folder = find_folder(ws.home, prepared.row.session_id, 1)
            await wait_until(lambda: os.path.exists(f"{folder}/pids.json"))  # noqa: PTH110 - a string
            keeper = load_pids(folder)
            assert keeper is not None
            os.kill(keeper.keeper, signal.SIGKILL)
            told = await ws.wait(prepared.row.session_id)
            assert (told.status, told.stop_reason) == ("failed", "crashed")
            assert told.errors[0].message.startswith("the program was ended with the process that kept it")

    asyncio.run(work())
