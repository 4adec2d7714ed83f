"""Who is let in: every way in without a token, with a wrong and with an old one; names, origins, forms, sizes."""

from __future__ import annotations

import json
import os
import socket
import time
from typing import TYPE_CHECKING

import pytest

from remit.server import listener, request_body
from remit.server.application import PAGES
from remit.server.operations import BASE, OPERATIONS
from remit.server.rate_limit import Rates
from remit.server.request_body import MAX_BYTES
from remit.server.security import CSP
from remit.server.tokens import LOGIN_S, SESSION_S, make_token
from remit.views import run_actions
from tests.support.http_server import API, HOST, JSON, Served, run_server

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from remit.server.operations import Operation

ROUTES = [(each.method, f"{BASE}{each.path}".replace("{id}", "sess").replace("{number}", "1")) for each in OPERATIONS]
FILES = [("GET", path) for path in ("/", "/web/main.js", "/web/none.js", "/nothing", "/favicon.ico", "/api/v2/x")]
FILES += [("GET", f"/{page}") for page in PAGES] + [("GET", f"/{PAGES[0]}/sess"), ("POST", "/"), ("DELETE", "/runs")]
EVERYWHERE = [*ROUTES, *FILES]


def check_headers(headers: Mapping[str, str]) -> None:
    """What stands on every answer."""
    assert headers["content-security-policy"] == CSP
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["x-frame-options"] == "DENY"
    assert headers["cross-origin-opener-policy"] == headers["cross-origin-resource-policy"] == "same-origin"
    assert "cache-control" in headers
    assert "server" not in headers
    assert not [name for name in headers if name.startswith("access-control-")]


def check_refused(served: Served, method: str, path: str, headers: Mapping[str, str], status: int = 401) -> None:
    body = "{}" if method == "POST" else None
    kind = {"Content-Type": JSON} if body else {}
    reply = served.ask(method, path, {**headers, **kind}, body)
    assert reply.status == status, (method, path, reply.body[:200])
    check_headers(reply.headers)
    if path.startswith("/api/"):
        assert reply.problem["code"] in ("UNAUTHORIZED", "FORBIDDEN", "MISDIRECTED")
        assert reply.headers["cache-control"] == "no-store"
    else:
        assert reply.headers["content-type"].startswith("text/html")
        assert status != 401 or b"remit serve --open" in reply.body


# --- tokens ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("method", "path"), EVERYWHERE)
def test_nobody_is_let_in_without_a_good_token(served: Served, method: str, path: str) -> None:
    cookie = served.context.place.cookie
    old = served.log_in()
    login = served.context.tokens.issue_login()
    served.clock.ahead_s += SESSION_S + 1
    for headers in (
        {},
        {"Authorization": ""},
        {"Authorization": f"Bearer {make_token()}"},
        {"Authorization": f"Bearer {served.token[:-1]}"},
        {"Authorization": f"Basic {served.token}"},
        {"Authorization": f"Bearer {login}"},
        {"Cookie": f"{cookie}={make_token()}"},
        {"Cookie": f"{cookie}={served.token}"},
        {"Cookie": f"remit_session={served.token}; {cookie}="},
        old,
    ):
        check_refused(served, method, path, headers)
        served.clock.ahead_s += 10  # so that it is not yet too often
    check_refused(served, method, f"{path}?token={served.token}", {})


def test_every_operation_has_its_route(served: Served) -> None:
    """Who has the token is not told that an operation is missing: else the test above would prove nothing of it."""
    for each in OPERATIONS:
        reply = served.ask("OPTIONS" if each.streams else "HEAD", _fill(each), served.bearer)
        assert reply.status != 404 or "{" in each.path, each
        assert reply.status != 401


def _fill(operation: Operation) -> str:
    return f"{BASE}{operation.path}".replace("{id}", "sess").replace("{number}", "1")


