"""Entering: how a browser comes to its session, and how it leaves."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from starlette.responses import Response

from remit.server.endpoint import ApiAnswer
from remit.server.problems import ProblemError
from remit.server.run_routes import check_person, name_ends
from remit.server.security import LOGIN, make_cookie, raise_if_too_many
from remit.server.tokens import LOGIN_S, SESSION_S

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from remit.server.endpoint import ApiRequest
    from remit.server.state import ServerContext
    from remit.views.run_actions import ConnectionPeer


async def make_login(asked: ApiRequest) -> dict[str, Any]:
    """An address that opens a session once. Only who has the API's token can let others in."""
    if asked.guest.kind != "bearer":
        hint = "run: remit serve --open"
        raise ProblemError(403, "FORBIDDEN", "a browser cannot let others in", hint=hint)
    await asyncio.to_thread(check_person, asked)
    token = asked.desk.tokens.issue_login()
    expires_ms = time.time_ns() // 1_000_000 + int(LOGIN_S * 1000)
    return {"url": name_login(asked.desk, token), "expires_ms": expires_ms}


def name_login(desk: ServerContext, token: str) -> str:
    """The address that opens a session."""
    return f"{desk.place.url}{LOGIN}?token={token}"


async def log_out(asked: ApiRequest) -> ApiAnswer:
    """End the session of who asks, and what it follows."""
    asked.desk.tokens.end_session(asked.guest)
    asked.desk.streams.drop(asked.guest)
    await _keep(asked.desk)
    cookie = make_cookie(asked.desk.place, "", seconds=0, scheme="http")
    return ApiAnswer(None, 204, {"Set-Cookie": cookie} if asked.guest.kind == "cookie" else {})


async def _keep(desk: ServerContext) -> None:
    """Write down who is logged in; one at a time, so that the last word is the newest."""
    async with desk.keeping:
        await asyncio.to_thread(desk.keep, desk.tokens.list_sessions())


def _is_another_user(asker: ConnectionPeer) -> bool:
    from remit.views.run_actions import is_another_user

    return is_another_user(asker)


class Login:
    """The page that a one-time token is taken to."""

    def __init__(self, desk: ServerContext) -> None:
        self._desk = desk

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Take a token, and lead to the dashboard."""
        if scope["method"] != "GET":
            raise ProblemError(405, "METHOD_NOT_ALLOWED", "nobody logs in like this", headers={"Allow": "GET"})
        asker = name_ends(self._desk, scope.get("server"), scope.get("client"))
        if await asyncio.to_thread(_is_another_user, asker):  # another user may have seen the address
            message = "another user of this machine opens this address than runs the server"
            raise ProblemError(401, "UNAUTHORIZED", message, hint="log in as who runs it: remit serve --open")
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])
        session = self._desk.tokens.redeem(given[0]) if len(given) == 1 else None
        if session is None:
            raise_if_too_many(self._desk.tokens)
            hint = "run: remit serve --open (each address that it opens is good for one minute, and once)"
            raise ProblemError(401, "UNAUTHORIZED", "this token is used, too old or none of ours", hint=hint)
        await _keep(self._desk)
        cookie = make_cookie(self._desk.place, session, seconds=int(SESSION_S), scheme=scope["scheme"])
        await Response(None, 303, {"Location": "/", "Set-Cookie": cookie})(scope, receive, send)
