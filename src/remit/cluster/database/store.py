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

from remit.cluster.database.driver import PATIENCE_S, explain, load_psycopg, read_url, render_url
from remit.cluster.database.schema import prepare

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence

    from psycopg import AsyncConnection

    Params = Sequence[object] | Mapping[str, object]
    Rows = list[tuple[Any, ...]]

GRACE_S = 1.0
"""How much longer the server has to say so itself, before the connection is cut."""
LOOK_S = 8.0
"""How long nothing may be heard before the server is asked whether it is still there."""
MAX_RETRY_S = 2.0


class Transaction:
    """Statements that count together. It ends with the connection: nothing of it is sent over another one."""

    def __init__(self, connection: AsyncConnection[Any]) -> None:
        self._connection = connection

    async def execute(self, query: str, params: Params = (), *, patience_s: float = PATIENCE_S) -> Rows:
        """Send one statement, and give the rows that it returns."""
        return await _run(self._connection, query, params, patience_s=patience_s)


class _ConnectionLine:
    """One connection, used by one at a time and made anew where it was lost."""

    def __init__(self, dial: Callable[[], Awaitable[AsyncConnection[Any]]]) -> None:
        self._dial = dial
        self._connection: AsyncConnection[Any] | None = None
        self._turn = asyncio.Lock()

    @asynccontextmanager
    async def held(self) -> AsyncIterator[AsyncConnection[Any]]:
        """The connection, for one who may do with it what it likes; one that is in doubt afterwards is given up."""
        async with self._turn:
            if self._connection is None or self._connection.closed:
                self.drop()
                self._connection = await self._dial()
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
        self._main = _ConnectionLine(self._dial_checked)
        self._spare: list[_ConnectionLine] = []
        self._lines: set[_ConnectionLine] = {self._main}
        self.display = render_url(url)

    async def open(self) -> None:
        """Connect, and bring the tables up to date."""
        with self._telling():
            async with self._main.held():
                pass

    async def close(self) -> None:
        """Give up all connections."""
        for line in self._lines:
            line.drop()
        self._lines = {self._main}
        self._spare.clear()

    async def execute(
        self, query: str, params: Params = (), *, binary: bool = False, patience_s: float = PATIENCE_S
    ) -> Rows:
        """Send one statement, which counts at once, and give the rows that it returns."""
        if patience_s != PATIENCE_S:
            async with self.transaction(patience_s=patience_s) as work:
                return await work.execute(query, params, patience_s=patience_s)
        with self._telling():
            async with self._main.held() as connection:
                return await _run(connection, query, params, binary=binary)

    @asynccontextmanager
    async def transaction(self, *, patience_s: float = PATIENCE_S) -> AsyncIterator[Transaction]:
        """Statements that count together, or not at all. Nobody else gets a turn on this connection meanwhile."""
        with self._telling():
            async with self._main.held() as connection, _begun(connection, patience_s) as work:
                yield work

    @asynccontextmanager
    async def alone(self, *, patience_s: float = PATIENCE_S) -> AsyncIterator[Transaction]:
        """A transaction on a connection of its own, for what takes longer: the others go on meanwhile."""
        line = self._spare.pop() if self._spare else _ConnectionLine(self._dial)
        self._lines.add(line)
        try:
            with self._telling():
                async with line.held() as connection, _begun(connection, patience_s) as work:
                    yield work
        finally:
            if line in self._lines and not self._spare:
                self._spare.append(line)
            else:
                line.drop()
                self._lines.discard(line)

    async def listen(self, channels: Iterable[str]) -> AsyncIterator[tuple[str, str]]:
        """What others notify, as channel and payload, for as long as it is asked for.

        Two empty texts come first and whenever the connection had to be made anew: from then on everything is heard,
        and what was said before has to be looked up.
        """
        psycopg = load_psycopg()
        names, wait_s = tuple(channels), 0.1
        while True:
            line = _ConnectionLine(self._dial)
            try:
                async with line.held() as connection:
                    await _run(connection, "; ".join(f"LISTEN {name}" for name in names))
                    wait_s = 0.1
                    yield "", ""
                    async for told in _hear(connection):
                        yield told
            except psycopg.Error:
                await asyncio.sleep(wait_s)
                wait_s = min(wait_s * 2, MAX_RETRY_S)
            finally:
                line.drop()

    async def _dial(self) -> AsyncConnection[Any]:
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

    async def _dial_checked(self) -> AsyncConnection[Any]:
        connection = await self._dial()
        try:
            await prepare(partial(_run, connection), self.display)
        except BaseException:
            connection.pgconn.finish()
            raise
        return connection

    @contextmanager
    def _telling(self) -> Iterator[None]:
        """Say in a sentence what PostgreSQL has against something, and never a password."""
        psycopg = load_psycopg()
        try:
            yield
        except psycopg.Error as error:
            raise explain(error, self.display, read_url(self._url).get("password")) from error


@asynccontextmanager
async def _begun(connection: AsyncConnection[Any], patience_s: float) -> AsyncIterator[Transaction]:
    longer = f"; SET LOCAL statement_timeout = {int(patience_s * 1000)}" if patience_s != PATIENCE_S else ""
    await _run(connection, f"BEGIN{longer}")
    try:
        yield Transaction(connection)
    except Exception:
        if not connection.closed:  # whoever was cancelled does not wait for an answer: the connection is given up
            await _run(connection, "ROLLBACK")
        raise
    await _run(connection, "COMMIT", patience_s=patience_s)


async def _run(
    connection: AsyncConnection[Any],
    query: str,
    params: Params = (),
    *,
    binary: bool = False,
    patience_s: float = PATIENCE_S,
) -> Rows:
    """Send one statement. Where no answer comes, not even that it took too long, the connection is cut."""
    psycopg = load_psycopg()
    cut = asyncio.get_running_loop().call_later(patience_s + GRACE_S, _cut, connection)
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


def _cut(connection: AsyncConnection[Any]) -> None:
    """End a connection under whoever waits for it. To close the file itself would leave them waiting."""
    psycopg = load_psycopg()
    with suppress(OSError, psycopg.Error), socket.socket(fileno=os.dup(connection.fileno())) as line:
        line.shutdown(socket.SHUT_RDWR)


async def _hear(connection: AsyncConnection[Any]) -> AsyncIterator[tuple[str, str]]:
    while True:
        async for told in connection.notifies(timeout=LOOK_S):
            yield told.channel, told.payload
        await _run(connection, "SELECT 1")


def _is_idle(connection: AsyncConnection[Any]) -> bool:
    psycopg = load_psycopg()
    return not connection.closed and connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
