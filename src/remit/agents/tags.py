"""Tags: the XML-like sections of an agent file's body, with its headings, code fences and comments.

Scans the body once, in linear time. The tags aren't XML: `step_N+1_return` is a valid name, opening tags may stay
unclosed, and code and comments contain no tags. Nothing is rejected; unmatched tags are kept and reported.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING

from remit.lazy_regex import lazy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.agents.frontmatter import Span

MAX_TAGS = 20_000
MAX_DEPTH = 64
MAX_INDENT = 200
MAX_CODE = 2_000
"""Maximum length of inline code."""


class Tag:
    """A tag with its attributes and children. An unclosed tag ends where its parent ends."""

    __slots__ = (
        "attributes", "attributes_start", "children", "closed", "end", "inline", "inner_end", "inner_start", "name",
        "parent", "start",
    )  # fmt: skip

    def __init__(
        self, name: str, start: int, inner_start: int, *, attributes: str = "", parent: Tag | None = None
    ) -> None:
        self.name = name
        self.start = start
        self.inner_start = inner_start
        self.inner_end = -1
        self.end = -1
        self.attributes = attributes
        self.attributes_start = -1
        self.closed = False
        self.inline = False
        """Whether other text precedes it on its line."""
        self.parent = parent
        self.children: list[Tag] = []

    @property
    def name_span(self) -> Span:
        """The name's span in the opening tag."""
        return self.start + 1, self.start + 1 + len(self.name)

    @property
    def closing_name_span(self) -> Span | None:
        """The name's span in the closing tag, or None if the tag isn't closed."""
        has_closing = self.closed and self.end > self.inner_end
        return (self.inner_end + 2, self.inner_end + 2 + len(self.name)) if has_closing else None

    def find(self, *names: str) -> Tag | None:
        """Return the first child with one of these names, or None."""
        return next((child for child in self.children if child.name in names), None)

    def find_all(self, *names: str) -> list[Tag]:
        """Return all children with one of these names."""
        return [child for child in self.children if child.name in names]

    def walk(self) -> Iterator[Tag]:
        """Yield the tag and all its descendants, in the order of the text."""
        waiting = [self]
        while waiting:
            tag = waiting.pop()
            yield tag
            waiting.extend(reversed(tag.children))

    def get(self, attribute: str) -> str | None:
        """Return the value of an attribute, "" if it has no value, or None if it is missing."""
        for found in _ATTRIBUTE.finditer(self.attributes):
            if found["name"] == attribute:
                return found["double"] or found["single"] or found["bare"] or ""
        return None

    def find_value(self, attribute: str) -> Span | None:
        """Return the span of an attribute's value without quotes, or None."""
        for found in _ATTRIBUTE.finditer(self.attributes):
            if found["name"] == attribute:
                for form in ("double", "single", "bare"):
                    if found[form] is not None:
                        return self.attributes_start + found.start(form), self.attributes_start + found.end(form)
        return None


class Body:
    """The result of scanning a body."""

    def __init__(self, start: int, end: int) -> None:
        self.root = Tag("", start, start)
        """The parent of the top-level tags; it has no name."""
        self.root.inner_end = self.root.end = end
        self.root.closed = True
        self.strays: list[Span] = []
        """Closing tags without an opening tag."""
        self.headings: list[tuple[int, str, Span]] = []
        """Level, text and span of each heading."""
        self.fences: list[Span] = []
        self.comments: list[Span] = []
        self.unclosed: list[Tag] = []
        self.overflow = False
        """Whether the body has more tags than the limit."""
        self.hidden: Span | None = None
        """The span of an unclosed code fence or comment, in which tags don't count; None if there is none."""

    def walk(self) -> Iterator[Tag]:
        """Yield all tags, in the order of the text."""
        for tag in self.root.children:
            yield from tag.walk()

    def find(self, *names: str) -> Tag | None:
        """Return the first top-level tag with one of these names, else the first at any level."""
        return self.root.find(*names) or next((tag for tag in self.walk() if tag.name in names), None)


_ATTRIBUTE = lazy(
    r"""(?P<name>[A-Za-z_][\w-]{0,60})(?:\s*=\s*(?:"(?P<double>[^"]{0,300})"|'(?P<single>[^']{0,300})'|(?P<bare>[^\s"'>]{1,300})))?"""
)
_LINE = lazy(
    r"^[ \t]{0,60}(?:[-*+>][ \t]{1,20})?(?P<fence>`{3,}|~{3,})(?P<info>[^\n]*)"
    r"|^(?P<level>#{1,6})[ \t]{1,20}(?P<title>[^\r\n]*)",
    re.MULTILINE,
)
_TAG = lazy(
    r"<(?:(?P<comment>!--)"
    r"|(?P<slash>/?)(?P<name>[A-Za-z][\w.+-]{0,80})"
    # the first alternative is strict, because only there may quotes contain an angle bracket: type="array<string>"
    r"(?P<attributes>(?:\s{1,9}[\w-]{1,40}=\"[^\"\n]{0,100}\"){1,6}\s{0,9}(?=/?>)|\s[^<>]{0,400}(?=>))?(?P<empty>/?)>)|`"
)


