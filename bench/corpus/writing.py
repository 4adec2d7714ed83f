"""How models write JSON, well and badly: a payload in, the text of an object out.

Owns the damages. Each one has a single right reading, which is the payload it was made from.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from .case import Payload

_PYTHON_WORDS: Final = {"true": "True", "false": "False", "null": "None"}
_NOTES: Final = (
    "done",
    "see the plan",
    "checked twice",
    "as delegated",
    "filled in by the agent",
    "required",
    "it's final",
    "was 2 before",
    'the "real" one',
    "TODO: none",
    "ok {checked}",
)


def pretty(payload: object, indent: int | str = 2) -> str:
    """The way most models write it."""
    return json.dumps(payload, indent=indent, ensure_ascii=False)


def compact(payload: object) -> str:
    """No space at all."""
    return json.dumps(payload, separators=(",", ":"), ensure_ascii=False)


def one_line(payload: object) -> str:
    """One line, with a space after each comma and colon."""
    return json.dumps(payload, ensure_ascii=False)


STYLES: Final[tuple[tuple[str, Callable[[object], str]], ...]] = (
    ("pretty", pretty),
    ("wide", lambda payload: pretty(payload, 4)),
    ("tabs", lambda payload: pretty(payload, "\t")),
    ("compact", compact),
    ("one-line", one_line),
    ("ascii", lambda payload: json.dumps(payload, indent=2)),
)


@dataclass(frozen=True, slots=True)
class Hand:
    """A way of writing values that is not quite JSON."""

    opening: str = '"'
    closing: str = '"'
    bare_keys: bool = False
    python_words: bool = False
    raw_controls: bool = False
    indent: int = 2

    def write(self, value: object, level: int = 1) -> str:
        """The text of `value` in this hand."""
        if isinstance(value, dict):
            members = [f"{self._key(key)}: {self.write(item, level + 1)}" for key, item in value.items()]
            return self._bracket("{", members, "}", level)
        if isinstance(value, list):
            return self._bracket("[", [self.write(item, level + 1) for item in value], "]", level)
        if isinstance(value, str):
            return self._string(value)
        word = json.dumps(value)
        return _PYTHON_WORDS.get(word, word) if self.python_words else word

    def _bracket(self, opening: str, items: list[str], closing: str, level: int) -> str:
        if not items:
            return opening + closing
        pad = " " * (self.indent * level)
        last = " " * (self.indent * (level - 1))
        return f"{opening}\n{pad}" + f",\n{pad}".join(items) + f"\n{last}{closing}"

    def _key(self, key: str) -> str:
        return key if self.bare_keys and key.isidentifier() else self._string(key)

    def _string(self, text: str) -> str:
        # Like Python's repr: a value that holds the quote itself is written with the other one.
        if self.opening == "'" and "'" in text and '"' not in text:
            return json.dumps(text, ensure_ascii=False)
        inner = json.dumps(text, ensure_ascii=False)[1:-1]
        if self.opening != '"':
            inner = inner.replace('\\"', '"')
        if self.raw_controls:
            inner = inner.replace("\\n", "\n").replace("\\t", "\t")
        if self.opening == "'":
            inner = inner.replace("'", "\\'")
        return f"{self.opening}{inner}{self.closing}"


SINGLE: Final = Hand("'", "'")
PYTHON: Final = Hand("'", "'", python_words=True)
BARE: Final = Hand(bare_keys=True)
BARE_SINGLE: Final = Hand("'", "'", bare_keys=True)
SMART: Final = Hand("“", "”")
LOW_HIGH: Final = Hand("„", "“")
RAW: Final = Hand(raw_controls=True)
WORDS: Final = Hand(python_words=True)


def trailing_commas(text: str) -> str:
    """A comma after the last member of every object and list of a pretty text."""
    lines = text.split("\n")
    for number, line in enumerate(lines[:-1]):
        following = lines[number + 1].strip()
        if following[:1] in {"}", "]"} and line.strip()[-1:] not in {"{", "[", ","}:
            lines[number] = f"{line},"
    return "\n".join(lines)


def one_trailing_comma(text: str, rng: random.Random) -> str:
    """A comma after the last member of one object or list, the last one as often as not."""
    lines = text.split("\n")
    spots = [
        number
        for number, line in enumerate(lines[:-1])
        if lines[number + 1].strip()[:1] in {"}", "]"} and line.strip()[-1:] not in {"{", "[", ","}
    ]
    spot = spots[-1] if rng.random() < 0.5 else rng.choice(spots)
    lines[spot] += ","
    return "\n".join(lines)


def comments(text: str, rng: random.Random, *, mark: str, share: float = 0.4) -> str:
    """Remarks at the ends of lines, in one of the three notations."""
    close = " */" if mark == "/*" else ""
    lines = text.split("\n")
    for number in range(len(lines) - 1):
        if rng.random() < share or number == 1:
            lines[number] += f" {mark} {rng.choice(_NOTES)}{close}"
    return "\n".join(lines)


def comment_lines(text: str, rng: random.Random, *, mark: str) -> str:
    """Remarks on lines of their own, between the members."""
    close = " */" if mark == "/*" else ""
    lines = text.split("\n")
    for spot in sorted({1, rng.randrange(2, len(lines)), len(lines) - 1}, reverse=True):
        lines.insert(spot, f"  {mark} {rng.choice(_NOTES)}{close}")
    return "\n".join(lines)


def drop_comma(text: str, rng: random.Random, *, count: int = 1) -> str:
    """Some commas at line ends of a pretty text left out."""
    lines = text.split("\n")
    spots = [number for number, line in enumerate(lines) if line.endswith(",")]
    for spot in rng.sample(spots, min(count, len(spots))):
        lines[spot] = lines[spot][:-1]
    return "\n".join(lines)


def drop_line(text: str, wanted: str, *, which: int = 0) -> str:
    """A pretty text without one of the lines that consist of `wanted` (a bracket, say)."""
    lines = text.split("\n")
    spots = [number for number, line in enumerate(lines) if line.strip() == wanted]
    del lines[spots[which]]
    return "\n".join(lines)


def reordered(payload: Payload, rng: random.Random) -> Payload:
    """The same members, all levels, in another order."""
    return {key: _reordered(payload[key], rng) for key in rng.sample(list(payload), len(payload))}


def _reordered(value: object, rng: random.Random) -> object:
    if isinstance(value, dict):
        return reordered(value, rng)
    return [_reordered(item, rng) for item in value] if isinstance(value, list) else value


def escaped(text: str) -> str:
    """A text as the inside of a JSON string: quotes and newlines behind backslashes."""
    return json.dumps(text, ensure_ascii=False)[1:-1]
