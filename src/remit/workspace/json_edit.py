"""JSON edited as text: its members and items with their places, and changes that keep the layout of the rest.

Owns walking over JSON and every kind of change to it, for state.json and errors.json: order, indentation, line ends,
the spelling of other values and what is given twice stay as they are, and what is new looks like what is there. Pure:
it works on text that is known to be JSON, and says where and why another one isn't.
"""

from __future__ import annotations

import json
import re
from functools import wraps
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

MARKED_MERGE = re.compile(r"^(?:<{7}|={7}|>{7})(?: |\r?$)", re.MULTILINE)
_MAX_INT_DIGITS = 400
_Answer = TypeVar("_Answer")
UNIT = "  "
_SPACE = re.compile(r"[ \t\r\n]*+")
_INDENT = re.compile(r"[ \t]*+")
_FIRST_INDENT = re.compile(r'\n([ \t]{1,16}+)["{\[]')
_SURROGATE = re.compile("[\ud800-\udfff]")
_HOLE = "\0"
_HOLE_TEXT = json.dumps(_HOLE)


class _Remove:
    """The value that takes a member away."""

    def __repr__(self) -> str:
        return "REMOVE"


REMOVE: Final = _Remove()


class Source(str):
    """A value that is JSON already, and is put in word for word."""

    __slots__ = ()


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


def skip_back(text: str, at: int, spaces: str = " \t\r\n") -> int:
    """The end of what stands before some space."""
    while at > 0 and text[at - 1] in spaces:
        at -= 1
    return at


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


# --- changes ---------------------------------------------------------------------------------------------------------


def remember(read: Callable[[str], _Answer]) -> Callable[[str], _Answer]:
    """Keep the last answer about a text, for an edit asks many times. It is known by being the same object.

    To compare a large text with another that is equal takes long.
    """
    last: tuple[str, _Answer] | None = None

    @wraps(read)
    def ask(text: str) -> _Answer:
        nonlocal last
        known = last
        if known is None or known[0] is not text:
            known = last = text, read(text)
        return known[1]

    return ask


class Change(NamedTuple):
    """A stretch of the text and what stands there afterwards."""

    start: int
    end: int
    new: str


def apply(text: str, changes: Iterable[Change]) -> str:
    """The text with changes that do not overlap; those at one place in their order."""
    pieces: list[str] = []
    at = 0
    for change in sorted(changes, key=lambda each: each[:2]):
        pieces += text[at : change.start], change.new
        at = change.end
    return "".join([*pieces, text[at:]])


def same(one: object, other: object) -> bool:
    """Whether two values are the same JSON; 1, 1.0 and true are three."""
    return one == other and json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def set_members(text: str, start: int, values: Mapping[str, object]) -> list[Change]:
    """The changes that set members of the object that begins at `start`, or take them away (`REMOVE`).

    A new member is the last one. None is changed that has its value already; of a key that is given twice the last is.
    """
    members = list(walk_members(text, start))
    known = {member.key: member for member in members}
    gone = [index for index, member in enumerate(members) if values.get(member.key) is REMOVE]
    changes = remove_parts(members, gone)
    lead, unit = _read_layout(text, start, [member.key_start for member in members])
    colon = _read_colon(text, members[-1]) if members else ": "
    inner = lead or colon[1:]  # an object without members tells nothing of the spaces in a value
    new = ""
    for key, value in values.items():
        if value is REMOVE:
            continue
        if key in known:
            changes += set_value(text, known[key], value, unit)
        else:
            comma = "," if new or len(gone) < len(members) else ""
            new += f"{comma}{lead}{render(text, key, lead)}{colon}{render(text, value, inner, unit)}"
    at = members[-1].end if members else start + 1
    return [*changes, Change(at, at, new)] if new else changes


def set_value(text: str, member: Member, value: object, unit: str = UNIT) -> list[Change]:
    """The change that gives a member another value, none where it has it."""
    if same(member.value, value):
        return []
    lead = text[skip_back(text, member.key_start) : member.key_start]
    return [Change(member.start, member.end, render(text, value, lead, unit))]


def set_list(text: str, span: tuple[int, int], new: Sequence[object]) -> Change:
    """The change that puts a list of new items where another value stands."""
    line = text[text.rfind("\n", 0, span[0]) + 1 : span[0]]
    end = "\r\n" if "\r\n" in text else "\n"
    lead = end + line[: len(line) - len(line.lstrip(" \t"))] if "\n" in text.strip() else " "
    found = _FIRST_INDENT.search(text)
    return Change(*span, render(text, [*new], lead, found[1] if found else UNIT))


