"""The HTTP API as a target: any bytes as body, query, path and headers of every operation; each gets an answer of ours.

Requests go to the whole application, guard and all, in a workspace of their own that is thrown away; half of them show
the right token.
"""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote_from_bytes

from fuzz.laws import FRAGMENTS
from fuzz.target import Target
from remit.server.application import make_application, make_context
from remit.server.operations import BASE, OPERATIONS, Operation
from remit.server.rate_limit import Rates
from remit.server.security import Place
from remit.server.tokens import Tokens
from remit.validation import build_schema, list_fields

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TOKEN: Final = "t" * 43
HOST: Final = "127.0.0.1:8765"
REFUSED: Final = 400
BUG: Final = 500
LEFT_OUT: Final = ("make_login", "stream_log")
"""What would be the same again and again, or does not end."""
KNOWN: Final = [each for each in OPERATIONS if each.name not in LEFT_OUT]
HEADERS: Final = (
    b"host", b"origin", b"cookie", b"if-none-match", b"last-event-id", b"idempotency-key", b"sec-fetch-site",
    b"content-type", b"accept", b"authorization", b"remit-ticket", b"content-length",
)  # fmt: skip
WORDS: Final = (
    *FRAGMENTS, "%2e%2e%2f", "%00", "%", "&", "=", "+", ";", "?", "#", "after=", "limit=", "-1", "0", "1e9", "null",
    "http://evil.example", "127.0.0.1:8765", "localhost", "bytes=0-", 'W/"x"', "*", "<script>alert(1)</script>",
)  # fmt: skip


def make_scope(data: bytes) -> tuple[dict[str, object], bytes]:
    """A request with the bytes in it: the first four say for what, by whom, and where they stand."""
    which, who, where, header = data[:4].ljust(4, b"\0")
    rest = data[4:]
    operation = KNOWN[which % len(KNOWN)]
    path = f"{BASE}{operation.path}"
    for name in list_fields(operation.names):
        value = rest[:60] if where & 1 else b"1"
        path = path.replace(f"{{{name}}}", value.decode("latin-1") or "x")
    names = [*list_fields(operation.takes), "x"]
    query = rest[:200] if where & 2 else f"{names[who % len(names)]}={quote_from_bytes(rest[:60])}".encode()
    headers = [(b"host", HOST.encode()), (b"accept", b"application/json"), (b"content-type", b"application/json")]
    if who & 1:
        headers.append((b"authorization", f"Bearer {TOKEN}".encode()))
    if where & 4:
        chosen = HEADERS[header % len(HEADERS)]
        value = rest[:100].replace(b"\r", b"").replace(b"\n", b"")
        headers = [*(each for each in headers if each[0] != chosen), (chosen, value)]
        if chosen == b"content-length":  # the library before us lets only numbers through
            headers[-1] = (chosen, str(len(value)).encode())
    return {
        "type": "http", "method": operation.method if where & 8 else ("GET", "POST", "DELETE", "PUT")[header % 4],
        "scheme": "http", "path": path, "raw_path": path.encode("latin-1", "replace"), "root_path": "",
        "query_string": query if where & 16 else b"", "headers": headers, "client": ("127.0.0.1", 9), "server": None,
    }, _make_body(operation, rest) if where & 32 else rest  # fmt: skip


def _make_body(operation: Operation, data: bytes) -> bytes:
    """A body that nearly fits: each name with the bytes as its text, but for one."""
    names = {} if operation.body is None else build_schema(operation.body)["properties"]
    text = data.decode("utf-8", "replace")
    kept = [name for at, name in enumerate(names) if not data[:1] or at != data[0] % (len(names) + 1)]
    values = {"string": text, "integer": len(text), "number": len(text), "boolean": True, "array": [text]}
    kinds = {name: names[name].get("anyOf", [names[name]])[0].get("type", "string") for name in kept}
    return json.dumps({name: values.get(kind, {text: text}) for name, kind in kinds.items()}).encode()


def check_laws(app: object, loop: asyncio.AbstractEventLoop, data: bytes) -> None:
    """One whole answer, with what protects browsers; nothing of ours fails; nobody gets in without the token."""
    scope, body = make_scope(data)
    sent: list[dict[str, object]] = []
    waiting: list[dict[str, object]] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> dict[str, object]:
        return waiting.pop() if waiting else {"type": "http.disconnect"}

    async def send(message: dict[str, object]) -> None:
        sent.append(message)

    loop.run_until_complete(app(scope, receive, send))
    start = sent[0]
    headers = dict(start["headers"])
    status = start["status"]
    assert b"content-security-policy" in headers
    if not headers.get(b"content-type", b"").startswith(b"text/event-stream"):  # which ends when nobody is there
        assert [each["type"] for each in sent] == ["http.response.start", "http.response.body"]
        assert status != BUG, sent[1]["body"]
        told = sent[1]["body"]
        assert not told or isinstance(json.loads(told), dict)
    assert status >= REFUSED or any(TOKEN.encode() in value for _, value in scope["headers"]), scope


@contextmanager
def open_target() -> Iterator[Callable[[bytes], None]]:
    """An application with a workspace that has nothing in it, and no programs to start."""
    memory = Path("/dev/shm")  # noqa: S108 - a folder of our own is made in it
    loop = asyncio.new_event_loop()
    with tempfile.TemporaryDirectory(prefix="remit-fuzz-", dir=memory if memory.is_dir() else None) as folder:
        Path(folder, "remit.toml").touch()
        kept = dict(os.environ)
        os.environ |= {"REMIT_ROOT": folder, "HOME": folder, "PATH": folder}
        context = make_context(Place("127.0.0.1", 8765, frozenset({"127.0.0.1"})), Tokens(TOKEN))
        app = make_application(context, rates=Rates(per_second=10**9, burst=10**9))

        def check(data: bytes) -> None:
            check_laws(app, loop, data)

        try:
            yield check
        finally:
            os.environ.clear()
            os.environ.update(kept)
            loop.close()


def list_seeds() -> Iterator[bytes]:
    """Each operation with each way to put the bytes in."""
    for which in range(len(KNOWN)):
        for where in (8, 9, 11, 12, 24, 26, 40, 41):
            yield bytes([which, 1, where, which]) + WORDS[(which * 5 + where) % len(WORDS)].encode("utf-8", "replace")
        yield bytes([which, 0, 8, 0])


TARGET = Target(
    "http_api", ("remit.views",), WORDS, list_seeds, open_target, slower=10
)  # fmt: skip
