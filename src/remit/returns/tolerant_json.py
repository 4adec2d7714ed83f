"""Tolerant JSON: a broken object → its value, with every repair recorded.

Reads one object from a given offset. Returns where it ended, where each value stands, what it repaired, and which flaws
no repair can fix: a contradiction, a non-finite number, an unfilled template, a value that is cut off. It never
invents a key or a value; text that is valid JSON comes back unchanged and without repairs.

Linear in the text it consumes, and capped: nesting, number of values, digits.
"""

from __future__ import annotations

import json
import re
from typing import Any, Literal

from remit.lazy_regex import lazy
from remit.light_namedtuple import NamedTuple

MAX_DEPTH = 205
MAX_VALUES = 20_000
MAX_FLAWS = 50
MAX_INNER_QUOTES = 200
MAX_DIGITS = 4_300
"""Python refuses to read longer integers; so do we, before it has to."""

FlawKind = Literal["cut", "conflict", "nonfinite", "ellipsis", "template"]
Closed = Literal["bracket", "fence", "end"]

REPAIRS = {
    "comment": "removed a comment",
    "trailing_comma": "removed a comma before a closing bracket",
    "extra_comma": "removed an extra comma",
    "missing_comma": "added a comma between two values",
    "missing_bracket": "added a closing bracket",
    "extra_bracket": "removed a bracket that closes the object too early",
    "single_quotes": "read single quotes as double quotes",
    "smart_quotes": "read typographic quotes as double quotes",
    "unquoted_key": "quoted a bare key",
    "inner_quote": "escaped a quote inside a string",
    "raw_control": "escaped a line break or control character inside a string",
    "bad_escape": "read an escape that isn't valid JSON",
    "joined_text": "joined adjacent strings",
    "lone_surrogate": "replaced half of a surrogate pair",
    "literal": "converted a literal of Python or JavaScript",
    "number": "converted a number that isn't valid JSON",
    "separator": "read another separator as a colon or a comma",
    "missing_colon": "added a colon between a key and its value",
    "missing_quote": "added a missing quote",
    "unquoted_text": "quoted a bare word",
    "extra_mark": "removed an extra quote, colon or period",
    "parentheses": "read Python's parentheses as a list or a string",
    "triple_quotes": "read triple quotes or backticks as double quotes",
    "missing_open_bracket": "added an opening bracket",
    "odd_space": "read a non-breaking, invisible or escaped space as a space",
    "repeated_key": "removed a duplicate key with the same value",
    "cut_off": "removed an optional value that is cut off",
    "lifted_keys": "moved keys after a missing bracket back to the top",
    "json_string": "decoded JSON inside a string",
    "escaped": "removed backslashes before quotes",
    "envelope": "extracted the message from a wrapper object",
    "html": "decoded HTML entities",
    "colors": "removed terminal color codes",
    "status_case": "read a status word in another case",
    "quoted_number": "read a quoted number as a number",
    "id_blanks": "removed spaces around the session id",
    "absolute_path": "made an absolute path relative to the root",
    "shortened": "shortened a long summary",
    "empty_items": "removed empty list items",
    "no_period": "read the sentence without its period",
    "more_prose": "read the sentence beside other text",
}
"""Every kind of repair, and its description."""


class JsonFlaw(NamedTuple):
    """A problem in an object that can't be repaired."""

    kind: FlawKind
    pointer: str
    start: int
    end: int


class ParsedObject:
    """One object read from a text: offsets are into that text, `spans` maps JSON Pointers to them."""

    __slots__ = ("closed", "end", "flaws", "repairs", "spans", "start", "value")

    def __init__(
        self,
        value: dict[str, Any],
        start: int,
        end: int,
        spans: dict[str, tuple[int, int]],
        *,
        repairs: dict[str, int],
        flaws: list[JsonFlaw],
        closed: Closed,
    ) -> None:
        self.value = value
        self.start = start
        self.end = end
        self.spans = spans
        self.repairs = repairs
        """Each kind of repair and the position of its first use."""
        self.flaws = flaws
        self.closed = closed
        """How it ended: by its own bracket, the end of its code fence, or the end of the text."""


class UnreadableError(Exception):
    """No object can be read here.

    `reached` is how far the parser came, `values` how much it had read by then, `capped` that a cap stopped it.
    """

    def __init__(self, reason: str, reached: int, values: int, *, capped: bool) -> None:
        super().__init__(reason)
        self.reason = reason
        self.reached = reached
        self.values = values
        self.capped = capped


def parse_object(text: str, start: int, *, held: bool = False) -> ParsedObject:
    """Parse the object whose `{` is at `start`. `held`: it is a value in another object that continues after it."""
    parser = _Parser(text, start, held=held)
    try:
        value = parser.read_object("", 1)
    except RecursionError:  # the caller's own stack left too little
        raise parser.fail("the object is nested too deeply", capped=True) from None
    if parser.is_markdown:
        value = _undo_markdown(value)
    return ParsedObject(
        value, start, parser.pos, parser.spans, repairs=parser.repairs, flaws=parser.flaws, closed=parser.closed
    )


