"""What many tasks write at one moment: one transaction, each part by itself, on disk before anybody is told."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

import pytest

from remit.errors import BusyError, RefusedError
from remit.ledger.events import add_event, load_events
from remit.ledger.home import Home
from remit.runs.supervisor.ledger_group_commit import GroupCommit

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from remit.ledger.store import Connection

ASKER: ContextVar[str] = ContextVar("asker", default="nobody")


class Watched:
    """A home whose durable transactions are counted, and which may fail at the end of one."""

    def __init__(self, folder: Path) -> None:
        self.home = Home(str(folder))
        self.transactions = 0
        self.fails = False
        self._transaction = self.home.ledger.transaction
        self.home.ledger.transaction = self.transaction  # type: ignore[method-assign] # to count them

    @contextmanager
    def transaction(self, *, durable: bool = False) -> Iterator[Connection]:
        """A transaction as it is, counted."""
        self.transactions += durable
        with self._transaction(durable=durable) as db:
            yield db
            if self.fails:
                raise BusyError("the disk is somewhere else", hint="wait")

    def list_kinds(self) -> list[str]:
        """What was written."""
        return [event.kind for event in load_events(self.home.ledger)]


@pytest.fixture
def watched(tmp_path: Path) -> Watched:
    return Watched(tmp_path)


def test_what_comes_at_one_moment_is_one_transaction(watched: Watched) -> None:
    together = GroupCommit(watched.home)

    async def write(name: str) -> int:
        return await together.write(lambda db: add_event(db, name, {}))

    async def run() -> list[int]:
        return list(await asyncio.gather(*(write(f"event {number}") for number in range(50))))

    numbers = asyncio.run(run())
    assert numbers == sorted(numbers)
    assert watched.list_kinds() == [f"event {number}" for number in range(50)]
    assert watched.transactions == 1


def test_one_that_is_refused_leaves_nothing_and_costs_no_other(watched: Watched) -> None:
    together = GroupCommit(watched.home)

    def refuse(db: Connection) -> None:
        add_event(db, "half of it", {})
        raise RefusedError("not this one", hint="ask for another")

    async def run() -> list[object]:
        parts = [together.write(lambda db: add_event(db, "first", {})), together.write(refuse)]
        parts.append(together.write(lambda db: add_event(db, "last", {})))
        return list(await asyncio.gather(*parts, return_exceptions=True))

    told = asyncio.run(run())
    assert isinstance(told[1], RefusedError)
    assert watched.list_kinds() == ["first", "last"]


def test_nobody_is_told_that_it_is_written_where_it_is_not(watched: Watched) -> None:
    together = GroupCommit(watched.home)
    watched.fails = True

    async def run() -> list[object]:
        parts = [together.write(lambda db: add_event(db, "lost", {})) for _ in range(3)]
        return list(await asyncio.gather(*parts, return_exceptions=True))

    assert [type(each) for each in asyncio.run(run())] == [BusyError] * 3
    watched.fails = False
    assert watched.list_kinds() == []
    assert asyncio.run(together.write(lambda db: add_event(db, "later", {})))


def test_each_part_is_done_in_the_context_of_whoever_asks(watched: Watched) -> None:
    together = GroupCommit(watched.home)

    async def ask(name: str) -> str:
        ASKER.set(name)
        return await together.write(lambda _: ASKER.get())

    async def run() -> list[str]:
        return list(await asyncio.gather(ask("one"), ask("two"), ask("three")))

    assert asyncio.run(run()) == ["one", "two", "three"]
    assert watched.transactions == 1


def test_whoever_is_cancelled_before_writes_nothing(watched: Watched) -> None:
    together = GroupCommit(watched.home)

    async def run() -> None:
        gone = asyncio.ensure_future(together.write(lambda db: add_event(db, "gone", {})))
        stays = asyncio.ensure_future(together.write(lambda db: add_event(db, "stays", {})))
        await asyncio.sleep(0)
        gone.cancel()
        await stays
        assert gone.cancelled()

    asyncio.run(run())
    assert watched.list_kinds() == ["stays"]


def test_other_processes_are_not_kept_waiting_for_long(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("remit.runs.supervisor.ledger_group_commit._MOST_SECONDS", 0.0)
    together = GroupCommit(watched.home)

    async def run() -> None:
        await asyncio.gather(*(together.write(lambda db: add_event(db, "one", {})) for _ in range(4)))

    asyncio.run(run())
    assert len(watched.list_kinds()) == 4
    assert watched.transactions == 4
