"""Findings files: write the page of an entry in the standard's form (R4.6), and check it (MAN010 to MAN015).

Headings in a code fence are part of an example, and text from agents can't create any.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from remit.model import NOTHING, Diagnostic, TextSpan
from remit.returns.rules.formats import SECTIONS
from remit.sentences import count_sentences

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from remit.model import Severity

MAX_CHARS = 1024 * 1024
SUMMARY_SENTENCES = (2, 3)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+|\Z)")
_PLACEHOLDER = re.compile(r"\{\{[^{}\n]{1,80}\}\}")
_TITLE, _SECTION, _CATEGORY = 1, 2, 3
"""Levels of headings."""


def title_missing(place: TextSpan) -> Diagnostic:
    """The findings file has no title.

    Why: lists of files show the title, and the entry's title should match it.

    Bad: a page that begins with `## Summary`

    Good: `# Upload limits of the storage providers`
    """
    return Diagnostic("MAN010", "warning", "the findings file has no title", "Begin with # and a title.", place=place)


def section_missing(name: str, place: TextSpan) -> Diagnostic:
    """The findings file lacks a required section.

    Why: later agents read single sections, such as the recommendations.

    Bad: a page with Summary and Findings only.

    Good: Summary, Findings, Recommendations, Sources, Linked Tasks, each with `##`.
    """
    return Diagnostic("MAN011", "warning", f"the section {name} is missing", f"Add ## {name}.", place=place)


def section_empty(name: str, place: TextSpan) -> Diagnostic:
    """A section of the findings file is empty.

    Why: an empty section looks complete and says nothing.

    Bad: `## Sources`, directly followed by the next heading.

    Good: the sources, or a sentence that there are none and why.
    """
    return Diagnostic(
        "MAN012",
        "warning",
        f"the section {name} is empty",
        "Write its content, or a sentence that there is none.",
        place=place,
    )


def summary_length(sentences: int, place: TextSpan) -> Diagnostic:
    """The summary of the findings file doesn't have two or three sentences.

    Why: readers decide by the summary whether to read the rest.

    Bad: a whole page, or `Done.`

    Good: `Two of the three providers cap uploads at 5 GB. The third has no limit, and costs twice as much.`
    """
    message = f"the summary has {sentences} sentence{'' if sentences == 1 else 's'}, but should have 2 or 3"
    return Diagnostic("MAN013", "warning", message, "State the result in 2 or 3 sentences.", place=place)


def placeholder_left(text: str, place: TextSpan) -> Diagnostic:
    """A placeholder of the template wasn't filled in.

    Why: a reader takes it for an answer, or copies it.

    Bad: `- Task: {{TASK_ID}}`

    Good: `- Task: T12`
    """
    return Diagnostic("MAN014", "error", f"{text} was not filled in", "Replace it with its value.", place=place)


def no_categories(place: TextSpan) -> Diagnostic:
    """The findings have no categories.

    Why: later readers need one kind of finding, such as costs or risks.

    Bad: `## Findings` with one long list below.

    Good: `### Limits` and `### Costs` below `## Findings`.
    """
    return Diagnostic(
        "MAN015",
        "note",
        "the findings have no categories",
        "Add a heading ### NAME above each kind of finding.",
        place=place,
    )


DIAGNOSTICS: dict[str, tuple[Callable[..., Diagnostic], Severity]] = {
    "MAN010": (title_missing, "warning"),
    "MAN011": (section_missing, "warning"),
    "MAN012": (section_empty, "warning"),
    "MAN013": (summary_length, "warning"),
    "MAN014": (placeholder_left, "error"),
    "MAN015": (no_categories, "note"),
}


# --- writing ----------------------------------------------------------------------------------------------------------


class FindingsFile(NamedTuple):
    """The content of a findings file."""

    title: str
    summary: str = ""
    findings: Mapping[str, Sequence[str]] = NOTHING
    """By category."""
    recommendations: Sequence[str] = ()
    sources: Sequence[str] = ()
    linked_tasks: Sequence[str] = ()


def render_findings_file(page: FindingsFile) -> str:
    """Return the page in the standard's form. An empty section gets a comment that describes its content.

    The list of linked tasks gets "None." instead: that is complete.
    """
    lines = [f"# {_flatten(page.title)}", "", "## Summary", "", _escape(page.summary) or _SUMMARY_COMMENT]
    lines += ["", "## Findings"]
    for category, findings in page.findings.items():
        lines += ["", f"### {_flatten(category)}", "", *_render_items(findings, "the findings")]
    if not page.findings:
        lines += ["", "<!-- ### NAME for each category, followed by its findings -->"]
    lines += ["", "## Recommendations", "", *_render_items(page.recommendations, "the recommended actions")]
    lines += ["", "## Sources", "", *_render_items(page.sources, "the sources")]
    tasks = [f"- Task: {flat}" for task in page.linked_tasks if (flat := _flatten(task))]
    lines += ["", "## Linked Tasks", "", *(tasks or ["None."])]
    return "\n".join(lines) + "\n"


_SUMMARY_COMMENT = "<!-- the result, in 2 or 3 sentences -->"


def _render_items(items: Iterable[str], content: str) -> list[str]:
    return [f"- {flat}" for item in items if (flat := _flatten(item))] or [f"<!-- {content} -->"]


def _flatten(text: str) -> str:
    return " ".join(text.split())


def _escape(text: str) -> str:
    """Return a paragraph that can't be a heading, a code fence or a comment."""
    flat = _flatten(text)
    return f"\\{flat}" if flat.startswith(("#", "`", "~", "<")) else flat


