"""Trees: what an agent has handed on ends with it, is told truly, and is settled before it."""

import asyncio
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest

from remit.attempts.folders import list_living
from remit.ledger.runs import Run, count_attempts
from remit.runs.workspace import Workspace

REMIT = f"{sys.executable} -m remit"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    return tmp_path


def nest(command: str, *options: str) -> str:
    """A command that hands on to another agent and waits for it."""
    inner = f"{REMIT} run go --command {shlex.quote(command)} {shlex.join(options)}"
    return f"sh -c {shlex.quote(inner)}"


def find(ws: Workspace, depth: int) -> Run | None:
    return next((row for row in ws.list(only_open=False) if row.depth == depth), None)


async def wait_for_child(ws: Workspace, depth: int) -> Run:
    """The delegation at a depth, once its agent is at work."""
    last = time.monotonic() + 60
    while time.monotonic() < last:
        row = find(ws, depth)
        if row is not None and row.state == "running" and count_attempts(ws.home.ledger, row.session_id):
            return row
        await asyncio.sleep(0.05)
    raise AssertionError("no child began")


@pytest.mark.slow
def test_a_tree_that_is_cancelled_is_cancelled_at_every_depth(root: Path) -> None:
    async def play() -> None:
        async with Workspace.open(root) as ws:
            work = asyncio.ensure_future(ws.delegate(None, "go", command=nest(nest("sleep 60"))))
            await wait_for_child(ws, 3)
            top = find(ws, 1)
            assert top is not None
            await ws.cancel(top.session_id, reason="no longer wanted")
            assert (await work).stop_reason == "cancelled"
            rows = ws.list(only_open=False)
            assert [(row.state, row.stop_reason) for row in rows] == [("finished", "cancelled")] * 3
            assert not list_living(ws.home)

    asyncio.run(play())


@pytest.mark.slow
def test_a_tree_whose_time_is_up_is_settled_at_every_depth(root: Path) -> None:
    async def play() -> None:
        async with Workspace.open(root) as ws:
            result = await ws.delegate(None, "go", command=nest("sleep 60"), timeout_s=8)
            assert result.stop_reason == "timeout"
            rows = ws.list(only_open=False)
            assert [(row.state, row.stop_reason) for row in rows] == [("finished", "timeout")] * 2
            ended = [row.ended_ms or 0 for row in rows]
            assert max(ended) - min(ended) < 5_000

    asyncio.run(play())


@pytest.mark.slow
def test_what_an_agent_left_behind_ends_with_it(root: Path) -> None:
    """Its supervisor is one of the agent's own processes, and goes with it."""
    script = nest("sleep 60") + " & sleep 6"
    left = f"sh -c {shlex.quote(script)}"

    async def play() -> None:
        async with Workspace.open(root) as ws:
            work = asyncio.ensure_future(ws.delegate(None, "go", command=left))
            await wait_for_child(ws, 2)
            assert (await work).status != "completed"
            child = find(ws, 2)
            assert child is not None
            assert (child.state, child.stop_reason) == ("finished", "cancelled")

    asyncio.run(play())


@pytest.mark.slow
def test_work_without_a_file_below_its_like_is_no_circle(root: Path) -> None:
    """R2.5 is about agents: two commands are two, up to the depth that is allowed."""
    os.environ.pop("REMIT_TICKET", None)

    async def play() -> list[tuple[str, int]]:
        async with Workspace.open(root) as ws:
            await ws.delegate(None, "go", command=nest(nest(nest("true"))))
            return sorted((row.agent, row.depth) for row in ws.list(only_open=False))

    assert asyncio.run(play()) == [("command", 1), ("command-2", 2), ("command-3", 3)]
