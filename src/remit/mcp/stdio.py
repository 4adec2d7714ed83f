"""The wire: lines of JSON on standard input and output, and nothing else on either.

Owns the two streams of the process. Once it is opened, whatever prints by mistake prints to standard error, and what is
started from here has no way to the wire. A line is bounded before anybody parses it.
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
"""The longest prompt, with every letter of it escaped, has room in it."""
PARSE_ERROR, INVALID_REQUEST, INTERNAL_ERROR = -32700, -32600, -32603
_PIECE_BYTES = 64 * 1024
_INPUT, _OUTPUT, _ERRORS = 0, 1, 2
_FIRST_FREE = 3


class Trouble(NamedTuple):
    """A line that is no message."""

    code: int
    message: str


class Wire:
    """Two open files that carry messages."""

    def __init__(self, source: int, target: int) -> None:
        self._source = source
        self._target = target
        self._writing = Lock()
        self.is_broken = False
        """Whether nobody reads any more."""

    @classmethod
    def claim(cls) -> Wire:
        """Take standard input and output for the wire alone."""
        try:
            source, target = (_duplicate(each) for each in (_INPUT, _OUTPUT))
        except OSError as error:
            hint = "let a harness start it, which speaks to it through both"
            raise RemitError("standard input or output is closed", hint=hint) from error
        for each in (source, target):
            os.set_blocking(each, True)  # some harnesses hand over pipes that never wait
        empty, end = os.pipe()
        os.close(end)
        os.dup2(empty, _INPUT)  # whoever reads it by mistake finds it at its end
        os.close(empty)
        os.dup2(_ERRORS, _OUTPUT)
        return cls(source, target)

    def read(self) -> Iterator[dict[str, Any] | Trouble]:
        """Message after message, as they come; what is none is told for what it is."""
        for line in self._split():
            if line is None:
                yield Trouble(INVALID_REQUEST, f"a message has more than {MAX_LINE_BYTES:,} bytes")
            elif line.strip():
                yield parse_message(line)

    def _split(self) -> Iterator[bytes | None]:
        """Lines, without their ends; None for one that is too long, of which nothing is kept."""
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
        if kept:  # a last line that was not ended is a message all the same
            yield bytes(kept)

    def _read_piece(self) -> bytes:
        try:
            return os.read(self._source, _PIECE_BYTES)
        except OSError:  # the other end was torn away
            return b""

    def write(self, text: str) -> None:
        """Send one message; whoever writes at the same time waits. Where nobody reads, nothing is sent any more."""
        data = memoryview(f"{text}\n".encode("utf-8", "replace"))
        with self._writing:
            try:
                while data and not self.is_broken:
                    data = data[os.write(self._target, data) :]
            except OSError:
                self.is_broken = True

    def refuse(self, code: int, message: str, *, request_id: str | int | None = None) -> None:
        """Answer with an error of the protocol; without an id, to whatever it was."""
        told = {"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": message}}
        self.write(render_json(told))


def parse_message(line: bytes) -> dict[str, Any] | Trouble:
    """A line as a message of JSON-RPC, as far as its being one object goes."""
    try:
        message = _parse(line)
    except (ValueError, RecursionError):
        return Trouble(PARSE_ERROR, "a line is not JSON; each message is one line of it, in UTF-8")
    if isinstance(message, list):
        return Trouble(INVALID_REQUEST, "messages are not sent in batches; send each on a line of its own")
    if not isinstance(message, dict):
        return Trouble(INVALID_REQUEST, "a message is an object of JSON-RPC 2.0")
    return message


def _parse(line: bytes) -> Any:  # noqa: ANN401 - any JSON value
    try:
        return from_json(line, allow_inf_nan=False, catch_duplicate_keys=True)
    except ValueError:
        if not any(mark in line for mark in (b"\\ud", b"\\uD")):
            raise
    # Half a character, which some harnesses cut texts to: nobody would hear of an error, since it could not be told
    # whose it is. Python reads it, and what it stands for is lost anyway.
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
    """The id of a message, where it has one that a request can have."""
    given = message.get("id")
    return given if isinstance(given, str | int) and not isinstance(given, bool) else None


def _duplicate(handle: int) -> int:
    """The same open file under a number that none of the standard streams has; not for what is started from here."""
    from fcntl import F_DUPFD_CLOEXEC, fcntl

    return fcntl(handle, F_DUPFD_CLOEXEC, _FIRST_FREE)
