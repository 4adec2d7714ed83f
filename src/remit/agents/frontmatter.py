"""Frontmatter: parses the YAML at the top of an agent file into values with their places.

The only module that uses the YAML parser. It composes nodes and converts them only to strings, numbers, lists and
tables. Size and depth are limited before parsing, because libyaml recurses. If the YAML is broken, as in many files
that still work in their harness, each top-level key is parsed separately, and its raw text is the last resort.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal

import yaml
from yaml._yaml import CParser
from yaml.nodes import CollectionNode, MappingNode, Node, ScalarNode, SequenceNode
from yaml.resolver import Resolver

from remit.lazy_regex import lazy
from remit.light_namedtuple import NamedTuple
from remit.positions import escape_key

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_CHARS = 128 * 1024
MAX_OPENINGS = 2_000
MAX_INDENT = 400
MAX_DEPTH = 40
MAX_VALUES = 20_000
MAX_DIGITS = 400

Span = tuple[int, int]
ProblemKind = Literal["syntax", "duplicate", "tag", "limit"]


class FrontmatterProblem(NamedTuple):
    """A problem with the YAML itself."""

    kind: ProblemKind
    message: str
    start: int
    end: int
    pointer: str = ""


class Frontmatter:
    """The values of a frontmatter and their spans in the file, by JSON Pointer."""

    def __init__(self, start: int, end: int) -> None:
        self.start = start
        self.end = end
        """The offset of the YAML, after the opening line of dashes."""
        self.values: dict[str, Any] = {}
        self.spans: dict[str, Span] = {}
        self.keys: dict[str, Span] = {}
        self.plain: dict[str, str] = {}
        """The YAML type (int, float, …) of each unquoted value that isn't a string."""
        self.flow: set[str] = set()
        """Lists and tables written with brackets (flow style)."""
        self.shared: set[str] = set()
        """Values of aliases (`*name`, `<<: *name`), which fixes don't edit. Their span is that of their key or list.
        Merged values have no key."""
        self.problems: list[FrontmatterProblem] = []
        self.whole = True
        """Whether the YAML could be parsed as a whole."""
        self.left = MAX_VALUES
        """How many more values may be read."""
        self.refused = False
        """Whether a limit was exceeded, which is reported once."""


