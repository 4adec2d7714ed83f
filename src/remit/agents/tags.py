"""Tags: the XML-like sections of an agent file's body, with its headings, code fences and comments.

Owns one linear pass over the body. This is no XML: `step_N+1_return` is a name here, an opening tag may never be
closed, and what stands in code or in a comment is no tag. Nothing is refused; what does not fit is kept and told.
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
"""How far inline code reaches on a line."""


class Tag:
    """An opening tag and what belongs to it. A tag that is never closed ends where its parent does."""

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
        """Whether something stands before it on its line."""
        self.parent = parent
        self.children: list[Tag] = []

    @property
    def name_span(self) -> Span:
        """Where the name stands in the opening tag."""
        return self.start + 1, self.start + 1 + len(self.name)

    @property
    def closing_name_span(self) -> Span | None:
        """Where the name stands in the closing tag; None where there is none."""
        has_closing = self.closed and self.end > self.inner_end
        return (self.inner_end + 2, self.inner_end + 2 + len(self.name)) if has_closing else None

    def find(self, *names: str) -> Tag | None:
        """The first child with one of these names."""
        return next((child for child in self.children if child.name in names), None)

    def find_all(self, *names: str) -> list[Tag]:
        """Every child with one of these names."""
        return [child for child in self.children if child.name in names]

    def walk(self) -> Iterator[Tag]:
        """The tag and all below it, in the order of the text."""
        waiting = [self]
        while waiting:
            tag = waiting.pop()
            yield tag
            waiting.extend(reversed(tag.children))

    def get(self, attribute: str) -> str | None:
        """The value of an attribute; empty for one without a value, None where there is none."""
        for found in _ATTRIBUTE.finditer(self.attributes):
            if found["name"] == attribute:
                return found["double"] or found["single"] or found["bare"] or ""
        return None

    def find_value(self, attribute: str) -> Span | None:
        """Where the value of an attribute stands, without its quotes; None where it has none."""
        for found in _ATTRIBUTE.finditer(self.attributes):
            if found["name"] == attribute:
                for form in ("double", "single", "bare"):
                    if found[form] is not None:
                        return self.attributes_start + found.start(form), self.attributes_start + found.end(form)
        return None


class Body:
    """What the pass over a body found."""

    def __init__(self, start: int, end: int) -> None:
        self.root = Tag("", start, start)
        """Holds the tags at the top; it has no name."""
        self.root.inner_end = self.root.end = end
        self.root.closed = True
        self.strays: list[Span] = []
        """Closing tags of names that were never opened."""
        self.headings: list[tuple[int, str, Span]] = []
        """Level, text and place of every heading."""
        self.fences: list[Span] = []
        self.comments: list[Span] = []
        self.unclosed: list[Tag] = []
        self.overflow = False
        """Whether there were more tags than anybody reads."""
        self.hidden: Span | None = None
        """A fence or a comment that never ends: no tag in it counts."""

    def walk(self) -> Iterator[Tag]:
        """Every tag, in the order of the text."""
        for tag in self.root.children:
            yield from tag.walk()

    def find(self, *names: str) -> Tag | None:
        """The first tag at the top with one of these names, else the first anywhere."""
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
    # the first kind is strict, because only there may an angle bracket stand between quotes: type="array<string>"
    r"(?P<attributes>(?:\s{1,9}[\w-]{1,40}=\"[^\"\n]{0,100}\"){1,6}\s{0,9}(?=/?>)|\s[^<>]{0,400}(?=>))?(?P<empty>/?)>)|`"
)


def scan_body(text: str, start: int) -> Body:
    """Find every tag from an offset of the file on."""
    body = Body(start, len(text))
    _find_lines(body, text, start)
    _find_tags(body, text, start)
    return body


def _find_lines(body: Body, text: str, start: int) -> None:
    """Fences and headings; a heading inside a fence is none."""
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
                too_deep[found["name"]] -= 1  # it closes a tag that was too deep to be followed
            elif not _add(body, stack, counts, found):
                too_deep[found["name"]] = too_deep.get(found["name"], 0) + 1
    known = len(body.unclosed)
    while len(stack) > 1:
        _leave_open(body, stack.pop(), len(text))
    if body.overflow:  # the rest was not read: nobody knows whether these are closed there
        del body.unclosed[known:]


def _end_comment(body: Body, text: str, at: int) -> int:
    end = text.find("-->", at + 4)
    if end < 0:
        body.hidden = at, len(text)
    end = len(text) if end < 0 else end + 3
    body.comments.append((at, end))
    return end


def _end_code(text: str, at: int) -> int:
    """Where inline code ends: at as many backticks on the same line, else it is none."""
    length = 1
    while text.startswith("`", at + length):
        length += 1
    line_end = text.find("\n", at, at + MAX_CODE)
    closing = text.find("`" * length, at + length, min(len(text), at + MAX_CODE) if line_end < 0 else line_end)
    return at + length if closing < 0 else closing + length


def _add(body: Body, stack: list[Tag], counts: dict[str, int], found: re.Match[str]) -> bool:
    """Take an opening or a closing tag; whether it is not too deep for that."""
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
            _leave_open(body, tag, found.start())
    attributes = found["attributes"] or ""
    empty = bool(found["empty"]) or attributes.endswith("/")
    tag = Tag(name, found.start(), found.end(), attributes=attributes.strip().rstrip("/"), parent=stack[-1])
    tag.attributes_start = found.end("name") + len(attributes) - len(attributes.lstrip())
    tag.inline = _stands_in_line(found.string, found.start())
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


def _stands_in_line(text: str, at: int) -> bool:
    """Whether something stands before an offset on its line; a line is not followed for ever."""
    before = text[max(0, at - MAX_INDENT) : at]
    line = before[before.rfind("\n") + 1 :]
    return bool(line.strip()) or len(line) == MAX_INDENT


def _leave_open(body: Body, tag: Tag, end: int) -> None:
    """A tag that is never closed holds what follows, up to where its parent ends; a word in a line holds nothing."""
    tag.inner_end = tag.end = end
    body.unclosed.append(tag)
    if tag.inline and tag.parent is not None:
        tag.inner_end = tag.end = tag.inner_start
        for child in tag.children:
            child.parent = tag.parent
        tag.parent.children.extend(tag.children)
        tag.children = []
