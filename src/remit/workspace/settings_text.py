"""Settings of a harness as a text: JSON that somebody else wrote, with entries put in and taken out again.

Owns scanning it and every edit. A person's own bytes stay as they are: indentation, order, line ends, the spelling of
values, comments where the harness allows them. What is put in is told piece by piece, so that it can be cut out again
exactly; where somebody has changed it since, it is taken out by what it says. Pure: texts come in, texts go out.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from remit.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

MAX_DEPTH = 64
_MAX_EXACT_DIGITS = 15
_SPACE = re.compile(r"[ \t\r\n]*+")
_TRIVIA = re.compile(r"(?:[ \t\r\n]++|//[^\r\n]*+|/\*(?:[^*]++|\*(?!/))*+\*/)*+")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]++|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*+"')
_SCALAR = re.compile(r"true|false|null|-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?")
_WORDS = {"true": True, "false": False, "null": None}
_BOM = "\ufeff"
_UNIT = "  "


class Node:
    """A value in a text: what it says, and where it stands."""

    __slots__ = ("commas", "end", "parts", "start", "value")

    def __init__(self, start: int, value: Any) -> None:  # noqa: ANN401 - any JSON value
        self.start = start
        self.end = start
        self.value = value
        self.parts: list[Part] = []
        self.commas: list[int] = []


class Part(NamedTuple):
    """A member of an object, or an item of a list, which has no key; it begins at its key."""

    key: str
    start: int
    node: Node


class Piece(NamedTuple):
    """What is put into a text, and where that was before anything was put in."""

    at: int
    text: str


class Added(NamedTuple):
    """A text with entries put in: the pieces, and the lists and objects that were made for them."""

    text: str
    pieces: tuple[Piece, ...]
    made: tuple[tuple[str, ...], ...]


class BrokenSettingsError(InputError):
    """A settings file that nobody can edit: it is no JSON, or not of the expected shape."""


# --- scanning --------------------------------------------------------------------------------------------------------


def scan(text: str, *, comments: bool = False) -> Node:
    """Every value of a text that is one JSON object; with `comments`, these and a comma too many are allowed."""
    return _Scanner(text, comments=comments).scan()


class _Scanner:
    """One pass over a text. The open lists and objects are a stack, so that depth costs no recursion."""

    def __init__(self, text: str, *, comments: bool) -> None:
        self.text = text
        self.comments = comments
        self.skip = _TRIVIA if comments else _SPACE

    def scan(self) -> Node:
        text = self.text
        at = self._next(1 if text.startswith(_BOM) else 0)
        if at == len(text):
            raise BrokenSettingsError("is empty", hint="write {} into it, or remove it")
        if text[at] != "{":
            raise self._tell(at, "it does not begin with an object")
        top = Node(at, {})
        end = self._walk(top)
        at = self._next(end)
        if at != len(text):
            raise self._tell(at, "something follows its end")
        return top

    def _walk(self, top: Node) -> int:
        """Read from behind the first bracket to behind its partner."""
        stack, at = [top], top.start + 1
        while stack:
            at = self._next(at)
            holder = stack[-1]
            is_object = type(holder.value) is dict
            if self.text[at : at + 1] == ("}" if is_object else "]"):
                self._check_comma(holder, at)
                holder.end = at = at + 1
                stack.pop()
                at = self._take_comma(stack[-1], at) if stack else at
                continue
            if len(holder.parts) != len(holder.commas):
                raise self._tell(at, "a comma is missing")
            part, at = self._read_part(at, is_object=is_object)
            holder.parts.append(part)
            _fill(holder, part)
            if type(part.node.value) in {dict, list}:
                if len(stack) == MAX_DEPTH:
                    raise BrokenSettingsError("is nested too deeply", hint="see what is in it, and put it right")
                stack.append(part.node)
            else:
                at = self._take_comma(holder, at)
        return at

    def _read_part(self, at: int, *, is_object: bool) -> tuple[Part, int]:
        start, key = at, ""
        if is_object:
            found = _STRING.match(self.text, at)
            if found is None:
                raise self._tell(at, "a key is missing")
            key = json.loads(found[0])
            at = self._next(found.end())
            if self.text[at : at + 1] != ":":
                raise self._tell(at, "a colon is missing")
            at = self._next(at + 1)
        node = self._read_value(at)
        return Part(key, start, node), node.end

    def _read_value(self, at: int) -> Node:
        mark = self.text[at : at + 1]
        if mark and mark in "{[":
            node = Node(at, {} if mark == "{" else [])
            node.end = at + 1
            return node
        found = (_STRING if mark == '"' else _SCALAR).match(self.text, at)
        if found is None:
            raise self._tell(at, "a value is missing")
        node = Node(at, json.loads(found[0]) if mark == '"' else _read_scalar(found[0]))
        node.end = found.end()
        return node

    def _take_comma(self, holder: Node, at: int) -> int:
        after = self._next(at)
        if self.text[after : after + 1] == ",":
            holder.commas.append(after)
            return after + 1
        return at

    def _check_comma(self, holder: Node, at: int) -> None:
        if holder.commas and len(holder.commas) == len(holder.parts) and not self.comments:
            raise self._tell(at, "there is a comma too many")

    def _next(self, at: int) -> int:
        return self.skip.match(self.text, at).end()  # type: ignore[union-attr] # it matches nothing, too

    def _tell(self, at: int, why: str) -> BrokenSettingsError:
        if at >= len(self.text):
            return BrokenSettingsError("was cut off: it ends in the middle", hint="put it right, or remove it")
        line = self.text.count("\n", 0, at) + 1
        return BrokenSettingsError(f"is not JSON: {why} in line {line}", hint="put it right, or remove it")


def _fill(holder: Node, part: Part) -> None:
    if type(holder.value) is dict:
        holder.value[part.key] = part.node.value
    else:
        holder.value.append(part.node.value)


def _read_scalar(word: str) -> Any:  # noqa: ANN401 - any JSON value
    """A scalar; a number that is no short whole one stays the text that it is, so that none is ever rounded."""
    if word in _WORDS:
        return _WORDS[word]
    return int(word) if word.isdigit() and len(word) <= _MAX_EXACT_DIGITS else f"\0{word}"


# --- putting in ------------------------------------------------------------------------------------------------------


def put_in(text: str, wanted: Mapping[str, Any], *, comments: bool = False) -> Added:
    """Put values into an object: what is an object or a list already is added to, everything else is made."""
    top = scan(text, comments=comments)
    places: list[tuple[Node, tuple[str, ...], list[tuple[str, Any]]]] = []
    made: list[tuple[str, ...]] = []
    waiting: list[tuple[Node, tuple[str, ...], Any]] = [(top, (), wanted)]
    while waiting:
        holder, path, values = waiting.pop()
        fresh: list[tuple[str, Any]] = []
        for key, value in values.items() if type(holder.value) is dict else [("", each) for each in values]:
            there = _find(holder, key) if key else None
            if there is None:
                fresh.append((key, value))
                made += _list_made((*path, key), value) if key else []
            elif type(there.value) is not type(value) or type(value) not in {dict, list}:
                raise _tell_shape((*path, key), value)
            else:
                waiting.append((there, (*path, key), value))
        if fresh:
            places.append((holder, path, fresh))
    style = _Style(text, top)
    pieces = sorted(style.place(holder, len(path), fresh) for holder, path, fresh in places)
    for at, piece in reversed(pieces):
        text = text[:at] + piece + text[at:]
    return Added(text, tuple(pieces), tuple(made))


def _find(holder: Node, key: str) -> Node | None:
    found = [part.node for part in holder.parts if part.key == key]
    if len(found) > 1:
        raise BrokenSettingsError(f"says '{key}' twice", hint="keep one of them")
    return found[0] if found else None


def _list_made(path: tuple[str, ...], value: Any) -> list[tuple[str, ...]]:  # noqa: ANN401 - any JSON value
    """A place that is made, and the lists in it."""
    lists = [key for key, each in value.items() if isinstance(each, list)] if isinstance(value, dict) else []
    return [path, *((*path, key) for key in lists)]


def _tell_shape(path: tuple[str, ...], value: Any) -> BrokenSettingsError:  # noqa: ANN401 - any JSON value
    kind = "an object" if isinstance(value, dict) else "a list" if isinstance(value, list) else None
    name = ".".join(path)
    if kind is None:
        return BrokenSettingsError(f"has a '{name}' of its own", hint="rename it, or take it out")
    return BrokenSettingsError(f"has a '{name}' that is not {kind}", hint="put it right, or take it out")


class _Style:
    """How a text is laid out, and pieces laid out likewise."""

    def __init__(self, text: str, top: Node) -> None:
        self.text = text
        self.end = "\r\n" if "\r\n" in text else "\n"
        self.is_flat = bool(top.parts) and self._is_flat(top)
        self.unit = (self._find_indent(top.parts[0].start) if top.parts else "") or _UNIT

    def _is_flat(self, holder: Node) -> bool:
        """Whether parts follow each other in one line; an empty one is laid out like the whole."""
        if not holder.parts:
            return self.is_flat
        return "\n" not in self.text[holder.start : holder.parts[0].start]

    def _find_indent(self, at: int) -> str:
        """The space that a line begins with, where nothing else stands before a place; else nothing."""
        before = self.text[self.text.rfind("\n", 0, at) + 1 : at]
        return before if not before.strip(" \t") else ""

    def place(self, holder: Node, depth: int, fresh: Sequence[tuple[str, Any]]) -> Piece:
        """Where new parts go, and how they are written: behind the last one, or first where there is none."""
        is_flat = self._is_flat(holder)
        indent = self._find_indent(holder.parts[0].start) if holder.parts else ""
        indent = indent or self.unit * (depth + 1)
        gap = " " if is_flat else f"{self.end}{indent}"
        written = [self._render(key, value, indent, is_flat=is_flat) for key, value in fresh]
        if holder.parts:
            return Piece(holder.parts[-1].node.end, "".join(f",{gap}{each}" for each in written))
        at, text = holder.start + 1, f",{gap}".join(written)
        if is_flat:
            return Piece(at, text)
        has_end = "\n" in self.text[at : _SPACE.match(self.text, at).end()]  # type: ignore[union-attr] # it matches nothing, too
        return Piece(at, f"{gap}{text}" if has_end else f"{gap}{text}{self.end}{self.unit * depth}")

    def _render(self, key: str, value: Any, indent: str, *, is_flat: bool) -> str:  # noqa: ANN401 - any JSON value
        head = f"{json.dumps(key)}: " if key else ""
        if is_flat:
            return f"{head}{json.dumps(value)}"
        return head + f"{self.end}{indent}".join(json.dumps(value, indent=self.unit).split("\n"))


# --- taking out ------------------------------------------------------------------------------------------------------


def cut_out(text: str, pieces: Sequence[Piece]) -> str | None:
    """The text without pieces, each where it was put in; None where one is not there."""
    kept, end, shift = [], 0, 0
    for at, piece in pieces:
        start = at + shift
        if start < end or text[start : start + len(piece)] != piece:
            return None
        kept.append(text[end:start])
        end = start + len(piece)
        shift += len(piece)
    return "".join((*kept, text[end:]))


def find_out(text: str, pieces: Sequence[Piece]) -> str | None:
    """The text without pieces, wherever they are by now; None where one is not there as it was, or more than once."""
    for _, piece in pieces:
        if text.count(piece) != 1:
            return None
        text = text.replace(piece, "", 1)
    return text


def take_out(text: str, top: Node, unwanted: Mapping[int, Collection[int]]) -> str:
    """The text without some parts; `unwanted` has, by where a list or object begins, the numbers of its parts."""
    cuts: list[tuple[int, int]] = []
    waiting = [top]
    while waiting:
        holder = waiting.pop()
        gone = unwanted.get(holder.start, ())
        cuts += _cut_parts(text, holder, gone)
        waiting += [part.node for number, part in enumerate(holder.parts) if number not in gone and part.node.parts]
    kept, last = [], 0
    for start, end in sorted(cuts):
        kept.append(text[last:start])
        last = end
    return "".join((*kept, text[last:]))


def _cut_parts(text: str, holder: Node, gone: Collection[int]) -> list[tuple[int, int]]:
    cuts = []
    is_first = True
    for number, part in enumerate(holder.parts):
        if number not in gone:
            is_first = False
            continue
        start, end = part.start, part.node.end
        before = holder.start + 1 if number == 0 else holder.parts[number - 1].node.end
        comma = number if is_first else number - 1
        if comma < len(holder.commas):
            at = holder.commas[comma]
            cuts.append((at, at + 1))
            before = max(before, at + 1) if not is_first else before
            if is_first:
                after = _SPACE.match(text, at + 1).end()  # type: ignore[union-attr] # it matches nothing, too
                cuts += [(end, at), (at + 1, after)] if not text[end:at].strip() else []
        space = text[before:start]
        if not space.strip() and not (is_first and comma < len(holder.commas)):  # a comment would lose its line end
            start = before
        cuts.append((start, end))
    return [cut for cut in cuts if cut[0] < cut[1]]
