"""Checks the sections of standard agents by classes of checks, which the rows of the table in `sections` combine.

The checks find missing or empty sections, parts and attributes, missing usual names, attributes with an invalid choice,
and texts that are too short or too long.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from remit.agents import edits
from remit.agents.default_sections import ARTIFACTS, render_section
from remit.agents.outline import map_parts
from remit.agents.rules.register import AgentFileContext, AgentViolation
from remit.lazy_regex import lazy
from remit.light_namedtuple import NamedTuple
from remit.model import NOTHING
from remit.sentences import count_statements
from remit.spelling import find_similar

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from remit.agents.document import AgentDocument
    from remit.agents.frontmatter import Span
    from remit.agents.outline import Outline
    from remit.agents.tags import Tag
    from remit.model import Severity

Named = tuple["Tag", str]
"""A tag, and its label in messages."""


def find_top(document: AgentDocument) -> Span:
    """Return the span for diagnostics on missing sections: the title, else the body's start."""
    if document.outline.title is not None:
        return document.outline.title[1]
    end = len(document.text)
    at = min(document.body_start, max(0, end - 1))
    return at, min(at + 1, end)


def find_kind(document: AgentDocument) -> str:
    """Return the agent's type, or ""."""
    kind = document.get("agent_type")
    return kind if isinstance(kind, str) else ""


def shorten(text: str) -> str:
    """Shorten a text of the file for a message."""
    text = " ".join(text[:200].split())
    return text if len(text) <= 60 else f"{text[:59]}…"  # noqa: PLR2004 - what fits in a message


def is_empty(document: AgentDocument, tag: Tag | None) -> bool:
    """Whether a section is empty or has only comments."""
    if tag is None:
        return True
    inner = document.text_of(tag)
    return not inner or (inner.startswith("<!--") and not COMMENT.sub("", inner[:4000]).strip())


COMMENT = lazy(r"<!--[^>]{0,2000}-->")
_WHOLE_BLANK = lazy(
    r"(?:(?:[-*+]|\d{1,3}[.)])?[ \t]{0,20}(?:\{[^{}\n]{1,200}\}|\.{3}|…|TODO|TBD|FIXME)[.:]?\s{0,200}+){1,20}\Z"
)


def find_blank(text: str) -> str:
    """Return the blank that a text consists of. A blank inside a longer text is for the agent."""
    whole = _WHOLE_BLANK.match(text[:4000])
    return whole[0].strip().split("\n")[0] if whole else ""


def find_missing_parts(
    document: AgentDocument, tag: Tag, parts: Iterable[str], *, filled: bool = False,
    other_names: Mapping[str, tuple[str, ...]] = NOTHING,
) -> list[str]:  # fmt: skip
    """Return the parts that a tag lacks, also under a misspelled name. `filled` includes empty parts."""
    slipped, children = document.outline.slipped(tag), map_parts(tag)
    missing = []
    for part in parts:
        child = children.get(part)
        if child is None and part in other_names:
            child = next((children[name] for name in other_names[part] if name in children), None)
        if part not in slipped and (child is None or (filled and is_empty(document, child))):
            missing.append(part)
    return missing


def list_tags(parts: Iterable[str]) -> str:
    """Render parts as tags for a hint."""
    return " and ".join(f"<{part}>" for part in parts)


class SectionNeeded(NamedTuple):
    """Reports a required section that is missing, empty, or without its tags."""

    name: str
    hint: str
    default: Callable[[AgentDocument], str] | None = None
    """The content that the fix writes, or "" if only the author knows it."""
    item: str = ""
    """The tag that it must contain."""
    item_hint: str = ""
    message: str = "<{name}> is missing"
    when: Callable[[AgentDocument], bool] | None = None
    may_be_empty: bool = False

    def check(self, document: AgentDocument) -> Iterator[AgentViolation]:
        """Report the section."""
        tag, kind = document.outline.get(self.name), find_kind(document)
        if self.when is not None and not self.when(document):
            return
        hint = self.hint.format(artifact=ARTIFACT_WORDS.get(kind, "file"))
        if tag is None and document.outline.lacks(self.name):
            inside = self.default(document) if self.default is not None else ""
            section = render_section(self.name, inside)
            yield AgentViolation(
                self.message.format(name=self.name, kind=kind),
                hint,
                find_top(document),
                edits=edits.add_section(document, section, name=self.name) if inside else (),
            )
        elif tag is not None and self.item and not self._has_items(document.outline, tag):
            yield AgentViolation(f"<{self.name}> has no <{self.item}>", self.item_hint, tag.name_span,
                                 edits=self._fill(document, tag) if not document.text_of(tag) else ())  # fmt: skip
        elif tag is not None and not self.item and not self.may_be_empty and is_empty(document, tag):
            yield AgentViolation(f"<{tag.name}> is empty", hint, tag.name_span, edits=self._fill(document, tag))

    def _fill(self, document: AgentDocument, tag: Tag) -> tuple[edits.Change, ...]:
        inside = self.default(document) if self.default is not None else ""
        return edits.add_child(document, tag, inside) if inside else ()

    def _has_items(self, outline: Outline, tag: Tag) -> bool:
        return bool(outline.slipped(tag)) or any(child.name == self.item for child in tag.walk())