def add_items(text: str, start: int, items: Sequence[Member], new: Sequence[object], *, first: bool = False) -> Change:
    """The change that puts new items behind the last one of a list that begins at `start`, or before the first.

    `items` are those that are there, at least one; the first and the last of them are enough.
    """
    lead, unit = _read_layout(text, start, [item.start for item in items])
    shown = [each if isinstance(each, Source) else _render_like(text, each, items[-1], lead, unit) for each in new]
    if first:
        return Change(items[0].start, items[0].start, "".join(f"{each},{lead}" for each in reversed(shown)))
    return Change(items[-1].end, items[-1].end, "".join(f",{lead}{each}" for each in shown))


def _render_like(text: str, new: object, other: Member, lead: str, unit: str) -> str:
    """An item laid out as another: over several lines, or on one."""
    inner = text[other.start + 1 : skip_space(text, other.start + 1)]
    return render(text, new, lead if "\n" in inner else lead.rpartition("\n")[2][:1], unit)


def remove_parts(parts: Sequence[Member], gone: Sequence[int]) -> list[Change]:
    """The changes that take members or items away by their numbers, each with the comma that isn't needed any more."""
    # `gone` is in order, so up to the first one that is kept the two count alike.
    kept = next((index for index, each in enumerate(gone) if each != index), len(gone))
    changes = []
    for index in gone:
        part = parts[index]
        if index > kept:
            changes.append(Change(parts[index - 1].end, part.end, ""))
        else:
            after = parts[index + 1].key_start if index + 1 < len(parts) else part.end
            changes.append(Change(part.key_start, after, ""))
    return changes


# --- layout ----------------------------------------------------------------------------------------------------------


def _read_colon(text: str, member: Member) -> str:
    colon = text[skip_back(text, skip_back(text, member.start) - 1) : member.start]
    return ": " if "\n" in colon else colon


def _read_layout(text: str, start: int, elements: Sequence[int]) -> tuple[str, str]:
    """How an object or a list is laid out: what stands before each element, and what one level is indented by.

    `elements` are the places where its elements begin, in order; the first and the last of them are enough.
    """
    indent = _INDENT.match(text, text.rfind("\n", 0, start) + 1)[0]  # type: ignore[index] # it matches nothing, too
    if not elements:
        inner = text[start + 1 : skip_space(text, start + 1)]
        return (f"{inner[: inner.index(chr(10)) + 1]}{indent}{UNIT}" if "\n" in inner else ""), UNIT
    lead = text[skip_back(text, elements[-1]) : elements[-1]]
    if "\n" not in lead:  # the first of one line tells nothing of what stands between two
        return " " if len(elements) == 1 else lead, UNIT
    return lead, lead.rpartition("\n")[2].removeprefix(indent) or UNIT


def render(text: str, value: object, lead: str, unit: str = UNIT) -> str:
    """A value as the file would have it, where `lead` stands before it. Items that are a `Source` stay as they are."""
    items = value if isinstance(value, list) else []
    sources = [each for each in items if isinstance(each, Source)]
    if sources:
        value = [_HOLE if isinstance(each, Source) else each for each in items]
    escaped = _is_escaped(text)
    if "\n" not in lead:
        commas = (", ", ": ") if lead else (",", ":")
        dumped = _dump(value, ensure_ascii=escaped, separators=commas)
    else:
        dumped = _dump(value, ensure_ascii=escaped, indent=unit)
        dumped = dumped.replace("\n", ("\r\n" if "\r\n" in lead else "\n") + lead.rpartition("\n")[2])
    first, *rest = dumped.split(_HOLE_TEXT) if sources else [dumped]
    return "".join((first, *(f"{source}{after}" for source, after in zip(sources, rest, strict=True))))


@remember
def _is_escaped(text: str) -> bool:
    """Whether the file writes letters beyond ASCII as escapes. Asked for each value that an edit renders."""
    return text.isascii() and "\\u" in text


def _dump(value: object, *, ensure_ascii: bool, **layout: Any) -> str:  # noqa: ANN401 - as json has them
    dumped = json.dumps(value, ensure_ascii=ensure_ascii, allow_nan=False, **layout)
    if _SURROGATE.search(dumped):  # half a pair cannot be written as UTF-8
        return json.dumps(value, allow_nan=False, **layout)
    return dumped
