"""`remit serve` and `remit serve --open`: the program itself, from its line to its end."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import stat
import time
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
from inline_snapshot import snapshot

from remit.ledger.events import add_event
from remit.ledger.home import Home
from remit.server.listener import find_place, listen
from remit.storage.servers import Announcement, LoginSessions, load_server, load_sessions
from tests.support.screen_text import smooth

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.commands import Inside, Remit

pytestmark = pytest.mark.slow
SCREENS = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")


@contextmanager
def serving(remit: Remit, *args: str, **options: Any) -> Iterator[tuple[subprocess.Popen[bytes], dict[str, Any]]]:  # noqa: ANN401 - Popen's own
    """A server that runs, and what it said."""
    for name in SCREENS:
        remit.env.pop(name, None)
    with remit.start(*args, "--json", **options) as process:
        try:
            assert process.stdout is not None
            yield process, json.loads(process.stdout.readline())
        finally:
            if process.poll() is None:
                process.kill()


def ask(url: str, path: str, token: str) -> int:
    """Ask for something; the status."""
    with closing(connect(url)) as connection:
        connection.request("GET", path, headers={"Authorization": f"Bearer {token}"})
        return connection.getresponse().status


def connect(url: str) -> http.client.HTTPConnection:
    where = urlsplit(url)
    return http.client.HTTPConnection(where.hostname or "", where.port, timeout=20)


def test_a_server_tells_where_it_is_and_ends_in_time(remit: Remit) -> None:
    home = Home(str(remit.folder))
    with home.ledger.transaction() as db:
        add_event(db, "something", {})
    file = remit.folder / ".remit" / "server.json"
    with serving(remit, "serve", "--port", "0") as (process, said):
        told = json.loads(file.read_text())
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert {*told} == {"url", "pid", "token"}
        assert (told["url"], told["pid"]) == (said["url"], process.pid)
        assert told["token"] not in json.dumps(said)
        assert ask(said["url"], "/", told["token"]) == 200
        assert ask(said["url"], said["login_url"].removeprefix(said["url"]), "none") == 303
        connections = [connect(said["url"]) for _ in range(5)]
        for each in connections:
            each.request("GET", "/api/v1/events", headers={"Authorization": f"Bearer {told['token']}"})
        streams = [each.getresponse() for each in connections]
        assert all(stream.readline() for stream in streams)
        again = remit("serve")
        assert again.code == 2
        assert again.complaint.startswith(f"this workspace already has a server at {said['url']}")
        opened = remit("serve", "--open")
        assert opened.code == 0
        found = re.search(r"http://\S+(/login\?token=[\w-]{43})", opened.text)
        assert found is not None
        assert ask(said["url"], found[1], "none") == 303
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
        assert time.monotonic() - began < 8
        assert process.stderr is not None
        assert process.stderr.read() == b""
        assert all(stream.read() for stream in streams), "they were brought to their end, not torn off"
        for each in connections:
            each.close()
    assert not file.exists()
    home.close()


def test_a_server_that_was_killed_is_not_in_the_way(remit: Remit) -> None:
    with serving(remit, "serve", "--port", "0") as (process, said):
        process.kill()
        process.wait(10)
    assert (remit.folder / ".remit" / "server.json").exists()
    assert load_server(Home(str(remit.folder))) is None
    with serving(remit, "serve", "--open", "--port", "0") as (process, anew):
        assert anew["url"] != said["url"]
        assert load_server(Home(str(remit.folder))) is not None
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0


def log_in(url: str, path: str) -> str:
    """Log in by an address; the cookie."""
    with closing(connect(url)) as connection:
        connection.request("GET", path)
        answer = connection.getresponse()
        assert answer.status == 303
        return (answer.getheader("set-cookie") or "").partition(";")[0]


def ask_as(url: str, cookie: str, method: str = "GET", path: str = "/api/v1/status") -> int:
    with closing(connect(url)) as connection:
        connection.request(method, path, headers={"Cookie": cookie, "Origin": url})
        return connection.getresponse().status


@pytest.mark.thorough
def test_who_is_logged_in_stays_so_when_the_server_is_started_again(remit: Remit) -> None:
    with serving(remit, "serve", "--port", "0") as (process, said):
        url = said["url"]
        opened = json.loads(remit("serve", "--open", "--json").text)
        kept, left = (log_in(url, each["login_url"].removeprefix(url)) for each in (said, opened))
        file = remit.folder / ".remit" / "sessions.json"
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert not {each.partition("=")[2] for each in (kept, left)} & {*re.findall(r"[\w-]+", file.read_text())}
        assert ask_as(url, left, "DELETE", "/api/v1/session") == 204
        assert (ask_as(url, kept), ask_as(url, left)) == (200, 401)
        process.kill()
        process.wait(10)
    port = str(urlsplit(url).port)
    with serving(remit, "serve", "--port", port) as (process, _):
        assert (ask_as(url, kept), ask_as(url, left)) == (200, 401)
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0
    (remit.folder / "token").write_text("t" * 40)
    for mode, told in ((0o600, b""), (0o644, b"'token' can be read by other users of this machine")):
        (remit.folder / "token").chmod(mode)
        with serving(remit, "serve", "--port", port, "--token-file", "token") as (process, _):
            assert ask_as(url, kept) == 401, "a server with a token of its own knows only who logged in with that"
            process.send_signal(signal.SIGTERM)
            assert process.wait(10) == 0
            assert process.stderr is not None
            warned = process.stderr.read()
            assert warned.startswith(told)
            assert bool(warned) == bool(told)


def test_a_browser_is_opened(remit: Remit, tmp_path: Path) -> None:
    program = tmp_path / "browser"
    program.write_text(f'#!/bin/sh\necho "$1" > {tmp_path}/opened\n')
    program.chmod(0o755)
    with serving(remit, "serve", "--open", "--port", "0", env={"DISPLAY": ":9", "BROWSER": f"{program} %s"}) as (
        process,
        said,
    ):
        opened = tmp_path / "opened"
        last = time.monotonic() + 10
        while not (opened.exists() and opened.read_text()):
            assert time.monotonic() < last, "no browser was opened"
            time.sleep(0.02)
        assert opened.read_text().strip() == said["login_url"]
        process.send_signal(signal.SIGHUP)
        assert process.wait(10) == 0


def test_a_port_that_is_taken(inside: Inside, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        refused = inside("serve", "--port", str(port))
        assert (refused.code, refused.complaint) == (
            2,
            f"port {port} is in use; choose another one with --port, or omit --port",
        )
        as_json = inside("serve", "--port", str(port), "--json")
        assert as_json.error["code"] == "USAGE"
    assert not (tmp_path / ".remit" / "server.json").exists()


@pytest.mark.parametrize("port", ["x", "-1", "65536", "1.5", "٣", "99999999999"])
def test_a_port_that_is_none(inside: Inside, port: str) -> None:
    assert inside("serve", "--port", port).complaint.startswith(f"'{port}' isn't a port")


def test_other_machines_are_let_in_only_with_a_flag_and_a_token(remit: Remit, inside: Inside) -> None:
    token = remit.write("token", "x" * 40)
    (remit.folder / "token").chmod(0o600)
    for more in ((), ("--allow-remote",), ("--token-file", token)):
        for host in ("0.0.0.0", "::", "192.168.1.1", "example.org"):  # noqa: S104 - it is refused
            refused = inside("serve", "--host", host, *more)
            assert (refused.code, f"'{host}' is reachable from other machines" in refused.complaint) == (2, True)
    anywhere = ("--host", "0.0.0.0", "--allow-remote", "--token-file", token)  # noqa: S104 - that is what it is about
    with serving(remit, "serve", "--port", "0", *anywhere) as (_, said):
        assert ask(said["url"], "/api/v1/openapi.json", "x" * 40) == 200
    nowhere = inside("serve", "--port", "0", "--host", "203.0.113.7", "--allow-remote", "--token-file", token)
    assert smooth(nowhere.complaint) == snapshot(
        "can't listen on '203.0.113.7': cannot assign requested address; pass an address of this machine to --host"
    )


@pytest.mark.parametrize("text", ["", "short", "x" * 513, "x" * 20 + " " + "x" * 20, "ü" * 40])
def test_a_token_that_is_none(inside: Inside, text: str) -> None:
    file = inside.write("token", text)
    assert inside("serve", "--token-file", file).complaint.startswith("'token' doesn't contain a valid token")
    assert inside("serve", "--token-file", "none").code == 2


def test_without_the_extra_one_sentence_says_how_to_install_it(remit: Remit) -> None:
    block = "import sys; sys.modules['uvicorn'] = None; from remit.cli import main; main()"
    ended = remit("serve", prelude=("-c", block))
    hint = "install Remit again with its extra: pip install '.[web]', or from a wheel 'remit-….whl[web]'"
    assert (ended.code, ended.complaint) == (2, f"the dashboard needs uvicorn; {hint}")


def test_only_the_door_knows_the_libraries(remit: Remit) -> None:
    code = "import sys; from remit.cli.group import invoke; invoke(['--help']); print(*sys.modules)"
    loaded = remit(prelude=("-c", code)).text.splitlines()[-1].split()
    assert not {"starlette", "uvicorn", "asyncio"} & {*loaded}


# --- by themselves ---------------------------------------------------------------------------------------------------


def test_the_next_port_is_taken_where_none_is_named() -> None:
    first, second = listen("127.0.0.1", None), listen("127.0.0.1", None)
    with first, second:
        assert first.getsockname()[1] != second.getsockname()[1]


def test_by_which_names_a_server_is_called() -> None:
    with listen("0.0.0.0", 0) as listener:  # noqa: S104 - nobody is let in
        place = find_place(listener, "0.0.0.0")  # noqa: S104
    port = place.port
    assert place.url == f"http://127.0.0.1:{port}"
    for name in ("192.168.0.7", "[fe80::1]", "localhost", socket.gethostname()):
        assert place.accepts_host(f"{name}:{port}")
    for name in (f"evil.example:{port}", f"192.168.0.7.evil.example:{port}", "192.168.0.7", f"1.2.3:{port}"):
        assert not place.accepts_host(name)


def test_a_link_in_place_of_the_file_is_not_followed(tmp_path: Path) -> None:
    home, outside = Home(str(tmp_path)), tmp_path / "outside"
    outside.write_text("precious")
    announcement = Announcement(home)
    os.symlink(outside, tmp_path / ".remit" / "server.json")  # noqa: PTH211 - what an agent may do
    announcement.write("http://127.0.0.1:1", "token")
    assert outside.read_text() == "precious"
    found = load_server(home)
    assert found is not None
    assert found.token == "token"  # noqa: S105 - none
    announcement.end()
    assert load_server(home) is None


@pytest.mark.parametrize(
    "text", ["", "[]", '{"key": "", "until_ms": [1]}', '{"key": "", "until_ms": {"ä": 1}}', "[" * 9999]
)
def test_sessions_that_cannot_be_read_are_none(tmp_path: Path, text: str) -> None:
    home = Home(str(tmp_path))
    announcement = Announcement(home)
    announcement.keep_sessions(LoginSessions("", {"a": 5}))
    assert load_sessions(home, key="") == LoginSessions("", {"a": 5})
    assert load_sessions(home, key="another") == LoginSessions("another")
    (tmp_path / ".remit" / "sessions.json").write_text(text)
    assert load_sessions(home, key="") == LoginSessions("", {})
    announcement.end()
