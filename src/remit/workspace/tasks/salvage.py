"""Broken JSON of any size → its parts: what is whole is kept word for word, what is not is told by its place.

Owns the reading of a state.json that no JSON parser takes: cut off, several values one after the other, a bracket or
a comma too many or too few, comments, other quotes, zeros that a crash left. It differs from `contract.tolerant_json`,
which reads one small object of a message and refuses it when in doubt: here nothing may be refused, so every value
stands for itself, and one that is doubtful is left out alone.

Linear in the text. What is JSON is read by the C decoder, at most once for each of the outer four levels; the rest is
read piece by piece, without recursion, under caps on pieces and depth.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from remit.workspace.tasks.state import CLOSED_LISTS, NUMBER_KEY, OPEN_LISTS

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_PIECES = 250_000
MAX_DEPTH = 64
NUMBER_TEXT = f'"{NUMBER_KEY}"'
"""The key of a number, as JSON."""
LIST_KEYS = frozenset(f'"{key}"' for key in (*OPEN_LISTS, *CLOSED_LISTS))

_STRICT_DEPTH = 4
_STATE_DEPTH = 2
_NEAR = 200
_MAX_MENDED = 1_000_000
"""A text that is longer than this and has to be spelt anew is left out."""
_MAX_COUNTED = 300_000_000
"""Each time the C decoder fails, it counts the lines from the start. Beyond this it is not asked any more."""

# Possessive quantifiers throughout: nothing here can backtrack.
_SPACE = re.compile(r"[ \t\r\n\ufeff\u00a0\u200b\u2060]*+")
_TEXT = re.compile(r'"(?:[^"\\\x00-\x1f]++|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*+"')
_TEXT_ENDS = re.compile(r"[ \t\r]*+(?:[,:}\]\n/#]|\Z)")
_TEXT_END = re.compile(r'(?<!\\)"(?=[ \t\r]*+(?:[,}\]\n]|\Z))|\x00')
_SINGLE = re.compile(r"'((?:[^'\\\x00-\x1f]++|\\[^\x00-\x1f])*+)'(?=[ \t\r]*+(?:[,:}\]\n/#]|\Z))")
_KEY = re.compile(
    r"""(?:("(?:[^"\\\x00-\x1f]++|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*+")|'([^'"\\\x00-\x1f]{1,200}+)'"""
    r"""|([A-Za-z_$][\w$-]{0,200}+))[ \t\r\n]*+:"""
)
_SCALAR = re.compile(
    r"(?:-?(?:0|[1-9][0-9]{0,400}+)(?:\.[0-9]{1,400}+)?+(?:[eE][+-]?+[0-9]{1,9}+)?+|true|false|null)(?=[\s,}\]/#])"
)
_PYTHON = re.compile(r"(?:True|False|None)(?=[\s,}\]/#])")
_PYTHON_WORDS = {"True": "true", "False": "false", "None": "null"}
_MARK_LINE = re.compile(r"(?:<{7}|\|{7}|={7}|>{7})(?:[ \t][^\n]*+)?+(?=\r?\n|\Z)")
_JUNK = re.compile(r"""[^\n{}\[\]"',]++""")
_NEXT_LINE = re.compile(r'[ \t\r\n]*+(?:"[^"\n]{1,200}+"[ \t]*+:|[}\]{])')
_UNSAFE = re.compile(r'\\(?:u[0-9a-fA-F]{4}|["\\/bfnrt])|\\\'|\\|["\x00-\x1f]')


class Part(NamedTuple):
    """One value: whole with its own text, or mended from the parts that are."""

    kind: str
    """`{`, `[`, or empty for a value without parts."""
    start: int
    end: int
    source: str = ""
    """The text of a whole one."""
    parts: tuple[tuple[str, Part], ...] = ()
    """Of a mended one: each with its key as JSON, which is empty in a list."""
    lossy: bool = False
    """Something of it was left out, or its end is missing."""


class Salvaged(NamedTuple):
    """The values of a text in their order, those that stand alone without a key, and the stretches left out."""

    parts: tuple[tuple[str, Part], ...]
    dropped: tuple[tuple[int, int], ...]


def salvage(text: str) -> Salvaged:
    """Read whatever can be read of a text that should be JSON."""
    return _Reader(text).read()


def _refuse(word: str) -> NoReturn:
    raise ValueError(word)


_DECODER = json.JSONDecoder(parse_constant=_refuse)


class _Frame:
    """A container that is being read; the outermost one takes members and values alike."""

    __slots__ = ("key", "key_start", "kind", "lossy", "parts", "start")

    def __init__(self, kind: str, start: int) -> None:
        self.kind = kind
        self.start = start
        self.key = ""
        self.key_start = start
        self.parts: list[tuple[str, Part]] = []
        self.lossy = False


