"""ScriptedModel: a model server that follows a script, for tests with real harnesses.

The server listens on loopback, supports Anthropic Messages, OpenAI chat, OpenAI Responses and Gemini, with and without
streaming, and records the requests.
"""

from __future__ import annotations

import json
import threading
import time
import uuid
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import SHUT_RDWR
from typing import TYPE_CHECKING, Any, NamedTuple, Self, cast

from remit.testing.clis import SCRIPTED, make_environ
from remit.testing.model_protocols import Numbers, StreamEvent, anthropic, chat, gemini, responses
from remit.testing.script import Reply, check_scripts, choose_reply, render_marker

if TYPE_CHECKING:
    import os
    import socket
    from collections.abc import Iterable, Iterator, Mapping
    from types import TracebackType

    from remit.testing.clis import CliName
    from remit.testing.model_protocols import ModelProtocol
    from remit.testing.script import Conversation, ScriptedTurn

MAX_BODY_BYTES = 64 * 1024 * 1024
_PROTOCOLS = cast("tuple[ModelProtocol, ...]", (anthropic, chat, responses, gemini))
_BYTES_PER_TOKEN = 4


class ModelRequest(NamedTuple):
    """A request to the model, and the reply."""

    protocol: str
    path: str
    script: str | None
    step: int
    tools: tuple[str, ...]
    """The names of the offered tools."""
    body: Mapping[str, Any]
    reply: Reply
    tokens: int
    """Input and output tokens that the answer reports; 0 for an error."""


