"""The extractor as a target: any message, any format, any session id; the laws of `fuzz/laws.py` hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fuzz import laws
from fuzz.target import MAX_SECONDS, Target, expand, need_nothing

if TYPE_CHECKING:
    from collections.abc import Iterator

UNTIMED = 100 * MAX_SECONDS
"""Here it is the case that is timed, with everything that the laws ask besides."""


def read_trial(data: bytes) -> laws.Trial:
    """The first byte says how to ask: two bits for the format, two for the session, two for the spelling."""
    if not data:
        return laws.Trial("")
    way, rest = data[0], data[1:]
    match way >> 4 & 3:
        case 0:
            message: str | bytes = rest.decode("utf-8", "surrogateescape")
        case 1:
            message = rest
        case _:
            message = expand(rest, laws.FRAGMENTS)
    return laws.Trial(message, laws.FORMATS[way & 3], laws.SESSIONS[way >> 2 & 3])


def list_seeds() -> Iterator[bytes]:
    """The sample messages, as text, as bytes, and asked about in each format."""
    for text in laws.load_seeds():
        for way in (0x00, 0x01, 0x02, 0x03, 0x04, 0x10, 0x20):
            yield bytes([way]) + text.encode()


def check_case(data: bytes) -> None:
    """Take the bytes apart, and try the laws."""
    laws.check_laws(read_trial(data), max_seconds=UNTIMED)


TARGET = Target(
    "extractor",
    ("remit.returns",),
    laws.FRAGMENTS,
    list_seeds,
    need_nothing(check_case),
    max_bytes=laws.MAX_SMALL_BYTES,
)
