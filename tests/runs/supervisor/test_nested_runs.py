"""Nested runs end with their caller, whichever supervisor drives them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from remit.attempts.folders import list_living
from remit.ledger.runs import load_run
from remit.runs.request import Request
from remit.runs.workspace import Workspace

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("by_server", [False, True])
def test_a_nested_run_ends_with_its_caller(root: Path, *, by_server: bool) -> None:
    """As with a run that an agent posts to `remit serve`: that process lives on when the agent has ended."""

    async def delegate() -> None:
        async with Workspace.open(root) as ws, Workspace.open(root) as server:
            nested: list[str] = []

            async def call(_: str) -> str:
                request = Request(None, "Go.", command="sleep 60", evidence=False, finishes=False, timeout_s=60)
                nested.append((await (server if by_server else ws).start(request)).row.session_id)
                while not list_living(ws.home):  # noqa: ASYNC110 - what happens in another process
                    await asyncio.sleep(0.01)
                return "no return"

            await ws.delegate(None, "Call.", function=call, evidence=False, finishes=False, timeout_s=60)
            row = load_run(ws.home.ledger, nested[0])
            assert row is not None
            assert row.parent_id, "it was not nested"
            assert (row.state, row.stop_reason) == ("finished", "cancelled")
            assert list_living(ws.home) == []

    asyncio.run(asyncio.wait_for(delegate(), 50))
