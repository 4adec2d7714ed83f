"""Streams: server-sent events for all clients that follow a channel.

A channel is polled once for all its followers, and new data is rendered once. The connection of a slow reader is
closed; when the client reconnects, it sends its last position and gets the rest. Polling runs in threads,
everything else on the event loop.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from starlette.responses import Response

from remit.errors import RemitError
from remit.server.problems import ProblemError, report_bug
from remit.views.render import render_json

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable

    from starlette.types import Receive, Scope, Send

    from remit.server.tokens import Guest, Tokens

MOST_STREAMS = 256
PING_S = 15.0
SEND_S = 20.0
"""The time limit for a client to accept data."""
_QUEUED = 256
_PING = b": still here\n\n"
_RETRY = b"retry: 1000\n"
_AGAIN_S = 2


class Batch(NamedTuple):
    """New data of a channel, rendered as it is sent."""

    number: int
    """The position after this batch."""
    parts: tuple[tuple[str, bytes], ...]
    """Each with the run that it belongs to."""
    whole: bytes
    end: bytes = b""
    """The data that all followers get after the parts."""
    is_last: bool = False


class Channel:
    """A source of data, and its followers."""

    quick_s = 0.05
    idle_s = 0.1
    patience = 600
    """The number of polls without news after which polling gets slower."""

    def __init__(self) -> None:
        self.position = 0
        self._farewell: Batch | None = None
        """The last batch, for clients that join later."""
        self._followers: set[Follower] = set()
        self._polling: asyncio.Task[None] | None = None
        self._ready: asyncio.Future[None] | None = None

    def find_position(self) -> int:
        """The present position of the channel."""
        raise NotImplementedError

    def poll(self) -> Batch | None:
        """The batch since the position; None without news."""
        raise NotImplementedError

    def close(self) -> None:
        """Close what polling opened. All three methods are called in one thread."""

    async def join(self, follower: Follower) -> int:
        """Add a follower, and return the position from which it gets data."""
        self._followers.add(follower)
        if self._ready is None:
            self._ready = asyncio.get_running_loop().create_future()
            self._polling = asyncio.ensure_future(self._poll_all(self._ready))
        await asyncio.shield(self._ready)
        follower.is_listening = True
        if self._farewell is not None:
            follower.put(self._farewell)
        return self.position

    def leave(self, follower: Follower) -> None:
        """Remove a follower; without followers, polling stops."""
        self._followers.discard(follower)
        if not self._followers and self._polling is not None:
            self._polling.cancel()
            self._polling = self._ready = None

    async def _poll_all(self, ready: asyncio.Future[None]) -> None:
        thread = ThreadPoolExecutor(1, "remit-http-poll")  # its own: a connection to the ledger stays in one thread
        loop = asyncio.get_running_loop()
        try:
            self.position = await loop.run_in_executor(thread, self.find_position)
            ready.set_result(None)
            quiet = 0
            while self._farewell is None:
                batch = await loop.run_in_executor(thread, self.poll)
                quiet = quiet + 1 if batch is None else 0
                if batch is not None:
                    self._publish(batch)
                await asyncio.sleep(self.quick_s if quiet < self.patience else self.idle_s)
        except Exception as error:  # noqa: BLE001 - the ledger failed: clients reconnect and get the error
            self._fail(ready, error)
        finally:
            thread.submit(self.close)
            thread.shutdown(wait=False)

    def _fail(self, ready: asyncio.Future[None], error: Exception) -> None:
        if not ready.done():
            ready.set_exception(error)
        elif not isinstance(error, RemitError):
            report_bug(error)
        self._polling = self._ready = None
        for each in self._followers:
            each.end()

    def _publish(self, batch: Batch) -> None:
        self.position = batch.number
        if batch.is_last:
            self._farewell = batch._replace(parts=(), whole=b"")
        for each in self._followers:
            if each.is_listening:
                each.put(batch)


class Follower:
    """A client that follows a channel."""

    def __init__(self, guest: Guest, *, root_id: str = "") -> None:
        self.guest = guest
        self.is_listening = False
        self._root_id = root_id
        self._queue: asyncio.Queue[Batch | None] = asyncio.Queue(_QUEUED)

    def put(self, batch: Batch) -> None:
        """Queue a batch; a client with a full queue is disconnected."""
        try:
            self._queue.put_nowait(batch)
        except asyncio.QueueFull:
            self.end()

    def end(self) -> None:
        """End the stream after the data that was sent; the client gets queued data after it reconnects."""
        self.is_listening = False
        while not self._queue.empty():
            self._queue.get_nowait()
        self._queue.put_nowait(None)

    async def take(self) -> tuple[bytes, bool]:
        """The next data or a ping, and whether it is the last."""
        try:
            async with asyncio.timeout(PING_S):
                batch = await self._queue.get()
        except TimeoutError:
            return _PING, False
        if batch is None:
            return b"", True
        own = (part for root_id, part in batch.parts if root_id == self._root_id)
        return (b"".join(own) if self._root_id else batch.whole) + batch.end, batch.is_last


class Streams:
    """All channels and followers of this server."""

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens
        self._channels: dict[str, Channel] = {}
        self._followers: dict[Follower, str] = {}
        self.is_ending = False

    @property
    def count(self) -> int:
        """The number of followers."""
        return len(self._followers)

    async def join(self, name: str, make: Callable[[], Channel], follower: Follower) -> int:
        """Add a follower to a channel, which is created if needed, and return its position."""
        if self.is_ending or len(self._followers) >= MOST_STREAMS:
            headers = {"Retry-After": str(_AGAIN_S)}
            raise ProblemError(
                503, "BUSY", "too many streams are open", hint="close a page of the dashboard", headers=headers
            )
        channel = self._channels.get(name)
        if channel is None:
            channel = self._channels[name] = make()
        self._followers[follower] = name
        try:
            return await channel.join(follower)
        except BaseException:
            self.leave(follower)
            raise

    def leave(self, follower: Follower) -> None:
        """Remove a follower, and its channel if it was the last one."""
        name = self._followers.pop(follower, None)
        channel = None if name is None else self._channels.get(name)
        if name is None or channel is None:
            return
        channel.leave(follower)
        if name not in self._followers.values():
            del self._channels[name]

    def drop(self, guest: Guest) -> None:
        """End all streams of a client that has logged out."""
        for each in self._followers:
            if each.guest == guest and guest.kind == "cookie":
                each.end()

    def end(self) -> None:
        """End all streams, because the server stops."""
        self.is_ending = True
        for each in self._followers:
            each.end()

    def is_authorized(self, follower: Follower) -> bool:
        """Whether the session of a follower is still valid."""
        return self._tokens.is_good(follower.guest)


class EventStream(Response):
    """A response that lasts until the client or the server ends it."""

    media_type = "text/event-stream"

    def __init__(self, streams: Streams, follower: Follower, first: AsyncIterator[bytes]) -> None:
        super().__init__()
        self._streams = streams
        self._follower = follower
        self._first = first

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send until the client disconnects or the channel ends."""
        sending = asyncio.ensure_future(self._send_all(scope["method"] == "HEAD", send))
        disconnecting = asyncio.ensure_future(_wait_for_disconnect(receive))
        try:
            await asyncio.wait({sending, disconnecting}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._streams.leave(self._follower)
            for task in (sending, disconnecting):
                task.cancel()
            ending, _ = await asyncio.gather(sending, disconnecting, return_exceptions=True)
        # A client that is gone or accepts no data causes an OSError.
        if isinstance(ending, Exception) and not isinstance(ending, RemitError | OSError):
            report_bug(ending)

    async def _send_all(self, is_bare: bool, send: Send) -> None:  # noqa: FBT001 - private to this class
        headers = [(b"content-type", b"text/event-stream; charset=utf-8"), (b"cache-control", b"no-store")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        is_last = is_bare
        if not is_last:
            await self._send(_RETRY, send)
            async for data in self._first:
                await self._send(data, send)
        while not is_last and self._streams.is_authorized(self._follower):
            data, is_last = await self._follower.take()
            await self._send(data, send)
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _send(self, data: bytes, send: Send) -> None:
        if data:
            async with asyncio.timeout(SEND_S):  # a client that accepts no data for so long is gone
                await send({"type": "http.response.body", "body": data, "more_body": True})


async def _wait_for_disconnect(receive: Receive) -> None:
    with suppress(OSError):
        while (await receive())["type"] != "http.disconnect":
            pass


def render_event(kind: str, value: Any, number: int | None = None) -> bytes:  # noqa: ANN401 - any JSON value
    """An event in wire format. Rendered JSON has no line breaks, so its content can't end an event."""
    head = "" if number is None else f"id: {number}\n"
    return f"{head}event: {kind}\ndata: {render_json(value)}\n\n".encode("utf-8", "replace")


def make_batch(number: int, parts: Iterable[tuple[str, bytes]], *, end: bytes = b"", is_last: bool = False) -> Batch:
    """A batch, rendered once for all followers."""
    kept = tuple(parts)
    return Batch(number, kept, b"".join(part for _, part in kept), end, is_last)
