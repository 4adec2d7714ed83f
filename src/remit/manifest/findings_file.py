"""Findings files: the page behind an entry, written in the standard's form and checked against it.

Owns that form (R4.6) and the findings about a page that does not have it. Headings inside a fenced block are part of an
example, and text from others cannot make any.
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
_BLANK = re.compile(r"\{\{[^{}\n]{1,80}\}\}")
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
        "Say what there is, or that there is nothing.",
        place=place,
    )


def summary_length(sentences: int, place: TextSpan) -> Diagnostic:
    """The summary of the findings file doesn't have two or three sentences.

    Why: readers decide by the summary whether to read the rest.

    Bad: a page of it, or `Done.`

    Good: `Two of the three providers cap uploads at 5 GB. The third has no limit, and costs twice as much.`
    """
    message = f"the summary has {sentences} sentence{'' if sentences == 1 else 's'}, 2 or 3 are wanted"
    return Diagnostic("MAN013", "warning", message, "Say in 2 or 3 sentences what came out.", place=place)


def placeholder_left(text: str, place: TextSpan) -> Diagnostic:
    """A placeholder of the template wasn't filled in.

    Why: a reader takes it for an answer, or copies it.

    Bad: `- Task: {{TASK_ID}}`

    Good: `- Task: T12`
    """
    return Diagnostic("MAN014", "error", f"{text} was not filled in", "Write what belongs there.", place=place)


def no_categories(place: TextSpan) -> Diagnostic:
    """The findings have no categories.

    Why: later readers look for one kind of finding, such as costs or risks.

    Bad: `## Findings` with one long list below.

    Good: `### Limits` and `### Costs` below `## Findings`.
    """
    return Diagnostic(
        "MAN015", "note", "the findings have no categories", "Put ### and a name above each kind.", place=place
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
    """What a findings file says."""

    title: str
    summary: str = ""
    findings: Mapping[str, Sequence[str]] = NOTHING
    """By category."""
    recommendations: Sequence[str] = ()
    sources: Sequence[str] = ()
    linked_tasks: Sequence[str] = ()


def render_findings_file(page: FindingsFile) -> str:
    """The page in the standard's form. A section without content holds a comment that says what belongs there.

    That no task is linked is an answer, and is written as one.
    """
    lines = [f"# {_flatten(page.title)}", "", "## Summary", "", _escape(page.summary) or _SUMMARY_WANTED]
    lines += ["", "## Findings"]
    for category, findings in page.findings.items():
        lines += ["", f"### {_flatten(category)}", "", *_render_items(findings, "what was found")]
    if not page.findings:
        lines += ["", "<!-- ### and the name of a category, and below it what was found -->"]
    lines += ["", "## Recommendations", "", *_render_items(page.recommendations, "what to do now")]
    lines += ["", "## Sources", "", *_render_items(page.sources, "where it is from")]
    tasks = [f"- Task: {flat}" for task in page.linked_tasks if (flat := _flatten(task))]
    lines += ["", "## Linked Tasks", "", *(tasks or ["None."])]
    return "\n".join(lines) + "\n"


_SUMMARY_WANTED = "<!-- what came out, in 2 or 3 sentences -->"


def _render_items(items: Iterable[str], wanted: str) -> list[str]:
    return [f"- {flat}" for item in items if (flat := _flatten(item))] or [f"<!-- {wanted} -->"]


def _flatten(text: str) -> str:
    return " ".join(text.split())


def _escape(text: str) -> str:
    """A paragraph that cannot be a heading, a fence or a comment."""
    flat = _flatten(text)
    return f"\\{flat}" if flat.startswith(("#", "`", "~", "<")) else flat


# --- checking ---------------------------------------------------------------------------------------------------------


class _FindingsSection(NamedTuple):
    """A part of the page below a heading of the first or second level."""

    level: int
    name: str
    line: int
    body: list[str]
    categories: int = 0


def check_findings_file(text: str) -> tuple[Diagnostic, ...]:
    """What a findings file lacks, in the order of the text. Of one that is very long, the beginning is looked at."""
    sections, plain = _divide(text[:MAX_CHARS])
    found = [placeholder_left(blank, place) for blank, place in plain]
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


def _divide(text: str) -> tuple[list[_FindingsSection], list[tuple[str, TextSpan]]]:
    """The sections of a page, and the blanks in it, both outside of fenced blocks."""
    sections: list[_FindingsSection] = []
    blanks: list[tuple[str, TextSpan]] = []
    fence = ""
    for number, line in enumerate(text.split("\n"), 1):
        opened = _FENCE.match(line)
        if opened and (not fence or (opened[1].startswith(fence) and not line[opened.end() :].strip())):
            fence = "" if fence else opened[1]
        elif not fence:
            blanks += [(m[0], TextSpan(number, m.start() + 1, number, m.end() + 1)) for m in _BLANK.finditer(line)]
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
    return sections, blanks
