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
"""Notices that come so close together are one look."""


class FollowedSession:
    """A session that somebody follows: the last that was heard of it."""

    def __init__(self) -> None:
        self.row: session_rows.SessionRow | None = None
        self.error: RemitError | None = None
        self.is_gone = False
        """Whether the database does not know it any more."""
        self._news = asyncio.Event()

    def update(self, row: session_rows.SessionRow | None, error: RemitError | None = None) -> None:
        """Say what there is now."""
        is_new = error is not None or row is None or self.row is None or row.version != self.row.version
        self.row, self.error = row or self.row, error
        if is_new:
            self._news.set()

    def mark_gone(self) -> None:
        """Say that there is nothing of it."""
        self.is_gone = True
        self._news.set()

    async def wait(self, seconds: float) -> None:
        """Wait for something new, but not for long: whoever follows has other things to look at."""
        await wait_for_event(self._news, seconds)
        self._news.clear()


class ClusterClient:
    """The machines that work for a workspace."""

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
        """`own`: what is done on this machine all the same. `trusted`: what the user has agreed to have run."""
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
        """The tree of each session that is followed, and who does."""
        self._dirty: set[str] = set()
        self._requested = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    def is_remote(self, row: Run) -> bool:
        """Whether a delegation is done elsewhere: it was admitted so, and is not one that is done elsewhere here."""
        return row.session_id not in self._own and read_run_config(row.details).remote

    def make_remote_run(self, supervisor: Supervisor, row: Run) -> RemoteRun:
        """The run as its caller follows it."""
        return RemoteRun(supervisor, self, row)

    async def open(self) -> bytes:
        """Connect, once; the cluster's key."""
        async with self._opening:
            if not self._is_open:
                await self.db.open()
                self._key = self._key or await load_or_make_key(self.db, self.environ)
                self._is_open = True
        assert self._key is not None  # noqa: S101 - as was seen to
        return self._key

    async def close(self) -> None:
        """Follow nothing any more; what was sent goes on."""
        for task in self._tasks:
            task.cancel()
        for task in self._tasks:
            with suppress(asyncio.CancelledError, RemitError):
                await task
        await self.db.close()

    # --- following ----------------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def follow(self, row: Run) -> AsyncIterator[FollowedSession]:
        """Follow a session for as long as the block lasts."""
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
        """Take note of what has changed. Where this ends, the sweep still finds everything."""
        async for _, session_id in self.db.listen(("remit_changed",)):
            if not session_id:  # the connection is a new one, and may have missed something
                self._dirty |= self._followed.keys()
                self._requested.set()
            elif session_id in self._followed:
                self._request_query(session_id)

    async def _query_repeatedly(self) -> None:
        """Look, when something has changed and now and then."""
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
            except RemitError as error:  # the database, or this machine's ledger: busy, or its disk is full
                for _, followed in self._followed.values():
                    followed.update(None, error)

    async def _query(self, dirty: set[str], *, is_sweep: bool) -> None:
        queried = (
            set(self._followed) if is_sweep else set()
        )  # who comes while the database is asked is not in its answer
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
        await self.mirror_remote_run([row for row in found if row.session_id not in self._followed])

    # --- the tree -----------------------------------------------------------------------------------------------------

    async def mirror_remote_run(self, found: list[session_rows.SessionRow]) -> None:
        """Let the ledger know of those of a tree that other machines keep; of one that is over, all that is told."""
        finished = {row.session_id: await self._import_finished(row) for row in found if self._is_newly_done(row)}
        if found:
            with self.home.ledger.transaction() as db:
                for row in found:
                    mirror_remote_run(db, finished.get(row.session_id) or make_run(row))

    async def _import_finished(self, row: session_rows.SessionRow) -> Run:
        """One that is over, as its worker has sealed it; where nobody has, nothing of it is believed."""
        shaped = make_run(row)
        try:
            outcome = await load_result(self.db, await self.open(), row.session_id)
            report = record_result(self.home, row.session_id, outcome, with_report=True)
        except SealError:
            return shaped._replace(status="failed", stop_reason="rejected")
        return shaped._replace(status=report.status, stop_reason=report.stop_reason, verdict=report.verdict)

    def _is_newly_done(self, row: session_rows.SessionRow) -> bool:
        """Whether one is over, and the ledger does not know it yet."""
        known = load_run(self.home.ledger, row.session_id) if row.state == "done" else None
        return row.state == "done" and (known is None or (known.owner == REMOTE_OWNER and known.state != "finished"))

    async def mirror_tree(self, root_id: str) -> None:
        """Let the ledger know of all of a tree."""
        await self.mirror_remote_run(await session_rows.list_rows(self.db, roots=[root_id], limit=100_000))

    async def wait_until_done(self, row: Run) -> None:
        """Wait until one that another machine keeps is over, and all that is told of it is here."""
        await self.open()
        async with self.follow(row) as followed:
            while followed.row is None or followed.row.state != "done":
                await followed.wait(_SWEEP_S)
                if followed.error is not None:
                    raise followed.error
                if followed.is_gone:
                    raise StateError(f"the database does not know {row.session_id} any more", hint="remit ps --all")
        await self.mirror_remote_run([followed.row])

    @asynccontextmanager
    async def admitting(self, environ: Mapping[str, str]) -> AsyncIterator[None]:
        """Hold the tree of whoever asks, and know what all of it have used: no sibling elsewhere comes in between."""
        token = environ.get("REMIT_TICKET", "")
        if not token.startswith(SIGNED):  # a person, or an agent of this machine: the ledger knows all of its tree
            yield
            return
        signed = read_ticket(await self.open(), token)
        async with submissions.lock_tree(self.db, signed.root_id):
            await self.mirror_tree(signed.root_id)
            yield

    async def announce(self, row: Run) -> None:
        """Have a delegation counted in its tree, before there is an order."""
        await self.open()
        await submissions.announce(self.db, make_posted(row, b""))

    async def cancel(self, session_id: str, reason: str) -> list[str]:
        """Ask for the end of a session and of all below it, wherever they run."""
        await self.open()
        return await submissions.cancel(self.db, session_id, reason)
