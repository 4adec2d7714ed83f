"""Listening: the socket, the protocol's library and the end of a server.

Everything that depends on uvicorn is here. A connection that sends its request too slowly is closed. Input that isn't
HTTP gets an answer with the same headers as any other. At shutdown, streams are ended, and the server waits only a
moment for clients.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import signal
import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import h11
from uvicorn import Config, Server
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from remit.errors import InputError, UsageError
from remit.server.problems import CONTENT_TYPE, ProblemError, build_problem, report_bug
from remit.server.security import HEADERS, MAX_HEAD_BYTES, Place
from remit.views.render import render_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from starlette.types import ASGIApp

PORT = 8765
HEAD_S = 10.0
"""How long the head of a request may take."""
_GRACE_S = 1
_NEXT_PORTS = 20
_BACKLOG = 512
_THREADS = 32
_UNACKNOWLEDGED_MS = 30_000
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
LOOPBACK = ("127.0.0.1", "localhost", "::1")


class Connection(H11Protocol):
    """A connection with a time limit for the head of each request."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the time limit for the first request."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Pass on a part of a request; the time limit applies until the head is complete."""
        super().data_received(data)
        if self._is_answering:
            self._stop_waiting()
        elif self._deadline is None:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the time limit after the client has disconnected."""
        self._stop_waiting()
        super().connection_lost(exc)

    @property
    def _is_answering(self) -> bool:
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is not None and not cycle.response_complete

    def _wait(self) -> None:
        self._deadline = self.loop.call_later(HEAD_S, self._give_up)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        self._deadline = None
        if not self._is_answering:
            self.transport.close()

    def send_400_response(self, msg: str) -> None:
        """Answer input that isn't HTTP."""
        problem = build_problem(ProblemError(400, "BAD_REQUEST", msg.rstrip(".").lower(), hint="send HTTP/1.1"))
        body = render_json(problem).encode()
        headers = [(b"content-type", CONTENT_TYPE.encode()), (b"content-length", str(len(body)).encode()),
                   (b"connection", b"close"), (b"cache-control", b"no-store"), *HEADERS]  # fmt: skip
        for event in (h11.Response(status_code=400, headers=headers, reason=b"Bad Request"), h11.Data(data=body),
                      h11.EndOfMessage()):  # fmt: skip
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()


class _Server(Server):
    """Uvicorn's server without its signal handlers."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Do nothing: the caller of the server handles signals."""
        yield


def serve(app: ASGIApp, listener: socket.socket, *, on_ready: Callable[[], None], on_end: Callable[[], None]) -> None:
    """Serve until a signal arrives. A second signal ends the server at once."""
    loop = asyncio.new_event_loop()
    loop.run_until_complete(_serve(app, listener, on_ready, on_end))  # don't wait for busy threads


async def _serve(
    app: ASGIApp, listener: socket.socket, on_ready: Callable[[], None], on_end: Callable[[], None]
) -> None:
    server = make_server(app)

    def end() -> None:
        if server.should_exit:
            server.force_exit = True
        server.should_exit = True
        on_end()

    loop = asyncio.get_running_loop()
    loop.set_default_executor(ThreadPoolExecutor(_THREADS, "remit-http"))  # some wait for an agent to end
    loop.set_exception_handler(_handle_exception)
    for number in _SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            loop.add_signal_handler(number, end)
    loop.call_soon(on_ready)
    await server.serve(sockets=[listener])


def _handle_exception(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Handle an exception of a background task: a broken connection is ignored, anything else is a bug."""
    error = context.get("exception")
    if isinstance(error, Exception) and not isinstance(error, OSError):
        report_bug(error)


def make_server(app: ASGIApp) -> Server:
    """Return a configured uvicorn server, which is started with an open socket."""
    logging.getLogger("uvicorn").addHandler(logging.NullHandler())  # answers report errors
    logging.getLogger("uvicorn").propagate = False
    config = Config(
        app,
        loop="asyncio",
        http=Connection,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=_GRACE_S,
        h11_max_incomplete_event_size=MAX_HEAD_BYTES,
    )
    return _Server(config)


# --- sockets ---------------------------------------------------------------------------------------------------------


def listen(host: str, port: int | None) -> socket.socket:
    """A bound socket; without a given port, on the default port or the next free one."""
    wanted = range(PORT, PORT + _NEXT_PORTS) if port is None else (port,)
    for number in wanted:
        try:
            return _bind(host, number)
        except OSError as error:
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise _make_listen_error(host, number, error) from None
            last = error
    if port is not None:
        raise _make_listen_error(host, port, last) from None
    return _bind(host, 0)


def _bind(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if hasattr(socket, "TCP_USER_TIMEOUT"):  # a client that acknowledges no data is gone
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _UNACKNOWLEDGED_MS)
        listener.bind((host, port))
        listener.listen(_BACKLOG)  # only listening reserves the port
    except BaseException:
        listener.close()
        raise
    return listener


def _make_listen_error(host: str, port: int, error: OSError) -> UsageError | InputError:
    if error.errno == errno.EADDRINUSE:
        return UsageError(f"port {port} is in use", hint="choose another one with --port, or omit --port")
    if error.errno == errno.EACCES:
        return UsageError(f"port {port} requires root rights", hint="choose one above 1023 with --port")
    reason = (error.strerror or str(error)).lower()
    return InputError(f"can't listen on '{host}': {reason}", hint="pass an address of this machine to --host")


def find_place(listener: socket.socket, host: str) -> Place:
    """The address of a socket, and the host names that it accepts."""
    address: Any = listener.getsockname()
    is_any = address[0] in ("0.0.0.0", "::")  # noqa: S104 - compared, not bound
    own = f"[{address[0]}]" if ":" in address[0] else address[0]
    names = {"127.0.0.1", "localhost", "[::1]", host.lower(), own}
    if is_any:
        names.add(socket.gethostname().lower())
    return Place(host if not is_any else "127.0.0.1", int(address[1]), frozenset(names), is_any)