def test_a_token_that_is_used_once_opens_a_session(served: Served) -> None:
    reply = served.post("/login-tokens", {})
    assert reply.status == 201
    path = reply.value["url"].removeprefix(f"http://{HOST}:{served.port}")
    opened = served.ask("GET", path)
    assert (opened.status, opened.headers["location"], opened.body) == (303, "/", b"")
    check_headers(opened.headers)
    cookie, *flags = opened.headers["set-cookie"].split("; ")
    assert set(flags) == {"Path=/", "Max-Age=43200", "HttpOnly", "SameSite=Strict"}
    assert cookie.startswith(f"remit_session_{served.port}=")
    assert served.ask("GET", "/", {"Cookie": cookie}).status == 200
    assert served.ask("GET", f"{API}/runs", {"Cookie": f"other=1; {cookie}"}).status == 200
    assert served.ask("GET", path).status == 401
    assert served.ask("POST", path, {"Content-Type": JSON}, "{}").status == 405


def test_a_login_is_refused_when_it_is_old_wrong_or_doubled(served: Served) -> None:
    served.clock.ahead_s += 100
    login = served.context.tokens.issue_login()
    for path in ("/login", "/login?token=", f"/login?token={served.token}", f"/login?token={login}&token={login}"):
        assert served.ask("GET", path).status == 401
    served.clock.ahead_s += LOGIN_S
    late = served.ask("GET", f"/login?token={login}")
    assert late.status == 401
    assert b"remit serve --open" in late.body
    assert "set-cookie" not in late.headers


def test_a_browser_cannot_let_others_in(served: Served) -> None:
    headers = served.log_in() | {"Origin": f"http://{HOST}:{served.port}", "Content-Type": JSON}
    assert served.ask("POST", f"{API}/login-tokens", headers, "{}").status == 403


def test_who_logs_out_is_out_at_once(served: Served) -> None:
    cookie = served.log_in()
    assert served.ask("GET", f"{API}/status", cookie).status == 200
    reply = served.ask("DELETE", f"{API}/session", cookie | {"Sec-Fetch-Site": "same-origin"})
    assert reply.status == 204
    assert "Max-Age=0" in reply.headers["set-cookie"]
    assert served.ask("GET", f"{API}/status", cookie).status == 401


def test_ten_wrong_tokens_in_a_minute_are_enough(served: Served) -> None:
    served.clock.ahead_s += 100
    wrong = {"Authorization": "Bearer wrong"}
    assert [served.ask("GET", f"{API}/status", wrong).status for _ in range(9)] == [401] * 9
    assert served.ask("GET", "/login?token=wrong").status == 401
    for path, headers in ((f"{API}/status", wrong), ("/login?token=wrong", {})):
        reply = served.ask("GET", path, headers)
        assert reply.status == 429
        assert 0 < int(reply.headers["retry-after"]) <= 60
    assert served.get("/status").status == 200  # whoever guesses keeps nobody else out
    served.clock.ahead_s += 61
    assert served.ask("GET", f"{API}/status", wrong).status == 401


