"""Edit JSON as text and keep its layout, for harness settings, state.json and errors.json. No side effects.

Order, indentation, line ends, the spelling of other values, duplicate keys and comments stay; a new part is formatted
like its neighbors. Also explains where and why a text isn't valid JSON.

JSON with comments is parsed as the text that `blank_comments` returns, which has the same offsets; changes are made in
the original text.
"""

from __future__ import annotations

import json
import re
from functools import wraps
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from remit.storage.merge_conflicts import MARK

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

_MAX_INT_DIGITS = 400
_Answer = TypeVar("_Answer")
UNIT = "  "
_SPACE = re.compile(r"[ \t\r\n]*+")
_INDENT = re.compile(r"[ \t]*+")
_FIRST_INDENT = re.compile(r'\n([ \t]{1,16}+)["{\[]')
_COMMENT = r"//[^\r\n]*+|/\*(?:[^*]++|\*(?!/))*+(?:\*/)?+"
_TOKEN = re.compile(rf'"(?:[^"\\]++|\\.)*+"?+|{_COMMENT}|[{{}}\[\],]|[^\s"/{{}}\[\],]++|/', re.DOTALL)
_COMMENT_OR_COMMA = re.compile(rf"{_COMMENT}|,")
_REST_OF_LINE = re.compile(r"(?P<comma>[ \t]*+,)?+(?:[ \t]*+(?://[^\r\n]*+|/\*(?:[^*\r\n]++|\*(?!/))*+\*/))*+")
"""After the last part: a trailing comma, and comments on its line."""
_TRAILING_COMMA = re.compile(rf"(?:[ \t\r\n]++|{_COMMENT})*+,")
_NEXT_LINE = re.compile(r"[ \t]*+[\r\n]")
_SEPARATORS = frozenset(" \t\r\n,")
_SURROGATE = re.compile("[\ud800-\udfff]")
_HOLE = "\0"
_HOLE_TEXT = json.dumps(_HOLE)


class _Remove:
    """The value that removes a member."""

    def __repr__(self) -> str:
        return "REMOVE"


REMOVE: Final = _Remove()


class RawJson(str):
    """JSON text that is inserted word for word."""

    __slots__ = ()


class Member(NamedTuple):
    """A member of an object, or an item of a list, which has no key: its value and offsets."""

    key: str
    value: Any
    key_start: int
    start: int
    end: int


class Breakage(NamedTuple):
    """Why a text isn't valid JSON, a hint, and the position; None means the whole text."""

    message: str
    hint: str
    span: tuple[int, int] | None = None


def _read_int(digits: str) -> int | str:
    return int(digits) if len(digits) <= _MAX_INT_DIGITS else digits  # Python refuses to parse very long ones


DECODER = json.JSONDecoder(parse_int=_read_int)


def walk_members(text: str, at: int) -> Iterator[Member]:
    """Yield the members of an object."""
    at = skip_space(text, at + 1)
    while text[at] != "}":
        key, end = DECODER.raw_decode(text, at)
        start = skip_space(text, skip_space(text, end) + 1)
        value, end = DECODER.raw_decode(text, start)
        yield Member(key, value, at, start, end)
        at = _skip_comma(text, end)


def walk_items(text: str, at: int) -> Iterator[Member]:
    """Yield the items of a list."""
    at = skip_space(text, at + 1)
    while text[at] != "]":
        value, end = DECODER.raw_decode(text, at)
        yield Member("", value, at, at, end)
        at = _skip_comma(text, end)


def skip_space(text: str, at: int) -> int:
    """Return the next offset that isn't whitespace."""
    return _SPACE.match(text, at).end()  # type: ignore[union-attr] # it matches nothing, too


def skip_back(text: str, at: int, spaces: str = " \t\r\n") -> int:
    """Return the end of the text before some whitespace."""
    while at > 0 and text[at - 1] in spaces:
        at -= 1
    return at


def _skip_comma(text: str, at: int) -> int:
    at = skip_space(text, at)
    return skip_space(text, at + 1) if text[at] == "," else at


def blank_comments(text: str) -> str:
    """Return the text with spaces in place of comments and trailing commas: JSON with the same offsets."""
    blanks: list[tuple[int, int]] = []
    before, comma = "[", -1
    for token in _TOKEN.finditer(text):
        mark = token[0]
        if mark.startswith("//") or (mark.startswith("/*") and mark.endswith("*/") and mark != "/*/"):
            blanks.append(token.span())
            continue
        if mark in "}]" and comma >= 0:
            blanks.append((comma, comma + 1))
        comma = token.start() if mark == "," and before not in "{[," else -1
        before = mark
    return apply(text, [TextChange(start, end, " " * (end - start)) for start, end in blanks])


def measure_depth(text: str) -> int:
    """Return how deeply a text nests objects and lists, also if it isn't valid JSON."""
    depth = deepest = 0
    for token in _TOKEN.finditer(text):
        if token[0] in "{[":
            depth += 1
            deepest = max(deepest, depth)
        elif token[0] in "}]":
            depth -= 1
    return deepest


