"""What is in the way of settling is told; and the workspace that was opened counts, not the folder we are in."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from remit.runs.workspace import Workspace
from remit.testing import ScriptedAgent

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "work"
    (root / ".git").mkdir(parents=True)
    return root


def test_what_cannot_be_settled_is_told_and_the_work_is_not_lost(root: Path, tmp_path: Path) -> None:
    agent = ScriptedAgent(tmp_path / "agents").writes("remit.toml", "this is not TOML\n").obeys()

    async def run() -> None:
        async with Workspace.open(root) as ws:
            result = await ws.delegate(None, "Do it.", command=agent.command, commits=False)
            assert result.status == "completed"
            assert ["valid TOML" in each.message for each in result.failed_steps] == [True]
            assert ws.list() == []

    asyncio.run(run())


def test_a_workspace_is_settled_from_any_folder(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "remit.toml").write_text("this is not TOML\n")
    monkeypatch.chdir(elsewhere)
    agent = ScriptedAgent(tmp_path / "agents").obeys()

    async def run() -> None:
        async with Workspace.open(root) as ws:
            result = await ws.delegate(None, "Do it.", command=agent.command, commits=False)
            assert (result.status, result.failed_steps) == ("completed", ())

    asyncio.run(run())
