"""Following: what happens is told at once, to all, once, and again to who comes back."""

from __future__ import annotations

import asyncio
import http.client
import os
import socket
import time
from typing import TYPE_CHECKING

import pytest

from remit.ledger.home import Home
from remit.server import event_stream
from remit.server.event_stream import Channel, Follower, Streams, make_batch
from remit.server.tokens import Guest, Tokens
from remit.views import events
from tests.support.http_server import API, HOST, Served, add_rows, happen, run_server

if TYPE_CHECKING:
    from pathlib import Path

    from remit.server.event_stream import Batch

EACH = 3
"""How many events a row of `add_rows` makes."""
GUEST = Guest("bearer", "api")


def test_what_happens_is_told_at_once(served: Served) -> None:
    last = served.get("/status").value["event"]
    with served.follow("/events") as stream_:
        hello = stream_.take()
        assert hello is not None
        assert (hello.kind, hello.number, hello.value) == ("hello", last, {"event": last})
        began = time.monotonic()
        number = happen(served.root, "something", note="one\ntwo\r\nevent: evil\n\ndata: x\u2028")
        change = stream_.take()
        took_s = time.monotonic() - began
    assert change is not None
    assert (change.kind, change.number) == ("change", number)
    assert change.value["details"] == {"note": "one\ntwo\r\nevent: evil\n\ndata: x\u2028"}
    assert took_s < 5, took_s


def test_who_comes_back_is_told_what_was_missed_and_nothing_twice(served: Served) -> None:
    start = happen(served.root, "start")
    with served.follow("/events", Last_Event_ID=str(start)) as one:
        assert one.take() is not None
        happen(served.root, "a", "b")
        seen = one.take_until(start + 2)
    happen(served.root, *(f"missed {number}" for number in range(1200)))
    with served.follow("/events?after=1", Last_Event_ID=str(seen[-1].number)) as two:
        hello = two.take()
        assert hello is not None
        assert (hello.number, hello.value["event"]) == (start + 2, start + 1202)
        happen(served.root, "live")
        told = [each.number for each in [*seen, *two.take_until(start + 1203)]]
    assert told == [*range(start + 1, start + 1204)]


def test_who_was_away_for_too_long_begins_anew(served: Served) -> None:
    start = happen(served.root, "start")
    home = Home(str(served.root))
    number = happen(served.root, "gone", "kept")
    with home.ledger.transaction() as db:
        db.execute("DELETE FROM events WHERE number = ?", (number - 1,))
    home.close()
    for after in (start, 10**12):  # something of it is removed, or it was of another ledger
        with served.follow(f"/events?after={after}") as followed:
            assert [each.kind for each in (followed.take(), followed.take()) if each] == ["hello", "reset"]
            last = happen(served.root, "live")
            assert followed.take_until(last)[-1].value["kind"] == "live"


def test_one_run_is_followed_by_itself(served: Served) -> None:
    start = happen(served.root, "start")
    first, second = add_rows(served.root, 2, begin=100)
    with served.follow(f"/events?session={first}&after={start}") as followed:
        hello = followed.take()
        assert hello is not None
        happen(served.root, "other", session_id=second)
        last = happen(served.root, "own", session_id=first)
        told = followed.take_until(last)
    assert [each.value["kind"] for each in told] == ["admitted", "running", "finished", "own"]
    assert {each.value["root_id"] for each in told} == {first}
    assert served.get("/events?session=nobody").status == 404


def test_events_are_also_given_by_the_page(served: Served) -> None:
    start = happen(served.root, "start")
    happen(served.root, "a", "b", "c")
    first = served.get(f"/events?after={start}&limit=2", Accept="application/json").value
    assert ([each["kind"] for each in first["items"]], first["next"], first["reset"]) == (["a", "b"], start + 2, False)
    second = served.get(f"/events?after={first['next']}", Accept="application/json").value
    assert ([each["kind"] for each in second["items"]], second["next"]) == (["c"], start + 3)


def test_secrets_are_not_told(served: Served) -> None:
    key = f"sk-ant-{'x' * 40}"
    with served.follow("/events") as followed:
        followed.take()
        happen(served.root, "said", text=f"the key is {key}")
        change = followed.take()
    assert change is not None
    assert key not in str(change.value)
    assert "redacted" in str(change.value)