def explain_breakage(error: Exception, text: str, name: str, *, offset: int = 0) -> Breakage:
    """Return where and why a file isn't valid JSON, from its decoder's error. The decoder started at `offset`."""
    restore = "Correct it, or restore it from git."
    if isinstance(error, RecursionError):
        return Breakage(f"{name} is nested too deeply", restore)
    conflict = MARK.search(text)
    if conflict is not None:
        return Breakage(
            f"{name} contains the conflict markers of an unfinished merge", "Finish the merge.", conflict.span()
        )
    if not text.strip("\ufeff \t\r\n"):
        return Breakage(f"{name} is empty", "Restore it from git, or remove it.")
    end = len(text.rstrip())
    at, reason = offset + getattr(error, "pos", 0), getattr(error, "msg", str(error))
    if at >= end or reason.startswith("Unterminated string"):
        return Breakage(f"{name} is truncated", restore, (end - 1, end))
    if reason == "Extra data" and text[at] in "{[":
        message = f"{name} has more than one object: a second one starts here"
        return Breakage(message, "Join them into one object.", (at, at + 1))
    if text[at] in "}]" and text[skip_back(text, at) - 1] == ",":
        reason = "an extra comma"
    elif text.startswith(("//", "/*"), at):
        reason = "a comment"
    return Breakage(f"{name} isn't valid JSON: {reason[:1].lower()}{reason[1:]}", restore, (at, at + 1))


# --- changes ---------------------------------------------------------------------------------------------------------


def remember(read: Callable[[str], _Answer]) -> Callable[[str], _Answer]:
    """Cache the last result for a text, because an edit asks many times. The text is compared by identity.

    Comparing a large text with an equal one would take long.
    """
    last: tuple[str, _Answer] | None = None

    @wraps(read)
    def cached(text: str) -> _Answer:
        nonlocal last
        known = last
        if known is None or known[0] is not text:
            known = last = text, read(text)
        return known[1]

    return cached


class TextChange(NamedTuple):
    """A span of the text and its new content."""

    start: int
    end: int
    new: str


def apply(text: str, changes: Iterable[TextChange]) -> str:
    """Apply changes that don't overlap; several at one offset are applied in their order."""
    pieces: list[str] = []
    at = 0
    for change in sorted(changes, key=lambda each: each[:2]):
        pieces += text[at : change.start], change.new
        at = change.end
    return "".join([*pieces, text[at:]])


def same(one: object, other: object) -> bool:
    """Return whether two values are the same JSON; 1, 1.0 and true are different."""
    return one == other and json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def set_members(text: str, start: int, values: Mapping[str, object], *, plain: str | None = None) -> list[TextChange]:
    """Return the changes that set or remove (`REMOVE`) members of the object that starts at `start`.

    A new member becomes the last one. A member that has its value already isn't changed; of a duplicate key the last
    one is changed. `plain` is the text without comments, if it may have any.
    """
    members = list(walk_members(plain or text, start))
    known = {member.key: member for member in members}
    gone = [index for index, member in enumerate(members) if values.get(member.key) is REMOVE]
    changes = remove_parts(text, members, gone)
    layout = _read_layout(text, start, members)
    colon = _read_colon(text, members[-1]) if members else ": "
    inner = layout.lead or colon[1:]  # an empty object doesn't show the spaces in a value
    new = []
    for key, value in values.items():
        if key in known and value is not REMOVE:
            changes += set_value(text, known[key], value, layout.unit)
        elif value is not REMOVE:
            new.append(f"{render(text, key, layout.lead)}{colon}{render(text, value, inner, layout.unit)}")
    if not new:
        return changes
    return [*changes, _append(text, start, members if len(gone) < len(members) else (), new, layout)]


def set_value(text: str, member: Member, value: object, unit: str = UNIT) -> list[TextChange]:
    """Return the change that gives a member another value; empty if it has the value."""
    if same(member.value, value):
        return []
    lead = text[skip_back(text, member.key_start) : member.key_start]
    return [TextChange(member.start, member.end, render(text, value, lead, unit))]


def add_items(
    text: str, start: int, items: Sequence[Member], new: Sequence[object], *, first: bool = False
) -> TextChange:
    """Return the change that adds items after the last one of the list that starts at `start`, or before the first.

    `items` are the existing ones; the first and the last of them are enough.
    """
    layout = _read_layout(text, start, items)
    lead, inner = layout.lead, layout.lead or " "
    if items and "\n" not in text[items[-1].start + 1 : skip_space(text, items[-1].start + 1)]:
        inner = lead.rpartition("\n")[2][:1]  # like the last item, on one line
    shown = [each if isinstance(each, RawJson) else render(text, each, inner, layout.unit) for each in new]
    if first and items:
        return TextChange(items[0].start, items[0].start, "".join(f"{each},{lead}" for each in reversed(shown)))
    return _append(text, start, items, shown, layout)


