"""Headings: what the Markdown headings of an old agent file say about its parts.

Owns which heading means which section of the standard, which lines belong to it, and which parts of a workflow are its
steps. Only what is clear is told: a passage that a tag begins or ends in the middle of is nobody's.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from remit.lazy import lazy
from remit.quick_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.agents.document import Document
    from remit.agents.frontmatter import Span
    from remit.agents.tags import Tag

MEANINGS: dict[str, tuple[str, ...]] = {
    "role": ("role", "your role", "agent role", "role and identity", "identity", "persona", "who you are"),
    "task": (
        "task", "your task", "objective", "objectives", "goal", "goals", "mission", "your mission", "purpose",
        "agent purpose", "overview", "description",
    ),
    "process_flow": (
        "workflow", "your workflow", "process", "process flow", "execution flow", "execution", "execution process",
        "execution protocol", "execution steps", "execution workflow", "workflow steps", "workflow phases",
        "workflow execution", "steps", "process steps", "procedure", "methodology", "approach", "your approach",
        "instructions", "protocol", "workflow protocol", "core workflow", "research execution process", "how you work",
    ),
    "error_handling": ("error handling", "errors", "error recovery", "failure handling", "handling errors"),
    "quality_standards": (
        "quality standards", "quality criteria", "quality", "success criteria", "completion criteria",
        "quality requirements", "quality checklist", "best practices", "critical requirements",
    ),
}  # fmt: skip
"""How old files call the sections of the standard, the clearest first."""

_MEANT = {word: (name, rank) for name, words in MEANINGS.items() for rank, word in enumerate(words)}
_DECORATION = lazy(r"\[[^\]]{0,60}\]|[^\w\s]|^\s*\d{1,3}(?=[.)\s])")


class Passage(NamedTuple):
    """A heading and the lines that belong to it."""

    title: str
    level: int
    start: int
    """Where the heading begins."""
    inner_start: int
    inner_end: int
    """Where its first and last visible lines begin and end."""


def find_passages(document: Document) -> dict[str, Passage]:
    """For each section that some heading clearly stands for: the passage below it."""
    found: dict[str, tuple[int, Passage]] = {}
    for passage in list_passages(document):
        name, rank = _MEANT.get(" ".join(_DECORATION.sub(" ", passage.title.lower()).split()), ("", 0))
        if name and passage.inner_start < passage.inner_end and (name not in found or rank < found[name][0]):
            found[name] = rank, passage
    return {name: passage for name, (_, passage) in found.items()}


def list_passages(document: Document) -> Iterator[Passage]:
    """Every heading below the title that stands in no tag, with its lines up to the next one of its level."""
    headings = [each for each in document.body.headings if not _is_inside(document, each[2][0])]
    for index, (level, title, (start, end)) in enumerate(headings):
        if level == 1:
            continue
        following = (span[0] for other, _, span in headings[index + 1 :] if other <= level)
        inner = trim(document.text, end, next(following, len(document.text)))
        if is_whole(document, inner):
            yield Passage(title, level, start, *inner)


def _is_inside(document: Document, at: int, host: Tag | None = None) -> bool:
    """Whether a place is in a tag of the body, or of the tag that is looked through, or in a comment."""
    tags = ((tag.start, tag.end) for tag in (host or document.body.root).children)
    return any(start < at < end for start, end in (*tags, *document.body.comments))


_RULE = lazy(r"(?:^|\n)[ \t]{0,3}(?:-{3,}|\*{3,}|_{3,})[ \t]*\Z")


def trim(text: str, start: int, end: int) -> Span:
    """The visible lines between two places, without a rule that closes them."""
    inner = text[start:end]
    for _ in range(3):
        inner = _RULE.sub("", inner.rstrip())
    lines = len(inner) - len(inner.lstrip())
    first = start + lines
    first = max(start, text.rfind("\n", start, first) + 1) if lines < len(inner) else first
    return first, max(first, start + len(inner.rstrip()))


def is_whole(document: Document, span: Span, host: Tag | None = None) -> bool:
    """Whether no tag, fence or comment begins or ends in the middle of a span of the body, or of the tag it is in."""
    start, end = span
    spans = [(tag.start, tag.end) for tag in (host or document.body.root).children if tag.closed]
    spans += [*document.body.fences, *document.body.comments]
    around_or_apart = ((one <= start and end <= other) or other <= start or end <= one for one, other in spans)
    inside = (start <= one <= other <= end for one, other in spans)
    return all(apart or whole for apart, whole in zip(around_or_apart, inside, strict=True))


def find_paragraph(document: Document, start: int, end: int) -> Span | None:
    """The first lines between two places, if they are a paragraph of prose: no list, no table, no code, no heading."""
    at, stop = trim(document.text, start, end)
    blank = _BLANK.search(document.text, at, stop)
    stop = len(document.text[: blank.start()].rstrip()) if blank else stop
    lines = document.text[at:stop].split("\n")
    if at >= stop or any(_NO_PROSE.match(line) for line in lines) or not is_whole(document, (at, stop)):
        return None
    return at, stop


_BLANK = lazy(r"\n[ \t\r]*\n")
_NO_PROSE = lazy(r"[ \t]*(?:[-*+][ \t]|\d{1,3}[.)][ \t]|#|\||>|```|~~~|<|---)")


# --- steps -----------------------------------------------------------------------------------------------------------


class Part(NamedTuple):
    """What is one step of a workflow: its title, where it begins and ends, and where its own lines begin."""

    title: str
    start: int
    inner_start: int
    end: int


_STEP_TITLE = lazy(r"(?:step|stage|phase|part)\b|\d{1,3}[.):]?\s", re.IGNORECASE)
_STEP_NUMBER = lazy(
    r"(?:(?:step|stage|phase|part)[ \t]+)?\d{1,3}(?:\.\d{1,3}|[a-z](?=[ \t.):]))?[ \t]*[.):\u2013\u2014-]*[ \t]*",
    re.IGNORECASE,
)
_BOLD = lazy(r"\*\*(?P<text>[^*\n]{2,100})\*\*")
_ITEM = lazy(r"^(?P<number>\d{1,3})[.)][ \t]+(?P<text>[^\n]*)", re.MULTILINE)
_OUTSIDE = lazy(r"\n[ \t\r]*\n(?=[^\s\d])")


def find_parts(document: Document, span: Span, *, level: int = 1, host: Tag | None = None) -> list[Part]:
    """The steps of a workflow: headings that count, else the items of a numbered list; none where neither is clear."""
    parts = _find_headed(document, span, level, host) or _find_numbered(document, span, host)
    return parts if all(is_whole(document, (part.start, part.end), host) for part in parts) else []


def _find_headed(document: Document, span: Span, level: int, host: Tag | None) -> list[Part]:
    start, end = span
    inside = [each for each in document.body.headings if start <= each[2][0] < end and each[0] > level]
    inside = [each for each in inside if not _is_inside(document, each[2][0], host)]
    top = min((each[0] for each in inside), default=0)
    steps = [each for each in inside if each[0] == top]
    counted = [each for each in steps if _STEP_TITLE.match(each[1].lstrip("*_ "))]
    if len(counted) < 2 or 2 * len(counted) < len(steps):  # noqa: PLR2004 - one step is no workflow
        return []
    bounds = [*(each[2][0] for each in steps), end]
    return [
        Part(clean_title(title), at, min(heading_end, stop), trim(document.text, heading_end, stop)[1])
        for (_, title, (at, heading_end)), stop in zip(steps, bounds[1:], strict=True)
    ]


def _find_numbered(document: Document, span: Span, host: Tag | None) -> list[Part]:
    """The first list that counts from 1, at the left margin and outside of code."""
    start, end = span
    items: list[re.Match[str]] = []
    for item in _ITEM.finditer(document.text, start, end):
        in_code = any(one <= item.start() < other for one, other in document.body.fences)
        if in_code or _is_inside(document, item.start(), host):
            continue
        if int(item["number"]) == len(items) + 1:
            items.append(item)
        elif items:
            break
    if len(items) < 2:  # noqa: PLR2004 - one step is no workflow
        return []
    outside = _OUTSIDE.search(document.text, items[-1].end(), end)
    bounds = [*(item.start() for item in items), outside.start() if outside else end]
    return [
        Part(clean_title(item["text"]), item.start(), item.start(), trim(document.text, item.start(), stop)[1])
        for item, stop in zip(items, bounds[1:], strict=True)
    ]


_MARKUP = lazy(r"[*_`<>#]+")


def clean_title(text: str) -> str:
    """A heading or the beginning of an item as one plain line."""
    bold = _BOLD.match(text.strip())
    text = (bold["text"] if bold else text).strip().lstrip("*_ ")
    numbered = _STEP_NUMBER.match(text)
    plain = " ".join(_MARKUP.sub("", text[numbered.end() :] if numbered else text).split())
    return (plain if len(plain) <= _MAX_TITLE else plain[:_MAX_TITLE].rpartition(" ")[0] + " …").rstrip(":.")


_MAX_TITLE = 100
