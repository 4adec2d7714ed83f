"""Rules on parsing: unreadable files, invalid frontmatter, and unclosed tags."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from remit.agents import edits
from remit.agents.outline import SECTION_NAMES, TAG_NAMES
from remit.agents.rules.register import ALL, AgentFileContext, AgentViolation, agent_rule
from remit.lazy_regex import lazy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.agents.document import AgentDocument
    from remit.agents.frontmatter import FrontmatterProblem, ProblemKind
    from remit.agents.profiles import Profile
    from remit.agents.tags import Tag

_MARKDOWN: tuple[Profile, ...] = ("standard", "claude", "opencode", "command")


@agent_rule("AGT001", profiles=ALL)
def file_unreadable(case: AgentFileContext) -> Iterator[AgentViolation]:
    """The file can't be read as text.

    Why: a harness skips such a file, or reads something other than its author wrote.

    Bad: a file in UTF-16, with NUL bytes, of more than 1 MiB, a pipe, a link to itself.

    Good: a regular file in UTF-8.
    """
    if case.document.unreadable is not None:
        end = min(1, len(case.document.text))
        help_ = "Save it as a readable UTF-8 text file of at most 1 MiB."
        yield AgentViolation(f"the file can't be used: {case.document.unreadable}", help_, (0, end))


@agent_rule("AGT002", profiles=("standard", "claude", "opencode"), severity="warning", fix="unsafe")
def frontmatter_missing(case: AgentFileContext) -> Iterator[AgentViolation]:
    """The file has no frontmatter.

    Why: without `name` and `description`, no harness recognizes the file as an agent, and it skips the file without
    a message.

    Bad: a file that begins with `# Planner`.

    Good: a file that begins with `---`, keys and values, and `---`.

    Fix (unsafe): puts a frontmatter with the file's name and title at the top, which makes the file an agent. If
    the frontmatter only follows blank lines or spaces, the fix removes them and is safe.
    """
    document = case.document
    if document.frontmatter is not None or document.unreadable is not None:
        return
    if late := _LATE_HEAD.match(document.text):
        yield AgentViolation("the frontmatter doesn't start at the first character, so harnesses ignore it",
                             "Remove the text before the first ---.", late.span("opening"),
                             edits=((*late.span("space"), ""),), applicability="safe")  # fmt: skip
        return
    title = next((text for level, text, _ in document.body.headings if level == 1), document.stem)
    head = f"---\nname: {edits.render_scalar(document.stem)}\ndescription: {edits.quote(title)}\n---\n\n"
    at = 1 if document.text.startswith("\ufeff") else 0
    yield AgentViolation(
        "the file has no frontmatter, so no harness loads it as an agent",
        "Add name and description between two lines of --- at the top.",
        (0, min(1, len(document.text))),
        edits=((at, at, head),),
    )


_LATE_HEAD = lazy(
    r"\ufeff?(?P<space>\s{1,1000})(?P<opening>---)[ \t]{0,80}\r?\n(?:[ \t]{0,80}(?:#[^\n]{0,400})?\r?\n){0,20}"
    r"[\"']?[A-Za-z_][\w.-]{0,80}[\"']?[ \t]{0,9}:(?:\s|\Z)"
)
"""Matches a frontmatter below blank lines: a line of dashes, and a key in the first line with content."""


@agent_rule("AGT003", profiles=_MARKDOWN, fix="unsafe")
def frontmatter_unclosed(case: AgentFileContext) -> Iterator[AgentViolation]:
    """The frontmatter has no closing `---`.

    Why: parsers then read the whole file as YAML, or as text.

    Bad: a single line of `---`, at the top.

    Good: a line of `---` above the frontmatter and one below.

    Fix (unsafe): closes it before the first heading or tag.
    """
    document = case.document
    if not document.unclosed_frontmatter or document.frontmatter is None:
        return
    end = _BODY_SIGN.search(document.text, document.frontmatter.start)
    at = end.start() if end else len(document.text)
    lead = "" if document.text[:at].endswith("\n") else "\n"
    yield AgentViolation("the frontmatter isn't closed", "Write --- on its own line below it.", (0, 3),
                         edits=((at, at, f"{lead}---\n\n"),))  # fmt: skip


_BODY_SIGN = lazy(r"^(?:# |<[A-Za-z])", re.MULTILINE)


def _list_problems(case: AgentFileContext, *kinds: ProblemKind) -> Iterator[FrontmatterProblem]:
    for problem in case.document.frontmatter.problems if case.document.frontmatter else ():
        if problem.kind in kinds:
            yield problem


@agent_rule("AGT004", profiles=ALL, fix="safe")
def frontmatter_syntax(case: AgentFileContext) -> Iterator[AgentViolation]:
    """The frontmatter isn't valid YAML (for Codex: the file isn't valid TOML).

    Why: some harnesses read such a file line by line, others drop the agent; every other tool fails. Remit reads
    the keys that it can.

    Bad: `description: Use this agent when: the build fails`

    Good: `description: "Use this agent when: the build fails"`

    Fix (safe): quotes the text that YAML rejects; the text stays the same.
    """
    if case.document.unclosed_frontmatter:
        return  # the body would be parsed as YAML
    for problem in _list_problems(case, "syntax"):
        yield AgentViolation(f"the frontmatter isn't valid YAML: {problem.message}" if case.document.profile != "codex"
                             else f"the file isn't valid TOML: {problem.message}",
                             "Quote the text, or correct the line.", (problem.start, problem.end),
                             edits=_quote_around(case.document, problem.start))  # fmt: skip


def _quote_around(document: AgentDocument, at: int) -> tuple[edits.Change, ...]:
    """Quote the unquoted one-line value of the top-level key at which the parser stopped, or of the line above."""
    found = document.frontmatter
    if found is None or document.profile == "codex":
        return ()
    for pointer, (start, end) in found.spans.items():
        line_end = document.text.find("\n", start)
        value = document.text[start:end]
        on_line = found.keys.get(pointer, (start, end))[0] <= at <= line_end + 1
        if on_line and pointer.count("/") == 1 and value and "\n" not in value and value[0] not in "\"'[{|>&*!":
            return ((start, end, edits.quote(value)),)
    return ()


@agent_rule("AGT005", profiles=ALL, fix="unsafe")
def duplicate_key(case: AgentFileContext) -> Iterator[AgentViolation]:
    """A key is given twice.

    Why: YAML keeps one of the two without a message, and which one depends on the parser.

    Bad: `timeout: 300` and, further down, `timeout: 3600`

    Good: each key once.

    Fix (unsafe): removes the second one if both have the same value. If the values differ, the choice is yours.
    """
    for problem in _list_problems(case, "duplicate"):
        yield AgentViolation(problem.message, "Keep each key once.", (problem.start, problem.end), problem.pointer,
                             edits=_remove_duplicate(case.document, problem))  # fmt: skip


def _remove_duplicate(document: AgentDocument, problem: FrontmatterProblem) -> tuple[edits.Change, ...]:
    """Remove the second line of a duplicate key if the first one is identical."""
    found = document.frontmatter
    if found is None:
        return ()
    start = document.text.rfind("\n", 0, problem.start) + 1
    end = document.text.find("\n", problem.start) + 1
    line = document.text[start:end]
    same = end > 0 and f"\n{line}" in f"\n{document.text[found.start : start]}" and not line.rstrip().endswith(":")
    return ((start, end, ""),) if same else ()


@agent_rule("AGT006", profiles=ALL)
def frontmatter_too_complex(case: AgentFileContext) -> Iterator[AgentViolation]:
    """The frontmatter is larger, deeper, or has more aliases than Remit reads.

    Why: a few lines of aliases can expand to gigabytes, and deep nesting crashes parsers. Remit stops reading
    there.

    Bad: `a: &a [*a, *a]`

    Good: plain keys and values.
    """
    for problem in _list_problems(case, "limit"):
        yield AgentViolation(
            problem.message, "Write plain keys and values.", (problem.start, problem.end), problem.pointer
        )


@agent_rule("AGT007", profiles=_MARKDOWN)
def yaml_object_tag(case: AgentFileContext) -> Iterator[AgentViolation]:
    """The frontmatter asks a parser to build an object (`!!python/object`, `!include`).

    Why: an unsafe YAML loader would run code for it. Remit reads the text and builds nothing.

    Bad: `hook: !!python/object/apply:os.system ["id"]`

    Good: plain strings, numbers, and lists.
    """
    for problem in _list_problems(case, "tag"):
        yield AgentViolation(problem.message, "Remove the tag.", (problem.start, problem.end), problem.pointer)


_WORDS = frozenset({"when", "expected_return", "token_limit", "example", "path", "format", "content"})
"""Names of parts that are also usual blanks in angle brackets."""


def _is_structural(name: str) -> bool:
    return (name in TAG_NAMES and name not in _WORDS) or name.startswith(("step_", "stage_"))


def _is_part(tag: Tag) -> bool:
    """Whether a tag is part of the standard. Some names are only at their place."""
    return _is_structural(tag.name) or (tag.parent is not None and tag.parent.name in ("artifact", "delegate_to"))


@agent_rule("AGT010", profiles=("standard", "opencode", "command"), fix="unsafe")
def tag_unclosed(case: AgentFileContext) -> Iterator[AgentViolation]:
    """A section has no closing tag.

    Why: a model reads everything that follows as part of the section.

    Bad: `<role>` and no `</role>`

    Good: `<role>A planner.</role>`

    Fix (unsafe): closes the section before the next section or step, where its parent ends, or at the end of its
    line if it began there.
    """
    document = case.document
    misspelled = {id(slip.tag): slip for slip in document.outline.slips if slip.closes}
    for tag in document.body.unclosed:
        slip = misspelled.get(id(tag))
        if not _is_part(tag) or tag.inline or (slip and document.profile == "standard"):
            continue  # another rule reports misspelled closing tags of standard agents
        hidden = document.body.hidden
        if hidden is not None and document.text.find(f"</{tag.name}>", *hidden) >= 0:
            continue  # its closing tag is hidden by an unclosed code fence
        at, closing = _place_closing(document, tag)
        added = ((at, at, closing),) if hidden is None or at <= hidden[0] else ()
        yield AgentViolation(f"<{tag.name}> is not closed", f"Write </{tag.name}> where it ends.", tag.name_span,
                             edits=((*slip.span, tag.name),) if slip else added)  # fmt: skip


def _place_closing(document: AgentDocument, tag: Tag) -> tuple[int, str]:
    """Return where the closing tag goes, and its text: at the end of the tag's line, or on a line below."""
    end = _find_end(tag)
    line_end = document.text.find("\n", tag.inner_start)
    line_end -= document.text[line_end - 1] == "\r"
    on_line = tag.inner_start < line_end <= end and all(child.end <= line_end for child in tag.children)
    if on_line and document.text[tag.inner_start : line_end].strip():
        return line_end, f"</{tag.name}>"
    return max(tag.inner_start, len(document.text[:end].rstrip())), f"{edits.find_newline(document)}</{tag.name}>"