def _append(text: str, start: int, parts: Sequence[Member], shown: Sequence[str], layout: _Layout) -> TextChange:
    """Return the change that adds parts after the last one, and after the comments on its line."""
    joined = "".join(f",{layout.lead}{each}" for each in shown)
    if not parts:
        return TextChange(start + 1, start + 1, f"{joined[1:]}{layout.tail}")
    end = parts[-1].end
    rest = _REST_OF_LINE.match(text, end)
    if "\n" not in layout.lead or rest is None or rest.end() == end:
        return TextChange(end, end, joined)
    after = f"{rest[0]}{joined[1:]}," if rest["comma"] else f",{rest[0]}{joined[1:]}"
    return TextChange(end, rest.end(), after)


def remove_parts(text: str, parts: Sequence[Member], gone: Sequence[int]) -> list[TextChange]:
    """Return the changes that remove members or items by index, each with one comma. Comments beside them stay."""
    numbers = {*gone}
    left = [index for index in range(len(parts)) if index not in numbers]
    changes = []
    for index in gone:
        start, end = parts[index].key_start, parts[index].end
        before = parts[index - 1].end if left and index > left[0] else None
        after = parts[index + 1].key_start if index + 1 < len(parts) else None
        is_beside = after is not None and before is not None and index + 1 not in numbers
        changes.append(TextChange(start, end, ""))
        if before is not None and not (is_beside and _has_comment(text, before, start)):
            changes += _remove_gap(text, before, start)
            if _has_comment(text, before, start) and _NEXT_LINE.match(text, end):
                changes.append(TextChange(skip_back(text, start), start, ""))
        elif after is not None:
            changes += _remove_gap(text, end, after)
    if parts and not left:
        space = skip_back(text, parts[0].key_start)
        trailing = _TRAILING_COMMA.match(text, parts[-1].end)
        changes += [TextChange(space, parts[0].key_start, "")] if text[space - 1] in "{[" else []
        changes += [TextChange(trailing.end() - 1, trailing.end(), "")] if trailing else []
    return changes


def _has_comment(text: str, start: int, end: int) -> bool:
    return not set(text[start:end]) <= _SEPARATORS


def _remove_gap(text: str, start: int, end: int) -> list[TextChange]:
    """Return the change that removes the separator of two parts: the comma, and the space unless there is a comment."""
    if not _has_comment(text, start, end):
        return [TextChange(start, end, "")]
    commas = [found.start() for found in _COMMENT_OR_COMMA.finditer(text, start, end) if found[0] == ","]
    return [TextChange(comma, comma + 1, "") for comma in commas]


# --- layout ----------------------------------------------------------------------------------------------------------


class _Layout(NamedTuple):
    """The text before each part of an object or list, the indentation of a level, and the end of an empty one."""

    lead: str
    unit: str = UNIT
    tail: str = ""


def _read_colon(text: str, member: Member) -> str:
    colon = text[skip_back(text, skip_back(text, member.start) - 1) : member.start]
    return colon if colon.strip(" \t") == ":" else ": "


def _read_layout(text: str, start: int, parts: Sequence[Member]) -> _Layout:
    """Return the layout of an object or list; the first and the last of its parts are enough.

    An empty one gets the layout of the whole text.
    """
    indent = _INDENT.match(text, text.rfind("\n", 0, start) + 1)[0]  # type: ignore[index] # it matches nothing, too
    if parts:
        lead = text[skip_back(text, parts[-1].key_start) : parts[-1].key_start]
        if "\n" in lead:
            return _Layout(lead.lstrip(" \t"), lead.rpartition("\n")[2].removeprefix(indent) or UNIT)
        return _Layout(" " if len(parts) == 1 else lead)  # a single part shows no separator
    inside = text[start + 1 : skip_space(text, start + 1)]
    whole = text.strip("\ufeff \t\r\n")
    if "\n" not in whole and whole[1:-1].strip():
        return _Layout("")
    found = _FIRST_INDENT.search(text)
    unit = found[1] if found else UNIT
    if "\n" in inside:
        return _Layout(f"{inside[: inside.index(chr(10)) + 1]}{indent}{unit}", unit)
    end = "\r\n" if "\r\n" in text else "\n"
    return _Layout(f"{end}{indent}{unit}", unit, f"{end}{indent}")


def render(text: str, value: object, lead: str, unit: str = UNIT) -> str:
    """Return a value in the file's format, with `lead` before it. Items that are `RawJson` stay as they are."""
    items = value if isinstance(value, list) else []
    sources = [each for each in items if isinstance(each, RawJson)]
    if sources:
        value = [_HOLE if isinstance(each, RawJson) else each for each in items]
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
    """Return whether the file escapes non-ASCII characters. Called for each value that an edit renders."""
    return text.isascii() and "\\u" in text


def _dump(value: object, *, ensure_ascii: bool, **layout: Any) -> str:  # noqa: ANN401 - as json has them
    dumped = json.dumps(value, ensure_ascii=ensure_ascii, allow_nan=False, **layout)
    if _SURROGATE.search(dumped):  # a lone surrogate can't be encoded as UTF-8
        return json.dumps(value, allow_nan=False, **layout)
    return dumped
