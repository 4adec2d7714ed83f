"""The handshake: answers to the messages that open a connection, before the MCP library is loaded.

Loading the library takes longer than some harnesses wait for a server. So the dispatcher answers the usual first
messages itself: `initialize`, the lists of tools and resources, and `ping`. It queues all other messages in order, and
the first request among them causes the library to load. The library then receives the same `initialize`, the queue, and
all later messages. An unusual handshake is queued from the start.
"""

from __future__ import annotations

from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Any

from remit.mcp import catalog
from remit.mcp.stdio import INTERNAL_ERROR, InvalidMessage, get_request_id
from remit.views.render import render_json

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from remit.mcp.stdio import Transport

    Message = dict[str, Any]
    Deliver = Callable[[Message], None]

HANDSHAKES = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""The versions in which `initialize` opens a connection. Remit offers the last if a harness asks for another."""
STATELESS = ("2026-07-28",)
"""The versions in which each request has its version, without a handshake."""
_WITH_SCHEMAS = HANDSHAKES[-2:]
"""The versions in which tools have output schemas. Only the library answers harnesses with an older version."""
REPLAYED = "remit-handshake"
"""The id of an `initialize` that was already answered, for the library: its own answer isn't sent."""
_META = "io.modelcontextprotocol"
_MAX_QUEUED = 10_000
_LISTING_S = 1.0


class Dispatcher:
    """Reads messages, answers the handshake, and queues all other messages until the library is loaded."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self._lock = Lock()
        self._queued: list[Message] = []
        self._deliver: Deliver | None = None
        self._is_attached = Event()
        self.needs_library = Event()
        """Set after a request that only the library can answer, and at the end of the input."""
        self._version = ""
        """The version of the protocol that the handshake agreed on."""
        self._has_ended = False
        self._on_end: Callable[[], None] | None = None
        self._pending: set[str | int] = set()
        """The requests without an answer, except those that wait for a run that has been started."""

    # --- the thread that reads ----------------------------------------------------------------------------------------

    def run(self) -> None:
        """Read messages until the input ends. Runs in a thread of its own."""
        for message in self.transport.read():
            if isinstance(message, InvalidMessage):
                self.transport.refuse(message.code, message.message)
            else:
                self._dispatch(message)
            if self.transport.is_broken:
                break
        with self._lock:
            self._has_ended = True
        self.needs_library.set()
        if self._on_end is not None:
            self._on_end()

    def _dispatch(self, message: Message) -> None:
        with self._lock:
            deliver = self._deliver
            result = self._answer_or_queue(message) if deliver is None else None
            if result is None:
                self._update_pending(message)
        if result is not None:  # without the lock: a client that doesn't read its answers blocks only this thread
            self.transport.write(render_json({"jsonrpc": "2.0", "id": message["id"], "result": result}))
        elif deliver is not None:
            deliver(message)
        elif len(self._queued) >= _MAX_QUEUED:  # a flood of notifications: stop reading until the library is loaded
            self.needs_library.set()
            self._is_attached.wait()

    def _answer_or_queue(self, message: Message) -> dict[str, Any] | None:
        """Return the answer to a message of the handshake; queue any other message and return None."""
        try:
            result = answer(message, version=self._version)
        except Exception:  # noqa: BLE001 - a bug; the library gets the same message and reports its error
            result = None
        if result is None:
            self._queued.append(message)
            if "id" in message:
                self.needs_library.set()
        elif message["method"] == "initialize":
            self._version = result["protocolVersion"]
            self._queued.append(message | {"id": REPLAYED})
        return result

    def _update_pending(self, message: Message) -> None:
        request_id, params = get_request_id(message), message.get("params")
        if message.get("method") == "notifications/cancelled" and isinstance(params, dict):
            self.release(get_request_id({"id": params.get("requestId")}))
        if request_id is None or "method" not in message:
            return
        self._pending.add(request_id)

    # --- the library --------------------------------------------------------------------------------------------------

    def attach(self, deliver: Deliver, on_end: Callable[[], None]) -> tuple[list[Message], bool]:
        """Pass all later messages to the library; return the queued ones and whether the input has ended."""
        with self._lock:
            self._deliver, self._on_end = deliver, on_end
            queued, self._queued = self._queued, []
        self._is_attached.set()
        return queued, self._has_ended

    def refuse_all(self, reason: str) -> None:
        """Refuse the queued and all later requests, because the library can't be loaded."""
        queued, _ = self.attach(lambda message: self._refuse(message, reason), lambda: None)
        for message in queued:
            self._refuse(message, reason)

    def _refuse(self, message: Message, reason: str) -> None:
        request_id = get_request_id(message)
        if request_id not in (None, REPLAYED):
            self.transport.refuse(INTERNAL_ERROR, reason, request_id=request_id)

    def release(self, request_id: str | int | None) -> None:
        """Stop waiting for a request at the end: it is answered, or its run has been started."""
        if request_id is not None:
            self._pending.discard(request_id)

    @property
    def is_done(self) -> bool:
        """Whether the input has ended and no request is pending."""
        with self._lock:
            return self._has_ended and not self._pending

    @property
    def has_pending(self) -> bool:
        """Whether a request is pending that will be answered soon, and its answer can be sent."""
        return bool(self._pending) and not self.transport.is_broken


