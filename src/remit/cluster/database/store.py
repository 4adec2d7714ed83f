"""Connections to the shared database, with a time limit for each statement.

A lost connection raises a `ClusterError`, and the next statement reconnects. The limits are short, so a frozen server
or a cut network is detected well within a lease.
"""

from __future__ import annotations

import asyncio
import os
import socket
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from remit.cluster.database.driver import STATEMENT_TIMEOUT_S, load_psycopg, make_error, read_url, render_url
from remit.cluster.database.schema import prepare

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence

    from psycopg import AsyncConnection

    Params = Sequence[object] | Mapping[str, object]
    Rows = list[tuple[Any, ...]]

GRACE_S = 1.0
"""Extra time in which the server can report a timeout itself before the client cuts the connection."""
PING_S = 8.0
"""How long a listening connection waits for a notification before it checks the server with a query."""
MAX_RETRY_S = 2.0


class Transaction:
    """A transaction on one connection; if the connection is lost, the transaction ends."""

    def __init__(self, connection: AsyncConnection[Any]) -> None:
        self._connection = connection

    async def execute(self, query: str, params: Params = (), *, timeout_s: float = STATEMENT_TIMEOUT_S) -> Rows:
        """Execute one statement and return its rows."""
        return await _run(self._connection, query, params, timeout_s=timeout_s)


class _ConnectionSlot:
    """A connection for one user at a time, which reconnects after a loss."""

    def __init__(self, connect: Callable[[], Awaitable[AsyncConnection[Any]]]) -> None:
        self._connect = connect
        self._connection: AsyncConnection[Any] | None = None
        self._lock = asyncio.Lock()

    @asynccontextmanager
    async def use(self) -> AsyncIterator[AsyncConnection[Any]]:
        """Yield the connection exclusively, and drop it afterwards unless it is idle outside of a transaction."""
        async with self._lock:
            if self._connection is None or self._connection.closed:
                self.drop()
                self._connection = await self._connect()
            connection = self._connection
            try:
                yield connection
            finally:
                if not _is_idle(connection):
                    self.drop()

    def drop(self) -> None:
        """Close the connection at once; the server rolls back what wasn't committed."""
        if self._connection is not None:
            self._connection.pgconn.finish()
            self._connection = None


