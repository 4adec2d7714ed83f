"""A network that fails, for tests: a proxy on loopback between a machine and the database.

It can be cut, so that connections end and new ones are refused; or stalled, in one direction or in both, so that they
stay and nothing is heard. What it did is counted, so that a test can see that the fault happened.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_PIECE_BYTES = 1 << 16
_HOST = "127.0.0.1"
_RESET = struct.pack("ii", 1, 0)
"""Close without a farewell: whoever sends then is told that nobody is there."""


class Proxy:
    """The way to one database. All methods may be called from any thread."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._target = parts.hostname or _HOST, parts.port or 5432
        self.ended = 0
        """How many connections were ended by a cut."""
        self.refused = 0
        """How many were refused while it was cut."""
        self.held = 0
        """How many bytes had to wait for the end of a stall."""
        self._is_cut = False
        self._lines: set[_Line] = set()
        self._loop = asyncio.new_event_loop()
        self._server = self._loop.run_until_complete(asyncio.start_server(self._serve, _HOST, 0))
        self._open = {way: asyncio.Event() for way in ("up", "down")}
        for gate in self._open.values():
            gate.set()
        port = self._server.sockets[0].getsockname()[1]
        who = f"{parts.username}:{parts.password}@" if parts.username else ""
        self.url = urlunsplit(parts._replace(netloc=f"{who}{_HOST}:{port}"))
        """The database's address, by this way."""
        self._thread = threading.Thread(target=self._loop.run_forever, name="proxy", daemon=True)
        self._thread.start()

    def count(self) -> int:
        """How many connections there are."""
        return len(self._lines)

    def cut(self) -> None:
        """End all connections, and refuse new ones."""
        self._do(self._cut)

    def stall(self, *, up: bool = True, down: bool = True) -> None:
        """Let nothing through: what is said to the database, or what it says."""

        def close() -> None:
            for way, is_so in (("up", up), ("down", down)):
                if is_so:
                    self._open[way].clear()

        self._do(close)

    def heal(self) -> None:
        """Let everything through again; what had to wait arrives now."""
        self._do(self._heal)

    def close(self) -> None:
        """Be gone."""
        self._do(self._server.close)
        self._do(self._cut)
        asyncio.run_coroutine_threadsafe(_finish(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _do(self, work: Callable[[], Any]) -> None:
        async def doing() -> None:
            work()

        asyncio.run_coroutine_threadsafe(doing(), self._loop).result()

    def _cut(self) -> None:
        self._is_cut = True
        for line in list(self._lines):
            self.ended += 1
            line.reset()

    def _heal(self) -> None:
        self._is_cut = False
        for gate in self._open.values():
            gate.set()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = _Line(writer)
        if self._is_cut:
            self.refused += 1
            line.reset()
            return
        self._lines.add(line)
        try:
            there, back = await asyncio.open_connection(*self._target)
        except OSError:
            line.reset()
        else:
            line.add(back)
            ways = [self._pump("up", reader, back), self._pump("down", there, writer)]
            tasks = [asyncio.ensure_future(way) for way in ways]
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            line.reset()
        finally:
            self._lines.discard(line)

    async def _pump(self, way: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(_PIECE_BYTES):
                if not self._open[way].is_set():
                    self.held += len(data)
                    await self._open[way].wait()
                writer.write(data)
                await writer.drain()


class _Line:
    """One connection through the proxy: its two ends."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writers = [writer]

    def add(self, writer: asyncio.StreamWriter) -> None:
        self._writers.append(writer)

    def reset(self) -> None:
        """End both of them at once."""
        for writer in self._writers:
            with suppress(OSError):
                writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            writer.transport.abort()


async def _finish() -> None:
    """End what is still at work on this loop."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


@contextmanager
def proxy(url: str) -> Iterator[Proxy]:
    """A way to a database that can fail."""
    made = Proxy(url)
    try:
        yield made
    finally:
        made.close()