def _find_end(tag: Tag) -> int:
    """Return where an unclosed tag ends: before the first section or step in it if it is one itself."""
    peers = SECTION_NAMES if tag.name in SECTION_NAMES else ()
    is_step = tag.name.startswith(("step_", "stage_"))
    for child in tag.children:
        if child.name in peers or (is_step and child.name.startswith(("step_", "stage_"))):
            return child.start
    return tag.end


@agent_rule("AGT011", profiles=("standard", "opencode", "command"), fix="unsafe")
def tag_unopened(case: AgentFileContext) -> Iterator[AgentViolation]:
    """A closing tag has no opening tag.

    Why: the opening tag is misspelled or missing, so the section is missing, too.

    Bad: `<rolle>A planner.</role>`

    Good: `<role>A planner.</role>`

    Fix (unsafe): corrects the opening tag if it is misspelled; otherwise, removes the closing tag.
    """
    document = case.document
    slips = document.outline.slips
    misspelled = {slip.meant: slip for slip in slips if not slip.tag.closed and not slip.closes}
    explained = {slip.span[0] for slip in slips if slip.closes}
    for start, end in document.body.strays:
        name = document.text[start + 2 : end - 1].strip()
        if _is_structural(name) and start + 2 not in explained:
            slip = misspelled.get(name)
            yield AgentViolation(
                f"</{name}> has no opening tag",
                "Add the opening tag, or remove this one.",
                (start, end),
                edits=tuple((*span, name) for span in slip.replaced) if slip else ((start, end, ""),),
            )


@agent_rule("AGT012", profiles=_MARKDOWN)
def too_many_tags(case: AgentFileContext) -> Iterator[AgentViolation]:
    """The file has more tags than Remit reads.

    Why: Remit stops there, so that no file can use up its time.

    Bad: a hundred thousand tags.

    Good: the sections of the standard.
    """
    if case.document.body.overflow:
        at = case.document.body_start
        yield AgentViolation("the file has too many tags to read", "Put code and data in fenced blocks.", (at, at + 1))
