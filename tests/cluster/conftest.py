"""A PostgreSQL for these tests, and in it an empty database for each."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from remit.cluster.database.store import Database
from tests.support.postgres import Missing, shared

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from tests.support.postgres import Server


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[Server]:
    """The server, shared by all processes of this run."""
    folder = tmp_path_factory.getbasetemp()
    try:
        with shared((folder if worker_id == "master" else folder.parent) / "postgres.json") as server:
            yield server
    except Missing as error:
        pytest.skip(f"NO POSTGRESQL, nothing of the cluster is tested: {error}")


@pytest.fixture
def url(postgres: Server) -> Iterator[str]:
    """The address of an empty database."""
    with postgres.database() as address:
        yield address


@pytest.fixture
def play(url: str) -> Callable[[Callable[[Database], Awaitable[Any]]], Any]:
    """Runs a scene with an open database."""

    def run(scene: Callable[[Database], Awaitable[Any]]) -> Any:  # noqa: ANN401 - whatever the scene gives
        async def whole() -> Any:  # noqa: ANN401 - the same
            db = Database(url)
            await db.open()
            try:
                return await scene(db)
            finally:
                await db.close()

        return asyncio.run(whole())

    return run
