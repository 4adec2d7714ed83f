"""The database that machines share: connections to it, each statement with a limit to how long it may take.

Owns the connections. One that was lost is told in a sentence, and the next use makes another. Nothing here waits for
long: a server that is frozen and a network that is cut are noticed well within a lease.
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
"""How much longer the server has to say so itself, before the connection is cut."""
PING_S = 8.0
"""How long nothing may be heard before the server is asked whether it is still there."""
MAX_RETRY_S = 2.0


class Transaction:
    """Statements that count together. It ends with the connection: nothing of it is sent over another one."""

    def __init__(self, connection: AsyncConnection[Any]) -> None:
        self._connection = connection

    async def execute(self, query: str, params: Params = (), *, timeout_s: float = STATEMENT_TIMEOUT_S) -> Rows:
        """Send one statement, and give the rows that it returns."""
        return await _run(self._connection, query, params, timeout_s=timeout_s)


class _ConnectionSlot:
    """One connection, used by one at a time and made anew where it was lost."""

    def __init__(self, connect: Callable[[], Awaitable[AsyncConnection[Any]]]) -> None:
        self._connect = connect
        self._connection: AsyncConnection[Any] | None = None
        self._lock = asyncio.Lock()

    @asynccontextmanager
    async def use(self) -> AsyncIterator[AsyncConnection[Any]]:
        """The connection, for one who may do with it what it likes; one that is in doubt afterwards is given up."""
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
        """Close it without a word to the server, which takes back what was not committed."""
        if self._connection is not None:
            self._connection.pgconn.finish()
            self._connection = None


class Database:
    """A database by its URL. One process may have several; each belongs to one event loop."""

    def __init__(self, url: str, *, name: str = "remit") -> None:
        self._url = url
        self._name = name
        self._main = _ConnectionSlot(self._connect_and_prepare)
        self._spare: list[_ConnectionSlot] = []
        self._slots: set[_ConnectionSlot] = {self._main}
        self.display = render_url(url)

    async def open(self) -> None:
        """Connect, and bring the tables up to date."""
        with self._translate_errors():
            async with self._main.use():
                pass

    async def close(self) -> None:
        """Give up all connections."""
        for slot in self._slots:
            slot.drop()
        self._slots = {self._main}
        self._spare.clear()

    async def execute(
        self, query: str, params: Params = (), *, binary: bool = False, timeout_s: float = STATEMENT_TIMEOUT_S
    ) -> Rows:
        """Send one statement, which counts at once, and give the rows that it returns."""
        if timeout_s != STATEMENT_TIMEOUT_S:
            async with self.transaction(timeout_s=timeout_s) as statements:
                return await statements.execute(query, params, timeout_s=timeout_s)
        with self._translate_errors():
            async with self._main.use() as connection:
                return await _run(connection, query, params, binary=binary)

    @asynccontextmanager
    async def transaction(self, *, timeout_s: float = STATEMENT_TIMEOUT_S) -> AsyncIterator[Transaction]:
        """Statements that count together, or not at all. Nobody else gets a turn on this connection meanwhile."""
        with self._translate_errors():
            async with self._main.use() as connection, _begin(connection, timeout_s) as statements:
                yield statements

    @asynccontextmanager
    async def separate_transaction(self, *, timeout_s: float = STATEMENT_TIMEOUT_S) -> AsyncIterator[Transaction]:
        """A transaction on a connection of its own, for what takes longer: the others go on meanwhile."""
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
        """What others notify, as channel and payload, for as long as it is asked for.

        Two empty texts come first and whenever the connection had to be made anew: from then on everything is heard,
        and what was said before has to be looked up.
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
        """Say in a sentence what PostgreSQL has against something, and never a password."""
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
        if not connection.closed:  # whoever was cancelled does not wait for an answer: the connection is given up
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
    """Send one statement. Where no answer comes, not even that it took too long, the connection is cut."""
    psycopg = load_psycopg()
    cut = asyncio.get_running_loop().call_later(timeout_s + GRACE_S, _cut_connection, connection)
    try:
        cursor = await connection.execute(query, params or None, binary=binary)
        return await cursor.fetchall() if cursor.description else []
    except psycopg.Error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():  # the wait for a cancelled statement ended otherwise
            raise asyncio.CancelledError from None
        raise
    finally:
        cut.cancel()


def _cut_connection(connection: AsyncConnection[Any]) -> None:
    """End a connection under whoever waits for it. To close the file itself would leave them waiting."""
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