_FENCE = lazy(r"\ufeff?---[ \t]*(\r?\n|\Z)")
_CLOSING = lazy(r"^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.MULTILINE)


def find_frontmatter(text: str) -> tuple[int, int, int] | None:
    """Return the start and end of the YAML and the start of the body, or None without an opening `---`."""
    opening = _FENCE.match(text)
    if opening is None:
        return None
    closing = _CLOSING.search(text, opening.end(), opening.end() + MAX_CHARS + 8)
    if closing is None:
        return opening.end(), min(len(text), opening.end() + MAX_CHARS), len(text)
    return opening.end(), closing.start(), closing.end()


class _Composer(CParser, Resolver):
    """libyaml's parser with the resolver of plain scalars, but without a constructor of objects."""

    def __init__(self, text: str) -> None:
        CParser.__init__(self, text)
        Resolver.__init__(self)


def parse_frontmatter(text: str, start: int, end: int) -> Frontmatter:
    """Parse the YAML between two offsets of a file."""
    found = Frontmatter(start, end)
    source = text[start:end].encode("utf-8", "replace").decode() if not text.isascii() else text[start:end]
    if len(source) != end - start:  # can't happen: each character is replaced by one
        source = text[start:end]
    if problem := _find_excess(source, start):
        found.problems.append(problem)
        found.whole = False
        return found
    error = _compose(found, source, start)
    if error is not None:
        found.whole = False
        found.problems.append(error)
        _read_by_key(found, text)
    return found


def _find_excess(source: str, start: int) -> FrontmatterProblem | None:
    """Return a problem if the YAML is too large or deep: libyaml recurses, and deep nesting crashes the process."""
    if len(source) >= MAX_CHARS:
        return FrontmatterProblem("limit", f"the frontmatter is longer than {MAX_CHARS} characters", start, start + 1)
    if source.count("[") + source.count("{") > MAX_OPENINGS:
        return FrontmatterProblem("limit", "the frontmatter has too many brackets", start, start + 1)
    if deep := _DEEP_LINE.search(source):
        return FrontmatterProblem(
            "limit", "the frontmatter is nested too deeply", start + deep.end(), start + deep.end() + 1
        )
    return None


_DEEP_LINE = lazy(rf"(?:\A|[\n\r\x85\u2028\u2029])(?=[ ?:-]{{{MAX_INDENT}}})(?! *+(?:[\n\r\x85\u2028\u2029]|\Z))")
"""Matches a line that opens too many lists and tables. YAML has five line breaks."""


def _compose(found: Frontmatter, source: str, offset: int) -> FrontmatterProblem | None:
    """Parse a piece of YAML into `found`, and return the problem that stopped the parser, or None."""
    if source.startswith("\ufeff"):  # the parser skips it without counting it
        source, offset = source[1:], offset + 1
    try:
        node = _Composer(source).get_single_node()
    except yaml.YAMLError as error:
        return _explain(error, source, offset)
    if node is None:
        return None
    if not isinstance(node, MappingNode):
        return FrontmatterProblem("syntax", "the frontmatter isn't a table of keys and values", offset, offset + 1)
    found.values |= _Reader(found, source, offset).read_mapping(node, "", 0)
    return None


def _explain(error: yaml.YAMLError, source: str, offset: int) -> FrontmatterProblem:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    reason = str(getattr(error, "problem", None) or getattr(error, "reason", None) or "it can't be read")
    if mark is not None:
        at = mark.index
    else:  # for an invalid character, the parser reports an offset in bytes
        at = len(source.encode()[: getattr(error, "position", None) or 0].decode("utf-8", "ignore"))
    at = min(at, max(0, len(source.rstrip()) - 1)) if at >= len(source.rstrip()) else at
    return FrontmatterProblem("syntax", reason, offset + at, offset + at + 1)


# --- nodes → values --------------------------------------------------------------------------------------------------


class _Reader:
    """Converts the nodes of a piece of YAML into values of a frontmatter, with limits on depth and count."""

    def __init__(self, found: Frontmatter, source: str, offset: int) -> None:
        self.found = found
        self.source = source
        self.offset = offset
        self.seen: set[int] = set()

    def read_mapping(self, node: MappingNode, pointer: str, depth: int) -> dict[str, Any]:
        found, values = self.found, {}
        merged: list[tuple[Node, Node]] = []
        for key_node, value_node in node.value:
            if _is_merge(key_node, value_node):
                merged.append((key_node, value_node))
                continue
            key = key_node.value if isinstance(key_node, ScalarNode) else "?"
            inner = f"{pointer}/{escape_key(key)}"
            key_span = (self.offset + key_node.start_mark.index, self.offset + key_node.end_mark.index)
            if key in values and isinstance(key_node, ScalarNode):
                found.problems.append(FrontmatterProblem("duplicate", f"duplicate key {key}", *key_span, inner))
            found.keys[inner] = key_span
            values[key] = self.read(value_node, inner, depth + 1)
            if found.left < 0:  # all following values would be refused, too
                break
        for key_node, value_node in merged:
            self.merge(values, value_node, key_node, pointer, depth + 1)
        return values

    def merge(self, values: dict[str, Any], node: Node, at: Node, pointer: str, depth: int) -> None:
        """Merge the table of `<<: *base`. Existing keys win. Merged values are marked as shared and not edited."""
        found = self.found
        span = (self.offset + at.start_mark.index, self.offset + at.end_mark.index)
        found.left -= 1
        if found.left < 0 or depth > MAX_DEPTH:
            self.refuse(span, pointer)
            return
        if isinstance(node, SequenceNode):
            for item in node.value:
                self.merge(values, item, at, pointer, depth + 1)
                if found.left < 0:
                    return
        for key_node, value_node in node.value if isinstance(node, MappingNode) else ():
            found.left -= 1
            if found.left < 0:
                self.refuse(span, pointer)
                return
            key = key_node.value if isinstance(key_node, ScalarNode) else "?"
            if _is_merge(key_node, value_node):
                self.merge(values, value_node, at, pointer, depth + 1)
            elif key not in values:
                inner = f"{pointer}/{escape_key(key)}"
                self.seen.add(id(value_node))
                found.keys[inner] = span  # the span of merged values; their own keys are elsewhere
                values[key] = self.read(value_node, inner, depth + 1)
                del found.keys[inner]

    def read(self, node: Node, pointer: str, depth: int) -> Any:  # noqa: ANN401 - any YAML value
        found = self.found
        span = (self.offset + node.start_mark.index, self.offset + node.end_mark.index)
        if id(node) in self.seen:
            found.shared.add(pointer)
            span = found.keys.get(pointer) or found.spans.get(pointer.rpartition("/")[0], span)
        self.seen.add(id(node))
        found.left -= 1
        if found.left < 0 or depth > MAX_DEPTH:
            self.refuse(span, pointer)
            return None
        found.spans[pointer] = span
        if isinstance(node, ScalarNode):
            if node.style in ("|", ">") and pointer not in found.shared:
                # libyaml ends a block scalar at the next token; cut it after its last line
                text = self.source[node.start_mark.index : node.end_mark.index]
                found.spans[pointer] = span = span[0], span[0] + len(text.rstrip())
            return _read_scalar(found, node, pointer, span)
        value: Any
        if isinstance(node, SequenceNode):
            value = self.read_sequence(node, pointer, depth)
        elif isinstance(node, MappingNode):
            value = self.read_mapping(node, pointer, depth)
        if node.tag not in _COLLECTIONS:
            found.problems.append(_refuse_tag(node, span, pointer))
        if isinstance(node, CollectionNode) and node.flow_style:
            found.flow.add(pointer)
        elif value and pointer not in found.shared:
            last = list(value)[-1] if isinstance(value, dict) else len(value) - 1
            found.spans[pointer] = span[0], self.end_block(node, f"{pointer}/{escape_key(str(last))}")
        return value

    def end_block(self, node: Node, last: str) -> int:
        """Return the end of a block list or table. libyaml's own end is the start of the next token."""
        if last in self.found.spans and last not in self.found.shared:
            return self.found.spans[last][1]
        lines = self.source[node.start_mark.index : node.end_mark.index].rstrip()
        return self.offset + node.start_mark.index + len(lines)

    def read_sequence(self, node: SequenceNode, pointer: str, depth: int) -> list[Any]:
        values = []
        for index, item in enumerate(node.value):
            values.append(self.read(item, f"{pointer}/{index}", depth + 1))
            if self.found.left < 0:
                break
        return values

    def refuse(self, span: Span, pointer: str) -> None:
        """Report once that a limit was exceeded."""
        if not self.found.refused:
            self.found.refused = True
            what = "refers to itself too often" if self.found.shared else "has too many values, or is nested too deeply"
            self.found.problems.append(
                FrontmatterProblem("limit", f"the frontmatter {what}", span[0], span[0] + 1, pointer)
            )


def _is_merge(key: Node, value: Node) -> bool:
    """Whether a key is YAML's merge key `<<` with one or more tables."""
    return key.tag == f"{_TAG_PREFIX}merge" and isinstance(value, CollectionNode)


_TAG_PREFIX = "tag:yaml.org,2002:"
_BUILT_IN = frozenset({"str", "int", "float", "bool", "null", "timestamp", "merge", "value"})
_COLLECTIONS = frozenset(f"{_TAG_PREFIX}{kind}" for kind in ("seq", "map", "set", "omap", "pairs"))


def _refuse_tag(node: Node, span: Span, pointer: str) -> FrontmatterProblem:
    return FrontmatterProblem("tag", f"the tag {node.tag[:80]} builds an object", *span, pointer)


def _read_scalar(found: Frontmatter, node: ScalarNode, pointer: str, span: Span) -> Any:  # noqa: ANN401
    kind = node.tag.removeprefix(_TAG_PREFIX)
    if kind == "str":
        return node.value
    if kind not in _BUILT_IN or not node.tag.startswith(_TAG_PREFIX):
        found.problems.append(_refuse_tag(node, span, pointer))
        return node.value
    if not node.style:
        found.plain[pointer] = kind
    return convert_scalar(node.value, kind)


def convert_scalar(text: str, kind: str) -> Any:  # noqa: ANN401 - a text, number or truth value
    """Convert a plain scalar as YAML 1.1 does. Dates and other types stay strings."""
    if kind == "null":
        return None
    if kind == "bool":
        return {"yes": True, "true": True, "on": True, "no": False, "false": False, "off": False}.get(
            text.lower(), text
        )
    plain = text.replace("_", "")
    if kind in ("int", "float") and len(plain) <= MAX_DIGITS:
        try:
            return _convert_int(plain) if kind == "int" else _convert_float(plain)
        except (ValueError, OverflowError):
            return text
    return text


def _convert_int(plain: str) -> int:
    sign = -1 if plain.startswith("-") else 1
    digits = plain.lstrip("+-")
    if ":" in digits:
        return sign * _from_sixties(digits)
    if digits.startswith(("0b", "0x")):
        return sign * int(digits, 0)
    octal = digits.startswith("0") and digits != "0"
    return sign * int(digits, 8 if octal else 10)


def _convert_float(plain: str) -> float:
    sign = -1 if plain.startswith("-") else 1
    digits = plain.lstrip("+-").lower()
    if ":" in digits:
        head, _, tail = digits.rpartition(":")
        return sign * (60 * _from_sixties(head) + float(tail))
    return sign * float({".inf": "inf", ".nan": "nan"}.get(digits, digits))


def _from_sixties(digits: str) -> int:
    total = 0
    for part in digits.split(":"):
        total = 60 * total + int(part)
    return total


# --- key by key ------------------------------------------------------------------------------------------------------

_TOP_KEY = lazy(r"^(?P<quote>[\"']?)(?P<key>[A-Za-z_][\w.-]{0,80})(?P=quote)[ \t]*+:(?=[ \t\r\n]|\Z)", re.MULTILINE)


def _read_by_key(found: Frontmatter, text: str) -> None:
    """Parse each top-level key separately. If its YAML is broken, its value is the raw text of its lines."""
    found.values.clear()
    for collection in (found.spans, found.keys, found.plain, found.flow, found.shared):
        collection.clear()
    for key, (start, key_start), value_start, end in _split_keys(text, found.start, found.end):
        pointer = f"/{escape_key(key)}"
        if key in found.values:
            span = (key_start, key_start + len(key))
            found.problems.append(FrontmatterProblem("duplicate", f"duplicate key {key}", *span, pointer))
        if _compose(found, text[start:end].encode("utf-8", "replace").decode(), start) is None:
            continue
        lines = text[value_start:end]
        value = lines.strip()
        at = value_start + len(lines) - len(lines.lstrip())
        found.values[key] = value
        found.keys[pointer] = (key_start, key_start + len(key))
        found.spans[pointer] = (at, at + len(value))


def _split_keys(text: str, start: int, end: int) -> Iterator[tuple[str, tuple[int, int], int, int]]:
    """Yield each top-level key, the starts of its line and of the key, and the start and end of its value."""
    keys = list(_TOP_KEY.finditer(text, start, end))
    for index, found in enumerate(keys):
        following = keys[index + 1].start() if index + 1 < len(keys) else end
        yield found["key"], (found.start(), found.start("key")), found.end(), following