# --- answers of the handshake ----------------------------------------------------------------------------------------


def answer(message: Mapping[str, Any], *, version: str = "") -> dict[str, Any] | None:
    """Return the answer to a usual message of a handshake; None for all other messages.

    `version`: the version that an open connection has agreed on.
    """
    request_id, params = message.get("id"), message.get("params", {})
    if message.get("jsonrpc") != "2.0" or isinstance(request_id, bool) or not isinstance(request_id, str | int):
        return None
    if not isinstance(params, dict):
        return None
    method, meta = message.get("method"), params.get("_meta")
    if method == "initialize":
        return _initialize(params)
    if isinstance(meta, dict) and f"{_META}/protocolVersion" in meta:
        return _answer_stateless(method, params, meta)
    return _list(method, params) if version in _WITH_SCHEMAS else None


def _initialize(params: Mapping[str, Any]) -> dict[str, Any] | None:
    version, client = params.get("protocolVersion"), params.get("clientInfo")
    if not isinstance(version, str) or not isinstance(params.get("capabilities"), dict):
        return None
    if not _is_client(client):
        return None
    agreed = version if version in HANDSHAKES else HANDSHAKES[-1]
    if agreed not in _WITH_SCHEMAS:
        return None
    return {
        "protocolVersion": agreed,
        "capabilities": catalog.CAPABILITIES,
        "serverInfo": catalog.SERVER,
        "instructions": catalog.INSTRUCTIONS,
    }


def _is_client(client: object) -> bool:
    return isinstance(client, dict) and all(isinstance(client.get(name), str) for name in ("name", "version"))


def _answer_stateless(method: object, params: Mapping[str, Any], meta: Mapping[str, Any]) -> dict[str, Any] | None:
    able, client = meta.get(f"{_META}/clientCapabilities"), meta.get(f"{_META}/clientInfo")
    if meta[f"{_META}/protocolVersion"] not in STATELESS or not isinstance(able, dict):
        return None
    if not all(isinstance(each, dict) for each in able.values()) or not _is_client(client):
        return None
    if method == "server/discover":
        found = {"supportedVersions": [*STATELESS], "capabilities": catalog.CAPABILITIES}
        return _complete(found | {"instructions": catalog.INSTRUCTIONS})
    listed = _list(method, params)
    return None if not listed else _complete(listed)


def _list(method: object, params: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the list of tools, templates or resources, each of one page; `{}` for a ping; None for other methods."""
    if "cursor" in params:
        return None
    if method == "tools/list":
        return {"tools": catalog.list_tools()}
    if method == "resources/templates/list":
        return {"resourceTemplates": catalog.TEMPLATES}
    if method == "resources/list":
        return _list_resources()
    return {} if method == "ping" else None


def _list_resources() -> dict[str, Any] | None:
    """Return the resources; None if listing them takes long, so that other requests don't wait."""
    from remit.mcp.resources import list_resources

    found: list[list[dict[str, Any]]] = []
    listing = Thread(target=lambda: found.append(list_resources()), name="remit-mcp-list", daemon=True)
    listing.start()
    listing.join(_LISTING_S)
    return {"resources": found[0]} if found else None


def _complete(result: dict[str, Any]) -> dict[str, Any]:
    """Return a result with the fields that the versions without a handshake require."""
    stamp = {f"{_META}/serverInfo": catalog.SERVER}
    return result | {"_meta": stamp, "resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
