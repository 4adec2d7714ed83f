"""Login and logout of browsers."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from starlette.responses import Response

from remit.server.endpoint import ApiAnswer
from remit.server.problems import ProblemError
from remit.server.run_routes import check_user, make_peer
from remit.server.security import LOGIN, make_cookie, raise_if_too_many
from remit.server.tokens import LOGIN_S, SESSION_S

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from remit.server.endpoint import ApiRequest
    from remit.server.state import ServerContext
    from remit.views.run_actions import ConnectionPeer


async def make_login(request: ApiRequest) -> dict[str, Any]:
    """Return a URL that starts one browser session. Only a client with the API's token may create such URLs."""
    if request.guest.kind != "bearer":
        hint = "run: remit serve --open"
        raise ProblemError(403, "FORBIDDEN", "a browser session can't create logins", hint=hint)
    await asyncio.to_thread(check_user, request)
    token = request.context.tokens.issue_login()
    expires_ms = time.time_ns() // 1_000_000 + int(LOGIN_S * 1000)
    return {"url": build_login_url(request.context, token), "expires_ms": expires_ms}


def build_login_url(context: ServerContext, token: str) -> str:
    """Return the URL with a login token."""
    return f"{context.place.url}{LOGIN}?token={token}"


async def log_out(request: ApiRequest) -> ApiAnswer:
    """End the session of the client and its streams."""
    request.context.tokens.end_session(request.guest)
    request.context.streams.drop(request.guest)
    await _store_sessions(request.context)
    cookie = make_cookie(request.context.place, "", seconds=0, scheme="http")
    return ApiAnswer(None, 204, {"Set-Cookie": cookie} if request.guest.kind == "cookie" else {})


async def _store_sessions(context: ServerContext) -> None:
    """Store the sessions, under a lock so that the newest state is written last."""
    async with context.keeping:
        await asyncio.to_thread(context.keep, context.tokens.list_sessions())


def _is_another_user(asker: ConnectionPeer) -> bool:
    from remit.views.run_actions import is_another_user

    return is_another_user(asker)


class Login:
    """The login page, which exchanges a login token for a session."""

    def __init__(self, context: ServerContext) -> None:
        self._context = context

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Redeem a token, and redirect to the dashboard."""
        if scope["method"] != "GET":
            raise ProblemError(405, "METHOD_NOT_ALLOWED", "log in with GET", headers={"Allow": "GET"})
        asker = make_peer(self._context, scope.get("server"), scope.get("client"))
        if await asyncio.to_thread(_is_another_user, asker):  # another user may have seen the address
            message = "the server belongs to another user of this machine"
            raise ProblemError(401, "UNAUTHORIZED", message, hint="log in as that user: remit serve --open")
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])
        session = self._context.tokens.redeem(given[0]) if len(given) == 1 else None
        if session is None:
            raise_if_too_many(self._context.tokens)
            hint = "run: remit serve --open (each address that it opens is valid for one minute and one login)"
            raise ProblemError(401, "UNAUTHORIZED", "this token is used, expired or wrong", hint=hint)
        await _store_sessions(self._context)
        cookie = make_cookie(self._context.place, session, seconds=int(SESSION_S), scheme=scope["scheme"])
        await Response(None, 303, {"Location": "/", "Set-Cookie": cookie})(scope, receive, send)
