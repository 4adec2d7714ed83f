"""An agent that is lost with its shim: run again where its work may be done twice, else what it left is told."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from typing import TYPE_CHECKING

from remit.attempts.folders import find_folder
from remit.ledger.runs import list_attempts
from remit.runs.request import Request
from remit.runs.workspace import Workspace

if TYPE_CHECKING:
    from pathlib import Path

    from remit.result import Result
    from remit.testing.agent import ScriptedAgent


def lose(root: Path, agent: ScriptedAgent, *, losses: int, reasks: int = 2) -> tuple[Result, list[str | None]]:
    """Delegate, kill the shim so many times, and let the agent end after that; how each attempt ended."""

    async def delegate() -> tuple[Result, list[str | None]]:
        async with Workspace.open(root) as ws:
            command = agent.waits_for("go").obeys().command
            request = Request(None, "Write a report.", command=command, finishes=False, timeout_s=30, reasks=reasks)
            session_id = (await ws.start(request)).row.session_id
            for number in range(1, losses + 1):
                folder = find_folder(ws.home, session_id, number)
                while len(agent.did("began")) < number:  # noqa: ASYNC110 - what happens in another process
                    await asyncio.sleep(0.01)
                with open(f"{folder}/pids.json", encoding="utf-8") as file:  # noqa: PTH123, ASYNC230 - a line
                    os.kill(json.load(file)["shim"], signal.SIGKILL)
            (root / "go").touch()
            result = await ws.wait(session_id)
            return result, [each.stop_reason for each in list_attempts(ws.home.ledger, session_id)]

    return asyncio.run(asyncio.wait_for(delegate(), 60))


def test_what_may_be_done_twice_is_run_again_when_it_was_lost(root: Path, agent: ScriptedAgent) -> None:
    (root / "remit.toml").write_text('[runners.command]\nretry = "safe"\n')
    result, endings = lose(root, agent, losses=1)
    assert (result.status, result.attempts) == ("completed", 2)
    assert endings == ["orphaned", "exited"]
    assert len(agent.did("began")) == 2


def test_it_is_run_again_only_as_often_as_it_may_be_asked_again(root: Path, agent: ScriptedAgent) -> None:
    (root / "remit.toml").write_text('[runners.command]\nretry = "safe"\n')
    result, endings = lose(root, agent, losses=2, reasks=1)
    assert (result.status, result.errors[0].code) == ("partial", "ORPHANED")
    assert endings == ["orphaned", "orphaned"]


def test_what_may_not_be_done_twice_is_not(root: Path, agent: ScriptedAgent) -> None:
    result, endings = lose(root, agent, losses=1)
    assert (result.status, result.errors[0].code) == ("partial", "ORPHANED")
    assert endings == ["orphaned"]
    assert len(agent.did("began")) == 1
