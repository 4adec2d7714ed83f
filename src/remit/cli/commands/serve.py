"""`remit serve`: the dashboard and the HTTP API of a workspace."""

from __future__ import annotations

import functools
import os
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from remit.cli import options
from remit.cli.output import print_json, print_lines
from remit.errors import InputError, RemitError, StorageError, UsageError, how_to_install
from remit.terminal import escape
from remit.views.render import ACCEPTED

if TYPE_CHECKING:
    from remit.ledger.home import Home
    from remit.storage.servers import Announcement, RunningServer

_MAX_PORT = 65_535
_ANSWER_S = 5.0
_FOR_OTHERS = 0o077


def _parse_port(value: str) -> int:
    if not (value.isascii() and value.isdecimal() and len(value) <= options.MAX_DIGITS and int(value) <= _MAX_PORT):
        raise UsageError(f"'{value}' isn't a port", hint="give a number from 0 to 65535; 0 means any free port")
    return int(value)


@click.command(cls=options.Command)
@click.option("--port", type=_parse_port, metavar="N", help="Port. Default: 8765, or the next free one.")
@click.option("--host", default="127.0.0.1", metavar="ADDRESS", help="Address to listen on. Default: 127.0.0.1.")
@click.option("--allow-remote", is_flag=True, help="Allow other machines. Requires --host and --token-file.")
@click.option("--token-file", metavar="FILE", help="File with the API token. Default: a new token.")
@click.option("--open", "opens", is_flag=True, help="Open the dashboard in a browser. Uses a running server.")
@options.output_format("full", "json")
def serve(
    *, port: int | None, host: str, allow_remote: bool, token_file: str | None, opens: bool, output_format: str
) -> int:
    """Start the dashboard and the HTTP API of this workspace, until Ctrl-C.

    Only this machine can connect, and only with a token: a browser by the printed address, which works once and for one
    minute (later: remit serve --open), programs by the token in .remit/server.json. If a server is running, --open
    prints such an address for it and ends.

    Exit code 0: opened or ended, 2: could not run.
    """
    as_json = output_format == "json"
    if opens and not allow_remote and token_file is None:
        from remit.storage.servers import load_server
        from remit.views.run_snapshots import open_home

        server = load_server(open_home())
        if server is not None:
            url = _ask_for_login(server)
            _print_address(url, server.url, as_json=as_json, stays_open=False)
            _open_browser(url)
            return ACCEPTED
    return _run(port, host, token_file, allow_remote=allow_remote, as_json=as_json, opens=opens)


def _run(port: int | None, host: str, token_file: str | None, *, allow_remote: bool, as_json: bool, opens: bool) -> int:
    """Serve until a signal arrives."""
    _check_installed()
    from remit.server import listener as listening
    from remit.server.application import make_application, make_context
    from remit.server.login import build_login_url
    from remit.server.tokens import Tokens, hash_token, make_token
    from remit.storage.servers import Announcement
    from remit.views.run_snapshots import open_home

    _check_address(host, token_file, allow_remote=allow_remote)
    token = make_token() if token_file is None else _load_token(token_file)
    home = open_home()
    announcement = Announcement(home)
    key = "" if token_file is None else hash_token(token)
    try:
        listener = listening.listen(host, port)
        tokens = Tokens(token, sessions=_load_sessions(home, key))
        keep = functools.partial(_keep_sessions, announcement, key)
        context = make_context(listening.find_place(listener, host), tokens, keep=keep)

        def begin() -> None:
            announcement.write(context.place.url, token)
            url = build_login_url(context, context.tokens.issue_login())
            _print_address(url, context.place.url, as_json=as_json, stays_open=True)
            if opens:
                _open_browser(url)

        listening.serve(make_application(context), listener, on_ready=begin, on_end=context.streams.end)
    finally:
        announcement.end()
    return ACCEPTED


def _load_sessions(home: Home, key: str) -> dict[str, float]:
    """Load the login sessions of the previous server, with the seconds that they stay valid."""
    from remit.storage.servers import load_sessions

    now_ms = time.time_ns() // 1_000_000
    found = load_sessions(home, key=key).until_ms
    return {name: (until_ms - now_ms) / 1000 for name, until_ms in found.items() if until_ms > now_ms}


def _keep_sessions(announcement: Announcement, key: str, sessions: dict[str, float]) -> None:
    from remit.storage.servers import LoginSessions

    now_ms = time.time_ns() // 1_000_000
    with suppress(StorageError):  # the sessions end with this server
        announcement.keep_sessions(LoginSessions(key, {each: now_ms + int(s * 1000) for each, s in sessions.items()}))


def _check_installed() -> None:
    from importlib.util import find_spec

    missing = [name for name in ("starlette", "uvicorn") if find_spec(name) is None]
    if missing:
        raise RemitError(f"the dashboard needs {' and '.join(missing)}", hint=how_to_install("web"))


def _check_address(host: str, token_file: str | None, *, allow_remote: bool) -> None:
    from remit.server.listener import LOOPBACK

    if host not in LOOPBACK and not (allow_remote and token_file):
        hint = "add --allow-remote and --token-file FILE, and put an encrypting proxy in front of it"
        raise UsageError(f"'{host}' is reachable from other machines", hint=hint)


def _load_token(file: str) -> str:
    """Load the user's own token: one line, long enough to resist guessing."""
    from remit.server.tokens import LEAST_CHARS, MOST_CHARS
    from remit.storage.files import load_bytes

    token = load_bytes(file, max_bytes=4 * MOST_CHARS).decode("ascii", "replace").strip()
    if not (LEAST_CHARS <= len(token) <= MOST_CHARS and token.isprintable() and token.isascii() and " " not in token):
        hint = f"write {LEAST_CHARS} to {MOST_CHARS} characters into it, such as the output of: openssl rand -hex 32"
        raise InputError(f"'{file}' doesn't contain a valid token", hint=hint)
    with suppress(OSError):
        if os.stat(file).st_mode & _FOR_OTHERS:
            print_lines(
                f"'{escape(file)}' can be read by other users of this machine; to prevent that, run: chmod 600 FILE",
                stderr=True,
            )
    return token


def _print_address(login: str, url: str, *, as_json: bool, stays_open: bool) -> None:
    """Print the address of the dashboard on one line."""
    if as_json:
        print_json({"url": url, "login_url": login}, pretty=False)
        return
    end = " Press Ctrl-C to stop it." if stays_open else ""
    print_lines(f"Dashboard: {login} (works once and for one minute; later: remit serve --open).{end}")


def _open_browser(url: str) -> None:
    """Open a graphical browser, if there is a display. A text browser would take over this terminal."""
    import webbrowser

    has_screen = sys.platform == "darwin" or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
    if has_screen:
        webbrowser.open(url)


def _ask_for_login(server: RunningServer) -> str:
    """Request a login address from the running server."""
    import json
    from http.client import HTTPConnection, HTTPException
    from urllib.parse import urlsplit

    where = urlsplit(server.url)
    connection = HTTPConnection(where.hostname or "", where.port, timeout=_ANSWER_S)
    headers = {"Authorization": f"Bearer {server.token}", "Content-Type": "application/json"}
    try:
        connection.request("POST", "/api/v1/login-tokens", "{}", headers)
        answer = connection.getresponse()
        return str(json.loads(answer.read())["url"])
    except (OSError, HTTPException, ValueError, KeyError) as error:
        hint = f"end process {server.pid}, then run: remit serve"
        raise RemitError(f"the server at {server.url} doesn't respond correctly", hint=hint) from error
    finally:
        connection.close()
