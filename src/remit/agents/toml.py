"""Codex's agent files: parses TOML into the same values with places as a frontmatter.

tomllib reports no positions, so a scanner finds the spans of keys, tables and values. Size and depth are limited before
parsing, because tomllib recurses. If the TOML is broken, the raw text of each value that the scanner found is used.
"""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING

from remit.agents.frontmatter import MAX_DEPTH, MAX_OPENINGS, MAX_VALUES, Frontmatter, FrontmatterProblem
from remit.lazy_regex import lazy
from remit.positions import escape_key, find_deep_name

if TYPE_CHECKING:
    from remit.agents.frontmatter import Span

_BOM = "\ufeff"


def parse_toml(text: str) -> Frontmatter:
    """Parse a TOML file. If it is broken, use the raw text of each value."""
    start = 1 if text.startswith(_BOM) else 0
    found = Frontmatter(start, len(text))
    scanner = _Scanner(found, text)
    scanner.scan()
    if problem := scanner.excess or _find_excess(found, text):
        found.problems.append(problem)
        found.whole = False
        return found
    try:
        found.values = tomllib.loads(text[start:].encode("utf-8", "replace").decode())
    except (ValueError, RecursionError) as error:  # an integer with too many digits is a ValueError, too
        found.whole = False
        found.problems.append(_explain(str(error), text, start))
        found.values = {
            pointer[1:].replace("~1", "/").replace("~0", "~"): text[slice(*span)].strip("\"' \t\r\n")
            for pointer, span in found.spans.items()
            if pointer.count("/") == 1
        }
    return found


def _find_excess(found: Frontmatter, text: str) -> FrontmatterProblem | None:
    if text.count("[") + text.count("{") > MAX_OPENINGS * 5:  # instructions may contain brackets
        return FrontmatterProblem("limit", "the file has too many brackets", found.start, found.start + 1)
    deep = find_deep_name(text, MAX_DEPTH)
    return None if deep is None else FrontmatterProblem("limit", "the file is nested too deeply", deep, deep + 1)


_AT = lazy(r"\(at (?:line (?P<line>\d{1,7}), column (?P<column>\d{1,7})|end of document)\)")


def _explain(message: str, text: str, start: int) -> FrontmatterProblem:
    place = _AT.search(message)
    at = start
    if place is not None and place["line"] is None:
        at = max(start, len(text.rstrip()) - 1)
    elif place is not None:
        line = int(place["line"])
        before = text[start:].split("\n", line)[: line - 1]
        at = start + sum(len(each) + 1 for each in before) + int(place["column"]) - 1
    at = min(at, max(0, len(text) - 1))
    reason = _AT.sub("", message).strip() if "set_int_max_str_digits" not in message else "a number has too many digits"
    return FrontmatterProblem("syntax", reason[:1].lower() + reason[1:], at, min(at + 1, len(text)))


# --- places ----------------------------------------------------------------------------------------------------------

_SPACE = lazy(r"[ \t\r\n]*+(?:#[^\n]*+[ \t\r\n]*+)*+")
_KEY_PART = lazy(r'[ \t]*+(?:(?P<bare>[A-Za-z0-9_-]++)|"(?P<double>[^"\n]*+)"|\'(?P<single>[^\'\n]*+)\')[ \t]*+')
_TEXT = lazy(r'"(?:[^"\\\n]|\\.)*+"?|\'[^\'\n]*+\'?')
_LONG_TEXT = {
    '"""': lazy(r'"""(?:[^"\\]|\\.|"(?!""))*+"{0,5}', re.DOTALL),
    "'''": lazy(r"'''(?:[^']|'(?!''))*+'{0,5}"),
}
_WORD = lazy(r"[^\s,#\[\]{}=]*+")
_INNER = lazy(r"[^\"'#\[\]{}]++|#[^\n]*+")


