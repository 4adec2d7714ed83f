"""A process that dispatches until nothing is left, noting what it enqueues; it may die between that and the mark."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from remit.cluster.database.store import Database
from remit.cluster.database.submissions import dispatch

if TYPE_CHECKING:
    from remit.cluster.database.session_rows import SessionRow


async def run(url: str, notes: Path, dies_after: int) -> None:
    """Write a line for each session that is enqueued."""
    db = Database(url)
    await db.open()
    count = 0

    async def enqueue(row: SessionRow, queue: str) -> None:
        nonlocal count
        with notes.open("a") as file:
            file.write(f"{row.session_id} {queue}\n")
        count += 1
        if count == dies_after:
            os._exit(9)
        await asyncio.sleep(0.001)

    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    while await dispatch(db, enqueue, lambda row, _: f"remit.{row.depth}", limit=5):
        pass
    await db.close()


if __name__ == "__main__":
    Path(sys.argv[2]).touch()
    asyncio.run(run(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])))
