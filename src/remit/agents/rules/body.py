"""Rules on the body: title, length, blanks, and the names, order and nesting of sections."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from remit.agents import edits
from remit.agents.default_sections import STATUSES
from remit.agents.inputs import find_forbidden, find_parameters
from remit.agents.outline import (
    ARTIFACT_PARTS,
    CHECKPOINT_ALIASES,
    CONTEXT_PARTS,
    DELEGATE_PARTS,
    ERROR_PARTS,
    STEP_PARTS,
)
from remit.agents.rules.register import AgentFileContext, AgentViolation, agent_rule
from remit.agents.rules.section_table import COMMENT, find_blank, find_kind, find_top, shorten
from remit.lazy_regex import lazy
from remit.sentences import has_word

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.agents.document import AgentDocument

MIN_LINES = 150
MAX_LINES = 400


@agent_rule("AGT100")
def no_sections(case: AgentFileContext) -> Iterator[AgentViolation]:
    """The body has none of the standard's sections.

    Why: the file claims to follow the standard, but has no inputs, steps, or return format.

    Bad: a body of plain paragraphs.

    Good: `<context>`, `<role>`, `<task>`, `<inputs_required>`, `<process_flow>`, `<return_format>`,
    `<error_handling>`
    """
    document = case.document
    if document.unclosed_frontmatter:
        return  # the body's start is unknown
    if document.outline.is_bare and document.unreadable is None and document.frontmatter is not None:
        yield AgentViolation(
            "the body has none of the standard's sections",
            "Write them, from <context> to <error_handling>, or create an agent with `remit agent new`.",
            find_top(document),
        )


@agent_rule("AGT101", severity="warning", fix="safe")
def title_missing(case: AgentFileContext) -> Iterator[AgentViolation]:
    """The body has no title.

    Why: the title shows readers and the model which agent the sections describe.

    Bad: no `# Planner` above the sections

    Good: `# Planner`, then `<context>`.

    Fix (safe): adds a title with the agent's name.
    """
    document = case.document
    if document.outline.title is not None or document.outline.is_bare:
        return
    name = document.get("name")
    words = re.split(r"[-_\s]{1,9}", name.strip() if isinstance(name, str) and name.strip() else document.stem)
    title = " ".join(word[:1].upper() + word[1:] for word in words if word)[:80]
    newline = edits.find_newline(document)
    at = _find_first_line(document)
    lead = "" if at > document.body_start or not document.body_start else newline
    yield AgentViolation(
        "the body has no title",
        f"Write `# {title}` above the sections.",
        find_top(document),
        edits=((at, at, f"{lead}# {title}{newline * 2}"),),
        fix_message=f"Write `# {title}`.",
    )


def _find_first_line(document: AgentDocument) -> int:
    """Return the start of the first line of the body that isn't blank."""
    found = _SIGN.search(document.text, document.body_start)
    return document.text.rfind("\n", 0, found.start()) + 1 if found else len(document.text)


_SIGN = lazy(r"\S")


@agent_rule("AGT102", severity="warning", fix="unsafe")
def title_not_first(case: AgentFileContext) -> Iterator[AgentViolation]:
    """Text precedes the title.

    Why: text above the title belongs to no section.

    Bad: the `<role>`, and `# Planner` below it.

    Good: `# Planner`, then the sections.

    Fix (unsafe): moves the title to the top.
    """
    document = case.document
    if document.outline.title is None or document.outline.is_bare:
        return
    _, (start, end) = document.outline.title
    first = _find_first_line(document)
    if first >= start or not COMMENT.sub("", document.text[first:start][:4000]).strip():
        return
    newline = edits.find_newline(document)
    cut = document.text.find("\n", end) + 1 or len(document.text)
    while document.text[cut : cut + len(newline)] == newline:
        cut += len(newline)
    title = document.text[start:end].rstrip()
    what = next((f"<{tag.name}> comes" for tag in document.body.root.children if tag.start < start), "text comes")
    yield AgentViolation(f"{what} before the title", "Begin the body with its title.", (start, end),
                         edits=((first, first, f"{title}{newline * 2}"), (start, cut, "")))  # fmt: skip