def test_a_stream_ends_with_its_session(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_stream, "PING_S", 0.2)
    for ends_by_itself in (False, True):
        cookie = served.log_in()
        connection = http.client.HTTPConnection(HOST, served.port, timeout=10)
        connection.request("GET", f"{API}/events", headers=cookie | {"Sec-Fetch-Site": "same-origin"})
        answer = connection.getresponse()
        assert answer.readline() == b"retry: 1000\n"
        if ends_by_itself:
            served.clock.ahead_s += 13 * 3600
        else:
            out = served.ask("DELETE", f"{API}/session", cookie | {"Sec-Fetch-Site": "same-origin"})
            assert out.status == 204
        assert b"event: hello" in answer.read()  # all of it, to its end
        connection.close()


def test_a_silent_stream_shows_that_it_lives(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_stream, "PING_S", 0.1)
    connection = http.client.HTTPConnection(HOST, served.port, timeout=10)
    connection.request("GET", f"{API}/events", headers=served.bearer)
    answer = connection.getresponse()
    while (line := answer.readline()) and not line.startswith(b": "):
        pass
    assert line, "the server closed the stream"
    connection.close()


def test_a_request_that_does_not_fit_follows_nothing(served: Served) -> None:
    wait_for(served, 0)
    with socket.create_connection((HOST, served.port), timeout=10) as raw:
        raw.sendall(f"GET {API}/events HTTP/1.1\r\nHost: {HOST}:{served.port}\r\n".encode())
        raw.sendall(f"Authorization: Bearer {served.token}\r\n".encode())
        raw.sendall(b"Last-Event-ID: 1\r\nLast-Event-ID: 2\r\n\r\n")
        assert raw.recv(65536).startswith(b"HTTP/1.1 400")
    assert served.context.streams.count == 0


def test_only_so_many_follow(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_stream, "MOST_STREAMS", 2)
    with served.follow("/events") as one, served.follow("/events") as two:
        assert one.take() is not None
        assert two.take() is not None
        late = served.get("/events", Accept="text/event-stream")
        assert (late.status, late.headers["retry-after"]) == (503, "2")
    deadline = time.monotonic() + 10
    while served.ask("HEAD", f"{API}/events", served.bearer).status == 503:
        assert time.monotonic() < deadline, "who leaves makes room"
        time.sleep(0.05)


