"""JSON as a text: its members and items with their places, and where and why it is none.

Owns walking over JSON without losing where things stand, for the files that are edited in place: state.json and
errors.json. It walks over text that is known to be JSON; nothing is decoded twice.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

MARKED_MERGE = re.compile(r"^(?:<{7}|={7}|>{7})(?: |\r?$)", re.MULTILINE)
_MAX_INT_DIGITS = 400
_SPACE = re.compile(r"[ \t\r\n]*+")


class Member(NamedTuple):
    """One member of an object, or one item of a list, which has no key: its value, and where both stand."""

    key: str
    value: Any
    key_start: int
    start: int
    end: int


class Breakage(NamedTuple):
    """Why a text is no JSON, what to do about it, and where; without a place it is the whole."""

    message: str
    hint: str
    span: tuple[int, int] | None = None


def _read_int(digits: str) -> int | str:
    return int(digits) if len(digits) <= _MAX_INT_DIGITS else digits  # Python refuses to read very long ones


DECODER = json.JSONDecoder(parse_int=_read_int)


def walk_members(text: str, at: int, *, apart: str | None = None) -> Iterator[Member]:
    """The members of an object. A list under the key `apart` comes as a tuple of its items."""
    at = skip_space(text, at + 1)
    while text[at] != "}":
        key, end = DECODER.raw_decode(text, at)
        start = skip_space(text, skip_space(text, end) + 1)
        if key == apart and text[start] == "[":
            value: Any = tuple(walk_items(text, start))
            end = skip_space(text, value[-1].end if value else start + 1) + 1
        else:
            value, end = DECODER.raw_decode(text, start)
        yield Member(key, value, at, start, end)
        at = _skip_comma(text, end)


def walk_items(text: str, at: int) -> Iterator[Member]:
    """The items of a list."""
    at = skip_space(text, at + 1)
    while text[at] != "]":
        value, end = DECODER.raw_decode(text, at)
        yield Member("", value, at, at, end)
        at = _skip_comma(text, end)


def skip_space(text: str, at: int) -> int:
    """The next place that is no space."""
    return _SPACE.match(text, at).end()  # type: ignore[union-attr] # it matches nothing, too


def _skip_comma(text: str, at: int) -> int:
    at = skip_space(text, at)
    return skip_space(text, at + 1) if text[at] == "," else at


def explain_breakage(error: Exception, text: str, name: str, *, offset: int = 0) -> Breakage:
    """Say of a file by its name where it stops being JSON, and why, as its decoder has found from `offset` on."""
    restore = "Correct it, or restore it from git."
    if isinstance(error, RecursionError):
        return Breakage(f"{name} is nested too deeply to be read", restore)
    conflict = MARKED_MERGE.search(text)
    if conflict is not None:
        return Breakage(f"{name} holds the marks of an unfinished merge", "Finish the merge.", conflict.span())
    if not text.strip("\ufeff \t\r\n"):
        return Breakage(f"{name} is empty", "Restore it from git, or remove it.")
    end = len(text.rstrip())
    at, reason = offset + getattr(error, "pos", 0), getattr(error, "msg", str(error))
    if at >= end or reason.startswith("Unterminated string"):
        return Breakage(f"{name} was cut off: it ends in the middle", restore, (end - 1, end))
    if reason == "Extra data" and text[at] in "{[":
        message = f"{name} holds more than one object: a second one begins here"
        return Breakage(message, "Join them into one object.", (at, at + 1))
    return Breakage(f"{name} is not JSON: {reason[:1].lower()}{reason[1:]}", restore, (at, at + 1))