class _Reader:
    """One pass over one text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.pos = 0
        self.stack = [_Frame("", 0)]
        self.dropped: list[tuple[int, int]] = []
        self.next_text_end = -1
        self.next_line_end = -1
        self.comments_close = True
        self.counted = 0

    def read(self) -> Salvaged:
        for _ in range(MAX_PIECES):
            char = self.peek()
            if not char or not self.read_piece(char):
                break
        if self.pos < len(self.text):
            self.drop(self.pos, len(self.text))
        while len(self.stack) > 1:
            self.finish(len(self.text), missing=True)
        self.leave_key(self.stack[0])
        return Salvaged(tuple(self.stack[0].parts), tuple(self.dropped))

    def peek(self) -> str:
        """Pass over space and comments; the next character, or "" at the end."""
        text = self.text
        while True:
            self.pos = pos = _SPACE.match(text, self.pos).end()  # type: ignore[union-attr] # it matches nothing, too
            if pos >= len(text):
                return ""
            if text[pos] == "#" or text.startswith("//", pos):
                end = self.find_line_end(pos)
            elif text.startswith("/*", pos):
                end = self.find_comment_end(pos)
            else:
                return text[pos]
            self.pos = end
            self.note(pos, end)

    def read_piece(self, char: str) -> bool:
        """Read what stands here; False where it is nested too deeply to go on."""
        frame = self.stack[-1]
        if char == ",":
            self.leave_key(frame)
            self.pos += 1
        elif char in "}]":
            self.close(char)
        elif key := self.find_key(char):
            if frame.kind == "[":
                self.finish(self.pos, missing=True)
            else:
                self.leave_key(frame)
                frame.key, frame.key_start = self.spell_key(key), self.pos
                self.pos = key.end()
        elif char in "{[":
            return self.open(frame, char)
        else:
            self.read_value(frame, char)
        return True

    def find_key(self, char: str) -> re.Match[str] | None:
        return _KEY.match(self.text, self.pos) if char in "\"'_$" or char.isalpha() else None

    def spell_key(self, key: re.Match[str]) -> str:
        return key[1] or f'"{key[2] or key[3]}"'

    def open(self, frame: _Frame, char: str) -> bool:
        if frame.kind == "{" and not frame.key:  # the bracket of the object before it is missing
            self.finish(self.pos, missing=True)
            return True
        end = self.find_whole(frame) if len(self.stack) <= _STRICT_DEPTH else None
        if end is not None:
            self.add(frame, Part(char, self.pos, end, self.text[self.pos : end]))
            self.pos = end
        elif len(self.stack) > MAX_DEPTH:
            return False
        else:
            self.stack.append(_Frame(char, self.pos))
            self.pos += 1
        return True

    def find_whole(self, frame: _Frame) -> int | None:
        """The end of a container that is JSON; None where it is not, or where its parts are asked for."""
        if self.counted > _MAX_COUNTED:
            return None
        try:
            value, end = _DECODER.raw_decode(self.text, self.pos)
        except (ValueError, RecursionError):
            self.counted += self.pos
            return None
        if frame.key in LIST_KEYS and len(self.stack) <= _STATE_DEPTH and isinstance(value, list):
            return None
        task = isinstance(value, dict) and NUMBER_KEY in value
        return end if frame.kind or frame.key or task else None

    def close(self, char: str) -> None:
        opener = "{" if char == "}" else "["
        if all(frame.kind != opener for frame in self.stack):
            self.drop(self.pos, self.pos + 1)
            self.pos += 1
            return
        while self.stack[-1].kind != opener:
            self.finish(self.pos, missing=True)
        self.pos += 1
        self.finish(self.pos)

    def finish(self, end: int, *, missing: bool = False) -> None:
        """End the innermost container; `missing`: without a bracket of its own."""
        frame = self.stack.pop()
        self.leave_key(frame)
        if missing and not frame.parts:  # an empty one would say that there was nothing
            self.stack[-1].lossy = True
            self.note(frame.start, end)
            self.leave_key(self.stack[-1])
            return
        part = Part(frame.kind, frame.start, end, "", tuple(frame.parts), frame.lossy or missing)
        self.add(self.stack[-1], part)

    def add(self, frame: _Frame, part: Part) -> None:
        if frame.kind == "[":
            frame.parts.append(("", part))
        elif frame.key or (not frame.kind and part.kind):
            frame.parts.append((frame.key, part))
            frame.key = ""
        else:
            self.drop(part.start, part.end)

    def leave_key(self, frame: _Frame) -> None:
        """A key whose value is not there is left out."""
        if frame.key:
            frame.key = ""
            frame.lossy = True
            self.note(frame.key_start, min(frame.key_start + _NEAR, self.find_line_end(frame.key_start)))

    def drop(self, start: int, end: int) -> None:
        self.stack[-1].lossy = True
        self.note(start, end)

    def note(self, start: int, end: int) -> None:
        """Keep in mind what was left out; what only space lies between is one stretch."""
        if self.dropped:
            first, last = self.dropped[-1]
            if start <= last or (start - last <= _NEAR and not self.text[last:start].strip(" \t\r\n,:")):
                self.dropped[-1] = min(first, start), max(last, end)
                return
        self.dropped.append((start, end))

    def read_value(self, frame: _Frame, char: str) -> None:
        text, pos = self.text, self.pos
        if char == '"':
            self.read_text(frame)
        elif (single := _SINGLE.match(text, pos)) is not None:
            self.take(frame, single.end(), f'"{_UNSAFE.sub(_make_safe, single[1])}"')
        elif (scalar := _SCALAR.match(text, pos)) is not None:
            self.take(frame, scalar.end(), scalar[0])
        elif (python := _PYTHON.match(text, pos)) is not None:
            self.take(frame, python.end(), _PYTHON_WORDS[python[0]])
        else:
            junk = _MARK_LINE.match(text, pos) or _JUNK.match(text, pos)
            self.pass_over(frame, junk.end() if junk is not None else pos + 1)

    def read_text(self, frame: _Frame) -> None:
        """A text; with quotes, line breaks or other escapes inside it is spelt anew, and without an end left out."""
        text, pos = self.text, self.pos
        plain = _TEXT.match(text, pos)
        if plain is not None and _TEXT_ENDS.match(text, plain.end()):
            self.take(frame, plain.end(), plain[0])
            return
        end, line_end = self.find_text_end(pos + 1), self.find_line_end(pos)
        cut = end is None or (line_end < end and _NEXT_LINE.match(text, line_end))
        if end is None or cut or end - pos > _MAX_MENDED:
            self.pass_over(frame, line_end)
        else:
            self.take(frame, end + 1, f'"{_UNSAFE.sub(_make_safe, text[pos + 1 : end])}"')

    def take(self, frame: _Frame, end: int, source: str) -> None:
        self.add(frame, Part("", self.pos, end, source))
        self.pos = end

    def pass_over(self, frame: _Frame, end: int) -> None:
        """Leave out what is no value, and the key that it should have been the value of."""
        self.leave_key(frame)
        self.drop(self.pos, end)
        self.pos = end

    def find_text_end(self, pos: int) -> int | None:
        """The next quote that can end a text, unless zeros come first. It is asked for in order, looked for once."""
        if self.next_text_end < pos:
            found = _TEXT_END.search(self.text, pos)
            self.next_text_end = found.start() if found is not None else len(self.text)
        return self.next_text_end if self.text[self.next_text_end : self.next_text_end + 1] == '"' else None

    def find_comment_end(self, pos: int) -> int:
        """A comment that is never closed is one line; that none is closed is found out once."""
        closed = self.text.find("*/", pos + 2) if self.comments_close else -1
        self.comments_close = closed >= 0
        return closed + 2 if self.comments_close else self.find_line_end(pos)

    def find_line_end(self, pos: int) -> int:
        """The next line break, or the end. It is asked for in order, and looked for once."""
        if self.next_line_end < pos:
            found = self.text.find("\n", pos)
            self.next_line_end = found if found >= 0 else len(self.text)
        return self.next_line_end


def _make_safe(match: re.Match[str]) -> str:
    """What may not stand in a JSON text, as it may."""
    found = match[0]
    if found == "\\'":
        return "'"
    if len(found) > 1:
        return found
    if found == "\\":
        return "\\\\"
    return '\\"' if found == '"' else f"\\u{ord(found):04x}"


def render_part(part: Part, text: str, indent: int) -> str:
    """A part as JSON at an indentation. A whole one keeps its words, and its lines move together."""
    if part.source:
        return _shift(part, text, indent)
    brackets = "{}" if part.kind == "{" else "[]"
    if not part.parts:
        return brackets
    space = " " * (indent + 2)
    inner = (f"{space}{f'{key}: ' if key else ''}{render_part(each, text, indent + 2)}" for key, each in part.parts)
    return render_container(brackets, inner, indent)


def render_container(brackets: str, lines: Iterable[str], indent: int) -> str:
    """Brackets around what they hold, a line or more for each."""
    inner = ",\n".join(lines)
    return f"{brackets[0]}\n{inner}\n{' ' * indent}{brackets[1]}"


def _shift(part: Part, text: str, indent: int) -> str:
    """The lines of a part as far in as the first; between the tokens of JSON, space means nothing."""
    if "\n" not in part.source:
        return part.source
    line = text[text.rfind("\n", 0, part.start) + 1 : part.start]
    by = indent - (len(line) - len(line.lstrip(" ")))
    if by == 0 or "\t" in line:
        return part.source
    first, *rest = part.source.split("\n")
    return "\n".join([first, *(f"{' ' * by}{each}" if by > 0 else _pull(each, -by) for each in rest)])


def _pull(line: str, by: int) -> str:
    return line[min(by, len(line) - len(line.lstrip(" "))) :]