def scan_body(text: str, start: int) -> Body:
    """Scan a file for tags from an offset."""
    body = Body(start, len(text))
    _find_lines(body, text, start)
    _find_tags(body, text, start)
    return body


def _find_lines(body: Body, text: str, start: int) -> None:
    """Find code fences, and headings outside of them."""
    opened: tuple[int, str] | None = None
    for line in _LINE.finditer(text, start):
        fence = line["fence"]
        if fence is None:
            if opened is None:
                body.headings.append((len(line["level"]), line["title"].strip(), line.span()))
        elif opened is None:
            if fence[0] == "~" or "`" not in line["info"]:
                opened = line.start(), fence
        elif fence[0] == opened[1][0] and len(fence) >= len(opened[1]) and not line["info"].strip():
            body.fences.append((opened[0], line.end()))
            opened = None
    if opened is not None:
        body.hidden = opened[0], len(text)
        body.fences.append(body.hidden)


def _find_tags(body: Body, text: str, start: int) -> None:
    stack = [body.root]
    counts: dict[str, int] = {}
    too_deep: dict[str, int] = {}
    ends = [end for _, end in body.fences]
    pos, found_tags = start, 0
    while found := _TAG.search(text, pos):
        at, pos = found.span()
        index = bisect_right(ends, at)
        if index < len(ends) and body.fences[index][0] <= at:
            pos = max(pos, ends[index])
        elif found["comment"]:
            pos = _end_comment(body, text, at)
        elif found["name"] is None:
            pos = _end_code(text, at)
        else:
            found_tags += 1
            if found_tags > MAX_TAGS:
                body.overflow = True
                break
            if found["slash"] and too_deep.get(found["name"]):
                too_deep[found["name"]] -= 1  # it closes a tag beyond the maximum depth
            elif not _add(body, stack, counts, found):
                too_deep[found["name"]] = too_deep.get(found["name"], 0) + 1
    known = len(body.unclosed)
    while len(stack) > 1:
        _end_unclosed(body, stack.pop(), len(text))
    if body.overflow:  # the rest wasn't scanned and may close these tags
        del body.unclosed[known:]


def _end_comment(body: Body, text: str, at: int) -> int:
    end = text.find("-->", at + 4)
    if end < 0:
        body.hidden = at, len(text)
    end = len(text) if end < 0 else end + 3
    body.comments.append((at, end))
    return end


def _end_code(text: str, at: int) -> int:
    """Return the end of inline code, which closes with the same number of backticks on the same line."""
    length = 1
    while text.startswith("`", at + length):
        length += 1
    line_end = text.find("\n", at, at + MAX_CODE)
    closing = text.find("`" * length, at + length, min(len(text), at + MAX_CODE) if line_end < 0 else line_end)
    return at + length if closing < 0 else closing + length


def _add(body: Body, stack: list[Tag], counts: dict[str, int], found: re.Match[str]) -> bool:
    """Add an opening or closing tag. Returns False if it is nested too deeply."""
    name = found["name"]
    if found["slash"]:
        if not counts.get(name):
            body.strays.append(found.span())
            return True
        while True:
            tag = stack.pop()
            counts[tag.name] -= 1
            if tag.name == name:
                tag.inner_end, tag.end, tag.closed = found.start(), found.end(), True
                return True
            _end_unclosed(body, tag, found.start())
    attributes = found["attributes"] or ""
    empty = bool(found["empty"]) or attributes.endswith("/")
    tag = Tag(name, found.start(), found.end(), attributes=attributes.strip().rstrip("/"), parent=stack[-1])
    tag.attributes_start = found.end("name") + len(attributes) - len(attributes.lstrip())
    tag.inline = _is_inline(found.string, found.start())
    stack[-1].children.append(tag)
    if empty:
        tag.inner_end, tag.end, tag.closed = tag.inner_start, tag.inner_start, True
    elif len(stack) <= MAX_DEPTH:
        stack.append(tag)
        counts[name] = counts.get(name, 0) + 1
    else:
        tag.inner_end = tag.end = tag.inner_start
        return False
    return True


def _is_inline(text: str, at: int) -> bool:
    """Whether other text precedes an offset on its line. Only a limited part of a line is examined."""
    before = text[max(0, at - MAX_INDENT) : at]
    line = before[before.rfind("\n") + 1 :]
    return bool(line.strip()) or len(line) == MAX_INDENT


def _end_unclosed(body: Body, tag: Tag, end: int) -> None:
    """End unclosed tags where their parent ends. An inline tag that isn't closed has no content."""
    tag.inner_end = tag.end = end
    body.unclosed.append(tag)
    if tag.inline and tag.parent is not None:
        tag.inner_end = tag.end = tag.inner_start
        for child in tag.children:
            child.parent = tag.parent
        tag.parent.children.extend(tag.children)
        tag.children = []
