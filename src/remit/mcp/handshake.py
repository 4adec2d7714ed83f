"""The front desk: the messages that open a connection are answered at once, before the library is there.

Owns what a harness hears in the first moments. A harness goes on without a server that is slow to answer, and the
library takes longer to load than some wait. So what every connection begins with is answered here: who this is, and
what it offers. All else is kept in its order, and the first of it that wants an answer is what the library is loaded
for. Once that is there it is told the same opening, and answers everything from then on. What is unusual is left to it
from the start.
"""

from __future__ import annotations

from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Any

from remit.mcp import catalog
from remit.mcp.stdio import INTERNAL_ERROR, Trouble, get_request_id
from remit.views.render import render_json

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from remit.mcp.stdio import Wire

    Message = dict[str, Any]
    Deliver = Callable[[Message], None]

HANDSHAKES = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""The versions that a connection opens with `initialize`; a harness that asks for another is offered the last."""
STATELESS = ("2026-07-28",)
"""Those in which every request says its version, and nothing opens a connection."""
_WITH_SCHEMAS = HANDSHAKES[-2:]
"""Those in which tools say what they give. Who speaks an older one is told less, and waits for the library."""
REPLAYED = "remit-front-desk"
"""The id under which the library is told of an opening that was answered here: its own answer goes nowhere."""
_META = "io.modelcontextprotocol"
_MOST_KEPT = 10_000
_LISTING_S = 1.0


class Desk:
    """Reads the wire: answers what it can until the library is there, and hands it the rest."""

    def __init__(self, wire: Wire) -> None:
        self.wire = wire
        self._turn = Lock()
        self._kept: list[Message] = []
        self._deliver: Deliver | None = None
        self._is_open = Event()
        self.wants = Event()
        """Set once something has come that only the library can answer, or nothing more will come."""
        self._version = ""
        """What was agreed on here."""
        self._has_ended = False
        self._on_end: Callable[[], None] | None = None
        self._owed: set[str | int] = set()
        """The requests that are not answered; of those that wait for an agent, whose work has not begun."""

    # --- the thread that reads ----------------------------------------------------------------------------------------

    def run(self) -> None:
        """Read until there is nothing more. Runs in a thread of its own."""
        for message in self.wire.read():
            if isinstance(message, Trouble):
                self.wire.refuse(message.code, message.message)
            else:
                self._take(message)
            if self.wire.is_broken:  # whoever asks does not listen any more
                break
        with self._turn:
            self._has_ended = True
        self.wants.set()
        if self._on_end is not None:
            self._on_end()

    def _take(self, message: Message) -> None:
        with self._turn:
            deliver = self._deliver
            result = self._receive(message) if deliver is None else None
            if result is None:
                self._note(message)
        if result is not None:  # without the turn: who does not read its answers holds up nobody but itself
            self.wire.write(render_json({"jsonrpc": "2.0", "id": message["id"], "result": result}))
        elif deliver is not None:
            deliver(message)
        elif len(self._kept) >= _MOST_KEPT:  # nobody sends so many that need no answer
            self.wants.set()
            self._is_open.wait()

    def _receive(self, message: Message) -> dict[str, Any] | None:
        """What a message that came before the library is answered with; None where it was kept for the library."""
        try:
            result = answer(message, version=self._version)
        except Exception:  # noqa: BLE001 - a bug; the library meets it again, and tells
            result = None
        if result is None:
            self._kept.append(message)
            if "id" in message:
                self.wants.set()
        elif message["method"] == "initialize":
            self._version = result["protocolVersion"]
            self._kept.append(message | {"id": REPLAYED})
        return result

    def _note(self, message: Message) -> None:
        request_id, params = get_request_id(message), message.get("params")
        if message.get("method") == "notifications/cancelled" and isinstance(params, dict):
            self.forget(get_request_id({"id": params.get("requestId")}))
        if request_id is None or "method" not in message:
            return
        self._owed.add(request_id)

    # --- the library --------------------------------------------------------------------------------------------------

    def hand_over(self, deliver: Deliver, on_end: Callable[[], None]) -> tuple[list[Message], bool]:
        """Leave everything to the library from now on; what was kept for it, and whether there is no more to come."""
        with self._turn:
            self._deliver, self._on_end = deliver, on_end
            kept, self._kept = self._kept, []
        self._is_open.set()
        return kept, self._has_ended

    def give_up(self, reason: str) -> None:
        """Refuse what was kept: there will be no library."""
        kept, _ = self.hand_over(lambda message: self._refuse(message, reason), lambda: None)
        for message in kept:
            self._refuse(message, reason)

    def _refuse(self, message: Message, reason: str) -> None:
        request_id = get_request_id(message)
        if request_id not in (None, REPLAYED):
            self.wire.refuse(INTERNAL_ERROR, reason, request_id=request_id)

    def forget(self, request_id: str | int | None) -> None:
        """Let a request be: it is answered, or waits for an agent that is at work."""
        if request_id is not None:
            self._owed.discard(request_id)

    @property
    def is_over(self) -> bool:
        """Whether nothing more will come, and nothing was kept that wants an answer."""
        with self._turn:
            return self._has_ended and not self._owed

    @property
    def owes(self) -> bool:
        """Whether something is still to be done that does not take long."""
        return bool(self._owed) and not self.wire.is_broken


# --- what is answered here -------------------------------------------------------------------------------------------


def answer(message: Mapping[str, Any], *, version: str = "") -> dict[str, Any] | None:
    """What a message is answered with that opens a connection as usual; None for every other.

    `version`: the one that was agreed on, where the connection is open.
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
    """The lists of what is offered; they have one page."""
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
    """What there is to read, where that is soon known; a large repository is looked through while others are served."""
    from remit.mcp.resources import list_resources

    found: list[list[dict[str, Any]]] = []
    looking = Thread(target=lambda: found.append(list_resources()), name="remit-mcp-list", daemon=True)
    looking.start()
    looking.join(_LISTING_S)
    return {"resources": found[0]} if found else None


def _complete(result: dict[str, Any]) -> dict[str, Any]:
    """A result as those versions want it that know no connection."""
    stamp = {f"{_META}/serverInfo": catalog.SERVER}
    return result | {"_meta": stamp, "resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