ARTIFACT_WORDS = {kind: word for kind, (word, _) in ARTIFACTS.items()} | {"research": "report"}
"""The artifact of an agent's type."""


class PartsNeeded(NamedTuple):
    """Reports required parts of tags that are missing or, with `filled`, empty."""

    find: Callable[[AgentDocument], Iterable[Named]]
    parts: tuple[str, ...]
    """`@type` is an attribute."""
    message: str
    """With {tag}, {label} and {missing}."""
    hint: str = ""
    """Empty: the tags to add."""
    other_names: Mapping[str, tuple[str, ...]] = NOTHING
    filled: bool = False
    severity: Callable[[list[str]], Severity | None] | None = None
    default: Callable[[AgentDocument, Tag, list[str]], str] | None = None
    """The text that the fix adds, or "" if only the author knows it."""

    def check(self, document: AgentDocument) -> Iterator[AgentViolation]:
        """Report each tag that lacks parts, once."""
        attributes = [part[1:] for part in self.parts if part.startswith("@")]
        parts = [part for part in self.parts if not part.startswith("@")]
        for tag, label in self.find(document):
            missing = [name for name in attributes if not (tag.get(name) or "").strip()]
            missing += find_missing_parts(document, tag, parts, filled=self.filled, other_names=self.other_names)
            if missing:
                message = self.message.format(tag=tag.name, label=label, missing=", ".join(missing))
                lines = self.default(document, tag, missing) if self.default is not None else ""
                yield AgentViolation(
                    " ".join(message.split()),
                    self.hint or f"Add {list_tags(missing)}.",
                    tag.name_span,
                    severity=self.severity(missing) if self.severity is not None else None,
                    edits=edits.add_child(document, tag, lines) if lines else (),
                )


class AttributeNeeded(NamedTuple):
    """Reports tags without a required attribute."""

    find: Callable[[AgentDocument], Iterable[Named]]
    attribute: str
    message: str
    """With {label}."""
    hint: str
    severity: Severity | None = None
    default: Callable[[str], str] | None = None
    """The value that the fix adds, by the tag's name, or "" if only the author knows it."""

    def check(self, document: AgentDocument) -> Iterator[AgentViolation]:
        """Report each tag without the attribute."""
        for tag, label in self.find(document):
            written = tag.get(self.attribute)
            if (written or "").strip():
                continue
            value = self.default(label) if self.default is not None and written is None else ""
            at = tag.attributes_start + len(tag.attributes.rstrip()) if tag.attributes else tag.name_span[1]
            yield AgentViolation(
                self.message.format(label=shorten(label)),
                self.hint,
                tag.name_span,
                severity=self.severity,
                edits=((at, at, f' {self.attribute}="{value}"'),) if value else (),
            )


class AttributeChoice(NamedTuple):
    """Reports attributes with an invalid choice. Blanks in braces are skipped."""

    find: Callable[[AgentDocument], Iterable[Named]]
    attribute: str
    choices: tuple[str, ...]
    message: str
    """With {value}."""
    other_words: Mapping[str, str] = NOTHING
    """Other names of the choices."""
    accepted: Collection[str] = ()
    """Other valid words, in lower case."""
    is_first_word: bool = False
    """Whether only the first word is compared, as in `array[string]`."""

    def check(self, document: AgentDocument) -> Iterator[AgentViolation]:
        """Report each invalid value, with the similar choice."""
        for tag, _ in self.find(document):
            written, span = tag.get(self.attribute) or "", tag.find_value(self.attribute)
            if not written.strip() or span is None or "{" in written:
                continue
            found = _WORD.search(written) if self.is_first_word else _VALUE.search(written)
            word = found[0] if found else ""
            if word in self.choices or word.lower() in self.accepted:
                continue
            meant = self.other_words.get(word.lower()) or find_similar(word, self.choices)
            start = span[0] + (found.start() if found else 0)
            yield AgentViolation(
                self.message.format(value=shorten(written)),
                f"Did you mean {meant}?" if meant else f"Write one of {', '.join(self.choices)}.",
                span,
                edits=((start, start + len(word), meant),) if meant and word else (),
            )


_WORD = lazy(r"[A-Za-z_]{1,40}")
_VALUE = lazy(r"\S(?:.*\S)?")