class _Scanner:
    """Scans a file once for all keys and tables and the spans of their values."""

    def __init__(self, found: Frontmatter, text: str) -> None:
        self.found = found
        self.text = text
        self.at = found.start
        self.table = ""
        self.rows: dict[str, int] = {}
        self.excess: FrontmatterProblem | None = None

    def scan(self) -> None:
        while self.excess is None:
            self.at = self._end(_SPACE)
            if self.at >= len(self.text):
                return
            if len(self.found.keys) > MAX_VALUES:
                self.excess = FrontmatterProblem("limit", "the file has too many values", self.at, self.at + 1)
            done = self._read_header() if self.text[self.at] == "[" else self._read_pair()
            line_end = self.text.find("\n", self.at)
            if line_end < 0:
                return
            # the rest of the line is a comment; a line that can't be parsed is skipped
            self.at = line_end if done or line_end > self.at else line_end + 1

    def _end(self, pattern: re.Pattern[str], at: int | None = None) -> int:
        found = pattern.match(self.text, self.at if at is None else at)
        return found.end() if found else self.at

    def _read_key(self) -> tuple[list[str], Span] | None:
        """Read a dotted key at the current offset."""
        parts, start, at = [], -1, self.at
        while part := _KEY_PART.match(self.text, at):
            group = part.lastgroup or "bare"
            quoted = group != "bare"
            start = part.start(group) - quoted if start < 0 else start
            end = part.end(group) + quoted
            parts.append(part[group])
            at = part.end()
            if len(parts) + self.table.count("/") > MAX_DEPTH:  # the parser copies all parts of a key for each part
                self.excess = FrontmatterProblem("limit", "the file is nested too deeply", start, start + 1)
                return None
            if self.text[at : at + 1] != ".":
                self.at = at
                return parts, (start, end)
            at += 1
        return None

    def _read_header(self) -> bool:
        """`[table]` or `[[row]]`."""
        is_row = self.text.startswith("[[", self.at)
        self.at += 1 + is_row
        key = self._read_key()
        if key is None or self.text[self.at : self.at + 1] != "]":
            return False
        pointer = ""
        for part in key[0]:
            pointer += f"/{escape_key(part)}"
            self._add_span(pointer, key[1], key[1])
            if pointer in self.rows and (not is_row or part is not key[0][-1]):
                pointer += f"/{self.rows[pointer]}"
        if is_row:
            self.rows[pointer] = self.rows.get(pointer, -1) + 1
            pointer += f"/{self.rows[pointer]}"
            self._add_span(pointer, key[1], key[1])
        self.table = pointer
        return True

    def _read_pair(self) -> bool:
        """`key = value`."""
        key = self._read_key()
        if key is None or self.text[self.at : self.at + 1] != "=":
            return False
        self.at += 1
        while self.text[self.at : self.at + 1] in (" ", "\t"):
            self.at += 1
        start = self.at
        self.at = self._end_value()
        pointer = self.table
        for index, part in enumerate(key[0]):
            pointer += f"/{escape_key(part)}"
            if index < len(key[0]) - 1:
                self._add_span(pointer, key[1], key[1])
        self._add_span(pointer, key[1], (start, self.at))
        return True

    def _add_span(self, pointer: str, key: Span, value: Span) -> None:
        self.found.keys.setdefault(pointer, key)
        self.found.spans.setdefault(pointer, value)

    def _end_value(self) -> int:
        """Return the end of the value at the current offset. Lists and inline tables can have several lines."""
        at, depth = self.at, 0
        while at < len(self.text):
            char = self.text[at]
            if char in "\"'":
                long = _LONG_TEXT.get(self.text[at : at + 3])
                at = self._end(long or _TEXT, at)
            elif char in "[{":
                at, depth = at + 1, depth + 1
            elif char in "]}" and depth:
                at, depth = at + 1, depth - 1
            elif depth:
                at = self._end(_INNER, at)
            else:
                at = self._end(_WORD, at)
                if self.text[at : at + 1] == " " and self.text[at + 1 : at + 3].isdigit():
                    at = self._end(_WORD, at + 1)  # date and time separated by a space
                return at
            if not depth:
                return at
        return at