@agent_rule("AGT103", fix="safe")
def section_misspelled(case: AgentFileContext) -> Iterator[AgentViolation]:
    """A section's name is misspelled.

    Why: programs and agents that look for the section don't find it.

    Bad: `<return_fromat>`, `<proces_flow>`

    Good: `<return_format>`, `<process_flow>`

    Fix (safe): corrects the opening and the closing tag.
    """
    for slip in case.document.outline.slips:
        slash = "/" if slip.closes else ""
        yield AgentViolation(f"</{slip.written}> doesn't close <{slip.meant}>" if slip.closes else
                             f"<{slip.written}> isn't a section of the standard; did you mean '{slip.meant}'?",
                             f"Write <{slash}{slip.meant}>.", slip.span,
                             edits=tuple((*span, slip.meant) for span in slip.replaced))  # fmt: skip


_HEAD_BLANK = lazy(r"\{[A-Za-z][\w ]{0,100}\}\Z")
"""A blank in the frontmatter. `{a,b}` is a pattern."""
_FILLED_IN = frozenset({
    "role", "task", "parameter", "forbidden",
    *CONTEXT_PARTS, *STEP_PARTS, *CHECKPOINT_ALIASES, *DELEGATE_PARTS, *ARTIFACT_PARTS, *ERROR_PARTS,
} - {"path"})  # fmt: skip
"""Tags with text of the author."""
_NAMED = ("parameter", "delegate_to", "error_type", "artifact")


@agent_rule("AGT105", severity="warning")
def placeholder_left(case: AgentFileContext) -> Iterator[AgentViolation]:
    """A placeholder of a template isn't filled in.

    Why: the agent reads the placeholder as its instruction. Placeholders in paths and in the structure of the
    return are meant for the agent, and aren't reported.

    Bad: `<role>{Detailed role description}</role>`, `description: "{detailed description}"`

    Good: `<role>A planner who turns a task into a phased plan.</role>`
    """
    document = case.document
    if document.outline.title is not None and find_blank(document.outline.title[0]):
        yield AgentViolation("the title is a placeholder", "Write the agent's name.", document.outline.title[1])
    for pointer, span in document.frontmatter.spans.items() if document.frontmatter else ():
        written = document.text[slice(*span)].strip("\"' ")
        if pointer.startswith(("/description", "/permissions/")) and _HEAD_BLANK.match(written):
            yield AgentViolation(
                f"{pointer.split('/')[1]} has the placeholder {shorten(written)}",
                "Replace the placeholder.",
                span,
                pointer,
            )
    for tag in document.body.walk():
        has_own_words = tag.name in _FILLED_IN or (tag.parent is not None and tag.parent.name == "quality_standards")
        if has_own_words and (blank := find_blank(document.text_of(tag))):
            yield AgentViolation(
                f"<{tag.name}> has the placeholder {shorten(blank)}", "Replace the placeholder.", tag.name_span
            )
        if tag.name in _NAMED:
            name = tag.get("name") or tag.get("type") or ""
            if name.startswith("{") and name.endswith("}"):
                yield AgentViolation(
                    f"the name of <{tag.name}> is the placeholder {shorten(name)}", "Give it a name.", tag.name_span
                )


@agent_rule("AGT117")
def input_required_and_forbidden(case: AgentFileContext) -> Iterator[AgentViolation]:
    """An input is both required and forbidden.

    Why: no run can satisfy both, so every run is refused.

    Bad: `<parameter name="full_system_state" type="string">All of it.</parameter>` and
    `<forbidden>full_system_state</forbidden>`

    Good: one of the two.
    """
    document = case.document
    required = {(tag.get("name") or "").strip() for tag in find_parameters(document)}
    for name, tag in find_forbidden(document):
        if name and name in required:
            yield AgentViolation(f"the input {shorten(name)} is both required and forbidden", "Keep one of the two.",
                                 tag.name_span)  # fmt: skip


