"""Starting many at once, and going away while one is being written down."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from remit.errors import RefusedError, StorageError, UsageError
from remit.ledger.home import Home
from remit.ledger.runs import list_runs
from remit.runs.admission.tickets import CARRIED, SESSION
from remit.runs.backend import LocalBackend
from remit.runs.request import Request
from remit.runs.workspace import Workspace
from remit.storage.supervisor_presence import is_present

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping
    from pathlib import Path

    from remit.runs.backend import Admit


def make_request(function: Callable[[str], object], prompt: str = "Do it.") -> Request:
    return Request("worker", prompt, function=function, evidence=False, finishes=False)


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
            results = await asyncio.gather(*(ws.run(request) for request in requests))
            assert not ws.list()
            return [result.session_id for result in results]

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
    assert [type(told[place]).__name__ for place in (0, 2)] == ["Result"] * 2


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
        owner = ws.backend.id
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


class Deaf(LocalBackend):
    """A backend whose other machines cannot be told of what was admitted."""

    @asynccontextmanager
    async def admitting(self, environ: Mapping[str, str]) -> AsyncIterator[Admit]:
        """As here, until it is told."""

        async def announce(session_id: str) -> None:
            raise StorageError(f"nobody hears of {session_id}")

        async with super().admitting(environ):
            yield announce


def test_one_that_cannot_be_announced_is_not_run_by_anybody_later(root: Path) -> None:
    ran: list[str] = []

    async def start() -> None:
        async with Workspace.open(root) as ws:
            ws.backend = Deaf(ws.supervisor)
            request = make_request(ran.append)
            with pytest.raises(StorageError, match="nobody hears of"):
                await ws.run(request)
            (told,) = await ws.delegate_all([request], batch="once")
            assert told.status == "failed"
            async with asyncio.timeout(20):
                while ws.list():  # noqa: ASYNC110 - by whoever drives them
                    await asyncio.sleep(0.01)

    asyncio.run(start())
    rows = list_runs(Home(str(root)).ledger, limit=10)
    assert [(row.state, row.stop_reason) for row in rows] == [("finished", "cancelled")] * 2
    assert ran == []
