"""Security: checks of each request before the application gets it, and the headers of each answer.

The checks are: the host name by which the server is addressed, the origin of the page, the token, the rate and the
size. A page of another site can send requests to a server on this machine, under any host name that resolves to it and
with the browser's cookies. So host name, origin and token are checked independently of each other. The only route that
this module knows is the login.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from remit.server.problems import ProblemError, answer_problem
from remit.server.rate_limit import Rates

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from remit.server.tokens import Guest, Tokens

API = "/api/"
LOGIN = "/login"
MAX_URL_BYTES = 8 * 1024
MAX_HEAD_BYTES = 32 * 1024
SAFE = frozenset({"GET", "HEAD"})
CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
    "trusted-types 'none'"
)
HEADERS: tuple[tuple[bytes, bytes], ...] = (
    (b"content-security-policy", CSP.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
"""The headers of every answer."""
_NO_STORE = (b"cache-control", b"no-store")
_OWN_SITE = frozenset({"same-origin", "none"})
"""The request is from a page of this server, or from no page: the user typed the address. `same-site` isn't accepted,
because a page on another port of the same host has it, too."""
_ANONYMOUS = "anonymous"
_ADDRESS = re.compile(r"(?:\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:.]{2,45}\])\Z")


class Place(NamedTuple):
    """The address of a server, and the host names that it accepts."""

    host: str
    port: int
    names: frozenset[str]
    any_address: bool = False
    """Whether any numeric address is accepted as host name. A site of an attacker has a name, not a number."""

    @property
    def url(self) -> str:
        """The URL of the server."""
        return f"http://{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"

    @property
    def cookie(self) -> str:
        """The name of the session cookie, with the port: browsers send cookies to all ports of a host."""
        return f"remit_session_{self.port}"

    def accepts_host(self, host: str) -> bool:
        """Whether a `Host` header names this server."""
        name, port = _split_host(host.lower())
        if port != self.port:
            return False
        return name in self.names or (self.any_address and _ADDRESS.match(name) is not None)


def _split_host(host: str) -> tuple[str, int]:
    """Name and port, with the default port if none is given."""
    found = re.fullmatch(r"(\[[0-9a-f:.]+\]|[^:\[\]]+)(?::(\d{1,5}))?", host)
    return (found[1], int(found[2] or 80)) if found else ("", 0)


class Headers:
    """The headers of a request, by their names in lower case."""

    def __init__(self, scope: Scope) -> None:
        self._found: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            self._found.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))

    def get(self, name: str) -> str | None:
        """The value of a header; None if it is missing or occurs twice."""
        found = self._found.get(name, [])
        if len(found) > 1:
            raise ProblemError(400, "BAD_REQUEST", f"{name} is given twice", hint="give it once")
        return found[0].strip() if found else None

    def get_list(self, name: str) -> str:
        """The values of a header that may occur several times, joined by commas."""
        return ", ".join(self._found.get(name, []))

    def get_cookie(self, name: str) -> str | None:
        """A cookie by its name."""
        for header in self._found.get("cookie", []):
            for each in header.split(";"):
                key, _, value = each.strip().partition("=")
                if key == name:
                    return value
        return None


class Guard:
    """ASGI middleware that authorizes requests and adds the security headers to answers."""

    def __init__(self, app: ASGIApp, place: Place, tokens: Tokens, *, rates: Rates | None = None) -> None:
        self._app = app
        self._place = place
        self._tokens = tokens
        self._rates = rates or Rates()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; an error becomes an answer, too."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        has_begun = False

        async def send_safely(message: Message) -> None:
            nonlocal has_begun
            if message["type"] == "http.response.start":
                has_begun = True
                message["headers"] = [*_protect(message["headers"])]
            await send(message)

        try:
            scope["guest"] = self._authorize(scope, Headers(scope))
            await self._app(scope, receive, send_safely)
        except Exception as error:  # noqa: BLE001 - the outermost handler answers every error
            answer = answer_problem(error, for_users=not scope["path"].startswith(API))
            if has_begun:  # the status is already sent
                return
            with suppress(OSError):
                await answer(scope, receive, send_safely)

    def _authorize(self, scope: Scope, headers: Headers) -> Guest | None:
        """The client of a request; None only for a login. Raises if the request has no valid token."""
        place, method = self._place, scope["method"]
        if len(scope["raw_path"]) + len(scope["query_string"]) > MAX_URL_BYTES:
            raise ProblemError(414, "URL_TOO_LONG", "the address is too long", hint=f"at most {MAX_URL_BYTES:,} bytes")
        if sum(len(name) + len(value) for name, value in scope["headers"]) > MAX_HEAD_BYTES:
            raise ProblemError(
                431, "HEAD_TOO_LARGE", "the headers are too long", hint=f"at most {MAX_HEAD_BYTES:,} bytes"
            )
        _check_host(place, headers)
        _check_origin(headers)
        if scope["path"] == LOGIN:  # only wrong tokens are limited, or any client could block all others
            return None
        guest = self._find_guest(place, headers)
        _raise_if_limited(self._rates.take(_ANONYMOUS if guest is None else guest.id), "too many requests")
        if guest is None:
            raise _make_unauthorized(place)
        if method not in SAFE:
            _check_change(guest, headers)
        return guest

    def _find_guest(self, place: Place, headers: Headers) -> Guest | None:
        """Return the client by its token in the `Authorization` header or the cookie; None without a valid one."""
        authorization = headers.get("authorization")
        if authorization is None:
            cookie = headers.get_cookie(place.cookie)
            return None if cookie is None else self._tokens.find_session(cookie)
        scheme, _, token = authorization.partition(" ")
        guest = self._tokens.find_bearer(token.strip()) if scheme.lower() == "bearer" else None
        if guest is None:
            raise_if_too_many(self._tokens)
        return guest


def raise_if_too_many(tokens: Tokens) -> None:
    """Count a wrong token. Raises after too many."""
    _raise_if_limited(tokens.count_failure(), "too many wrong tokens")


def _raise_if_limited(wait_s: float, message: str) -> None:
    if wait_s > 0:
        seconds = max(1, round(wait_s))
        headers = {"Retry-After": str(seconds)}
        raise ProblemError(429, "TOO_MANY_REQUESTS", message, hint=f"try again in {seconds} s", headers=headers)


def _make_unauthorized(place: Place) -> ProblemError:
    headers = {"WWW-Authenticate": f'Bearer realm="remit {place.port}"'}
    hint = (
        "open this page with a token: remit serve --open; programs send the token of .remit/server.json as a Bearer "
        "token"
    )
    return ProblemError(401, "UNAUTHORIZED", "the request has no valid token", hint=hint, headers=headers)


def _check_host(place: Place, headers: Headers) -> None:
    """Refuse a host name that isn't this server's, because DNS rebinding makes a foreign page the same origin."""
    host = headers.get("host") or ""
    if not place.accepts_host(host):
        raise ProblemError(421, "MISDIRECTED", f"this server isn't '{host[:100]}'", hint=f"use {place.url}")


def _check_origin(headers: Headers) -> None:
    """Refuse requests of pages of another origin, by the headers of browsers."""
    origin, host = headers.get("origin"), (headers.get("host") or "").lower()
    if origin is not None and origin.lower() not in (f"http://{host}", f"https://{host}"):
        raise ProblemError(
            403,
            "FORBIDDEN",
            "the request comes from a page of another site",
            hint="open the dashboard by its own address",
        )
    site = headers.get("sec-fetch-site")
    if site is not None and site.lower() not in _OWN_SITE:
        raise ProblemError(
            403, "FORBIDDEN", "a link of another site opened this address", hint="copy the address into the browser"
        )


def _check_change(guest: Guest, headers: Headers) -> None:
    """Refuse a change that may be a cross-site request forgery, and a body that a form could send."""
    if guest.kind == "cookie" and headers.get("origin") is None and headers.get("sec-fetch-site") != "same-origin":
        raise ProblemError(
            403,
            "FORBIDDEN",
            "the request doesn't come from a page of this server",
            hint="send the token as a Bearer token",
        )
    length = headers.get("content-length")
    kind = (headers.get("content-type") or "").partition(";")[0].strip().lower()
    has_body = headers.get("transfer-encoding") is not None or length not in (None, "0")
    if kind != "application/json" and (has_body or kind):
        raise ProblemError(
            415, "UNSUPPORTED_MEDIA_TYPE", "the body isn't declared as JSON", hint="send application/json"
        )


def _protect(headers: Iterable[tuple[bytes, bytes]]) -> Iterable[tuple[bytes, bytes]]:
    """Yield the headers of an answer and those that every answer has."""
    names = set()
    for name, value in headers:
        names.add(name)
        yield name, value
    yield from HEADERS
    if _NO_STORE[0] not in names:
        yield _NO_STORE


def make_cookie(place: Place, token: str, *, seconds: int, scheme: str) -> str:
    """Return the `Set-Cookie` header that starts a browser's session, or ends it with 0 seconds."""
    secure = "; Secure" if scheme == "https" else ""
    return f"{place.cookie}={token}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}"
