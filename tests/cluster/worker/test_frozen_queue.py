"""A worker that freezes while it takes from a queue keeps nobody from taking."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from remit.cluster.worker.queues import QueueLimits, Queues

if TYPE_CHECKING:
    from collections.abc import Iterator


async def _nothing(_: str) -> None:
    """Nobody carries anything out here."""


@pytest.fixture
def connect_args(url: str) -> dict[str, Any]:
    config = Queues(url, "w", limits=QueueLimits(), poll_s=1, on_execute=_nothing)._make_config()  # noqa: SLF001 - what DBOS gets
    args: dict[str, Any] = config["db_engine_kwargs"]["connect_args"]
    return args


@pytest.fixture
def frozen(url: str, connect_args: dict[str, Any]) -> Iterator[psycopg.Connection[Any]]:
    """A connection as DBOS makes it, that has locked what it wanted to take and says nothing more."""
    with psycopg.connect(url, autocommit=True) as line:
        line.execute("CREATE TABLE waiting AS SELECT 1 AS id")
    line = psycopg.connect(url, **connect_args)
    line.execute("SELECT id FROM waiting FOR UPDATE NOWAIT")
    yield line
    line.close()


@pytest.mark.slow
def test_what_a_frozen_worker_has_locked_is_free_again_soon(url: str, frozen: psycopg.Connection[Any]) -> None:
    began = time.monotonic()
    with psycopg.connect(url, autocommit=True) as other:
        with pytest.raises(psycopg.errors.LockNotAvailable):
            other.execute("SELECT id FROM waiting FOR UPDATE NOWAIT")
        other.execute("SET lock_timeout = '20s'")
        other.execute("SELECT id FROM waiting FOR UPDATE")
    assert 1 < time.monotonic() - began < 10
    with pytest.raises(psycopg.errors.IdleInTransactionSessionTimeout):
        frozen.execute("SELECT 1")
