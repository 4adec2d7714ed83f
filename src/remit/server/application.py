"""The application: all routes behind the guard.

It combines the operations of the table, the dashboard's files and pages, and the login.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from starlette.routing import Route, Router

from remit.server.assets import PAGE, Assets
from remit.server.endpoint import Endpoint
from remit.server.event_stream import Streams
from remit.server.idempotency import Kept
from remit.server.login import Login
from remit.server.operations import BASE, OPERATIONS
from remit.server.problems import MissingError, ProblemError
from remit.server.security import LOGIN, SAFE, Guard, Headers
from remit.server.state import ServerContext

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import ASGIApp, Receive, Scope, Send

    from remit.server.operations import Operation
    from remit.server.rate_limit import Rates
    from remit.server.security import Place
    from remit.server.tokens import Tokens

PAGES = ("runs", "agents", "tasks", "findings", "errors", "compliance", "workers")
"""The pages of the dashboard; each may have subpages."""


def _discard_sessions(sessions: dict[str, float]) -> None:
    """Don't store the sessions."""
    del sessions


def make_context(
    place: Place, tokens: Tokens, *, keep: Callable[[dict[str, float]], None] = _discard_sessions
) -> ServerContext:
    """Return the context of a server. `keep` stores the sessions."""
    return ServerContext(place, tokens, Streams(tokens), Assets(), Kept(), keep, asyncio.Lock())


def make_application(context: ServerContext, *, rates: Rates | None = None) -> ASGIApp:
    """Return the ASGI application with all routes behind the guard."""
    by_path: dict[str, list[Operation]] = {}
    for each in OPERATIONS:
        by_path.setdefault(each.path, []).append(each)
    routes = [Route(f"{BASE}{path}", Endpoint(operations, context)) for path, operations in by_path.items()]
    routes.append(Route(LOGIN, Login(context)))
    routes.append(Route("/web/{name}", _Files(context.assets)))
    routes.append(Route("/", _Files(context.assets)))
    routes += [
        Route(path, _Files(context.assets)) for page in PAGES for path in (f"/{page}", f"/{page}/{{below:path}}")
    ]
    return Guard(
        Router(routes, redirect_slashes=False, default=_raise_missing), context.place, context.tokens, rates=rates
    )


class _Files:
    """The files of the dashboard; every other path is one of its pages."""

    def __init__(self, assets: Assets) -> None:
        self._assets = assets

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send a file."""
        if scope["method"] not in SAFE:
            headers = {"Allow": ", ".join(sorted(SAFE))}
            raise ProblemError(405, "METHOD_NOT_ALLOWED", "this address can only be read", headers=headers)
        name = scope["path_params"].get("name", PAGE)
        await self._assets.answer(name, Headers(scope))(scope, receive, send)


async def _raise_missing(scope: Scope, receive: Receive, send: Send) -> None:
    del receive, send
    raise MissingError(f"there is no '{scope['path'][:100]}'", hint="the dashboard is at /, the API below /api/v1")
