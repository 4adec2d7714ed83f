"""JSON as people and programs write it: drawn texts in every layout, with comments or without."""

from __future__ import annotations

import json
import re
from enum import Enum
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

if TYPE_CHECKING:
    import random

KEYS = st.text(max_size=6) | st.sampled_from(
    ["permissions", "env", "model", "a/b", "//", "/*", "\\", '"', "é", "\ud83d"]
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | KEYS
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=8
)
GROUPS = st.lists(
    st.fixed_dictionaries({"hooks": st.just([{"type": "command", "command": "lint"}])}, optional={"matcher": KEYS}),
    max_size=2,
)
HOOKS = st.dictionaries(st.sampled_from(["PreToolUse", "Stop", "Notification"]), GROUPS, max_size=3)


@st.composite
def texts(draw: st.DrawFn) -> str:
    """A settings file as somebody or some program may have written it."""
    settings = draw(st.dictionaries(KEYS.filter(lambda key: key != "hooks"), VALUES, max_size=4))
    if draw(st.booleans()):
        settings["hooks"] = draw(HOOKS)
        settings |= draw(st.dictionaries(st.sampled_from(["z1", "z2"]), SCALARS, max_size=2))
    indent = draw(st.sampled_from([None, 1, 2, 4, "\t"]))
    plain = draw(st.booleans())
    text = json.dumps(settings, indent=indent, ensure_ascii=plain or "\\ud83d" in json.dumps(settings))
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    gaps = st.text(" \t\r\n", max_size=3)
    return draw(st.sampled_from(["", "\ufeff"])) + draw(gaps) + text + draw(gaps)


class Layout(Enum):
    """How a drawn text is written."""

    LINES = "one member a line"
    ODD = "any space between any two tokens"
    COMMENTS = "also comments and trailing commas"


_WORDS = ("a", "b", "name", "é", "a/b", "// no comment", "/* none */", 'q"\\', "\t\u2028", "[,]", "added")
_SCALARS: tuple[Any, ...] = (None, True, False, 0, 1, -12, 1.5, 1e30, 10**20, "", "x", *_WORDS)


class _Writer:
    """Draws a value and writes it, token by token."""

    def __init__(self, random_: random.Random, layout: Layout) -> None:
        self.random, self.layout = random_, layout
        self.end = random_.choice(["\n", "\r\n"])
        self.unit = random_.choice(["  ", "    ", "\t", ""])
        self.comments = 0

    def write(self, depth: int) -> tuple[str, Any]:
        """A text and its value."""
        kind = (
            self.random.choice(["object", "list", "scalar"]) if 0 < depth < 4 else "object" if not depth else "scalar"
        )
        if kind == "scalar":
            value = self.random.choice(_SCALARS)
            return self.write_scalar(value), value
        parts = [self.write_part(depth + 1, named=kind == "object") for _ in range(self.random.randrange(4))]
        comma = "," if parts and self.layout is Layout.COMMENTS and self.random.random() < 0.3 else ""
        inside = (
            ",".join(f"{self.gap(depth + 1)}{text}{self.space()}" for text, _, _ in parts) + comma + self.gap(depth)
        )
        if kind == "list":
            return f"[{inside}]", [value for _, _, value in parts]
        return f"{{{inside}}}", {key: value for _, key, value in parts}

    def write_part(self, depth: int, *, named: bool) -> tuple[str, str, Any]:
        text, value = self.write(depth)
        if not named:
            return text, "", value
        key = self.random.choice(_WORDS)  # at times the same one twice
        return f"{self.write_scalar(key)}{self.space()}:{self.space() or ' '}{text}", key, value

    def write_scalar(self, value: object) -> str:
        return json.dumps(value, ensure_ascii=self.random.random() < 0.5)

    def gap(self, depth: int) -> str:
        """What stands before a part or a closing bracket."""
        if self.layout is Layout.LINES:
            return f"{self.end}{self.unit * depth}"
        return self.space() + self.random.choice(["", " ", f"{self.end}{self.unit * depth}", f"{self.end}{self.end} "])

    def space(self) -> str:
        """What stands between two tokens."""
        if self.layout is Layout.LINES:
            return ""
        space = self.random.choice(["", "", "", " ", "\t", f"{self.end} "])
        if self.layout is Layout.ODD or self.random.random() < 0.8:
            return space
        self.comments += 1
        line, block = f"// {self.comments} ,]}}{self.end}", f"/* {self.comments} * / , {self.end} {{ */"
        return space + self.random.choice([line, block])


def render_object(random_: random.Random, layout: Layout) -> tuple[str, Any]:
    """A text that holds an object, and its value."""
    writer = _Writer(random_, layout)
    text, value = writer.write(0)
    return f"{writer.space()}{text}{writer.space()}", value


def list_comments(text: str) -> list[tuple[int, int]]:
    """Where the comments are."""
    found = re.finditer(r'"(?:[^"\\]|\\.)*"|(//[^\r\n]*|/\*.*?\*/)', text, re.DOTALL)
    return [each.span() for each in found if each[1]]