class Database:
    """The connections of one event loop to the database with a URL."""

    def __init__(self, url: str, *, name: str = "remit") -> None:
        self._url = url
        self._name = name
        self._main = _ConnectionSlot(self._connect_and_prepare)
        self._spare: list[_ConnectionSlot] = []
        self._slots: set[_ConnectionSlot] = {self._main}
        self.display = render_url(url)

    async def open(self) -> None:
        """Connect, and migrate the tables if necessary."""
        with self._translate_errors():
            async with self._main.use():
                pass

    async def close(self) -> None:
        """Close all connections."""
        for slot in self._slots:
            slot.drop()
        self._slots = {self._main}
        self._spare.clear()

    async def execute(
        self, query: str, params: Params = (), *, binary: bool = False, timeout_s: float = STATEMENT_TIMEOUT_S
    ) -> Rows:
        """Execute one statement in a transaction of its own and return its rows."""
        if timeout_s != STATEMENT_TIMEOUT_S:
            async with self.transaction(timeout_s=timeout_s) as statements:
                return await statements.execute(query, params, timeout_s=timeout_s)
        with self._translate_errors():
            async with self._main.use() as connection:
                return await _run(connection, query, params, binary=binary)

    @asynccontextmanager
    async def transaction(self, *, timeout_s: float = STATEMENT_TIMEOUT_S) -> AsyncIterator[Transaction]:
        """Yield a transaction on the main connection, which other statements wait for."""
        with self._translate_errors():
            async with self._main.use() as connection, _begin(connection, timeout_s) as statements:
                yield statements

    @asynccontextmanager
    async def separate_transaction(self, *, timeout_s: float = STATEMENT_TIMEOUT_S) -> AsyncIterator[Transaction]:
        """Yield a transaction on a separate connection, for long statements that others must not wait for."""
        slot = self._spare.pop() if self._spare else _ConnectionSlot(self._connect)
        self._slots.add(slot)
        try:
            with self._translate_errors():
                async with slot.use() as connection, _begin(connection, timeout_s) as statements:
                    yield statements
        finally:
            if slot in self._slots and not self._spare:
                self._spare.append(slot)
            else:
                slot.drop()
                self._slots.discard(slot)

    async def listen(self, channels: Iterable[str]) -> AsyncIterator[tuple[str, str]]:
        """Yield notifications as channel and payload, without end.

        Two empty strings come first and after each reconnect: notifications may have been missed before, so the
        caller has to query the current state then.
        """
        psycopg = load_psycopg()
        names, wait_s = tuple(channels), 0.1
        while True:
            slot = _ConnectionSlot(self._connect)
            try:
                async with slot.use() as connection:
                    await _run(connection, "; ".join(f"LISTEN {name}" for name in names))
                    wait_s = 0.1
                    yield "", ""
                    async for notice in _read_notifications(connection):
                        yield notice
            except psycopg.Error:
                await asyncio.sleep(wait_s)
                wait_s = min(wait_s * 2, MAX_RETRY_S)
            finally:
                slot.drop()

    async def _connect(self) -> AsyncConnection[Any]:
        psycopg = load_psycopg()
        wanted = {"application_name": self._name, **read_url(self._url)}
        hosts = str(wanted.get("host", "")).count(",") + 1
        limit_s = float(wanted["connect_timeout"]) * hosts + GRACE_S
        try:
            async with asyncio.timeout(limit_s):
                connection: AsyncConnection[Any] = await psycopg.AsyncConnection.connect(**wanted, autocommit=True)
        except TimeoutError:
            raise psycopg.errors.ConnectionTimeout(f"no connection within {limit_s:.0f} s") from None
        return connection

    async def _connect_and_prepare(self) -> AsyncConnection[Any]:
        connection = await self._connect()
        try:
            await prepare(partial(_run, connection), self.display)
        except BaseException:
            connection.pgconn.finish()
            raise
        return connection

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        """Raise errors of psycopg as `ClusterError`, without the password."""
        psycopg = load_psycopg()
        try:
            yield
        except psycopg.Error as error:
            raise make_error(error, self.display, read_url(self._url).get("password")) from error


@asynccontextmanager
async def _begin(connection: AsyncConnection[Any], timeout_s: float) -> AsyncIterator[Transaction]:
    longer = f"; SET LOCAL statement_timeout = {int(timeout_s * 1000)}" if timeout_s != STATEMENT_TIMEOUT_S else ""
    await _run(connection, f"BEGIN{longer}")
    try:
        yield Transaction(connection)
    except Exception:
        if not connection.closed:  # a cancelled task doesn't wait for an answer: its connection is dropped
            await _run(connection, "ROLLBACK")
        raise
    await _run(connection, "COMMIT", timeout_s=timeout_s)


async def _run(
    connection: AsyncConnection[Any],
    query: str,
    params: Params = (),
    *,
    binary: bool = False,
    timeout_s: float = STATEMENT_TIMEOUT_S,
) -> Rows:
    """Execute one statement; cut the connection if no answer comes, not even the server's timeout."""
    psycopg = load_psycopg()
    cut = asyncio.get_running_loop().call_later(timeout_s + GRACE_S, _cut_connection, connection)
    try:
        cursor = await connection.execute(query, params or None, binary=binary)
        return await cursor.fetchall() if cursor.description else []
    except psycopg.Error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():  # psycopg raised an error of its own instead
            raise asyncio.CancelledError from None
        raise
    finally:
        cut.cancel()


def _cut_connection(connection: AsyncConnection[Any]) -> None:
    """Shut down a connection, so that its pending read fails: closing the descriptor wouldn't end the read."""
    psycopg = load_psycopg()
    with suppress(OSError, psycopg.Error), socket.socket(fileno=os.dup(connection.fileno())) as slot:
        slot.shutdown(socket.SHUT_RDWR)


async def _read_notifications(connection: AsyncConnection[Any]) -> AsyncIterator[tuple[str, str]]:
    while True:
        async for notice in connection.notifies(timeout=PING_S):
            yield notice.channel, notice.payload
        await _run(connection, "SELECT 1")


def _is_idle(connection: AsyncConnection[Any]) -> bool:
    psycopg = load_psycopg()
    return not connection.closed and connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
