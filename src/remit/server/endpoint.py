"""Endpoints: check a request against the table of operations, call its handler, and render the answer.

A handler is a function from a checked request to a JSON object; it runs in a thread, because it reads files. A handler
that is a coroutine must not block; it may return a whole response.
"""

from __future__ import annotations

import asyncio
import re
from hashlib import sha256
from importlib import import_module
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qsl

from starlette.responses import Response

from remit.errors import UsageError
from remit.server.assets import is_known
from remit.server.problems import ProblemError
from remit.server.request_body import load_body
from remit.server.security import Headers
from remit.validation import build_schema, check_fields
from remit.views.render import render_json

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from starlette.types import Receive, Scope, Send

    from remit.server.operations import Operation
    from remit.server.state import ServerContext
    from remit.server.tokens import Guest

_PASSING = re.compile(r'"(?:left_ms|idle_s|lease_left_s|waited_s)": ?[0-9.e+-]+')
"""Values that change with time only, so ETags ignore them. Inside a text their quotation marks are escaped."""
_MAX_FIELDS = 50


class ApiRequest(NamedTuple):
    """A request that was checked against the table of operations."""

    context: ServerContext
    guest: Guest
    headers: Headers
    path: Mapping[str, Any]
    query: Mapping[str, Any]
    body: Mapping[str, Any]
    peer: tuple[str, int] | None = None
    """The other end of the connection."""
    own: tuple[str, int] | None = None
    """This end."""


class ApiAnswer(NamedTuple):
    """An answer with a status and headers."""

    value: Mapping[str, Any] | None
    status: int = 200
    headers: Mapping[str, str] = {}


class Endpoint:
    """The operations of one path."""

    def __init__(self, operations: Sequence[Operation], context: ServerContext) -> None:
        self._operations = {each.method: each for each in operations}
        self._context = context

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        operation = self._operations.get(method)
        if operation is None:
            allow = sorted({*self._operations} | ({"HEAD"} if "GET" in self._operations else set()))
            message = f"{scope['method']} isn't possible here"
            raise ProblemError(405, "METHOD_NOT_ALLOWED", message, headers={"Allow": ", ".join(allow)})
        request = ApiRequest(
            self._context,
            scope["guest"],
            Headers(scope),
            check_fields(_type_all(scope["path_params"], operation.names), operation.names),
            parse_query(scope["query_string"], operation.takes),
            {}
            if operation.body is None
            else check_fields(await load_body(scope, receive, max_bytes=operation.max_bytes), operation.body),
            scope.get("client"),
            scope.get("server"),
        )
        handler = find_handler(operation)
        if iscoroutinefunction(handler):
            given = await handler(request)
            response = given if isinstance(given, Response) else _render(given, request, operation.status)
        else:
            response = await asyncio.to_thread(_call, handler, request, operation.status)
        await response(scope, receive, send)


def find_handler(operation: Operation) -> Callable[[ApiRequest], Any]:
    """Return the function that answers an operation; it has the name of the operation."""
    found: Callable[[ApiRequest], Any] = getattr(import_module(operation.home), operation.name)
    return found


def _call(handler: Callable[[ApiRequest], Any], request: ApiRequest, status: int) -> Response:
    return _render(handler(request), request, status)


def _render(given: ApiAnswer | Mapping[str, Any], request: ApiRequest, status: int) -> Response:
    """Render the answer of a handler, or 304 if the client has it already."""
    answer = given if isinstance(given, ApiAnswer) else ApiAnswer(given, status)
    if answer.value is None:
        return Response(None, answer.status, answer.headers)
    text = render_json(answer.value)
    headers = dict(answer.headers)
    if "event" in answer.value and status == 200:  # noqa: PLR2004 - only this status can be cached
        headers["ETag"] = make_etag(text, answer.value["event"])
        if is_known(request.headers.get_list("if-none-match"), headers["ETag"]):
            return Response(None, 304, headers)
    return Response(text, answer.status, headers, "application/json")


def make_etag(text: str, event: object) -> str:
    """The ETag of an answer: its last event and a hash without the values that only time changes."""
    return f'W/"e{event}-{sha256(_PASSING.sub("", text).encode()).hexdigest()[:16]}"'


# --- queries ---------------------------------------------------------------------------------------------------------


def parse_query(query: bytes, kind: Any) -> dict[str, Any]:  # noqa: ANN401 - type checkers don't accept a TypedDict as a type
    """The fields of a query, converted to their types; each name may occur once."""
    try:
        pairs = parse_qsl(query.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=_MAX_FIELDS)
    except ValueError:
        raise UsageError("the query of the address can't be read", hint="encode it as UTF-8") from None
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise UsageError(f"{name[:60]} is given twice", hint="give it once")
        found[name] = value
    return check_fields(_type_all(found, kind), kind)


def _type_all(given: Mapping[str, str], kind: Any) -> dict[str, Any]:  # noqa: ANN401 - as above
    known = build_schema(kind)["properties"]
    return {name: _type(value, _list_types(known.get(name, {}))) for name, value in given.items()}


def _list_types(schema: Mapping[str, Any]) -> list[str]:
    return [each.get("type", "string") for each in schema.get("anyOf", (schema,))]


def _type(value: str, kinds: Sequence[str]) -> object:
    """A text as an integer or a boolean if its type is one; any other text stays unchanged."""
    if "integer" in kinds and re.fullmatch(r"-?[0-9]{1,18}", value, re.ASCII):
        return int(value)
    if "boolean" in kinds and value in ("true", "false"):
        return value == "true"
    return value
