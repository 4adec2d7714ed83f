"""Handlers of the streams: events of the ledger and lines of a log, with the data that a client missed."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from remit.server.event_stream import Channel, EventStream, Follower, make_batch, render_event
from remit.server.problems import missing
from remit.server.run_routes import open_workspace

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.responses import Response

    from remit.ledger.home import Home
    from remit.ledger.runs import Run
    from remit.schemas import EventObject, EventPageObject, LogLineObject
    from remit.server.endpoint import ApiRequest
    from remit.server.event_stream import Batch
    from remit.views.events import LedgerChanges
    from remit.views.logs import LogTail

_EVENTS, _LOG = "events", "log "
_MAX_DIGITS = 15
MOST_LINES = 5_000
"""The number of earlier lines that a new follower gets; `/log` has the rest."""


# --- events ----------------------------------------------------------------------------------------------------------


class _Events(Channel):
    """Events of the ledger, which stays open: opening it for each poll would cost more than the poll."""

    def __init__(self) -> None:
        super().__init__()
        self._home: Home | None = None
        self._file: tuple[int, int] | None = None

    def find_position(self) -> int:
        """The number of the last event."""
        from remit.views.events import find_last

        return find_last(self._open())

    def poll(self) -> Batch | None:
        """The events since the position."""
        from remit.views.events import find_last, list_changes

        home = self._open()
        if find_last(home) == self.position:
            return None
        found = list_changes(home, after=self.position)
        if found.is_reset:  # too many events at once, or another ledger
            return make_batch(found.last, (), end=_render_reset(found.last))
        return make_batch(found.next, ((each["root_id"] or "", _render_change(each)) for each in found.items))

    def close(self) -> None:
        """Close the ledger."""
        if self._home is not None:
            self._home.close()
            self._home = None

    def _open(self) -> Home:
        """The ledger, opened again if its file was replaced."""
        from remit.views.run_snapshots import open_home

        home = self._home or open_home()
        try:
            seen = Path(home.ledger_file).stat()
            file = seen.st_dev, seen.st_ino
        except OSError:  # there are no runs yet
            file = None
        if file != self._file:
            self.close()
            home, self._file = open_home(), file
        self._home = home
        return home


def _render_change(change: EventObject) -> bytes:
    return render_event("change", change, change["number"])


def _render_reset(last: int) -> bytes:
    return render_event("reset", {"event": last}, last)


async def get_events(request: ApiRequest) -> Response | EventPageObject:
    """Follow events, or list them."""
    session = request.query.get("session", "")
    root_id = (await asyncio.to_thread(_find_row, session)).root_id if session else ""
    if _wants_page(request):
        after, limit = request.query.get("after", 0), request.query.get("limit", 100)
        found = await asyncio.to_thread(_load_changes, after, root_id, limit)
        return {"items": found.items, "next": found.next, "last": found.last, "reset": found.is_reset}
    start = _find_start(request)
    follower = Follower(request.guest, root_id=root_id)
    streams = request.context.streams
    position = await streams.join(_EVENTS, _Events, follower)
    return EventStream(streams, follower, _catch_up(start, position, root_id))


def _wants_page(request: ApiRequest) -> bool:
    accepted = request.headers.get_list("accept").lower()
    return "application/json" in accepted and "text/event-stream" not in accepted


def _find_start(request: ApiRequest) -> int | None:
    """Return the number after which the stream starts: a browser that reconnects sends it in a header."""
    last = request.headers.get("last-event-id") or ""
    if last.isascii() and last.isdecimal() and len(last) <= _MAX_DIGITS:
        return int(last)
    after: int | None = request.query.get("after")
    return after


def _find_row(word: str) -> Run:
    from remit.views.run_snapshots import load_row

    with open_workspace() as home, missing():
        return load_row(home, word)


def _load_changes(after: int, root_id: str, limit: int = 500) -> LedgerChanges:
    from remit.views.events import list_changes

    with open_workspace() as home:
        return list_changes(home, after=after, session=root_id, limit=limit)


async def _catch_up(after: int | None, position: int, root_id: str) -> AsyncIterator[bytes]:
    """The start of a stream: its position, and the events that the client missed."""
    start = position if after is None else after
    yield render_event("hello", {"event": position}, start)
    if start > position:  # the number is from an earlier ledger
        yield _render_reset(position)
        return
    while start < position:
        found = await asyncio.to_thread(_load_changes, start, root_id)
        if found.is_reset:
            yield _render_reset(position)
            return
        # The channel sends what comes after the position.
        yield b"".join(_render_change(each) for each in found.items if each["number"] <= position)
        start = max(found.next, start + 1)


# --- lines -----------------------------------------------------------------------------------------------------------


class _Log(Channel):
    """The output of one agent."""

    quick_s, idle_s, patience = 0.2, 0.5, 150

    def __init__(self, session_id: str) -> None:
        super().__init__()
        self._session_id = session_id
        self._tail: LogTail | None = None

    def find_position(self) -> int:
        """The number of the last line."""
        from remit.views.logs import LogTail

        tail = LogTail(self._session_id)
        found = tail.read()
        while found["items"] and not found["finished"]:
            found = tail.read()
        self._tail = tail
        return found["next"]

    def poll(self) -> Batch | None:
        """The lines since the position."""
        if self._tail is None:
            return None
        found = self._tail.read()
        if not found["items"] and not found["finished"]:
            return None
        next_line, is_last = found["next"], found["finished"]
        end = render_event("finished", {"next": next_line}) if is_last else b""
        return make_batch(next_line, (("", _render_line(each)) for each in found["items"]), end=end, is_last=is_last)


def _render_line(line: LogLineObject) -> bytes:
    return render_event("line", line, line["number"])


async def stream_log(request: ApiRequest) -> Response:
    """Follow the output of an agent."""
    session_id = (await asyncio.to_thread(_find_row, request.path["id"])).session_id
    start = _find_start(request) or 0
    follower = Follower(request.guest)
    streams = request.context.streams
    position = await streams.join(f"{_LOG}{session_id}", lambda: _Log(session_id), follower)
    return EventStream(streams, follower, _catch_up_lines(session_id, start, position))


async def _catch_up_lines(session_id: str, after: int, position: int) -> AsyncIterator[bytes]:
    """The lines before those that the channel sends."""
    from remit.views.logs import LogTail

    skipped = max(0, position - after - MOST_LINES)
    after += skipped
    yield render_event("hello", {"next": position, "skipped": skipped}, after)
    if after >= position:
        return
    tail = await asyncio.to_thread(lambda: LogTail(session_id, after=after))
    while after < position:
        found = await asyncio.to_thread(tail.read)
        yield b"".join(_render_line(each) for each in found["items"] if each["number"] <= position)
        if not found["items"]:
            return
        after = found["next"]