class ScriptedModel:
    """A model server on loopback that plays scripts.

        with ScriptedModel({"plan": [call("write", path="plan.md", content="# Plan"), say("Done.")]}) as model:
            environ = model.environ("claude", home)
            prompt = f"{model.mark('plan')} Make a plan."

    A marker in the prompt (`mark`) chooses the script. Each answer since the marker advances it by one turn, and the
    last turn is repeated. A text may have `${name}`, filled from the marker's values and from `ScriptedTurn.grab`.
    """

    def __init__(self, scripts: Mapping[str, Iterable[ScriptedTurn]]) -> None:
        self._scripts = check_scripts(scripts)
        self._requests: list[ModelRequest] = []
        self._news = threading.Condition()
        self._server: _ModelServer | None = None

    def __enter__(self) -> Self:
        server = self._server = _ModelServer(self)
        threading.Thread(target=server.serve_forever, args=(0.02,), name="scripted model", daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._server is not None:
            self._server.end()
            self._server = None

    @property
    def url(self) -> str:
        """Return the address of the server, without a path."""
        if self._server is None:
            raise RuntimeError("a ScriptedModel listens inside its `with` block only")
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def requests(self) -> tuple[ModelRequest, ...]:
        """Return all requests so far, in the order of the replies."""
        with self._news:
            return tuple(self._requests)

    def mark(self, script: str, **values: object) -> str:
        """Return the marker for a prompt that chooses a script, with values for its `${name}`s."""
        return render_marker(script, self._scripts, values)

    def environ(self, cli: CliName, home: str | os.PathLike[str], model: str = SCRIPTED) -> dict[str, str]:
        """Return a whole environment in which a harness uses only this model.

        The folder becomes the harness's home and gets its settings files. Of the caller's environment, only `PATH` is
        passed on. Telemetry and updates are off, and other addresses lead to a closed port. `model` is the model's
        name for Codex, which gives other tools to models that it knows (`codex debug models` lists them).
        """
        return make_environ(cli, home, self.url, model)

    def wait(self, script: str, step: int = 0, *, timeout_s: float = 30) -> ModelRequest:
        """Wait until a turn of a script was requested. Raises `TimeoutError` otherwise."""

        def find() -> ModelRequest | None:
            asked = (one for one in self._requests if (one.script, one.step) == (script, step) and one.tools)
            return next(asked, None)

        with self._news:
            found = self._news.wait_for(find, timeout_s)
        if found is None:
            raise TimeoutError(f"turn {step} of the script {script} was not requested within {timeout_s} s")
        return found

    def answer(
        self, path: str, body: Mapping[str, Any], size: int
    ) -> tuple[ModelProtocol, Conversation, Reply, Numbers] | None:
        """Return the reply to a request of a size and record it; None if no protocol has this path."""
        protocol = next((protocol for protocol in _PROTOCOLS if protocol.matches(path)), None)
        if protocol is None:
            return None
        conversation = protocol.read(path, body)
        reply = choose_reply(self._scripts, conversation, _make_ids())
        given = len(reply.text) + sum(len(json.dumps(call.args)) for call in reply.calls)
        asked, answered = max(1, size // _BYTES_PER_TOKEN), max(1, given // _BYTES_PER_TOKEN)
        numbers = Numbers(uuid.uuid4().hex[:20], asked, answered, int(time.time()))
        tokens = 0 if reply.turn.status else asked + answered
        with self._news:
            self._requests.append(
                ModelRequest(
                    protocol.NAME, path, reply.script, reply.step, tuple(conversation.tools), body, reply, tokens
                )
            )
            self._news.notify_all()
        return protocol, conversation, reply, numbers


def _make_ids() -> Iterator[str]:
    while True:
        yield uuid.uuid4().hex[:16]


class _ModelServer(ThreadingHTTPServer):
    daemon_threads = False
    request_queue_size = 256

    def __init__(self, model: ScriptedModel) -> None:
        self.model = model
        self.ended = threading.Event()
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        super().__init__(("127.0.0.1", 0), _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - as the library has it
        with self._lock:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:  # noqa: ANN401 - as the library has it
        with self._lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - as the library has it
        """Ignore harnesses that were killed during an answer; any other error is a bug."""
        import sys  # noqa: PLC0415 - needed only then

        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)

    def end(self) -> None:
        """Stop listening, and close the connections that still wait for a reply."""
        self.ended.set()
        self.shutdown()
        with self._lock:
            for connection in self._open:
                with suppress(OSError):
                    connection.shutdown(SHUT_RDWR)
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _ModelServer
    disable_nagle_algorithm = True

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing: the model records its requests."""

    def do_HEAD(self) -> None:
        self._send({})

    def do_GET(self) -> None:
        if self.path.partition("?")[0].endswith("/models"):
            known = {"id": "scripted", "object": "model", "type": "model", "display_name": "scripted", "created": 0}
            self._send({"object": "list", "data": [known], "models": [], "has_more": False})
        else:
            self._send_error(404, "there is nothing here")

    def do_POST(self) -> None:
        size = self.headers.get("content-length", "")
        if not size.isdecimal() or int(size) > MAX_BODY_BYTES or self.headers.get("content-encoding"):
            self.close_connection = True
            self._send_error(411, "a body must come with its length, uncompressed")
            return
        raw = self.rfile.read(int(size))
        path = self.path.partition("?")[0]
        if path.endswith(("/count_tokens", ":countTokens")):
            count = len(raw) // _BYTES_PER_TOKEN
            self._send({"input_tokens": count, "totalTokens": count})
            return
        try:
            body = json.loads(raw or b"{}")
        except (ValueError, RecursionError):
            body = None
        answer = self.server.model.answer(path, body, len(raw)) if isinstance(body, dict) else None
        if answer is None:
            self._send_error(404 if isinstance(body, dict) else 400, "no model protocol matches this request")
        else:
            self._play(*answer)

    def _play(self, protocol: ModelProtocol, conversation: Conversation, reply: Reply, numbers: Numbers) -> None:
        turn = reply.turn
        self.server.ended.wait(turn.wait_s)
        if turn.status:
            self._send_error(turn.status, turn.text, turn.kind)
            return
        if conversation.streams:
            self._send_events(protocol.render_events(conversation, reply, numbers), turn.ending)
        elif turn.ending:
            self._stall(turn.ending)
        else:
            self._send(protocol.render(conversation, reply, numbers))

    def _send_events(self, events: Iterator[StreamEvent], ending: str) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for event in events:
            data = event.data if isinstance(event.data, str) else json.dumps(event.data)
            name = f"event: {event.name}\n" if event.name else ""
            self.wfile.write(f"{name}data: {data}\n\n".encode())
            if ending:
                self._stall(ending, b": waiting\n\n")
                return

    def _stall(self, ending: str, sign: bytes = b"") -> None:
        """Send nothing more until the client disconnects, or disconnect at once."""
        self.close_connection = True
        while ending == "hang" and not self.server.ended.wait(0.5):
            self.wfile.write(sign)

    def _send_error(self, status: int, message: str, kind: str = "not_found_error") -> None:
        error = {"type": kind, "message": message, "code": status, "status": kind.upper()}
        self._send({"type": "error", "error": error}, status)

    def _send(self, value: Mapping[str, Any], status: int = 200) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)