@agent_rule("AGT118", severity="warning")
def delegation_patterns_missing(case: AgentFileContext) -> Iterator[AgentViolation]:
    """The agent can call other agents, and nothing says how.

    Why: an agent that calls others needs to know when to call them, with which context, and what to do with the
    result.

    Bad: `can_delegate_to: ["status-sync-manager"]` and no `<delegation_patterns>`

    Good: a `<delegate_to name="status-sync-manager">` with `<when>`, `<context>`, `<expected_return>`,
    `<integration>`
    """
    document = case.document
    named = document.get("delegation", "can_delegate_to")
    targets = [name for name in named if isinstance(name, str) and name.strip()] if isinstance(named, list) else []
    if targets and document.outline.lacks("delegation_patterns"):
        yield AgentViolation(
            f"the agent can call {shorten(', '.join(targets))}, but <delegation_patterns> is missing",
            "Describe for each when to call it, with which context, and how to use its result.",
            document.key_span("/delegation/can_delegate_to"),
            "/delegation/can_delegate_to",
        )


@agent_rule("AGT137", severity="warning")
def file_size(case: AgentFileContext) -> Iterator[AgentViolation]:
    """The file has fewer than 150 lines or more than 400.

    Why: a short file leaves out how to do the work; a long file fills the agent's context before the work begins.
    The standard asks for 200 to 300 lines; up to 400 are accepted.

    Bad: an agent of 700 lines.

    Good: an agent of 250 lines that refers to context files for details.
    """
    document = case.document
    lines = document.lines
    if document.outline.is_bare or document.unreadable is not None or MIN_LINES <= lines <= MAX_LINES:
        return
    if lines < MIN_LINES:
        yield AgentViolation(
            f"the file has {lines} lines, expected at least {MIN_LINES}",
            "Describe each step: what to read, what to do, how to check it, and what to do on failure.",
            find_top(document),
        )
    else:
        yield AgentViolation(
            f"the file has {lines} lines, expected at most {MAX_LINES}",
            "Extract details to context files, split the agent by its modes, or delegate a part of it.",
            find_top(document),
        )


@agent_rule("AGT138", severity="warning")
def final_status_unmentioned(case: AgentFileContext) -> Iterator[AgentViolation]:
    """The body doesn't contain the status in which a run of this kind ends.

    Why: a plan without a task that says [PLANNED] is the most common way to lose work. Lint looks for the
    standard's word: PLANNED or RESEARCHED in any case, COMPLETED in capitals, because the return has a `completed`
    of its own.

    Bad: a planning agent that doesn't mention [PLANNED].

    Good: `Ask status-sync-manager to update the status to [PLANNED].`
    """
    document = case.document
    kind = find_kind(document)
    if kind not in STATUSES or document.outline.is_bare:
        return
    final = STATUSES[kind][1]
    is_there = (
        has_word(document.text[document.body_start :], final)
        if final == "COMPLETED"
        else has_word(document.lowered, final.lower())
    )
    if not is_there:
        yield AgentViolation(f"a run of kind {kind} ends in [{final}], which the file never mentions",
                             f"Move the status to [{final}] in the postflight step.", document.span_of("/agent_type"),
                             "/agent_type")  # fmt: skip


@agent_rule("AGT139")
def sections_hidden(case: AgentFileContext) -> Iterator[AgentViolation]:
    """A code fence or a comment that is never closed hides sections.

    Why: everything that follows is code or comment, so its sections don't count.

    Bad: a line of three backticks in a step, and no second one before `<return_format>`.

    Good: a closing fence after each code block.
    """
    document, outline = case.document, case.document.outline
    if document.body.hidden is None or not outline.hidden:
        return
    start, end = document.body.hidden
    what = "comment" if document.text.startswith("<!--", start) else "code fence"
    line_end = document.text.find("\n", start)
    names = sorted(outline.hidden - outline.sections.keys()) or sorted(outline.hidden)
    yield AgentViolation(
        f"the {what} is never closed and hides {', '.join(f'<{name}>' for name in names)}",
        f"Close the {what} where it ends.",
        (start, line_end if line_end >= 0 else end),
    )