def test_another_user_of_the_machine_does_not_log_in(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who lists processes sees the address that a browser is opened with."""
    login = f"/login?token={served.context.tokens.issue_login()}"
    with monkeypatch.context() as patch:
        patch.setattr(run_actions, "find_maker", lambda _own, _other: os.geteuid() + 1)
        assert served.ask("GET", login).status == 401
    assert served.ask("GET", login).status == 303, "and uses nothing up"


def test_who_guesses_keeps_nobody_from_logging_in(tmp_path: Path) -> None:
    with run_server(tmp_path, rates=Rates(per_second=0.001, burst=3)) as served:
        guessed = [served.ask("GET", "/login?token=wrong").status for _ in range(30)]
        assert guessed == [401] * 10 + [429] * 20
        assert served.ask("GET", f"/login?token={served.context.tokens.issue_login()}").status == 303


# --- names and origins -----------------------------------------------------------------------------------------------


def test_only_its_own_names_lead_to_a_server(served: Served) -> None:
    port = served.port
    good = [f"127.0.0.1:{port}", f"localhost:{port}", f"LOCALHOST:{port}", f"[::1]:{port}"]
    for host in good:
        assert served.ask("GET", f"{API}/status", served.bearer | {"Host": host}).status == 200, host
    evil = [
        "", "localhost", "127.0.0.1", f"127.0.0.1:{port + 1}", f"evil.example:{port}", f"192.168.0.1:{port}",
        f"localhost.evil.example:{port}", f"127.0.0.1.nip.io:{port}", f"127.0.0.1:{port}@evil.example",
        f"evil.example#127.0.0.1:{port}", f"0.0.0.0:{port}", f"127.1:{port}", f"2130706433:{port}",
        f"[::ffff:127.0.0.1]:{port}", f"localhost:{port}:{port}", f"local host:{port}", f"127.0.0.1:0{port}0",
        f"[::1]:{port}.evil.example",
    ]  # fmt: skip
    for host in evil:
        reply = served.ask("GET", f"{API}/status", served.bearer | {"Host": host})
        assert reply.status == 421, host
        check_headers(reply.headers)
        assert served.ask("GET", "/", {"Host": host}).status == 421
        assert served.ask("GET", f"/login?token={served.context.tokens.issue_login()}", {"Host": host}).status == 421


def test_no_other_origin_gets_anything(served: Served) -> None:
    own, port = f"http://{HOST}:{served.port}", served.port
    cookie = served.log_in()
    assert served.ask("GET", f"{API}/status", cookie | {"Origin": own}).status == 200
    evil = ["null", "http://evil.example", f"http://evil.example:{port}", f"http://{HOST}", f"http://{HOST}:{port + 1}",
            f"http://localhost:{port}", f"https://{HOST}:{port}1", f"{own}.evil.example", f"http://x@{HOST}:{port}", "file://",
            "chrome-extension://abc", ""]  # fmt: skip
    for origin in evil:
        for who in (cookie, served.bearer, {}):
            for method in ("GET", "POST", "OPTIONS"):
                reply = served.ask(method, f"{API}/status", who | {"Origin": origin})
                assert reply.status == 403, (origin, method)
                check_headers(reply.headers)
    for site in ("cross-site", "same-site", "CROSS-SITE", "other"):
        assert served.ask("GET", f"{API}/status", cookie | {"Sec-Fetch-Site": site}).status == 403
        assert served.ask("GET", "/", cookie | {"Sec-Fetch-Site": site}).status == 403
        login = f"/login?token={served.context.tokens.issue_login()}"
        assert served.ask("GET", login, {"Sec-Fetch-Site": site}).status == 403


def test_no_preflight_is_answered(served: Served) -> None:
    asked = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}
    for who, status in (({}, 401), (served.bearer, 405), (served.log_in(), 403)):
        for method in ("OPTIONS", "TRACE", "PUT", "PATCH", "PROPFIND", "CONNECT"):
            reply = served.ask(method, f"{API}/runs", who | asked)
            assert reply.status == status, method
            check_headers(reply.headers)


@pytest.mark.parametrize(("method", "path"), [each for each in ROUTES if each[0] != "GET"])
def test_a_form_of_another_page_changes_nothing(served: Served, method: str, path: str) -> None:
    """A cookie alone is no wish: a browser sends it with whatever makes it ask."""
    cookie = served.log_in()
    own = {"Origin": f"http://{HOST}:{served.port}"}
    for headers in (
        {},
        {"Content-Type": JSON},
        {"Content-Type": JSON, "Sec-Fetch-Site": "none"},
        {"Content-Type": JSON, "Sec-Fetch-Site": "cross-site"},
        {"Content-Type": JSON, "Origin": "null"},
        {"Content-Type": JSON, "Referer": f"http://{HOST}:{served.port}/"},
    ):
        assert served.ask(method, path, cookie | headers, "{}").status == 403, headers
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/json", "",
                 "application/jsonp", "application/json, text/plain"):  # fmt: skip
        for who in (cookie | own, served.bearer):
            assert served.ask(method, path, who | {"Content-Type": kind}, '{"a": 1}').status == 415, kind
    assert served.ask(method, path, served.bearer | own, "{}").status == 415
    assert served.ask("GET", f"{API}/status", cookie).status == 200, "nobody was logged out"


# --- sizes, times, rates ---------------------------------------------------------------------------------------------


def test_what_is_too_large_is_refused(served: Served) -> None:
    kind = served.bearer | {"Content-Type": JSON}
    reply = served.ask("POST", f"{API}/runs", kind | {"Content-Length": str(MAX_BYTES + 1)})
    assert reply.status == 413
    assert reply.headers["connection"] == "close"
    check_headers(reply.headers)
    text = json.dumps({"text": "x" * (2 * MAX_BYTES)})
    assert served.ask("POST", f"{API}/check", kind, text).status == 200
    assert served.ask("GET", f"{API}/status?q={'x' * 9000}", served.bearer).status == 414
    many = {f"x-{number}": "y" * 100 for number in range(90)}
    assert served.ask("GET", f"{API}/status", served.bearer | many).status == 200
    assert (
        served.ask("GET", f"{API}/status", served.bearer | {name: text * 4 for name, text in many.items()}).status
        == 431
    )
    chunked = kind | {"Transfer-Encoding": "chunked"}
    chunk = b"10000\r\n" + b" " * 65536 + b"\r\n"
    assert served.ask("POST", f"{API}/runs", chunked, chunk * 17 + b"0\r\n\r\n").status == 413


def test_what_is_no_http_is_answered_and_closed(served: Served) -> None:
    for data in (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 40 + b"\r\n\r\n", b"GET\r\n\r\n",
                 b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", b"GET / HTTP/1.1\r\nX: " + b"x" * 70_000,
                 b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n"):  # fmt: skip
        with socket.create_connection((HOST, served.port), timeout=10) as raw:
            raw.sendall(data)
            answer = b"".join(iter(lambda raw=raw: raw.recv(65536), b""))  # type: ignore[misc]
        head, _, body = answer.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 400"), data[:40]
        check_headers({name.lower(): value for name, _, value in
                       (line.decode().partition(": ") for line in head.split(b"\r\n")[1:])})  # fmt: skip
        assert json.loads(body)["error"]["code"] == "BAD_REQUEST"


def test_a_websocket_is_not_opened(served: Served) -> None:
    headers = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Key": "x", "Sec-WebSocket-Version": "13"}
    assert served.ask("GET", f"{API}/events", headers).status == 401
    assert served.ask("GET", f"{API}/status", headers | served.bearer).status == 200


@pytest.mark.slow
def test_who_sends_too_slowly_is_let_go(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listener, "HEAD_S", 1.0)
    monkeypatch.setattr(request_body, "READ_S", 1.0)
    began = time.monotonic()
    with socket.create_connection((HOST, served.port), timeout=10) as raw:
        closed_s = None
        try:
            for _ in range(100):  # a letter now and then keeps nothing open
                raw.sendall(b"x")
                time.sleep(0.05)
        except OSError:
            closed_s = time.monotonic() - began
    assert closed_s is not None
    with socket.create_connection((HOST, served.port), timeout=10) as raw:
        assert raw.recv(100) == b"", "who says nothing at all is let go as well"
    head = f"POST {API}/check HTTP/1.1\r\nHost: {HOST}:{served.port}\r\nContent-Type: {JSON}\r\n"
    head += f"Authorization: Bearer {served.token}\r\nContent-Length: 10\r\n\r\n"
    with socket.create_connection((HOST, served.port), timeout=10) as raw:
        raw.sendall(head.encode() + b"{")
        answer = raw.recv(65536)
    assert answer.startswith(b"HTTP/1.1 408")


@pytest.mark.slow
def test_a_connection_is_used_again_and_again(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listener, "HEAD_S", 0.6)
    ask = (
        f"GET {API}/openapi.json HTTP/1.1\r\nHost: {HOST}:{served.port}\r\nAuthorization: Bearer {served.token}\r\n\r\n"
    )
    with socket.create_connection((HOST, served.port), timeout=10) as raw, raw.makefile("rb") as answers:
        for _ in range(3):
            raw.sendall(ask.encode())
            assert answers.readline() == b"HTTP/1.1 200 OK\r\n"
            length = next(int(line[16:]) for line in answers if line.lower().startswith(b"content-length: "))
            while answers.readline() != b"\r\n":
                pass
            assert len(answers.read(length)) == length
            time.sleep(0.7)  # longer than a head may take: between requests nobody hurries


def test_who_asks_too_often_waits(tmp_path: Path) -> None:
    with run_server(tmp_path, rates=Rates(per_second=0.5, burst=5)) as served:
        assert [served.get("/openapi.json").status for _ in range(5)] == [200] * 5
        late = served.get("/openapi.json")
        assert (late.status, late.headers["retry-after"], late.problem["code"]) == (429, "2", "TOO_MANY_REQUESTS")
        cookie = served.log_in()
        assert served.ask("GET", f"{API}/openapi.json", cookie).status == 200, "each session has its own"
        assert [served.ask("GET", "/").status for _ in range(5)] == [401] * 5
        assert served.ask("GET", "/").status == 429
        assert served.ask("GET", f"{API}/openapi.json", cookie).status == 200
