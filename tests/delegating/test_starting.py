"""Starting many at once, and going away while one is being written down."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from remit.app.delegating.asking import Request
from remit.app.delegating.workspace import Workspace
from remit.delegate.admission.ticket import CARRIED, SESSION
from remit.errors import RefusedError, UsageError
from remit.workspace.brokers import is_present

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def make_request(function: Callable[[str], object], prompt: str = "Do it.") -> Request:
    return Request("worker", prompt, function=function, evidence=False, settles=False)


def test_many_at_once_end_each_with_its_own_result(root: Path) -> None:
    (root / "remit.toml").write_text("[limits]\nrunning = 3\n")
    at_once: list[int] = []
    running = 0

    async def work(prompt: str) -> str:
        nonlocal running
        running += 1
        at_once.append(running)
        await asyncio.sleep(0.001)
        running -= 1
        return f"no return, but {prompt.partition('Do ')[2][:6]}"

    async def run() -> list[str]:
        async with Workspace.open(root) as ws:
            requests = [make_request(work, f"Do {number:06d}.") for number in range(40)]
            envelopes = await asyncio.gather(*(ws.run(request) for request in requests))
            assert not ws.list()
            return [envelope.session_id for envelope in envelopes]

    assert len(set(asyncio.run(run()))) == 40
    assert len(at_once) == 40
    assert max(at_once) == 3


def test_one_that_is_refused_costs_no_other_that_is_written_with_it(root: Path) -> None:
    async def work(_: str) -> str:
        return "done"

    async def run() -> list[object]:
        async with Workspace.open(root) as ws:

            async def run_without_ticket() -> object:
                CARRIED.set({SESSION: "sess_1_abcdef"})
                return await ws.run(make_request(work))

            parts = [ws.run(make_request(work)), run_without_ticket(), ws.run(make_request(work))]
            told = await asyncio.gather(*parts, ws.run(make_request(work, " ")), return_exceptions=True)
            assert len(ws.list(only_open=False)) == 2
            return list(told)

    told = asyncio.run(run())
    assert isinstance(told[1], RefusedError)
    assert isinstance(told[3], UsageError)
    assert [type(told[place]).__name__ for place in (0, 2)] == ["Envelope"] * 2


def test_what_is_being_written_down_is_driven_or_left_whole(root: Path) -> None:
    called: list[str] = []

    async def work(prompt: str) -> str:
        called.append(prompt)
        await asyncio.sleep(60)
        return ""

    async def run() -> None:
        ws = Workspace.open(root)
        starting = asyncio.ensure_future(ws.start(make_request(work)))
        await asyncio.sleep(0)  # it has asked to be written down, and nothing is written yet
        assert not ws.list()
        starting.cancel()
        await asyncio.sleep(0)
        owner = ws.engine.id
        await ws.close()
        await asyncio.sleep(0)
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        assert not tasks
        other = Workspace.open(root)
        assert [row.owner for row in other.list()] == [owner]
        assert not is_present(other.home, owner)
        await other.close()

    asyncio.run(run())
    assert not called
