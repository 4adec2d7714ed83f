"""The stdio transport: JSON messages, one per line, on standard input and output.

The transport takes both streams of the process for itself: code that prints by mistake prints to standard error, and
child processes don't inherit the streams. The length of a line is limited before it is parsed.
"""

from __future__ import annotations

import os
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

from jiter import from_json

from remit.errors import RemitError
from remit.views.render import render_json

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_LINE_BYTES = 16 * 1024 * 1024
"""Enough for the longest prompt with each character escaped."""
PARSE_ERROR, INVALID_REQUEST, INTERNAL_ERROR = -32700, -32600, -32603
_PIECE_BYTES = 64 * 1024
_INPUT, _OUTPUT, _ERRORS = 0, 1, 2
_FIRST_FREE = 3


class InvalidMessage(NamedTuple):
    """A line that isn't a valid message: code and text of the error."""

    code: int
    message: str


class Transport:
    """Two open files with messages: one to read, one to write."""

    def __init__(self, source: int, target: int) -> None:
        self._source = source
        self._target = target
        self._writing = Lock()
        self.is_broken = False
        """Whether the client has closed its end, so nothing can be sent."""

    @classmethod
    def claim(cls) -> Transport:
        """Return a transport that owns standard input and output. Other code gets an empty input and stderr."""
        try:
            source, target = (_duplicate(each) for each in (_INPUT, _OUTPUT))
        except OSError as error:
            hint = "let a harness start this command"
            raise RemitError("standard input or output is closed", hint=hint) from error
        for each in (source, target):
            os.set_blocking(each, True)  # some harnesses pass non-blocking pipes
        empty, end = os.pipe()
        os.close(end)
        os.dup2(empty, _INPUT)  # code that reads standard input by mistake gets its end
        os.close(empty)
        os.dup2(_ERRORS, _OUTPUT)
        return cls(source, target)

    def read(self) -> Iterator[dict[str, Any] | InvalidMessage]:
        """Yield messages as they arrive, and an `InvalidMessage` for each line that isn't one."""
        for line in self._split():
            if line is None:
                yield InvalidMessage(INVALID_REQUEST, f"a message has more than {MAX_LINE_BYTES:,} bytes")
            elif line.strip():
                yield parse_message(line)

    def _split(self) -> Iterator[bytes | None]:
        """Yield lines without their line ends; None for a line that is too long, which isn't kept in memory."""
        kept = bytearray()
        is_lost = False
        while data := self._read_piece():
            *ends, rest = data.split(b"\n")
            for end in ends:
                kept += end
                yield None if is_lost or len(kept) > MAX_LINE_BYTES else bytes(kept)
                kept.clear()
                is_lost = False
            kept += rest
            if len(kept) > MAX_LINE_BYTES:
                kept.clear()
                is_lost = True
        if kept:  # the last line needs no line end
            yield bytes(kept)

    def _read_piece(self) -> bytes:
        try:
            return os.read(self._source, _PIECE_BYTES)
        except OSError:  # the client has closed its end
            return b""

    def write(self, text: str) -> None:
        """Send one message, under a lock. Does nothing after the client has closed its end."""
        data = memoryview(f"{text}\n".encode("utf-8", "replace"))
        with self._writing:
            try:
                while data and not self.is_broken:
                    data = data[os.write(self._target, data) :]
            except OSError:
                self.is_broken = True

    def refuse(self, code: int, message: str, *, request_id: str | int | None = None) -> None:
        """Answer a request with an error of the protocol. Without an id, the error is about an unreadable message."""
        error = {"code": code, "message": message}
        self.write(render_json({"jsonrpc": "2.0", "id": request_id, "error": error}))


def parse_message(line: bytes) -> dict[str, Any] | InvalidMessage:
    """Parse a line as a JSON object. Whether it is a message of JSON-RPC is checked by the library."""
    try:
        message = _parse(line)
    except (ValueError, RecursionError):
        return InvalidMessage(PARSE_ERROR, "a line isn't valid JSON; each message has to be one line of JSON in UTF-8")
    if isinstance(message, list):
        return InvalidMessage(INVALID_REQUEST, "batches aren't supported; send each message on a line of its own")
    if not isinstance(message, dict):
        return InvalidMessage(INVALID_REQUEST, "a message has to be a JSON-RPC 2.0 object")
    return message


def _parse(line: bytes) -> Any:  # noqa: ANN401 - any JSON value
    try:
        return from_json(line, allow_inf_nan=False, catch_duplicate_keys=True)
    except ValueError:
        if not any(mark in line for mark in (b"\\ud", b"\\uD")):
            raise
    # Half a surrogate pair: some harnesses cut texts inside a character. An error couldn't name its request, since the
    # id isn't parsed yet. Python's parser accepts the half, and it is replaced.
    import json

    whole = json.loads(line, object_pairs_hook=_refuse_doubles, parse_constant=_refuse_constant)
    return from_json(json.dumps(whole, ensure_ascii=False).encode("utf-8", "replace"))


def _refuse_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name is given twice")
    return found


def _refuse_constant(word: str) -> None:
    raise ValueError(f"{word} is not in JSON")


def get_request_id(message: dict[str, Any]) -> str | int | None:
    """Return the id of a message if it is a valid request id."""
    given = message.get("id")
    return given if isinstance(given, str | int) and not isinstance(given, bool) else None


def _duplicate(handle: int) -> int:
    """Duplicate a file descriptor to a number above the standard streams; child processes don't inherit it."""
    from fcntl import F_DUPFD_CLOEXEC, fcntl

    return fcntl(handle, F_DUPFD_CLOEXEC, _FIRST_FREE)