class UsualNames(NamedTuple):
    """Reports usual names that a section lacks."""

    section: str
    names: Callable[[AgentDocument], list[str]]
    """The usual names for this agent."""
    given: Callable[[AgentDocument], Collection[str]]
    """The names in the section."""
    message: str
    """With {names}, {s} and {are}."""
    hint: str
    render: Callable[[str], str]
    severity: Callable[[list[str]], Severity | None] | None = None

    def check(self, document: AgentDocument) -> Iterator[AgentViolation]:
        """Report missing names, unless the section has no names or a misspelled tag."""
        section = document.outline.get(self.section)
        given = self.given(document)
        if section is None or not given or document.outline.slipped(section):
            return
        missing = [name for name in self.names(document) if name not in given]
        if missing:
            many = len(missing) > 1
            yield AgentViolation(
                self.message.format(names=", ".join(missing), s="s" * many, are="are" if many else "is"),
                self.hint,
                section.name_span,
                severity=self.severity(missing) if self.severity is not None else None,
                edits=edits.add_child(document, section, "\n".join(map(self.render, missing))),
            )


class SentenceRange(NamedTuple):
    """Reports a section with too few or too many sentences. The items of a list count as sentences."""

    section: str
    least: int
    most: int
    hint: str
    most_items: int = 0
    """Maximum items of a list. 0: as for sentences."""

    def check(self, document: AgentDocument) -> Iterator[AgentViolation]:
        """Report the section. Other rules report empty sections and blanks."""
        tag = document.outline.get(self.section)
        text = document.text_of(tag) if tag is not None and tag.closed and not tag.children else ""
        if tag is None or not text or is_empty(document, tag) or find_blank(text):
            return
        count = count_statements(text)
        is_list = self.most_items > 0 and _LIST.search(text[:4000]) is not None
        if not self.least <= count <= (self.most_items if is_list else self.most):
            yield AgentViolation(
                f"<{self.section}> has {count} sentence{'s' * (count != 1)}, expected {self.least} to {self.most}",
                self.hint,
                tag.name_span,
            )


class OtherName(NamedTuple):
    """Reports tags with an alternative name, all of them once."""

    find: Callable[[AgentDocument], Iterable[Named]]
    """The tags, each with the standard's name."""
    hint: str
    message: str = "<{tag}> is read as <{name}>"
    more: str = ""
    """The addition to the message if one name occurs several times, with {count}."""

    def check(self, document: AgentDocument) -> Iterator[AgentViolation]:
        """Report the first tag; the fix renames all."""
        found = list(self.find(document))
        if found:
            pairs = dict.fromkeys((tag.name, name) for tag, name in found)
            message = " and ".join(self.message.format(tag=tag, name=name) for tag, name in pairs)
            more = self.more.format(count=len(found)) if len(found) > len(pairs) else ""
            changes = tuple(change for tag, name in found for change in edits.rename_tag(tag, name))
            yield AgentViolation(message + more, self.hint, found[0][0].name_span, edits=changes)


class Repeated(NamedTuple):
    """Reports duplicate tags."""

    find: Callable[[AgentDocument], Iterable[Named]]
    """The tags, each with the label that must be unique. Tags without a label are skipped."""
    message: str
    """With {label}."""
    hint: str
    is_same: Callable[[AgentDocument, Tag, Tag], bool]
    """Whether the fix can remove the second tag."""

    def check(self, document: AgentDocument) -> Iterator[AgentViolation]:
        """Report each tag except the first."""
        seen: dict[str, Tag] = {}
        for tag, label in self.find(document):
            first = seen.setdefault(label, tag)
            if label and first is not tag:
                again = f", the second time as <{tag.name}>" if tag.name != first.name else ""
                removed = (cut_tag(document, tag),) if tag.closed and self.is_same(document, first, tag) else ()
                yield AgentViolation(self.message.format(label=shorten(label)) + again, self.hint, tag.name_span,
                                     edits=removed)  # fmt: skip


def cut_tag(document: AgentDocument, tag: Tag) -> edits.Change:
    """Return the span of a tag with its content, extended to whole lines if possible."""
    text = document.text
    start = text.rfind("\n", 0, tag.start) + 1
    if text[start : tag.start].strip():
        return tag.start, tag.end, ""
    end = text.find("\n", tag.end) + 1 or len(text)
    if text[tag.end : end].strip():
        return tag.start, tag.end, ""
    following = _BLANK_LINE.match(text, end)
    return start, following.end() if following else end, ""


_BLANK_LINE = lazy(r"[ \t]{0,200}\r?\n")

_LIST = lazy(r"^[ \t]{0,60}(?:[-*+•]|\d{1,3}[.)])[ \t]", re.MULTILINE)

Shape = (
    SectionNeeded | PartsNeeded | AttributeNeeded | AttributeChoice | UsualNames | SentenceRange | OtherName | Repeated
)


def make_check(shapes: tuple[Shape, ...]) -> Callable[[AgentFileContext], Iterator[AgentViolation]]:
    """Return the check of a rule that is a table row."""

    def check(case: AgentFileContext) -> Iterator[AgentViolation]:
        for shape in shapes:
            yield from shape.check(case.document)

    return check
