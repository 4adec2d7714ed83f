"""Sessions and workers as tests of the tables need them."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from remit.cluster.database import leases
from remit.cluster.database.store import Database
from remit.cluster.database.submissions import Posted
from remit.cluster.database.workers import RegisteredWorker, register

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

NOTHING_USED = {"tokens": None, "cost_usd": None, "turns": None}


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[Database]:
    """A database that is open for as long as the block takes."""
    db = Database(url)
    await db.open()
    try:
        yield db
    finally:
        await db.close()


def make(name: str, *, parent: str | None = None, root: str = "", depth: int = 1, agent: str = "worker") -> Posted:
    """A session by its name."""
    path = ("orchestrator", agent)
    return Posted(name, root or parent or name, parent, agent, depth, path, "echo", {"timeout_s": 60}, b"do it")


async def meet(db: Database, name: str = "w1", *, lease_s: float = 15, agents: tuple[str, ...] = ()) -> None:
    """Let a worker be there."""
    await register(db, RegisteredWorker(name, "host-of-" + name, 1, "0.1", 1, 4, agents, lease_s))


async def publish(db: Database, name: str, fence: int, outcome: bytes = b"done") -> bool:
    """Say that a session is completed."""
    return await leases.publish(
        db, name, fence, outcome=outcome, status="completed", stop_reason="exited", tokens=7, cost_usd=0.5, turns=2
    )
