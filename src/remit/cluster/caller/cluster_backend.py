"""The cluster backend: the local backend, with the workers of a shared PostgreSQL database.

It differs from the local backend in three operations: admission locks the run tree on all machines, and waiting and
cancelling reach runs on all machines.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from remit.cluster.database import session_rows
from remit.cluster.database.driver import load_psycopg
from remit.ledger.runs import REMOTE_OWNER, load_run
from remit.runs.backend import CANCEL_S, LocalBackend, make_unended_error

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    from remit.cluster.caller.client import ClusterClient
    from remit.result import Result
    from remit.runs.backend import Admit
    from remit.runs.supervisor.supervisor import Supervisor

_POLL_S = 0.05


class ClusterBackend(LocalBackend):
    """The backend of machines that share a PostgreSQL database."""

    def __init__(self, supervisor: Supervisor, client: ClusterClient) -> None:
        super().__init__(supervisor)
        self.client = supervisor.cluster = client

    @asynccontextmanager
    async def admitting(self, environ: Mapping[str, str]) -> AsyncIterator[Admit]:
        """Lock the caller's tree on all machines until the admitted run counts in it."""

        async def announce(session_id: str) -> None:
            row = load_run(self.home.ledger, session_id)
            if row is not None and row.parent_id is not None and self.client.is_remote(row):
                await self.client.announce(row)

        load_psycopg()  # without psycopg, an admitted run can't be posted, awaited or cancelled
        async with self.client.admitting(environ):
            yield announce

    async def wait(self, session_id: str) -> Result:
        """Wait until a run is finished, whichever machine supervises it."""
        row = self._load(session_id)
        if row.owner == REMOTE_OWNER and row.state != "finished":
            await self.client.wait_until_done(row)
        return await super().wait(session_id)

    async def cancel(self, session_id: str, *, reason: str = "") -> Sequence[str]:
        """Cancel a run and its nested runs on all machines, and wait until their agents have ended.

        An unreachable worker can't be awaited: its agents end at their deadline.
        """
        row = self._load(session_id)
        cancelled = list(await super().cancel(session_id, reason=reason))
        if not self.client.is_remote(row):
            return cancelled
        requested = await self.client.cancel(session_id, reason)
        last_s = time.monotonic() + CANCEL_S
        while living := [
            row.session_id
            for row in await session_rows.list_rows(self.client.db, sessions=requested, limit=100_000)
            if _is_running(row)
        ]:
            if time.monotonic() > last_s:
                raise make_unended_error(living)
            await asyncio.sleep(_POLL_S)
        return [*cancelled, *(each for each in requested if each not in cancelled)]

    async def close(self) -> None:
        """Stop following and disconnect; posted runs continue."""
        await super().close()
        await self.client.close()


def _is_running(row: session_rows.SessionRow) -> bool:
    return row.state == "running" and (row.lease_left_s or 0) > 0
