"""Offsets in a text as lines and columns, JSON Pointer escaping, and the nesting limit of TOML."""

from __future__ import annotations

from remit.lazy_regex import lazy
from remit.model import TextSpan


def escape_key(key: str) -> str:
    """Escape a key as a part of a JSON Pointer."""
    return key.replace("~", "~0").replace("/", "~1") if "~" in key or "/" in key else key


def locate(text: str, start: int, end: int) -> TextSpan:
    """Turn offsets into lines and columns, counted from 1."""
    return LineIndex(text).locate(start, end)


class LineIndex:
    """An index of the lines of a text, for repeated lookups."""

    _STRETCH = 1 << 16

    def __init__(self, text: str) -> None:
        self.text = text
        self.before = [0]
        for start in range(0, len(text), self._STRETCH):
            self.before.append(self.before[-1] + text.count("\n", start, start + self._STRETCH))

    def locate(self, start: int, end: int) -> TextSpan:
        """Turn offsets into lines and columns, counted from 1."""
        return TextSpan(*self._find(start), *self._find(end))

    def _find(self, at: int) -> tuple[int, int]:
        stretch = at // self._STRETCH
        line = self.before[stretch] + self.text.count("\n", stretch * self._STRETCH, at) + 1
        return line, at - self.text.rfind("\n", 0, at)


_TOML_LONG = r"""\#[^\n]*+ | \"{3}(?:[^"\\]++|\\.|"(?!""))*+"{0,5}+ | '{3}(?:[^']++|'(?!''))*+'{0,5}+"""
_TOML_PART = r"""(?:[\w-]++ | "(?:[^"\\\n]++|\\[^\n])*+"?+ | '[^'\n]*+'?+)"""
_TOML_PIECES = lazy(rf"(?sx) {_TOML_LONG} | ({_TOML_PART}(?:[ \t]*+\.[ \t]*+{_TOML_PART})*+)")
"""Comments, multi-line strings and keys. A key can be quoted, and a string can look like a key."""
_TOML_PARTS = lazy(f"(?x) {_TOML_PART}")


def find_deep_name(text: str, most: int) -> int | None:
    """Return the offset of the first key with more than `most` dots, or None: tomllib needs quadratic time for it."""
    if text.count(".") <= most:
        return None
    for piece in _TOML_PIECES.finditer(text):
        name = piece[1] or ""
        if name.count(".") > most and sum(1 for _ in _TOML_PARTS.finditer(name)) > most + 1:
            return piece.start()
    return None
