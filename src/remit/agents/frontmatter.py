"""Frontmatter: the YAML at the head of an agent file → values, each with its place.

Owns the only use of the YAML parser. It composes nodes and builds nothing from them but texts, numbers, lists and
tables; caps come first, because the parser itself recurses. Where the YAML is broken, as in many files that work in
their harness all the same, every top-level key is read by itself, and the last resort is the line as it stands.
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
    """What is wrong with the YAML itself."""

    kind: ProblemKind
    message: str
    start: int
    end: int
    pointer: str = ""


class Frontmatter:
    """The values of a frontmatter, and where in the file they stand. Pointers are JSON Pointers."""

    def __init__(self, start: int, end: int) -> None:
        self.start = start
        self.end = end
        """Where the YAML stands in the file, between the fences."""
        self.values: dict[str, Any] = {}
        self.spans: dict[str, Span] = {}
        self.keys: dict[str, Span] = {}
        self.plain: dict[str, str] = {}
        """For every value that was not quoted and is read as something else than text: what as (int, float, …)."""
        self.flow: set[str] = set()
        """The lists and tables that are written with brackets."""
        self.shared: set[str] = set()
        """The values that are only referred to (`*name`, `<<: *name`): their span is that of their key or list, and
        nobody edits it. What is merged into a table has no key of its own."""
        self.problems: list[FrontmatterProblem] = []
        self.whole = True
        """Whether it could be read as one piece of YAML."""
        self.left = MAX_VALUES
        """How many more values are read."""
        self.refused = False
        """Whether a cap was met: that is said once."""


_FENCE = lazy(r"\ufeff?---[ \t]*(\r?\n|\Z)")
_CLOSING = lazy(r"^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.MULTILINE)


def find_frontmatter(text: str) -> tuple[int, int, int] | None:
    """Where the YAML starts and ends, and where the body starts; None where the file does not open with a fence."""
    opening = _FENCE.match(text)
    if opening is None:
        return None
    closing = _CLOSING.search(text, opening.end(), opening.end() + MAX_CHARS + 8)
    if closing is None:
        return opening.end(), min(len(text), opening.end() + MAX_CHARS), len(text)
    return opening.end(), closing.start(), closing.end()


class _Composer(CParser, Resolver):
    """libyaml's parser, and the resolver of plain words; nothing that builds objects."""

    def __init__(self, text: str) -> None:
        CParser.__init__(self, text)
        Resolver.__init__(self)


def parse_frontmatter(text: str, start: int, end: int) -> Frontmatter:
    """Read the YAML between two offsets of a file."""
    found = Frontmatter(start, end)
    source = text[start:end].encode("utf-8", "replace").decode() if not text.isascii() else text[start:end]
    if len(source) != end - start:  # cannot happen: one character is replaced by one
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
    """Refuse what the parser should not see: libyaml recurses, and a deep enough text ends the process."""
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
"""A line that opens too many lists and tables, to its end or before something else; YAML has five ways to end one."""


def _compose(found: Frontmatter, source: str, offset: int) -> FrontmatterProblem | None:
    """Read one piece of YAML into `found`; what stops the parser is returned."""
    if source.startswith("\ufeff"):  # the parser passes over it without counting it
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
    at = mark.index if mark is not None else _count_chars(source, getattr(error, "position", None) or 0)
    at = min(at, max(0, len(source.rstrip()) - 1)) if at >= len(source.rstrip()) else at
    return FrontmatterProblem("syntax", reason, offset + at, offset + at + 1)


def _count_chars(source: str, size: int) -> int:
    """How many characters so many bytes are: where it refuses a character, the parser counts bytes."""
    return size if source.isascii() else len(source.encode()[:size].decode("utf-8", "ignore"))


# --- nodes → values --------------------------------------------------------------------------------------------------


class _Reader:
    """Reads the nodes of one piece of YAML into a frontmatter. Pointers lead the way, depth and count are capped."""

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
            if found.left < 0:  # whatever follows would be refused too, one by one
                break
        for key_node, value_node in merged:
            self.merge(values, value_node, key_node, pointer, depth + 1)
        return values

    def merge(self, values: dict[str, Any], node: Node, at: Node, pointer: str, depth: int) -> None:
        """Add what `<<: *base` refers to, as far as the table does not say it itself. It is shared: nobody edits it."""
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
                found.keys[inner] = span  # where its values are said to stand; the key itself stands elsewhere
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
                # libyaml ends a block of text where the next thing begins; it ends with its last line
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
        """Where a list or table in lines of its own ends: libyaml says where the next thing begins."""
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
        """Say once that a cap was met."""
        if not self.found.refused:
            self.found.refused = True
            what = "refers to itself too often" if self.found.shared else "has too many values, or is nested too deeply"
            self.found.problems.append(
                FrontmatterProblem("limit", f"the frontmatter {what}", span[0], span[0] + 1, pointer)
            )


def _is_merge(key: Node, value: Node) -> bool:
    """Whether a key is YAML's `<<`, with a table or several of them."""
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
    """A plain word as YAML 1.1 reads it; what has no plain value stays a text."""
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
    """Read every top-level key by itself; one whose YAML is broken has the rest of its lines as its value."""
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
    """Each top-level key, where its line starts and where it does, where its value starts, where the next line does."""
    keys = list(_TOP_KEY.finditer(text, start, end))
    for index, found in enumerate(keys):
        following = keys[index + 1].start() if index + 1 < len(keys) else end
        yield found["key"], (found.start(), found.start("key")), found.end(), following