# --- checking ---------------------------------------------------------------------------------------------------------


class _FindingsSection(NamedTuple):
    """A heading of the first or second level, with the text below it."""

    level: int
    name: str
    line: int
    body: list[str]
    categories: int = 0


def check_findings_file(text: str) -> tuple[Diagnostic, ...]:
    """Return the diagnostics of a findings file, in the order of the text. Only the first `MAX_CHARS` are checked."""
    sections, placeholders = _split(text[:MAX_CHARS])
    found = [placeholder_left(name, place) for name, place in placeholders]
    named: dict[str, _FindingsSection] = {}
    for each in sections:
        if each.level == _SECTION:
            named.setdefault(each.name.lower(), each)
    if not any(each.level == _TITLE and each.name for each in sections):
        found.append(title_missing(_TOP))
    for name in SECTIONS:
        section = named.get(name.lower())
        found += [section_missing(name, _TOP)] if section is None else _check_section(name, section)
    return tuple(sorted(found, key=lambda each: each.place or _TOP))


_TOP = TextSpan(1, 1, 1, 2)


def _check_section(name: str, section: _FindingsSection) -> list[Diagnostic]:
    place = TextSpan(section.line, 1, section.line, len(section.name) + section.level + 2)
    body = _drop_comments("\n".join(section.body)).strip()
    if not body:
        return [section_empty(name, place)]
    if name == "Summary":
        sentences = count_sentences(body)
        low, high = SUMMARY_SENTENCES
        return [] if low <= sentences <= high else [summary_length(sentences, place)]
    return [no_categories(place)] if name == "Findings" and not section.categories else []


def _drop_comments(text: str) -> str:
    parts, at = [], 0
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start)) >= 0:
        parts.append(text[at:start])
        at = end + len("-->")
    return "".join((*parts, text[at:]))


def _split(text: str) -> tuple[list[_FindingsSection], list[tuple[str, TextSpan]]]:
    """Return the sections of a page and the placeholders in it, without those in code fences."""
    sections: list[_FindingsSection] = []
    placeholders: list[tuple[str, TextSpan]] = []
    fence = ""
    for number, line in enumerate(text.split("\n"), 1):
        opened = _FENCE.match(line)
        if opened and (not fence or (opened[1].startswith(fence) and not line[opened.end() :].strip())):
            fence = "" if fence else opened[1]
        elif not fence:
            placeholders += [
                (m[0], TextSpan(number, m.start() + 1, number, m.end() + 1)) for m in _PLACEHOLDER.finditer(line)
            ]
            heading = _HEADING.match(line)
            level = len(heading[1]) if heading else 0
            if heading and level <= _SECTION:
                sections.append(_FindingsSection(level, line[heading.end() :].strip().rstrip("#: \t"), number, []))
                continue
            if sections and level == _CATEGORY:
                sections[-1] = sections[-1]._replace(categories=sections[-1].categories + 1)
                continue
        if sections:
            sections[-1].body.append(line)
    return sections, placeholders