def _undo_markdown(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """The value without the backslashes that Markdown puts before underscores."""
    if isinstance(value, dict):
        return {key: _undo_markdown(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_undo_markdown(inner) for inner in value]
    return value.replace("\\_", "_") if isinstance(value, str) else value


def join_surrogates(text: str) -> str:
    """The text with each surrogate pair as one character, and each half of a pair replaced."""
    if not _SURROGATE.search(text):
        return text
    text = _SURROGATE_PAIR.sub(lambda pair: pair[0].encode("utf-16", "surrogatepass").decode("utf-16"), text)
    return _SURROGATE.sub("\ufffd", text)


def join_pointer(pointer: str, key: str) -> str:
    """The JSON Pointer of a member."""
    return f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}" if "~" in key or "/" in key else f"{pointer}/{key}"


# Possessive quantifiers throughout: nothing here can backtrack.
_SPACE = lazy(r"[ \t\r\n]*+")
_COMMA = lazy(r",[ \t\r\n]*+")
_COMMENTS = lazy(r"(?:(?:/\*(?:[^*]|\*(?!/))*+\*/|(?:\#|//)[^\n]*+)[ \t\r\n]*+)++")
_EXTRA_COMMAS = lazy(r"[, \t\r\n]++")
INVISIBLE = r"\xad\u200b\u200c\u200e\u200f\u2060\ufeff"
"""Characters that no one sees, which are neither part of a token nor white space."""
_ANY_SPACE = rf"[\s{INVISIBLE}]*+"
_ODD_SPACE = lazy(rf"(?:[\s{INVISIBLE}]|\\[nrt])++")
_STRUCTURE = frozenset("\"'{}[],:")
_COLONS = frozenset(":=\uff1a")
_COMMAS = frozenset(",;\uff0c\u3001")
_REGION_END = lazy(r"```|~~~|<!--|</")
_PLAIN_TEXTS = {quote: lazy(rf"{quote}[^{quote}\\\x00-\x1f]*+{quote}(?=[,:}}\]\r\n])") for quote in "\"'"}
_PLAIN_MEMBERS = {
    quote: lazy(
        rf"{quote}([^{quote}\\\x00-\x1f]*+){quote}:[ \t]*+{quote}([^{quote}\\\x00-\x1f]*+){quote}(?=[,}}\]\r\n])"
    )
    for quote in "\"'"
}
"""A key and a text, both without anything odd: most of a return is made of these."""
_PLAIN_KEY = lazy(r'"([^"\\\x00-\x1f]*+)"[ \t]*+:')
_NUMBER = lazy(r"-?(?:0|[1-9]\d*+)(\.\d++)?+([eE][+-]?+\d++)?+(?![\w.-])")
_ODD_NUMBER = lazy(
    r"[+-]?+(?:(?:0[xX][0-9a-fA-F]++|0[oO][0-7]++|0[bB][01]++)n?+|\d++n"
    r"|(?:\d++(?:_\d++)*+)?+(?:\.(?:\d++(?:_\d++)*+)?+)?+(?:[eE][+-]?+\d++)?+)(?![\w.])"
)
"""As Python and JavaScript write numbers: a sign, digits grouped with underscores, no digit beside the point."""
_WORD = lazy(r"[A-Za-z_$][\w$|-]*+")
_BARE_KEY = lazy(r"""([A-Za-z_$][\w$-]*+)["']?+(?=\s*+(?:[:=\uff1a]))""")
"""A key without quotes, or with its closing quote only."""
_HALF_KEY = lazy(r"""["']([A-Za-z_$][\w$-]*+)\s*+[:=](?=\s*+["'\[{\d-])""")
"""A key with its opening quote only."""
_MIXED_KEY = lazy(r"""(?:"([A-Za-z_$][\w$-]*+)'|'([A-Za-z_$][\w$-]*+)")(?=\s*+[:=])""")
"""A key that opens with one kind of quote and closes with the other."""
_QUOTED_KEY = r"""["'][^"'\n\\]{1,80}+["']\s*+[:=]"""
_BRACKET_ENDS = r"""[}\]](?:[^\S\n]*+(?:\n|\Z)|\s*+(?:[}\]`~<]|,\s*+["'{\[]))"""
_MARK_ENDS = {
    False: lazy(rf"""\s*+(?:,?+\s*+{_QUOTED_KEY}|,?+\s*+{_BRACKET_ENDS})"""),
    True: lazy(rf"""\s*+(?:,?+\s*+{_QUOTED_KEY}|,?+\s*+{_BRACKET_ENDS}|,\s*+["'][^"'\n\\]*+["']\s*+[,\]])"""),
}
"""What follows a mark that is one too many, in an object and in a list: stricter than what follows the end of a text,
so that a quote inside prose ends nothing."""
_MIXED_TEXTS = {'"': lazy(r""""([^"'\n\\]*+)'"""), "'": lazy(r"""'([^"'\n\\]*+)\"""")}
"""A text that opens with one kind of quote and closes with the other."""
_DOUBLED = {quote: lazy(rf"""{quote}{quote}(?=[^\s"',:}}\]])([^"'\n\\]++){quote}(?!["'])""") for quote in "\"'"}
"""A text whose opening quote stands there twice."""
_SAME_KEY = {quote: lazy(rf"""\s*+,\s*+{quote}[^"'\n\\]{{1,80}}+{quote}\s*+:""") for quote in "\"'"}
_COLON_AHEAD = lazy(r"\s*+:")
_PREFIX = lazy(r"""[rRfFuU](?:'|"(?!\s*+[,;}\]\n]))""")
"""How a text of Python with a prefix begins."""
_MAX_LINE = 2_000
_HALF_TEXT = lazy(rf"""([A-Za-z][^"\n\\{{}}\[\]]{{0,{_MAX_LINE}}}+)"(?=\s*+(?:[,;}}\]]|\n))""")
"""A text with its closing quote only. The search runs at each bare word, so it has a length limit."""
_OPEN_TEXT = lazy(r""""([^"\n\\]*+)\n(?=\s*+(?:"[^"\n\\]{1,80}+"\s*+:|[}\]]))""")
"""A text with its opening quote only: its line has no other quote, and the next line has a key or a bracket."""
_BARE_TEXT = lazy(r"(?:[A-Za-z_][\w.-]*+|\d{4}-\d\d-\d\d[\w.:+-]*+)(?=\s*+(?:[,;}\]]|\n|\Z))")
_KEY_AHEAD = lazy(
    r"""(?:"[^"\n\\]{1,80}+"|'[^'\n\\]{1,80}+'|[“”„«][^“”»\n]{1,80}+[“”»]|[A-Za-z_$][\w$-]{0,80}+["']?+)\s*+[:=\uff1a]"""
)
_TEXT_END = (
    r"""[:}\]\r\n"'“‘\uff1a\uff0c]|=(?=>?+\s*+["'\[{\d-])|;(?=\s*+["'}\]]|\s*+\Z)|(?:\\[nrt]\s*+)++[}\]]"""
    r"""|//|/\*|\#|```|\+\s*+["']|\Z"""
)
_COMMA_ENDS = (
    rf""",(?=(?:[\s{INVISIBLE}]|\\[nrt])*+(?:[}}\],…“”„«‘’‚]|\.\.|//|/\*|\#|```|\Z"""
    rf"""|"(?:[^"\\]|\\[\s\S])*+"{_ANY_SPACE}[:="'\[{{]|'(?:[^'\\\n]|\\.)*+'{_ANY_SPACE}[:="'\[{{]"""
    rf"""|["']?+[A-Za-z_$][\w$-]{{0,80}}+["']?+{_ANY_SPACE}[:=]"""
)
_IN_LIST = r"""|["'`{\[(\d+.-]|[A-Za-z_][\w.-]*+\s*+[,\]]))|\)(?=\s*+[,)}\]])"""
_PERIOD_ENDS = rf"""\.(?=\s*+(?:,\s*+{_QUOTED_KEY}|{_BRACKET_ENDS}))"""
_TEXT_ENDS = {
    False: lazy(rf"(?:[^\S\r\n]|[{INVISIBLE}])*+(?:{_TEXT_END}|{_PERIOD_ENDS}|{_COMMA_ENDS})))"),
    True: lazy(rf"(?:[^\S\r\n]|[{INVISIBLE}])*+(?:{_TEXT_END}|{_PERIOD_ENDS}|{_COMMA_ENDS}{_IN_LIST})"),
}
"""What follows the end of a text, in an object and in a list. A comma ends a text only if a member, or in a list a
value, comes next: otherwise the quote and the comma belong to the text."""
_AFTER_EXTRA = lazy(rf"\s*+(?:,\s*+{_QUOTED_KEY}|\}})")
_GOES_ON = lazy(r"[\s}\]]*+,\s*+")
_AFTER_TEXT = frozenset({",", "}", ""})
_ADJACENT = lazy(r"\s++(?=[\"'])")
_PLUS = lazy(r"\s*+\+\s*+(?=[\"'])")
_CONTROL = lazy(r"[\x00-\x1f]")
_ESCAPE = lazy(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_PLAIN_BACKSLASH = lazy(r"\\(?!u[0-9a-fA-F]{4})[A-Zac-eg-mo-qsu-z0-9]")
"""A backslash before a letter with which no escape begins: the agent didn't escape the backslashes of this text."""
_ESCAPED_ON_PURPOSE = lazy(r"""\\(?:["'`/\\]|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2})""")
"""An escape that only an author who escapes texts writes."""
_SURROGATE = lazy(r"[\ud800-\udfff]")
_SURROGATE_PAIR = lazy(r"[\ud800-\udbff][\udc00-\udfff]")
_ELLIPSIS = lazy(r"\.{3,}+|…")

_CLOSERS = {'"': '"', "'": "'", "“": '”“"', "”": "”“", "„": '“”"', "«": "»", "‘": "’‘'", "’": "’", "‚": "‘’"}
_STOPS = {opener: lazy(f"{'|'.join(closers)}|\\\\|\\n[ \t]*+(?:```|<!-- AGENT_OUTPUT_END)")
          for opener, closers in _CLOSERS.items()}  # fmt: skip
"""Where a text may end. Each alternative begins with a plain character, which makes the search fast."""
_ESCAPED_RUN = lazy(r"(?:\\.[0-9A-Za-z]*+)++", re.DOTALL)
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_LITERALS = {"true": True, "false": False, "null": None}
_OTHER_LITERALS = {**_LITERALS, "none": None, "undefined": None}
"""As Python, JavaScript and others write them, in any case."""
_BASES = ("x", "X", "o", "O", "b", "B")
_NON_FINITE = {"nan", "infinity", "inf"}
_TYPE_NAMES = {"string", "number", "integer", "boolean", "bool", "int", "float", "object", "array"}


class _Parser:
    """Recursive descent over one text; the nesting cap is far below Python's own."""

    def __init__(self, text: str, start: int, *, held: bool) -> None:
        self.text = text
        self.held = held
        self.pos = start
        self.limit = len(text)
        self.values_left = MAX_VALUES
        self.spans: dict[str, tuple[int, int]] = {}
        self.repairs: dict[str, int] = {}
        self.flaws: list[JsonFlaw] = []
        self.closed: Closed = "bracket"
        self.in_list = False
        """Whether the value that is read stands in a list."""
        self.open_lists = 0
        self.is_raw = False
        """Whether the text that is read keeps its backslashes, as Python's raw texts do."""
        self.is_markdown = False
        """Whether a key has `\\_`: then all of it was escaped as Markdown."""

    def fail(self, reason: str, *, capped: bool = False) -> UnreadableError:
        return UnreadableError(reason, self.pos, MAX_VALUES - self.values_left, capped=capped)

    def fail_at(self, at: int, reason: str) -> UnreadableError:
        """Fail at the start of a construct instead of the current position."""
        self.pos = at
        return self.fail(reason)

    def repair(self, kind: str, at: int | None = None) -> None:
        self.repairs.setdefault(kind, self.pos if at is None else at)

    def flaw(self, kind: FlawKind, pointer: str, start: int, end: int) -> None:
        if len(self.flaws) < MAX_FLAWS:  # one would do to refuse it; these are for the reader
            self.flaws.append(JsonFlaw(kind, pointer, start, end))

    def peek(self) -> str:
        """Skip space and comments; return the next character, or "" at the end of the text or its fence."""
        text = self.text
        if self.pos < self.limit and text[self.pos] in _STRUCTURE:
            return text[self.pos]
        while True:
            space = _SPACE.match(text, self.pos)
            self.pos = pos = space.end() if space else self.pos
            if pos >= self.limit:
                self.closed = "end"
                return ""
            char = text[pos]
            if char in _STRUCTURE:
                return char
            if char in "/#":
                self.pass_comment()
            elif char in "`~<" and _REGION_END.match(text, pos):
                self.closed = "fence"
                return ""
            elif odd := _ODD_SPACE.match(text, pos):
                self.repair("odd_space")
                self.pos = odd.end()
            else:
                return char

    def pass_comment(self) -> None:
        text, pos = self.text, self.pos
        comments = _COMMENTS.match(text, pos)
        if comments is None and not text.startswith("/*", pos):
            raise self.fail("unexpected '/'")
        self.repair("comment")
        self.pos = comments.end() if comments else self.limit  # one that nothing closes takes the rest

    def read_object(self, pointer: str, depth: int) -> dict[str, Any]:
        start = self.pos
        self.pos += 1
        result: dict[str, Any] = {}
        separated = True
        while (char := self.peek()) != "}" or (depth == 1 and not self.held and self.pass_extra_bracket()):
            if char == "}":
                continue
            if char == "":
                self.close_at_end(pointer, going_on=separated, root=depth == 1)
                break
            if char == "]" and self.pass_second_bracket():
                continue
            if char == "]" and depth > 1:
                self.repair("missing_bracket")
                break
            if char in _COMMAS:
                self.pass_separator(char, extra=separated)
                separated = True
            elif depth == 1 and result and not separated and self.is_next_paragraph():
                self.repair("missing_bracket")
                break
            elif char not in ".…" or not self.pass_ellipsis(pointer):
                if not separated:
                    self.repair("missing_comma")
                self.read_member(result, pointer, depth, char)
                separated = self.pass_comma()
        else:
            if separated and result:
                self.repair("trailing_comma")
            self.pos += 1
        self.spans[pointer] = (start, self.pos)
        return result

    def pass_extra_bracket(self) -> bool:
        """Whether the object continues after its bracket, which is then superfluous."""
        goes_on = _GOES_ON.match(self.text, self.pos + 1)
        if goes_on and _KEY_AHEAD.match(self.text, goes_on.end()):
            self.repair("extra_bracket")
            self.pos += 1
            return True
        return False

    def pass_second_bracket(self) -> bool:
        """Pass over a `]` right behind the one that closed the last open list, if the object goes on or ends there.

        Behind anything else the bracket may close what is cut off.
        """
        if self.open_lists or self.text[self.pos - 1] != "]" or not _AFTER_EXTRA.match(self.text, self.pos + 1):
            return False
        self.repair("extra_bracket")
        self.pos += 1
        return True

    def is_next_paragraph(self) -> bool:
        """Whether prose follows after a blank line; then only the last bracket is missing."""
        before = self.text[max(0, self.pos - 80) : self.pos]
        return before[len(before.rstrip()) :].count("\n") > 1 and not _KEY_AHEAD.match(self.text, self.pos)

    def read_array(self, pointer: str, depth: int) -> list[Any]:
        start = self.pos
        self.pos += 1
        result: list[Any] = []
        separated = True
        comma = start
        self.open_lists += 1
        while (char := self.peek()) != "]":
            if char == "":
                self.close_at_end(pointer, going_on=separated, is_list=True)
                break
            if char == "}" or (result and _KEY_AHEAD.match(self.text, self.pos)):
                self.repair("missing_bracket")
                self.pos = comma if separated and char != "}" else self.pos
                break
            if char in _COMMAS:
                comma = self.pos
                self.pass_separator(char, extra=separated)
                separated = True
            elif char not in ".…" or not self.pass_ellipsis(pointer):
                if not separated:
                    self.repair("missing_comma")
                self.in_list = True
                result.append(self.read_value(f"{pointer}/{len(result)}", depth, char))
                comma = self.pos
                separated = self.pass_comma()
        else:
            if separated and result:
                self.repair("trailing_comma")
            self.pos += 1
        self.open_lists -= 1
        self.spans[pointer] = (start, self.pos)
        return result

    def read_parentheses(self, pointer: str, depth: int) -> Any:  # noqa: ANN401 - any JSON value
        """Read what Python puts into parentheses: texts side by side are one text, values and commas are a list."""
        start = self.pos
        self.pos += 1
        items: list[Any] = []
        has_comma = False
        while (char := self.peek()) != ")":
            if char == "" or depth >= MAX_DEPTH or char in "}]":
                raise self.fail_at(start, "parentheses that don't close")
            self.in_list = True
            items.append(self.read_value(f"{pointer}/{len(items)}", depth + 1, char))
            if self.peek() == ",":
                has_comma = True
                self.pos += 1
        self.pos += 1
        self.repair("parentheses", start)
        self.spans[pointer] = (start, self.pos)
        if has_comma or not items:
            return items
        if all(isinstance(item, str) for item in items):
            return "".join(items)
        if len(items) > 1:
            raise self.fail_at(start, "values in parentheses without a comma")
        return items[0]

    def pass_separator(self, char: str, *, extra: bool) -> None:
        """Pass over what separates two members, whatever it is written as."""
        if extra:
            self.repair("extra_comma")
        if char != ",":
            self.repair("separator")
        run = _EXTRA_COMMAS.match(self.text, self.pos) if extra else None
        self.pos = run.end() if run else self.pos + 1

    def pass_comma(self) -> bool:
        """Pass over a comma right behind a value, and the space after it: most values have one."""
        comma = _COMMA.match(self.text, self.pos)
        if comma is None:
            return False
        self.pos = comma.end()
        return True

    def pass_ellipsis(self, pointer: str) -> bool:
        dots = _ELLIPSIS.match(self.text, self.pos)
        if not dots:
            return False
        self.flaw("ellipsis", pointer, self.pos, dots.end())
        self.pos = dots.end()
        return True

    def close_at_end(self, pointer: str, *, going_on: bool, root: bool = False, is_list: bool = False) -> None:
        """End a container that the text left open: a forgotten bracket, or the sign that more was to come.

        After a comma or an opening bracket more was to come, and a list may always have lost its tail. So may an inner
        object where the text ends and not just its fence; of the outermost one only the bracket is missing.
        """
        if going_on or is_list or (self.closed == "end" and not root):
            self.flaw("cut", pointer, self.pos, self.pos)
        self.repair("missing_bracket")

    def read_member(self, result: dict[str, Any], pointer: str, depth: int, char: str) -> None:
        at = self.pos
        pattern = _PLAIN_MEMBERS.get(char)
        plain = pattern.match(self.text, at) if pattern else None
        if plain and self.values_left > 0:
            if char == "'" and "single_quotes" not in self.repairs:
                self.repair("single_quotes")
            key, value = plain.groups()
            child = join_pointer(pointer, key)
            self.pos = plain.end()
            self.values_left -= 1
            self.spans[child] = (plain.start(2) - 1, self.pos)
        else:
            if whole_key := _PLAIN_KEY.match(self.text, at):
                key, self.pos = whole_key[1], whole_key.end()
                goes_on = self.pass_second_colon()
            else:
                self.in_list = False
                key, goes_on = self.read_key(char)
                goes_on = goes_on and self.pass_colon()
            child = join_pointer(pointer, key)
            if not goes_on:
                self.flaw("cut", child, at, self.pos)
                return
            self.in_list = False
            value = self.read_value(child, depth, self.peek())
        if type(value) is str and self.text[self.pos : self.pos + 1] not in _AFTER_TEXT:
            value = self.join_adjacent(value, child)
        if key not in result:
            result[key] = value
        elif repr(result[key]) == repr(value):  # repr distinguishes true from 1
            self.repair("repeated_key", at)
        else:
            self.flaw("conflict", child, at, self.pos)

    def join_adjacent(self, value: str, pointer: str) -> str:
        """Join adjacent texts in the place of one value, as Python prints a long text."""
        while (space := _ADJACENT.match(self.text, self.pos)) and not _KEY_AHEAD.match(self.text, space.end()):
            self.repair("joined_text")
            self.count_value()
            self.pos = space.end()
            more, whole = self.read_text(self.text[self.pos])
            value += more
            if not whole:
                self.flaw("cut", pointer, space.end(), self.pos)
                break
            self.spans[pointer] = (self.spans[pointer][0], self.pos)
        return value

    def pass_colon(self) -> bool:
        """Move to the value; False if the text ends before it."""
        char = self.peek()
        if char == ":":
            self.pos += 1
        elif char and char in _COLONS:
            self.repair("separator")
            self.pos += 2 if self.text.startswith("=>", self.pos) else 1
        elif char and char in "\"'[{":
            self.repair("missing_colon")
        elif char:
            raise self.fail("a key without a colon")
        return char != "" and self.pass_second_colon()

    def pass_second_colon(self) -> bool:
        """Move to the value past a superfluous colon; False if the text ends before it."""
        char = self.peek()
        if char == ":":
            self.repair("extra_mark")
            self.pos += 1
            char = self.peek()
        return char != ""

    def read_key(self, char: str) -> tuple[str, bool]:
        half = _HALF_KEY.match(self.text, self.pos) if char in "\"'" else None
        if half:
            self.repair("missing_quote")
            self.pos = half.end(1)
            return half[1], True
        if char in "\"'" and (mixed := _MIXED_KEY.match(self.text, self.pos)):
            self.repair("single_quotes")
            self.pos = mixed.end()
            return mixed[1] or mixed[2], True
        if char in _CLOSERS:
            at = self.pos
            key, whole = self.read_text(char)
            if "\n" in self.text[at : self.pos] or self.repairs.get("inner_quote") == at:
                raise self.fail_at(at, "a key contains quotes or line breaks")
            if "\\_" in key:
                self.is_markdown = True
                key = key.replace("\\_", "_")
            return key, whole
        bare = _BARE_KEY.match(self.text, self.pos)
        if not bare:
            raise self.fail("expected a key")
        self.repair("unquoted_key" if bare.end() == bare.end(1) else "missing_quote")
        self.pos = bare.end()
        return bare[1], True

    def read_value(self, pointer: str, depth: int, char: str) -> Any:  # noqa: ANN401 - any JSON value
        self.count_value()
        start = self.pos
        if char in _CLOSERS:
            value, whole = self.read_text(char)
            if not whole:
                self.flaw("cut", pointer, start, self.pos)
            self.spans[pointer] = (start, self.pos)
            return value
        if char in "{[":
            if depth >= MAX_DEPTH:
                raise self.fail("the object is nested too deeply", capped=True)
            return (self.read_object if char == "{" else self.read_array)(pointer, depth + 1)
        if char == "(":
            return self.read_parentheses(pointer, depth)
        value = self.read_scalar(pointer)
        self.spans[pointer] = (start, self.pos)
        return value

    def count_value(self) -> None:
        self.values_left -= 1
        if self.values_left < 0:
            raise self.fail("the object has too many values", capped=True)

    def read_text(self, opener: str) -> tuple[str, bool]:
        """Read a quoted text; the second value is False if it is cut off."""
        pattern = _PLAIN_TEXTS.get(opener)
        plain = pattern.match(self.text, self.pos) if pattern else None
        if plain:
            if opener == "'":
                self.repair("single_quotes")
            self.pos = plain.end()
            return plain.group()[1:-1], True
        if (block := self.read_block_text(opener)) is not None:
            return block, True
        value, whole = self.read_odd_text(opener)
        while whole and (plus := _PLUS.match(self.text, self.pos)):
            self.repair("joined_text")
            self.count_value()
            self.pos = plus.end()
            more, whole = self.read_odd_text(self.text[self.pos])
            value += more
        return value, whole

    def read_block_text(self, opener: str) -> str | None:
        """Read a text in triple quotes, or one that lost its closing quote; None if it is neither."""
        text, start = self.text, self.pos
        if opener in "\"'" and text.startswith(opener * 3, start):
            end = text.find(opener * 3, start + 3)
            if end >= 0:
                self.repair("triple_quotes")
                self.pos = end + 3
                return self.unescape(text[start + 3 : end], start, keep_breaks=True)
        if opener in "\"'" and (slip := self.read_slip(opener)) is not None:
            return slip
        if opener == '"' and (half := _OPEN_TEXT.match(text, start)):
            self.repair("missing_quote")
            body = half[1].rstrip(" \t\r").removesuffix(",")
            self.pos = half.start(1) + len(body)
            return body
        return None

    def read_slip(self, opener: str) -> str | None:
        """Read a short text with a wrong quote at one end; None if the quotes have another reading."""
        text, start = self.text, self.pos
        ends = _MARK_ENDS[self.in_list]
        doubled = _DOUBLED[opener].match(text, start)
        if doubled and (ends.match(text, doubled.end()) or _COLON_AHEAD.match(text, doubled.end())):
            self.repair("extra_mark")
            self.pos = doubled.end()
            return doubled[1]
        mixed = _MIXED_TEXTS[opener].match(text, start)
        if mixed is None or not ends.match(text, mixed.end()):
            return None
        line_end = text.find("\n", mixed.end(), mixed.end() + _MAX_LINE)
        other = text.find(opener, mixed.end(), mixed.end() + _MAX_LINE if line_end < 0 else line_end)
        if other >= 0 and not _SAME_KEY[opener].match(text, mixed.end()):
            return None
        self.repair("single_quotes")
        self.pos = mixed.end()
        return mixed[1]

    def pass_extra_mark(self, quote: str) -> None:
        """Pass over a second closing quote or a period behind a text."""
        text, pos = self.text, self.pos
        char = text[pos : pos + 1]
        is_second = char == quote and _COLON_AHEAD.match(text, pos + 1)
        if is_second or (char in (quote, ".") and char and _MARK_ENDS[self.in_list].match(text, pos + 1)):
            self.repair("extra_mark")
            self.pos += 1

    def read_odd_text(self, opener: str) -> tuple[str, bool]:
        """Read a text with escapes, other quotes, quotes inside or raw line breaks."""
        text, start = self.text, self.pos
        if opener != '"':
            self.repair("single_quotes" if opener == "'" else "smart_quotes")
        stops, at, inner = _STOPS[opener], start + 1, 0
        while (stop := stops.search(text, at)) and stop.group()[0] != "\n":
            if stop.group() == "\\":
                run = _ESCAPED_RUN.match(text, stop.start())
                at = run.end() if run else self.limit
            elif _TEXT_ENDS[self.in_list].match(text, stop.end()):
                break
            else:
                at, inner = stop.end(), inner + 1
                if inner > MAX_INNER_QUOTES or text[at : at + 1] in ("{", "["):
                    raise self.fail("a string contains quotes that can't be part of it")
        whole = stop is not None and stop.group()[0] != "\n"
        end = stop.start() if stop else self.limit
        if inner and whole:
            if opener == '"' and (inner % 2 or "\n" in text[start:end]):
                raise self.fail("a quote inside a string isn't escaped")
            self.repair("inner_quote", start)
        self.pos = stop.end() if stop and whole else end
        if stop and whole:
            self.pass_extra_mark(stop.group())
        return self.unescape(text[start + 1 : end], start), whole

    def unescape(self, body: str, start: int, *, keep_breaks: bool = False) -> str:
        if self.is_raw:
            return body
        if not keep_breaks and _CONTROL.search(body):
            self.repair("raw_control", start)
        if "\\" in body:
            try:
                body = json.loads(f'"{body}"', strict=False)
            except ValueError:
                if body.count("\\") > MAX_VALUES:
                    raise self.fail("a string has too many escapes", capped=True) from None
                if _PLAIN_BACKSLASH.search(body) and not _ESCAPED_ON_PURPOSE.search(body):
                    self.repair("bad_escape", start)
                else:
                    body = _ESCAPE.sub(self.escape, body)
        joined = body if body.isascii() else join_surrogates(body)
        if "\ufffd" in joined and joined != body:
            self.repair("lone_surrogate", start)
        return joined

    def escape(self, match: re.Match[str]) -> str:
        code = match.group(1)
        if code in _ESCAPES:
            return _ESCAPES[code]
        if len(code) > 1:
            return chr(int(code[1:], 16))
        self.repair("bad_escape")
        # JavaScript and Python escape these; any other backslash belongs to a path or a pattern, and is kept.
        return code if code in "'`" else match.group()

    def read_scalar(self, pointer: str) -> Any:  # noqa: ANN401 - any JSON value
        text, start = self.text, self.pos
        if number := _NUMBER.match(text, start, self.limit):
            return self.read_number(number, pointer)
        word_start = start + 1 if text[start] == "-" else start
        word = _WORD.match(text, word_start, self.limit)
        name = word.group() if word else ""
        self.pos = word.end() if word else start
        if name in _LITERALS and word_start == start:
            return _LITERALS[name]
        if name.lower() in _OTHER_LITERALS and word_start == start:
            self.repair("literal", start)
            return _OTHER_LITERALS[name.lower()]
        if name.lower() in _NON_FINITE:
            self.flaw("nonfinite", pointer, start, self.pos)
            return float("nan")
        if "|" in name or name in _TYPE_NAMES:
            self.flaw("template", pointer, start, self.pos)
            return name
        if self.pass_ellipsis(pointer):
            return None
        if self.pos >= self.limit and any(literal.startswith(name) for literal in _LITERALS):
            self.flaw("cut", pointer, start, self.pos)
            return None
        self.pos = start
        if _PREFIX.match(text, start):
            return self.read_prefixed(pointer)
        if half := _HALF_TEXT.match(text, start, self.limit):
            self.repair("missing_quote")
            self.pos = half.end()
            return half[1]
        if bare := _BARE_TEXT.match(text, start, self.limit):
            self.repair("unquoted_text")
            self.pos = bare.end()
            return bare.group()
        odd = _ODD_NUMBER.match(text, start, self.limit)
        if odd and any(map(str.isdigit, odd.group())):
            return self.read_odd_number(odd.group(), pointer)
        if text[start] == "`" and (end := text.find("`", start + 1)) > 0 and "${" not in text[start:end]:
            self.repair("triple_quotes")
            self.pos = end + 1
            return self.unescape(text[start + 1 : end], start, keep_breaks=True)
        raise self.fail("expected a value")

    def read_prefixed(self, pointer: str) -> str:
        """Read a text with a prefix of Python; an f-string with braces isn't a text yet."""
        start, prefix = self.pos, self.text[self.pos].lower()
        self.repair("literal")
        self.pos += 1
        self.is_raw = prefix == "r"
        opener = self.text[self.pos]
        block = self.read_block_text(opener)
        value, whole = (block, True) if block is not None else self.read_odd_text(opener)
        self.is_raw = False
        if prefix == "f" and ("{" in value or "}" in value):
            raise self.fail_at(start, "an f-string has braces")
        if not whole:
            self.flaw("cut", pointer, start, self.pos)
        return value

    def read_odd_number(self, written: str, pointer: str) -> float:
        """Read a number as Python or JavaScript writes it."""
        start = self.pos
        self.pos += len(written)
        digits = written.replace("_", "").removesuffix("n")
        if len(digits) > MAX_DIGITS:
            raise self.fail("a number has too many digits", capped=True)
        if len(digits.lstrip("+-")) > 1 and digits.lstrip("+-")[0] == "0" and digits.lstrip("+-")[1].isdigit():
            raise self.fail_at(start, "a number begins with a zero")
        self.repair("number", start)
        if digits.lstrip("+-0")[:1] in _BASES:
            return int(digits, 0)
        if digits.lstrip("+-").isdigit():
            return int(digits)
        value = float(digits)
        if value in (float("inf"), float("-inf")):
            self.flaw("nonfinite", pointer, start, self.pos)
        return value

    def read_number(self, match: re.Match[str], pointer: str) -> float:
        start, self.pos = self.pos, match.end()
        if self.pos >= len(self.text):
            self.flaw("cut", pointer, start, self.pos)
        if match.group(1) is None and match.group(2) is None:
            if self.pos - start > MAX_DIGITS:
                raise self.fail("a number has too many digits", capped=True)
            return int(match.group())
        value = float(match.group())
        if value in (float("inf"), float("-inf")):
            self.flaw("nonfinite", pointer, start, self.pos)
        return value
