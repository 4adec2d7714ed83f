"""Opening a workspace: a person's takes up what was left, an agent's does not."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from remit.runs.request import Request
from remit.runs.workspace import Workspace
from remit.testing.agent import ScriptedAgent

if TYPE_CHECKING:
    from pathlib import Path

    from remit.result import Result


@pytest.fixture(autouse=True)
def _person(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever runs the tests is nobody's agent."""
    for name in ("REMIT_TICKET", "REMIT_SESSION_ID", "REMIT_ROOT"):
        monkeypatch.delenv(name, raising=False)


def test_an_agent_takes_up_nothing_that_would_end_with_it(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    agent = ScriptedAgent(tmp_path_factory.mktemp("agents")).obeys()
    request = Request(None, "Write a report.", command=agent.command)
    (tmp_path / ".git").mkdir()

    async def open_as(environ: dict[str, str]) -> int:
        async with Workspace.open(tmp_path, environ=environ) as ws:
            return sum(row.owner == ws.backend.id for row in ws.list())

    async def wait(session_id: str) -> Result:
        async with Workspace.open(tmp_path) as ws:
            return await ws.wait(session_id)

    ws = Workspace.open(tmp_path)
    session_id = ws.prepare(request, owner="1-gone").row.session_id
    ws.home.close()
    assert asyncio.run(open_as({"REMIT_TICKET": "remit1_x"})) == 0
    assert asyncio.run(open_as({})) == 1
    assert asyncio.run(wait(session_id)).status == "completed"
    assert len(agent.did("began")) == 1
