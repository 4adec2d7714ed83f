"""Outline: the sections and steps of an agent file's body.

Decides which tag is which section. A tag with a misspelled or alternative name, or inside an unclosed tag, still counts
as the section, so that one mistake causes one diagnostic and not one for each part that seems to be missing.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Literal

from remit.lazy_regex import lazy
from remit.light_namedtuple import NamedTuple
from remit.spelling import is_misspelled

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from remit.agents.frontmatter import Span
    from remit.agents.tags import Body, Tag

CONTEXT_PARTS = ("specialist_domain", "task_scope", "integration", "lifecycle_integration")
STEP_PARTS = ("action", "process", "checkpoint")
CHECKPOINT_ALIASES = ("output", "validation")
DELEGATE_PARTS = ("when", "context", "expected_return", "integration")
ARTIFACT_PARTS = ("path", "content", "validation")
ERROR_PARTS = ("detection", "handling", "recovery", "logging")


class Section(NamedTuple):
    """A section of the standard."""

    name: str
    parts: tuple[str, ...] = ()
    """The tags directly in it. If there is only one, it can be repeated."""
    inner_parts: tuple[str, ...] = ()
    """The tags in each of these parts."""
    other_names: tuple[str, ...] = ()
    """Alternative names (C12)."""
    anywhere: bool = False
    """Whether the name has no other meaning, so that the section counts at any place."""


STANDARD = (
    Section("context", CONTEXT_PARTS),
    Section("role"),
    Section("task"),
    Section("inputs_required", ("parameter",), anywhere=True),
    Section("inputs_forbidden", ("forbidden",), anywhere=True),
    Section("process_flow", other_names=("workflow_execution",), anywhere=True),  # the name in commands
    Section("delegation_patterns", ("delegate_to",), DELEGATE_PARTS, anywhere=True),
    Section("artifact_creation", ("artifact",), ARTIFACT_PARTS),
    Section("return_format", ("structure", "validation"), other_names=("output_specification",)),
    Section("quality_standards"),
    Section("error_handling", ("error_type",), ERROR_PARTS),
)
"""The sections of the standard, in its order."""
SECTIONS = tuple(section.name for section in STANDARD)
ALIASES = {other: section.name for section in STANDARD for other in section.other_names}
SECTION_NAMES = frozenset({*SECTIONS, *ALIASES})
TAG_NAMES = frozenset({
    *SECTION_NAMES, *(part for section in STANDARD for part in (*section.parts, *section.inner_parts)),
    *STEP_PARTS, *CHECKPOINT_ALIASES, "implementation", "token_limit", "format", "example",
})  # fmt: skip
"""All tag names of the standard except those of steps."""

MAX_STEPS = 200
MAX_PARTS = 200
"""Maximum steps, and parts of one tag, that are checked."""

Role = Literal["preflight", "postflight", "return"]
ROLES: tuple[Role, ...] = ("preflight", "postflight", "return")


class MisspelledTag(NamedTuple):
    """A misspelled name in an opening or closing tag."""

    span: Span
    written: str
    meant: str
    tag: Tag
    closes: bool = False
    """Whether only the closing tag is misspelled."""
    replaced: tuple[Span, ...] = ()
    """The spans that have to contain the correct name."""


class ProcessStep(NamedTuple):
    """A step of the process flow, by its name."""

    tag: Tag
    word: str
    """`step`, or the word that is used instead."""
    number: int | None
    """None if the step has no number, or a letter instead."""
    letter: str
    """`N` or `N+1`, as in a template."""
    suffix: str
    role: Role | None
    named: bool
    """Whether the role follows from the name; otherwise it follows from the action."""


class Outline:
    """The sections and steps of one file."""

    def __init__(self) -> None:
        self.sections: dict[str, list[Tag]] = {}
        self.slips: list[MisspelledTag] = []
        self.hidden: frozenset[str] = frozenset()
        """Sections that begin or end in an unclosed code fence or comment."""
        self.title: tuple[str, Span] | None = None
        self.steps: list[ProcessStep] = []
        self.groups: list[list[ProcessStep]] = []
        """The steps, grouped by their flow. Most files have one flow."""
        self._slipped: dict[int, set[str]] | None = None
        self.host: Tag | None = None
        """The tag that contains the sections: the body, or one tag around all of them."""

    @property
    def is_bare(self) -> bool:
        """Whether the file has no section."""
        return not self.sections and not self.hidden

    def get(self, name: str) -> Tag | None:
        """Return the first section with a name, or None."""
        found = self.sections.get(name)
        return found[0] if found else None

    def slipped(self, parent: Tag) -> set[str]:
        """Return the parts of a tag whose names are misspelled."""
        if self._slipped is None:
            self._slipped = {}
            for slip in self.slips:
                self._slipped.setdefault(id(slip.tag.parent), set()).add(slip.meant)
        return self._slipped.get(id(parent), set())

    def lacks(self, name: str) -> bool:
        """Whether a section is missing from a file that has others."""
        return name not in self.sections and name not in self.hidden and not self.is_bare

    def find_place(self, name: str) -> tuple[int, bool] | None:
        """Return the tag after which a section belongs, or the tag before which it belongs and True."""
        at = SECTIONS.index(name)
        for other in reversed(SECTIONS[:at]):
            if (tag := self._get_neighbour(other)) is not None and tag.closed:
                return tag.end, False
        for other in SECTIONS[at + 1 :]:
            if (tag := self._get_neighbour(other)) is not None:
                return tag.start, True
        return None

    def _get_neighbour(self, name: str) -> Tag | None:
        """Return the first section with a name, unless it is nested: a section added beside it would not be found."""
        tag = self.get(name)
        parent = tag.parent if tag is not None else None
        while parent is not None and parent is not self.host and not parent.closed:
            parent = parent.parent
        return tag if parent is self.host else None


def make_outline(text: str, body: Body) -> Outline:
    """Find the sections and steps in a body."""
    outline = Outline()
    host = outline.host = _find_host(body)
    _find_sections(outline, list(unfold(host)))
    missing = [section.name for section in STANDARD if section.anywhere and section.name not in outline.sections]
    if missing and outline.sections:
        for tag in body.walk():
            name = ALIASES.get(tag.name, tag.name)
            if name in missing and not (tag.inline and not tag.closed):
                outline.sections.setdefault(name, []).append(tag)
    if outline.sections:
        _find_inner_error_handling(outline, body)
    outline.hidden = _find_hidden(text, body)
    outline.title = _find_title(body, host)
    _find_steps(outline, text, host)
    _find_return_in_step(outline)
    _find_inner_slips(outline)
    _find_closing_slips(outline, text, body)
    return outline


def unfold(tag: Tag) -> Iterator[Tag]:
    """Return the children of a tag. The children of an unclosed child count as its siblings."""
    waiting = list(reversed(tag.children))
    while waiting:
        child = waiting.pop()
        yield child
        if not child.closed:
            waiting.extend(reversed(child.children))


def find_part(tag: Tag, *names: str) -> Tag | None:
    """Return the first child with one of these names, also inside an unclosed child."""
    return next((child for child in islice(unfold(tag), MAX_PARTS) if child.name in names), None)


def map_parts(tag: Tag) -> dict[str, Tag]:
    """Return the first child of each name."""
    return {child.name: child for child in reversed([*islice(unfold(tag), MAX_PARTS)])}


# --- sections --------------------------------------------------------------------------------------------------------


def _find_host(body: Body) -> Tag:
    """Return the tag that contains the sections: the body, or one tag around all of them."""

    def count(tag: Tag) -> int:
        return sum(child.name in SECTION_NAMES for child in unfold(tag))

    few = 2
    if count(body.root) < few:
        for child in body.root.children:
            if child.closed and child.name not in SECTION_NAMES and count(child) >= few:
                return child
    return body.root


def _find_sections(outline: Outline, tags: list[Tag]) -> None:
    for tag in tags:
        name = ALIASES.get(tag.name, tag.name)
        if name in SECTIONS and not (tag.inline and not tag.closed):
            outline.sections.setdefault(name, []).append(tag)
    missing = [name for name in SECTIONS if name not in outline.sections]
    for slip in _find_slips(tags, missing):
        outline.slips.append(slip)
        outline.sections.setdefault(slip.meant, []).append(slip.tag)


def _find_inner_error_handling(outline: Outline, body: Body) -> None:
    """Use the outermost nested `<error_handling>` if there is no section: many files have it in the return format."""
    if "error_handling" in outline.sections:
        return
    found = [tag for tag in body.walk() if tag.name == "error_handling" and tag.closed]
    if found:
        outline.sections["error_handling"] = [min(found, key=_count_parents)]


def _count_parents(tag: Tag) -> int:
    count = 0
    while tag.parent is not None:
        tag, count = tag.parent, count + 1
    return count


_HIDDEN_TAG = lazy(r"^[ \t]{0,40}</?([a-z_]{1,40})>", re.MULTILINE)


def _find_hidden(text: str, body: Body) -> frozenset[str]:
    if body.hidden is None:
        return frozenset()
    names = {found[1] for found in _HIDDEN_TAG.finditer(text, *body.hidden)}
    return frozenset(ALIASES.get(name, name) for name in names & SECTION_NAMES)


def _find_title(body: Body, host: Tag) -> tuple[str, Span] | None:
    """Return the first heading of level 1 outside of all sections."""
    tags = [tag for tag in body.root.children if tag is not host and tag.closed]
    for level, title, span in body.headings:
        if level == 1 and not any(tag.start < span[0] < tag.end for tag in tags):
            return title, span
    return None


# --- slips -----------------------------------------------------------------------------------------------------------


def _find_slips(tags: Iterable[Tag], missing: Iterable[str]) -> Iterator[MisspelledTag]:
    """Return unknown tags whose names resemble the name of a missing section or part."""
    missing = list(missing)
    for tag in tags:
        if tag.name in TAG_NAMES or tag.inline or not missing:
            continue
        meant = next((name for name in missing if is_misspelled(tag.name, name) and not tag.find(name)), None)
        if meant is not None:
            spans = tuple(span for span in (tag.name_span, tag.closing_name_span) if span)
            yield MisspelledTag(tag.name_span, tag.name, meant, tag, replaced=spans)


def _find_inner_slips(outline: Outline) -> None:
    for section in STANDARD:
        tag = outline.get(section.name)
        if tag is not None and section.parts:
            outline.slips += _find_part_slips(tag, section.parts, several=len(section.parts) == 1)
            for child in tag.children if section.inner_parts else ():
                if child.name == section.parts[0]:
                    outline.slips += _find_part_slips(child, section.inner_parts)
    for step in outline.steps:
        has_checkpoint = any(child.name in CHECKPOINT_ALIASES for child in step.tag.children)
        outline.slips += _find_part_slips(step.tag, STEP_PARTS[:2] if has_checkpoint else STEP_PARTS)


def _find_part_slips(parent: Tag, parts: tuple[str, ...], *, several: bool = False) -> Iterator[MisspelledTag]:
    if all(child.name in TAG_NAMES for child in parent.children):
        return
    names = {child.name for child in parent.children}
    yield from _find_slips(parent.children, parts if several else [part for part in parts if part not in names])


def _find_closing_slips(outline: Outline, text: str, body: Body) -> None:
    """Yield unclosed tags for which a closing tag with a similar name exists."""
    slipped = {id(slip.tag) for slip in outline.slips}
    for tag in body.unclosed[:_MAX_PAIRS]:
        if (tag.name not in TAG_NAMES and _STEP.match(tag.name) is None) or tag.inline or id(tag) in slipped:
            continue
        for start, end in body.strays[:_MAX_PAIRS]:
            written = text[start + 2 : end - 1].strip()
            if start > tag.start and is_misspelled(written, tag.name):
                span = (start + 2, start + 2 + len(written))
                outline.slips.append(MisspelledTag(span, written, tag.name, tag, closes=True, replaced=(span,)))
                break


_MAX_PAIRS = 40

# --- steps -----------------------------------------------------------------------------------------------------------

_STEP = lazy(
    r"(?P<word>[a-z]{4,5})(?P<joint>[_.-]?)(?P<number>\d{1,4}|N(?:(?:\+|_plus_)\d)?)"
    r"(?:[_.-](?P<suffix>[\w.+-]{1,80}))?\Z",
    re.IGNORECASE,
)
_WORDS = ("step", "stage", "phase")
_CAMEL = lazy(r"[A-Z]?[a-z]{1,40}")


def _find_steps(outline: Outline, text: str, host: Tag) -> None:
    flow = outline.get("process_flow")
    direct = _read_steps(outline, text, flow if flow is not None else host)
    if flow is not None and not direct:
        groups = (_read_steps(outline, text, child) for child in islice(flow.children, MAX_STEPS))
        outline.groups = [steps for steps in groups if steps]
    else:
        outline.groups = [direct] if direct else []
    outline.steps = [step for group in outline.groups for step in group]


def _find_return_in_step(outline: Outline) -> None:
    """Use a return format in the return step if there is no section."""
    for step in outline.steps:
        found = find_part(step.tag, "return_format", "output_specification") if step.role == "return" else None
        if found is not None and "return_format" not in outline.sections:
            outline.sections["return_format"] = [found]


def _read_steps(outline: Outline, text: str, parent: Tag) -> list[ProcessStep]:
    in_flow = parent is outline.get("process_flow")
    found = (_read_step(outline, text, tag, in_flow=in_flow) for tag in unfold(parent))
    return list(islice((step for step in found if step is not None), MAX_STEPS))


def _read_step(outline: Outline, text: str, tag: Tag, *, in_flow: bool) -> ProcessStep | None:
    if tag.inline and not tag.closed:
        return None
    found = _STEP.match(tag.name)
    word = found["word"].lower() if found else tag.name.lower().partition("_")[0]
    if found and word not in _WORDS:
        if sorted(word) != sorted("step") and sorted(word) != sorted("stage"):
            return None
        meant = f"step{found['joint']}{tag.name[found.end('joint') :]}"
        spans = tuple(span for span in (tag.name_span, tag.closing_name_span) if span)
        outline.slips.append(MisspelledTag(tag.name_span, tag.name, meant, tag, replaced=spans))
    elif not found and (tag.name.lower() not in (*_WORDS, *ROLES, *(f"step_{role}" for role in ROLES)) or not in_flow):
        return None
    written = found["number"] if found else _read_number(tag)
    suffix = (found["suffix"] or "") if found else ""
    is_letter = not written.isdigit()
    role, named = _find_role(text, tag, suffix if found else tag.name)
    return ProcessStep(
        tag, word, None if is_letter else int(written), written if is_letter else "", suffix, role, named
    )


def _read_number(tag: Tag) -> str:
    """Return the number in `<stage id="1">`, or an empty string."""
    value = tag.get("id") or tag.get("number") or tag.get("n") or ""
    return value if value.isascii() and value.isdigit() and len(value) <= 4 else ""  # noqa: PLR2004 - as in _STEP


def _find_role(text: str, tag: Tag, name: str) -> tuple[Role | None, bool]:
    """Return a step's role by its name, else by an attribute or the beginning of its action."""
    words = re.split(r"[_.-]", name.lower())
    for role in ROLES:
        if role in words:
            return role, True
    title, action = find_part(tag, "name"), find_part(tag, "action")
    # a title may begin with its number: `Stage 7: Postflight`
    said = [(tag.get("name") or "", 3), (_read_beginning(text, title), 3), (_read_beginning(text, action), 1)]
    for sentence, far in said:
        first = [word.lower() for word in _CAMEL.findall(sentence)[:far]]
        for role in ROLES:
            if role in first:
                return role, False
    return None, False


def _read_beginning(text: str, tag: Tag | None) -> str:
    return text[tag.inner_start : min(tag.inner_end, tag.inner_start + 80)].strip() if tag else ""
