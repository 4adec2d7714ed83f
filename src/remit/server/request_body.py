"""Bodies of requests: read with a limit on size and time, and parsed as strict JSON."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from jiter import from_json

from remit.server.problems import ProblemError

if TYPE_CHECKING:
    from starlette.types import Receive, Scope

MAX_BYTES = 1024 * 1024
MAX_MESSAGE_BYTES = 8 * 1024 * 1024
"""The limit for a final message that is to be checked."""
READ_S = 20.0
"""How long a body may take to arrive."""
_CLOSE = {"Connection": "close"}


async def load_body(scope: Scope, receive: Receive, *, max_bytes: int) -> dict[str, Any]:
    """Read the JSON object in the body of a request; `{}` for an empty body."""
    declared = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
    if int(declared) > max_bytes:
        raise _make_too_large(max_bytes)
    try:
        async with asyncio.timeout(READ_S):
            data = await _read(receive, max_bytes)
    except TimeoutError:
        message = f"the body did not arrive within {READ_S:.0f} s"
        raise ProblemError(
            408, "TIMED_OUT", message, hint="send the whole body without pauses", headers=_CLOSE
        ) from None
    return parse_body(data) if data.strip() else {}


async def _read(receive: Receive, max_bytes: int) -> bytes:
    parts, size, more = [], 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ProblemError(400, "BAD_REQUEST", "the client disconnected before the end of the body", headers=_CLOSE)
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > max_bytes:
            raise _make_too_large(max_bytes)
        more = message.get("more_body", False)
    return b"".join(parts)


def _make_too_large(max_bytes: int) -> ProblemError:
    hint = f"send at most {max_bytes:,} bytes"
    return ProblemError(413, "TOO_LARGE", "the body is too large", hint=hint, headers=_CLOSE)


def parse_body(data: bytes) -> dict[str, Any]:
    """Parse a JSON object strictly: without duplicate names and NaN, and within the parser's limit on depth."""
    try:
        found = from_json(data, allow_inf_nan=False, catch_duplicate_keys=True)
    except ValueError as error:
        raise ProblemError(
            400, "BAD_REQUEST", f"the body isn't valid JSON: {error}", hint="send one JSON object"
        ) from None
    if not isinstance(found, dict):
        raise ProblemError(400, "BAD_REQUEST", "the body isn't a JSON object", hint="send one JSON object")
    return found
