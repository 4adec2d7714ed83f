"""Security: who may ask at all, and what stands on every answer.

Owns what is decided before anybody looks at what was asked for: by which name the server was called, from which page,
with which token, how often and how much. A page of another site can reach a server on this machine, under any name
that it lets lead here, and with the browser's cookies: so the name, the origin and the token are looked at, each by
itself. It knows no route but the one by which people log in.
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
"""What stands on every answer."""
_NO_STORE = (b"cache-control", b"no-store")
_OWN_SITE = frozenset({"same-origin", "none"})
"""A page of this server, or nobody's: typed in, or opened from outside of a browser. A page on another port is of the
same site, and a stranger all the same."""
_ANYBODY = "anybody"
_ADDRESS = re.compile(r"(?:\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:.]{2,45}\])\Z")


class Place(NamedTuple):
    """The address of a server, and the host names that it accepts."""

    host: str
    port: int
    names: frozenset[str]
    any_address: bool = False
    """Whether it may be called by any number of an address, which no foreign name leads to."""

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"

    @property
    def cookie(self) -> str:
        """The name of its cookie. Browsers keep one for all ports of a machine, and each server needs its own."""
        return f"remit_session_{self.port}"

    def is_called(self, host: str) -> bool:
        """Whether a name is one of its own."""
        name, port = _split_host(host.lower())
        if port != self.port:
            return False
        return name in self.names or (self.any_address and _ADDRESS.match(name) is not None)


def _split_host(host: str) -> tuple[str, int]:
    """Name and port, with the default port if none is given."""
    found = re.fullmatch(r"(\[[0-9a-f:.]+\]|[^:\[\]]+)(?::(\d{1,5}))?", host)
    return (found[1], int(found[2] or 80)) if found else ("", 0)


class Headers:
    """The headers of a request, each by its name in small letters."""

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
        """What a header says that may stand there in parts."""
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
    """Stands before the application: lets in who may, and puts on every answer what protects browsers."""

    def __init__(self, app: ASGIApp, place: Place, tokens: Tokens, *, rates: Rates | None = None) -> None:
        self._app = app
        self._place = place
        self._tokens = tokens
        self._rates = rates or Rates()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request. Whatever happens, it is an answer."""
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
            scope["guest"] = self._let_in(scope, Headers(scope))
            await self._app(scope, receive, send_safely)
        except Exception as error:  # noqa: BLE001 - the outermost handler answers every error
            answer = answer_problem(error, for_people=not scope["path"].startswith(API))
            if has_begun:  # what is half sent cannot be taken back
                return
            with suppress(OSError):
                await answer(scope, receive, send_safely)

    def _let_in(self, scope: Scope, headers: Headers) -> Guest | None:
        """The client of a request; None only for a login. Raises if the request has no valid token."""
        place, method = self._place, scope["method"]
        if len(scope["raw_path"]) + len(scope["query_string"]) > MAX_URL_BYTES:
            raise ProblemError(414, "URL_TOO_LONG", "the address is too long", hint=f"at most {MAX_URL_BYTES:,} bytes")
        if sum(len(name) + len(value) for name, value in scope["headers"]) > MAX_HEAD_BYTES:
            raise ProblemError(
                431, "HEAD_TOO_LARGE", "the headers are too long", hint=f"at most {MAX_HEAD_BYTES:,} bytes"
            )
        _check_called(place, headers)
        _check_origin(headers)
        if scope["path"] == LOGIN:  # only wrong tokens are limited, or any client could block all others
            return None
        guest = self._find_guest(place, headers)
        self._hold_back(_ANYBODY if guest is None else guest.id)
        if guest is None:
            raise _ask_to_log_in(place)
        if method not in SAFE:
            _check_meant(guest, headers)
        return guest

    def _find_guest(self, place: Place, headers: Headers) -> Guest | None:
        """Who shows a token: in a header, else in a cookie."""
        shown = headers.get("authorization")
        if shown is None:
            cookie = headers.get_cookie(place.cookie)
            return None if cookie is None else self._tokens.find_session(cookie)
        scheme, _, token = shown.partition(" ")
        guest = self._tokens.find_bearer(token.strip()) if scheme.lower() == "bearer" else None
        if guest is None:
            raise_if_too_many(self._tokens)
        return guest

    def _hold_back(self, who: str) -> None:
        _raise_if(self._rates.take(who), "too many requests")


def raise_if_too_many(tokens: Tokens) -> None:
    """Count a wrong token. Raises after too many."""
    _raise_if(tokens.count_failure(), "too many wrong tokens")


def _raise_if(wait_s: float, what: str) -> None:
    if wait_s > 0:
        seconds = max(1, round(wait_s))
        headers = {"Retry-After": str(seconds)}
        raise ProblemError(429, "TOO_MANY_REQUESTS", what, hint=f"try again in {seconds} s", headers=headers)


def _ask_to_log_in(place: Place) -> ProblemError:
    headers = {"WWW-Authenticate": f'Bearer realm="remit {place.port}"'}
    hint = (
        "run: remit serve --open (it opens this page with a token); programs send the token of .remit/server.json as a "
        "Bearer"
    )
    return ProblemError(401, "UNAUTHORIZED", "nobody is logged in here", hint=hint, headers=headers)


def _check_called(place: Place, headers: Headers) -> None:
    """Refuse a name that is not this server's: a page whose name was led here would else be of the same origin."""
    host = headers.get("host") or ""
    if not place.is_called(host):
        raise ProblemError(421, "MISDIRECTED", f"this is not '{host[:100]}'", hint=f"it is {place.url}")


def _check_origin(headers: Headers) -> None:
    """Refuse requests of pages of another origin, by the headers of browsers."""
    origin, host = headers.get("origin"), (headers.get("host") or "").lower()
    if origin is not None and origin.lower() not in (f"http://{host}", f"https://{host}"):
        raise ProblemError(403, "FORBIDDEN", "another site asks for this", hint="open the page by its own address")
    site = headers.get("sec-fetch-site")
    if site is not None and site.lower() not in _OWN_SITE:
        raise ProblemError(403, "FORBIDDEN", "another site leads here", hint="copy the address into the browser")


def _check_meant(guest: Guest, headers: Headers) -> None:
    """Refuse a change that a browser might have been tricked into, and a body that a form could send."""
    if guest.kind == "cookie" and headers.get("origin") is None and headers.get("sec-fetch-site") != "same-origin":
        raise ProblemError(403, "FORBIDDEN", "no page of this server asks for this", hint="send the token as a Bearer")
    length = headers.get("content-length")
    kind = (headers.get("content-type") or "").partition(";")[0].strip().lower()
    has_body = headers.get("transfer-encoding") is not None or length not in (None, "0")
    if kind != "application/json" and (has_body or kind):
        raise ProblemError(415, "UNSUPPORTED_MEDIA_TYPE", "the body is no JSON", hint="send application/json")


def _protect(headers: Iterable[tuple[bytes, bytes]]) -> Iterable[tuple[bytes, bytes]]:
    """The headers of an answer, with those that every answer has."""
    names = set()
    for name, value in headers:
        names.add(name)
        yield name, value
    yield from HEADERS
    if _NO_STORE[0] not in names:
        yield _NO_STORE


def make_cookie(place: Place, token: str, *, seconds: int, scheme: str) -> str:
    """The header that gives a browser its session, or takes it away."""
    secure = "; Secure" if scheme == "https" else ""
    return f"{place.cookie}={token}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}"
