"""The cluster client: the connection of a workspace to the cluster's database, with the cluster's key.

One query serves all remote runs of the process. It reads the changed rows when PostgreSQL reports a change, and all
rows at intervals. Each remote run gets its own row; the other rows of the tree are copied to the ledger.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

from remit.cluster.caller.remote_run import RemoteRun
from remit.cluster.caller.result_import import load_result, record_result
from remit.cluster.database import session_rows, submissions
from remit.cluster.database.store import Database
from remit.cluster.keys import load_or_make_key
from remit.cluster.retry import wait_for_event
from remit.cluster.row_conversion import SIGNED, make_posted, make_run
from remit.cluster.sealing import SealError, read_ticket
from remit.errors import RemitError, StateError
from remit.ledger.runs import REMOTE_OWNER, load_run, mirror_remote_run
from remit.runs.admission.run_config import read_run_config

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from remit.config import ClusterSettings
    from remit.ledger.home import Home
    from remit.ledger.runs import Run
    from remit.runs.supervisor.supervisor import Supervisor

_SWEEP_S = 1.0
_BATCH_S = 0.01
"""Notifications within this time are answered by one query."""


class FollowedSession:
    """The last known row of a session that a remote run follows."""

    def __init__(self) -> None:
        self.row: session_rows.SessionRow | None = None
        self.error: RemitError | None = None
        self.is_gone = False
        """Whether the database no longer has the session."""
        self._news = asyncio.Event()

    def update(self, row: session_rows.SessionRow | None, error: RemitError | None = None) -> None:
        """Set the current row or error, and wake the follower if it is new."""
        is_new = error is not None or row is None or self.row is None or row.version != self.row.version
        self.row, self.error = row or self.row, error
        if is_new:
            self._news.set()

    def mark_gone(self) -> None:
        """Record that the database no longer has the session."""
        self.is_gone = True
        self._news.set()

    async def wait(self, seconds: float) -> None:
        """Wait for a change, at most this many seconds."""
        await wait_for_event(self._news, seconds)
        self._news.clear()


class ClusterClient:
    """The connection of a workspace to its cluster."""

    def __init__(
        self,
        home: Home,
        url: str,
        settings: ClusterSettings,
        environ: Mapping[str, str],
        *,
        key: bytes | None = None,
        own: frozenset[str] = frozenset(),
        trusted: str = "",
    ) -> None:
        """`own`: sessions that this machine executes as a worker. `trusted`: digest of what the user trusts."""
        self.home = home
        self.settings = settings
        self.environ = environ
        self.db = Database(url)
        self.trusted = trusted
        self._key = key
        self._own = own
        self._opening = asyncio.Lock()
        self._is_open = False
        self._followed: dict[str, tuple[str, FollowedSession]] = {}
        """The root and the follower of each followed session."""
        self._dirty: set[str] = set()
        self._requested = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    def is_remote(self, row: Run) -> bool:
        """Return whether a run goes to the cluster: admitted as remote, and not one that this worker executes."""
        return row.session_id not in self._own and read_run_config(row.details).remote

    def make_remote_run(self, supervisor: Supervisor, row: Run) -> RemoteRun:
        """Return the remote run that its caller follows."""
        return RemoteRun(supervisor, self, row)

    async def open(self) -> bytes:
        """Connect if necessary, and return the cluster's key."""
        async with self._opening:
            if not self._is_open:
                await self.db.open()
                self._key = self._key or await load_or_make_key(self.db, self.environ)
                self._is_open = True
        assert self._key is not None  # noqa: S101 - set above
        return self._key

    async def close(self) -> None:
        """Stop following and disconnect; posted runs continue."""
        for task in self._tasks:
            task.cancel()
        for task in self._tasks:
            with suppress(asyncio.CancelledError, RemitError):
                await task
        await self.db.close()

    # --- following ----------------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def follow(self, row: Run) -> AsyncIterator[FollowedSession]:
        """Follow a session until the block ends."""
        followed = FollowedSession()
        self._followed[row.session_id] = row.root_id, followed
        self._request_query(row.session_id)
        if not self._tasks:
            self._tasks = [asyncio.ensure_future(self._listen()), asyncio.ensure_future(self._query_repeatedly())]
        try:
            yield followed
        finally:
            del self._followed[row.session_id]

    def _request_query(self, session_id: str) -> None:
        self._dirty.add(session_id)
        self._requested.set()

    async def _listen(self) -> None:
        """Request a query for each notification. If this task ends, the regular sweep still finds all changes."""
        async for _, session_id in self.db.listen(("remit_changed",)):
            if not session_id:  # a new connection, which may have missed notifications
                self._dirty |= self._followed.keys()
                self._requested.set()
            elif session_id in self._followed:
                self._request_query(session_id)

    async def _query_repeatedly(self) -> None:
        """Query the changed sessions after notifications, and all followed sessions at intervals."""
        while True:
            await wait_for_event(self._requested, _SWEEP_S)
            is_sweep = not self._requested.is_set()
            await asyncio.sleep(_BATCH_S)
            self._requested.clear()
            dirty, self._dirty = self._dirty & self._followed.keys(), set()
            if not self._followed:
                continue
            try:
                await self._query(dirty, is_sweep=is_sweep)
            except RemitError as error:  # of the database or the ledger: unreachable, busy, full disk
                for _, followed in self._followed.values():
                    followed.update(None, error)

    async def _query(self, dirty: set[str], *, is_sweep: bool) -> None:
        queried = set(self._followed) if is_sweep else set()  # without sessions added during the query
        if is_sweep:
            trees = sorted({root_id for root_id, _ in self._followed.values()})
            found = await session_rows.list_rows(self.db, roots=trees, limit=100_000)
        else:
            found = await session_rows.list_rows(self.db, sessions=sorted(dirty), limit=100_000)
        for row in found:
            if row.session_id in self._followed:
                self._followed[row.session_id][1].update(row)
        for session_id in (queried & self._followed.keys()) - {row.session_id for row in found}:
            self._followed[session_id][1].mark_gone()
        await self._mirror_rows([row for row in found if row.session_id not in self._followed])

    # --- run trees ----------------------------------------------------------------------------------------------------

    async def _mirror_rows(self, found: list[session_rows.SessionRow]) -> None:
        """Copy rows of other machines into the ledger, and the results of those that are newly done."""
        finished = {row.session_id: await self._import_finished(row) for row in found if self._is_newly_done(row)}
        if found:
            with self.home.ledger.transaction() as db:
                for row in found:
                    mirror_remote_run(db, finished.get(row.session_id) or make_run(row))

    async def _import_finished(self, row: session_rows.SessionRow) -> Run:
        """Import the sealed result of a finished run; without a valid seal, the run counts as failed."""
        shaped = make_run(row)
        try:
            outcome = await load_result(self.db, await self.open(), row.session_id)
            report = record_result(self.home, row.session_id, outcome, with_report=True)
        except SealError:
            return shaped._replace(status="failed", stop_reason="rejected")
        return shaped._replace(status=report.status, stop_reason=report.stop_reason, verdict=report.verdict)

    def _is_newly_done(self, row: session_rows.SessionRow) -> bool:
        """Return whether a session is done, and the ledger doesn't have its result yet."""
        known = load_run(self.home.ledger, row.session_id) if row.state == "done" else None
        return row.state == "done" and (known is None or (known.owner == REMOTE_OWNER and known.state != "finished"))

    async def mirror_tree(self, root_id: str) -> None:
        """Copy all rows of a tree into the ledger."""
        await self._mirror_rows(await session_rows.list_rows(self.db, roots=[root_id], limit=100_000))

    async def wait_until_done(self, row: Run) -> None:
        """Wait until a run that another machine supervises is done, and import its result."""
        await self.open()
        async with self.follow(row) as followed:
            while followed.row is None or followed.row.state != "done":
                await followed.wait(_SWEEP_S)
                if followed.error is not None:
                    raise followed.error
                if followed.is_gone:
                    raise StateError(f"the database no longer has {row.session_id}", hint="remit ps --all")
        await self._mirror_rows([followed.row])

    @asynccontextmanager
    async def admitting(self, environ: Mapping[str, str]) -> AsyncIterator[None]:
        """Lock the caller's tree and copy its usage into the ledger, so no sibling is admitted at the same time."""
        token = environ.get("REMIT_TICKET", "")
        if not token.startswith(SIGNED):  # a user, or an agent of this machine: the ledger has the whole tree
            yield
            return
        signed = read_ticket(await self.open(), token)
        async with submissions.lock_tree(self.db, signed.root_id):
            await self.mirror_tree(signed.root_id)
            yield

    async def announce(self, row: Run) -> None:
        """Add a run to its tree in the database, before its order is posted."""
        await self.open()
        await submissions.announce(self.db, make_posted(row, b""))

    async def cancel(self, session_id: str, reason: str) -> list[str]:
        """Request the cancellation of a run and its nested runs on all machines."""
        await self.open()
        return await submissions.cancel(self.db, session_id, reason)