def test_one_look_serves_all(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """Forty who follow cost the ledger what one costs."""
    looks = []
    actual = events.find_last

    def count(home: Home) -> int:
        looks.append(1)
        return actual(home)

    monkeypatch.setattr(events, "find_last", count)
    sockets = []
    try:
        for _ in range(40):
            raw = socket.create_connection((HOST, served.port), timeout=10)
            raw.sendall(f"GET {API}/events HTTP/1.1\r\nHost: {HOST}:{served.port}\r\n".encode())
            raw.sendall(f"Authorization: Bearer {served.token}\r\n\r\n".encode())
            sockets.append(raw)
        for raw in sockets:
            while b"event: hello" not in raw.recv(65536):
                pass
        looks.clear()
        began = time.monotonic()
        number = happen(served.root, "for all")
        for raw in sockets:
            data = b""
            while f"id: {number}\n".encode() not in data:
                data += raw.recv(65536)
        seconds = time.monotonic() - began
    finally:
        for raw in sockets:
            raw.close()
    assert len(looks) <= seconds / Channel.quick_s + 3


# --- channels by themselves ------------------------------------------------------------------------------------------


class Counting(Channel):
    """A channel in which something is new at every look."""

    quick_s = 0.001

    def __init__(self, *, most: int = 10**6, fails_at: int = 0) -> None:
        super().__init__()
        self.most = most
        self.fails_at = fails_at
        self.closed = 0

    def find_position(self) -> int:
        """Where it stands."""
        return 0

    def poll(self) -> Batch | None:
        """One more."""
        if self.fails_at and self.position + 1 == self.fails_at:
            raise OSError("the disk is gone")
        at = self.position + 1
        return make_batch(at, [("", b"%d " % at)], is_last=at >= self.most)

    def close(self) -> None:
        """Count it."""
        self.closed += 1


async def take_all(follower: Follower) -> bytes:
    told, is_over = b"", False
    while not is_over:
        data, is_over = await follower.take()
        told += data
    return told


def test_who_reads_too_slowly_is_let_go_and_misses_nothing() -> None:
    async def main() -> None:
        streams, channel = Streams(Tokens("api")), Counting(most=400)
        slow, quick = Follower(GUEST), Follower(GUEST)
        await streams.join("count", lambda: channel, slow)
        start = await streams.join("count", lambda: channel, quick)
        taken = [int(word) for word in (await take_all(quick)).split()]
        assert taken == [*range(start + 1, 401)]
        data, is_over = await slow.take()
        assert (data, is_over) == (b"", True)  # what it has not got is told when it comes back
        streams.leave(slow)
        streams.leave(quick)

    asyncio.run(main())


def test_who_comes_after_the_end_is_told_so() -> None:
    async def main() -> None:
        streams, channel = Streams(Tokens("api")), Counting(most=5)
        first, late = Follower(GUEST), Follower(GUEST)
        await streams.join("count", lambda: channel, first)
        await take_all(first)
        assert await streams.join("count", lambda: channel, late) == 5
        assert await take_all(late) == b""

    asyncio.run(main())


def test_a_channel_that_fails_ends_and_is_looked_at_again() -> None:
    async def main() -> None:
        streams = Streams(Tokens("api"))
        channel = Counting(fails_at=3)
        follower = Follower(GUEST)
        await streams.join("count", lambda: channel, follower)
        assert await take_all(follower) in (b"", b"1 ", b"1 2 ")
        streams.leave(follower)
        await asyncio.sleep(0.1)
        assert channel.closed == 1
        again = Follower(GUEST)
        assert await streams.join("count", lambda: Counting(most=2), again) == 0
        assert await take_all(again) == b"1 2 "

    asyncio.run(main())


def test_nobody_looks_where_nobody_follows() -> None:
    async def main() -> None:
        streams, channel = Streams(Tokens("api")), Counting()
        follower = Follower(GUEST)
        await streams.join("count", lambda: channel, follower)
        streams.leave(follower)
        await asyncio.sleep(0.1)
        position = channel.position
        await asyncio.sleep(0.1)
        assert (channel.position, channel.closed) == (position, 1)

    asyncio.run(main())


def test_the_ledger_may_be_made_later_and_made_anew(tmp_path: Path) -> None:
    with run_server(tmp_path) as served, served.follow("/events") as followed:
        hello = followed.take()
        assert hello is not None
        assert hello.value == {"event": 0}
        assert not (tmp_path / ".remit").exists(), "who looks makes nothing"
        happen(tmp_path, "first")
        assert followed.take_until(1)[-1].value["kind"] == "first"
        happen(tmp_path, "second", "third")
        assert followed.take_until(3)[-1].value["kind"] == "third"
        os.rename(tmp_path / ".remit", tmp_path / "moved")  # noqa: PTH104 - as `mv` does it
        happen(tmp_path, "anew")
        told = followed.take()
        assert told is not None
        assert told.kind == "reset"


@pytest.mark.slow
@pytest.mark.thorough
def test_a_connection_that_takes_nothing_is_closed(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_stream, "SEND_S", 0.3)
    with socket.socket() as raw:
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        raw.connect((HOST, served.port))
        raw.sendall(f"GET {API}/events HTTP/1.1\r\nHost: {HOST}:{served.port}\r\n".encode())
        raw.sendall(f"Authorization: Bearer {served.token}\r\n\r\n".encode())
        wait_for(served, 1)
        for _ in range(10):
            happen(served.root, *["much"] * 400, text="x" * 1900)
        wait_for(served, 0)
    assert served.get("/events?after=0", Accept="application/json").status == 200


def wait_for(served: Served, number: int) -> None:
    """Wait until so many follow."""
    last = time.monotonic() + 20
    while served.context.streams.count != number:
        assert time.monotonic() < last, f"{served.context.streams.count} follow"
        time.sleep(0.02)
