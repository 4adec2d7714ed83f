"""The dispatcher answers the handshake as the library would have answered it."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.mcp import handshake
from remit.mcp.handshake import HANDSHAKES, REPLAYED, STATELESS, Dispatcher, answer
from remit.mcp.stdio import Transport

if TYPE_CHECKING:
    from collections.abc import Iterator

META = "io.modelcontextprotocol"
LISTS = ("tools/list", "resources/templates/list", "resources/list", "ping")


def ask(method: str, number: int | str = 1, **params: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON value
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def open_with(version: str) -> dict[str, Any]:
    client = {"name": "test", "version": "1"}
    return ask("initialize", 0, protocolVersion=version, capabilities={}, clientInfo=client)


def stamp(method: str, version: str = STATELESS[-1], able: dict[str, Any] | None = None) -> dict[str, Any]:
    meta = {
        f"{META}/protocolVersion": version,
        f"{META}/clientCapabilities": able or {},
        f"{META}/clientInfo": {"name": "test", "version": "1"},
    }
    return ask(method, _meta=meta)


def ask_library(*messages: dict[str, Any]) -> list[dict[str, Any]]:
    """What the library answers to some requests, one after the other."""
    # Here, so that nobody pays for the library who only collects the tests.
    import anyio  # noqa: PLC0415
    import mcp_types as types  # noqa: PLC0415
    from mcp.shared.message import SessionMessage  # noqa: PLC0415

    from remit.mcp.server import make_server  # noqa: PLC0415
    from remit.runs.hosted_runs import HostedRuns  # noqa: PLC0415

    async def play() -> list[dict[str, Any]]:
        send, receive = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        say, said = anyio.create_memory_object_stream[SessionMessage](10)
        server = make_server(HostedRuns(), lambda _: None)
        running = asyncio.ensure_future(server.run(receive, say, server.create_initialization_options()))
        found = []
        for message in messages:
            await send.send(SessionMessage(types.jsonrpc_message_adapter.validate_python(message, by_name=False)))
            if "id" in message:
                told = await said.receive()
                found.append(json.loads(told.message.model_dump_json(by_alias=True, exclude_unset=True)))
        await send.aclose()
        await running
        said.close()
        return found

    return asyncio.run(play())


def test_the_versions_are_those_of_the_library() -> None:
    from mcp_types import version  # noqa: PLC0415 - as above

    assert version.HANDSHAKE_PROTOCOL_VERSIONS == HANDSHAKES
    assert version.MODERN_PROTOCOL_VERSIONS == STATELESS


@pytest.mark.parametrize("version", [*HANDSHAKES, "1999-01-01", "2026-07-28"])
def test_an_opening_is_answered_as_the_library_does(version: str) -> None:
    opening = open_with(version)
    told, *listed = ask_library(opening, *(ask(method) for method in LISTS))
    own = answer(opening)
    if version in HANDSHAKES[:-2]:
        assert own is None
        return
    assert own is not None
    assert own == told["result"]
    for method, expected in zip(LISTS, listed, strict=True):
        assert answer(ask(method), version=own["protocolVersion"]) == expected["result"], method


@pytest.mark.parametrize("method", ["server/discover", *LISTS[:-1]])
def test_a_request_that_says_its_version_is_answered_as_the_library_does(method: str) -> None:
    for able in (None, {"elicitation": {}, "roots": {"listChanged": True}}):
        asked = stamp(method, able=able)
        assert answer(asked) == ask_library(asked)[0]["result"]


@pytest.mark.parametrize(
    "message",
    [
        ask("tools/list"),
        ask("tools/call", name="status"),
        ask("tools/list", cursor="x"),
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "1.0", "id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "id": True, "method": "ping"},
        {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []},
        ask("initialize"),
        ask("initialize", protocolVersion=3, capabilities={}, clientInfo={"name": "x", "version": "1"}),
        ask("initialize", protocolVersion="2025-11-25", capabilities=[], clientInfo={"name": "x", "version": "1"}),
        ask("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={"name": "x"}),
        stamp("tools/list", "2099-01-01"),
        stamp("tools/call"),
        ask("server/discover"),
    ],
)
def test_what_is_unusual_is_left_to_the_library(message: dict[str, Any]) -> None:
    assert answer(message) is None


def test_what_takes_long_to_list_is_left_to_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    done = threading.Event()
    monkeypatch.setattr(handshake, "_LISTING_S", 0.05)
    monkeypatch.setattr("remit.mcp.resources.list_resources", lambda: done.wait(10) and [])
    assert answer(ask("resources/list"), version="2025-11-25") is None
    done.set()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(
    method=st.sampled_from(["initialize", "server/discover", *LISTS, "x"]),
    params=JSON,
    key=st.sampled_from(["_meta", "clientInfo", "capabilities", "protocolVersion", "cursor"]),
    value=JSON,
)
def test_no_message_breaks_it(method: str, params: Any, key: str, value: Any) -> None:  # noqa: ANN401 - any JSON value
    full = {**open_with("2025-11-25")["params"], key: value}
    for each in (params, full, {"_meta": {f"{META}/protocolVersion": value, f"{META}/clientCapabilities": params}}):
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": each}
        assert isinstance(answer(message, version="2025-11-25"), dict | None)


# --- handing over ----------------------------------------------------------------------------------------------------


class Ends:
    """Both ends of a transport: the test writes and reads at one, a dispatcher at the other."""

    def __init__(self) -> None:
        source, self._write = os.pipe()
        self._read, target = os.pipe()
        self.dispatcher = Dispatcher(Transport(source, target))
        self.thread = threading.Thread(target=self.dispatcher.run, daemon=True)
        self.thread.start()
        self._file = os.fdopen(self._read, "rb")
        self._handles = [source, target]

    def send(self, *messages: dict[str, Any]) -> None:
        """Send messages, all at once."""
        os.write(self._write, b"".join(json.dumps(each).encode() + b"\n" for each in messages))

    def receive(self) -> dict[str, Any]:
        """The next answer."""
        found: dict[str, Any] = json.loads(self._file.readline())
        return found

    def end(self) -> None:
        """Send nothing more."""
        os.close(self._write)
        self.thread.join(10)
        assert not self.thread.is_alive()

    def close(self) -> None:
        """Let go of all that is open."""
        self._file.close()
        for handle in self._handles:
            os.close(handle)


@pytest.fixture
def ends() -> Iterator[Ends]:
    both = Ends()
    yield both
    both.close()


def test_what_is_not_answered_is_kept_in_its_order_behind_the_opening(ends: Ends) -> None:
    call, done = ask("tools/call", 5, name="status"), {"jsonrpc": "2.0", "method": "notifications/initialized"}
    ends.send(open_with("2025-11-25"), done, ask("tools/list", 2), call, ask("ping", "three"))
    assert [ends.receive()["id"] for _ in range(3)] == [0, 2, "three"]
    ends.end()
    kept, has_ended = ends.dispatcher.attach(lambda _: None, lambda: None)
    assert has_ended
    assert kept == [open_with("2025-11-25") | {"id": REPLAYED}, done, call]
    assert ends.dispatcher.has_pending
    ends.dispatcher.release(5)
    assert not ends.dispatcher.has_pending


def test_what_comes_after_the_hand_over_goes_to_the_library_at_once(ends: Ends) -> None:
    taken: list[dict[str, Any]] = []
    over = threading.Event()
    assert ends.dispatcher.attach(taken.append, over.set) == ([], False)
    ends.send(open_with("2025-11-25"), ask("tools/list", 2))
    ends.end()
    assert [each["id"] for each in taken] == [0, 2]
    assert over.is_set()


def test_a_request_is_owed_until_it_is_answered_taken_back_or_waits_for_an_agent(ends: Ends) -> None:
    ends.dispatcher.attach(lambda _: None, lambda: None)
    ends.send(ask("tools/call", 1, name="delegate"), ask("tools/call", 2, name="lint"), ask("tools/call", 3))
    ends.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 3}})
    ends.end()
    for number in (1, 2):
        assert ends.dispatcher.has_pending
        assert not ends.dispatcher.is_done
        ends.dispatcher.release(number)
    assert not ends.dispatcher.has_pending
    assert ends.dispatcher.is_done


def test_the_library_is_wanted_by_the_first_that_only_it_can_answer(ends: Ends) -> None:
    ends.send(open_with("2025-11-25"), {"jsonrpc": "2.0", "method": "notifications/initialized"}, ask("tools/list", 2))
    assert [ends.receive()["id"] for _ in range(2)] == [0, 2]
    assert not ends.dispatcher.needs_library.is_set()
    ends.send(ask("tools/call", 3, name="status"))
    assert ends.dispatcher.needs_library.wait(10)
    assert not ends.dispatcher.is_done
    ends.end()


def test_an_end_without_a_question_wants_nothing(ends: Ends) -> None:
    ends.send(open_with("2025-11-25"), {"jsonrpc": "2.0", "method": "notifications/initialized"})
    ends.end()
    assert ends.dispatcher.needs_library.is_set()
    assert ends.dispatcher.is_done


def test_without_the_library_requests_are_refused(ends: Ends) -> None:
    ends.send(open_with("2025-11-25"), ask("tools/call", 2, name="status"))
    assert ends.receive()["id"] == 0
    while not ends.dispatcher.has_pending:
        pass
    ends.dispatcher.refuse_all("it is broken")
    told = ends.receive()
    assert (told["id"], told["error"]["code"], told["error"]["message"]) == (2, -32603, "it is broken")
    ends.send(ask("tools/call", 3, name="status"))
    assert ends.receive()["id"] == 3
    ends.end()
