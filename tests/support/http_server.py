"""What the tests of the server have in common: a real one on loopback, whose clock can be moved, and a client."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from remit.ledger.home import Home
from remit.ledger.runs import Run, add_run, advance
from remit.server import listener as listening
from remit.server.application import make_application, make_context
from remit.server.rate_limit import Rates
from remit.server.tokens import Tokens, make_token

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from remit.server.state import ServerContext

from typing import TYPE_CHECKING

from remit.ledger.events import add_event

if TYPE_CHECKING:
    from pathlib import Path


HOST = "127.0.0.1"
PATIENCE_S = 20.0
JSON = "application/json"
PROBLEM = "application/problem+json"
API = "/api/v1"


class Clock:
    """A clock that can be moved on."""

    def __init__(self) -> None:
        self.ahead_s = 0.0

    def __call__(self) -> float:
        """The time."""
        return time.monotonic() + self.ahead_s


class Reply(NamedTuple):
    """What a server answered."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def value(self) -> Any:  # noqa: ANN401 - any JSON value
        """The body as JSON."""
        assert self.headers["content-type"].split(";")[0] in (JSON, PROBLEM), self.headers
        return json.loads(self.body)

    @property
    def problem(self) -> dict[str, Any]:
        """The error in the body, which is a problem in every respect, with the problem's `status` and `detail`."""
        assert self.headers["content-type"] == PROBLEM, (self.status, self.headers, self.body[:300])
        told: dict[str, Any] = json.loads(self.body)
        assert told["status"] == self.status
        error: dict[str, Any] = told["error"]
        assert {*told} == {"type", "title", "status", "detail", "error"}
        assert {*error} == {"code", "message", "hint", "recoverable", "data"}
        assert (told["type"], told["detail"]) == (f"urn:remit:problem:{error['code']}", error["message"])
        return error | {"status": told["status"], "detail": told["detail"]}


class Served:
    """A server that runs, and what one needs to speak to it."""

    def __init__(self, context: ServerContext, token: str, clock: Clock, root: Path) -> None:
        self.context = context
        self.token = token
        self.clock = clock
        self.root = root
        self.port = context.place.port

    @property
    def bearer(self) -> dict[str, str]:
        """The header of who has the API's token."""
        return {"Authorization": f"Bearer {self.token}"}

    def log_in(self) -> dict[str, str]:
        """The header of a browser that has logged in."""
        session = self.context.tokens.redeem(self.context.tokens.issue_login())
        return {"Cookie": f"{self.context.place.cookie}={session}"}

    def ask(
        self, method: str, path: str, headers: Mapping[str, str] | None = None, body: bytes | str | None = None
    ) -> Reply:
        """Send one request, with nothing but the headers that are named, and read all of the answer."""
        connection = http.client.HTTPConnection(HOST, self.port, timeout=PATIENCE_S)
        given = dict(headers or {})
        try:
            connection.putrequest(method, path, skip_host="Host" in given, skip_accept_encoding=True)
            data = body.encode() if isinstance(body, str) else body
            if data is not None and "Content-Length" not in given and "Transfer-Encoding" not in given:
                given["Content-Length"] = str(len(data))
            for name, value in given.items():
                connection.putheader(name, value)
            connection.endheaders(data)
            answer = connection.getresponse()
            return Reply(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def get(self, path: str, **headers: str) -> Reply:
        """Ask for something of the API, with its token."""
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.ask("GET", f"{API}{path}", self.bearer | given)

    def post(self, path: str, value: object, **headers: str) -> Reply:
        """Have something done, with the API's token."""
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.ask("POST", f"{API}{path}", self.bearer | {"Content-Type": JSON} | given, json.dumps(value))

    @contextmanager
    def follow(self, path: str, **headers: str) -> Iterator[Followed]:
        """A stream that is open."""
        connection = http.client.HTTPConnection(HOST, self.port, timeout=PATIENCE_S)
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        try:
            connection.request("GET", f"{API}{path}", headers=self.bearer | {"Accept": "text/event-stream"} | given)
            answer = connection.getresponse()
            assert answer.status == 200, answer.read()
            assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
            yield Followed(answer)
        finally:
            connection.close()


class Told(NamedTuple):
    """An event of a stream."""

    kind: str
    number: int | None
    value: Any


class Followed:
    """A stream, read event by event."""

    def __init__(self, answer: http.client.HTTPResponse) -> None:
        self._answer = answer

    def take(self) -> Told | None:
        """The next event; None at the end."""
        fields: dict[str, str] = {}
        while True:
            line = self._answer.readline().decode()
            if not line:
                return None
            if line == "\n":
                if "event" in fields:
                    number = int(fields["id"]) if "id" in fields else None
                    return Told(fields["event"], number, json.loads(fields["data"]))
                continue
            name, _, value = line.rstrip("\n").partition(": ")
            fields[name] = value

    def take_until(self, number: int) -> list[Told]:
        """The events up to one with a number."""
        found: list[Told] = []
        while not found or (found[-1].number or 0) < number:
            event = self.take()
            assert event is not None, found
            found.append(event)
        return found


@contextmanager
def run_server(root: Path, *, rates: Rates | None = None) -> Iterator[Served]:
    """A server of a workspace in a thread of this process."""
    before = os.environ.get("REMIT_ROOT")
    os.environ["REMIT_ROOT"] = str(root)
    clock, token = Clock(), make_token()
    listener = listening.listen(HOST, 0)
    context = make_context(listening.find_place(listener, HOST), Tokens(token, clock=clock))
    app = make_application(context, rates=rates or Rates(per_second=10**6, burst=10**6))
    server = listening.make_server(app)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listener])))
    thread.start()
    try:
        last = time.monotonic() + PATIENCE_S
        while not server.started:
            assert time.monotonic() < last, "the server did not start"
            time.sleep(0.01)
        yield Served(context, token, clock, root)
    finally:
        server.should_exit = True
        thread.join(PATIENCE_S)
        assert not thread.is_alive(), "the server did not end"
        os.environ.pop("REMIT_ROOT")
        if before is not None:
            os.environ["REMIT_ROOT"] = before


# --- what there is to see --------------------------------------------------------------------------------------------


def add_rows(root: Path, number: int, *, begin: int = 0, work: str = "Do it.", **fields: Any) -> list[str]:  # noqa: ANN401
    """Write delegations down that are over, as if they had been; their sessions, oldest first."""
    home = Home(str(root))
    found = []
    try:
        for at in range(begin, begin + number):
            session_id = f"sess_1794826{at:04}_abcdef"
            row = Run(session_id, "planner", 1, ("orchestrator", "planner"), created_ms=1_794_826_000_000 + at,
                             runner="command", details={"work": work})  # fmt: skip
            add_run(home.ledger, row._replace(**fields))
            with home.ledger.transaction() as db:
                advance(db, session_id, "running", started_ms=row.created_ms)
                advance(db, session_id, "finished", ended_ms=row.created_ms + 5, stop_reason="exited", verdict="accepted",
                        status="completed")  # fmt: skip
            found.append(session_id)
    finally:
        home.close()
    return found


def happen(root: Path, *kinds: str, session_id: str | None = None, **details: Any) -> int:  # noqa: ANN401 - any JSON value
    """Let something happen; the number of the last event."""
    home = Home(str(root))
    try:
        with home.ledger.transaction() as db:
            return [add_event(db, kind, details, session_id=session_id) for kind in kinds][-1]
    finally:
        home.close()
