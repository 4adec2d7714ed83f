"""The server as the library's own client sees it, in every way in which a connection can be opened."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Any

import pytest

from remit.mcp.catalog import BY_NAME
from remit.testing.agent import ScriptedAgent
from tests.support.mcp_peer import make_environ, make_workspace
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from mcp.client.client import Client

pytestmark = pytest.mark.slow


def talk(root: Path, mode: str, play: Callable[[Client], Awaitable[None]]) -> None:
    """Open a connection in one of the ways that there are, and talk."""
    # Here, so that nobody pays for the library who only collects the tests.
    from mcp.client.client import Client  # noqa: PLC0415
    from mcp.client.stdio import StdioServerParameters, stdio_client  # noqa: PLC0415

    server = StdioServerParameters(
        command=sys.executable, args=["-m", "remit", "mcp"], env=make_environ(), cwd=str(root)
    )

    async def run() -> None:
        async with Client(stdio_client(server), mode=mode) as client:
            await play(client)

    asyncio.run(asyncio.wait_for(run(), 90))


@pytest.mark.thorough("legacy", "2026")
@pytest.mark.parametrize("mode", ["legacy", "auto", "2026-07-28"])
def test_a_client_lists_calls_and_reads(mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = ScriptedAgent(tmp_path / "agents", "obeys").sleeps(1.5).obeys()
    root = make_workspace(tmp_path / "root", monkeypatch, obeys=agent.command)
    told: list[str | None] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        del progress, total
        told.append(message)

    async def play(client: Client) -> None:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == [*BY_NAME]
        assert all(tool.output_schema for tool in tools)
        given = {"prompt": "Write a report.", "runner": "obeys"}
        result: Any = await client.call_tool("delegate", given, progress_callback=hear)
        assert result.is_error is False
        result = result.structured_content["result"]
        assert result["status"] == "completed"
        found = (await client.list_resources()).resources
        uris = [str(each.uri) for each in found]
        assert uris == [f"remit://runs/{result['remit']['session_id']}/result"]
        read: Any = await client.read_resource(uris[0])
        assert '"completed"' in read.contents[0].text
        assert len((await client.list_resource_templates()).resource_templates) == 5
        refused: Any = await client.call_tool("delegate", {"agent": "nobody", "prompt": "x"})
        assert refused.is_error is True
        assert refused.structured_content["error"]["code"] == "REFUSED"

    talk(root, mode, play)
    assert told
    assert "obeys" in str(told[0])


@pytest.mark.thorough("legacy")
@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_client_that_gives_up_ends_the_work(mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = ScriptedAgent(tmp_path / "agents", "hangs").hangs()
    root = make_workspace(tmp_path / "root", monkeypatch, hangs=agent.command)

    async def play(client: Client) -> None:
        call = client.call_tool("delegate", {"prompt": "Go.", "runner": "hangs"})
        calling = asyncio.ensure_future(call)
        await asyncio.to_thread(wait_until, lambda: agent.did("began"), "the agent began")
        calling.cancel()
        await asyncio.to_thread(wait_until, lambda: not agent.list_living(), "the agent ended")
        result: Any = await client.call_tool("status", {"all": True})
        assert result.structured_content["items"][0]["agent"] == "hangs"

    talk(root, mode, play)
