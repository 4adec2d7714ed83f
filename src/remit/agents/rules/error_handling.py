"""Rules on the error handling: error types and their parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.agents import edits
from remit.agents.default_sections import render_error
from remit.agents.outline import ERROR_PARTS, TAG_NAMES, unfold
from remit.agents.rules.register import AgentFileContext, AgentViolation, agent_rule
from remit.agents.rules.section_table import find_missing_parts, is_empty, list_tags, shorten
from remit.lazy_regex import lazy
from remit.light_namedtuple import NamedTuple
from remit.sentences import has_word
from remit.spelling import is_misspelled, normalize_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.agents.document import AgentDocument
    from remit.agents.tags import Tag

_USUAL_WORDS = {
    "validation_failure": "validation", "file_operation_failure": "file", "delegation_failure": "delegation",
    "git_failure": "git",
}  # fmt: skip
"""The usual types except timeout, and the word by which another name means the type, such as `git_commit_failed`."""
_NAMED_TAGS = ("error_type", "error_case", "error", "case", "scenario")


class ErrorType(NamedTuple):
    """An error type that the agent describes."""

    tag: Tag
    name: str
    own_tag: bool
    """Whether the tag itself has the name: `<timeout>` instead of `<error_type name="timeout">`."""


def find_error_types(document: AgentDocument) -> list[ErrorType]:
    """Return the error types in the section: its direct children except parts of an error type."""
    section = document.outline.get("error_handling")
    types = []
    for tag in unfold(section) if section else ():
        is_other = tag.name != "error_type" and (tag.name in TAG_NAMES or _is_error_part(tag))
        if (tag.inline and not tag.closed) or is_other:
            continue
        if tag.name in _NAMED_TAGS or is_misspelled(tag.name, "error_type"):
            types.append(ErrorType(tag, (tag.get("name") or tag.get("type") or "").strip(), own_tag=False))
        else:
            types.append(ErrorType(tag, tag.name, own_tag=True))
    return types


@agent_rule("AGT132", fix="unsafe")
def timeout_unhandled(case: AgentFileContext) -> Iterator[AgentViolation]:
    """The error handling doesn't cover timeouts.

    Why: every run has a time limit. An agent without a plan for it loses its work instead of saving it and
    returning partial. In a section without error types, lint looks for the word `timeout`.

    Bad: an `<error_handling>` without `timeout`

    Good: `<error_type name="timeout">` with `<detection>`, `<handling>`, `<recovery>` and `<logging>`

    Fix (unsafe): adds it.
    """
    document = case.document
    section = document.outline.get("error_handling")
    if section is None or is_empty(document, section):
        return
    names = [each.name for each in find_error_types(document)] or [document.text_of(section)]
    if not any("timeout" in normalize_name(name) for name in names):
        yield AgentViolation(
            "the error handling doesn't cover timeout",
            "Describe how the agent saves its work and returns partial when time runs out.",
            section.name_span,
            edits=edits.add_child(document, section, render_error("timeout")),
        )


_WORD = lazy(r"[a-z]{1,40}")


def list_usual_errors(document: AgentDocument) -> list[str]:
    """Return the usual types except timeout that can occur: not all agents call others or use git."""
    flow = document.outline.get("process_flow")
    can_happen = {
        "delegation_failure": bool(document.get("delegation", "can_delegate_to")),
        "git_failure": flow is not None and has_word(document.text_of(flow), "git"),
    }
    return [name for name in _USUAL_WORDS if can_happen.get(name, True)]


def read_error_names(document: AgentDocument) -> set[str]:
    """Return the names of the error types, and the usual types that they mean."""
    names = {each.name for each in find_error_types(document)}
    words = {word for name in names for word in _WORD.findall(name.lower())}
    return names | {name for name, word in _USUAL_WORDS.items() if word in words}


@agent_rule("AGT134", severity="warning")
def error_part_missing(case: AgentFileContext) -> Iterator[AgentViolation]:
    """An error type lacks its detection, handling, recovery or logging.

    Why: the agent needs detection and handling, the user needs recovery, and logging helps with later analysis.

    Bad: `<error_type name="timeout">Return partial.</error_type>`

    Good: `<error_type name="timeout">` with all four parts.
    """
    document = case.document
    types = find_error_types(document)
    plain = [each for each in types if not any(map(_is_error_part, unfold(each.tag)))]
    if plain:
        names = ", ".join(each.name for each in plain if each.name)
        yield AgentViolation(
            f"{shorten(names) or 'an error type'} {'are' if len(plain) > 1 else 'is'} not divided into "
            "detection, handling, recovery and logging",
            "Put each in its own tag.",
            plain[0].tag.name_span,
        )
    for each in types:
        missing = find_missing_parts(document, each.tag, ERROR_PARTS, filled=True)
        if missing and each not in plain:
            yield AgentViolation(f"the error type {shorten(each.name)}".rstrip() + f" has no {', '.join(missing)}",
                                 f"Add {list_tags(missing)}.", each.tag.name_span)  # fmt: skip


def _is_error_part(tag: Tag) -> bool:
    return any(tag.name == part or is_misspelled(tag.name, part) for part in ERROR_PARTS)


@agent_rule("AGT136", severity="note", fix="safe")
def error_type_as_tag(case: AgentFileContext) -> Iterator[AgentViolation]:
    """Error types are written as tags of their own.

    Why: Remit reads `<timeout>` as `<error_type name="timeout">`; other tools look for the latter.

    Bad: `<timeout>Return partial.</timeout>` in `<error_handling>`

    Good: `<error_type name="timeout">Return partial.</error_type>`

    Fix (safe): rewrites them as error types.
    """
    named = [each for each in find_error_types(case.document) if each.tag.closed and each.tag.name != "error_type"]
    named = [each for each in named if not is_misspelled(each.tag.name, "error_type") and each.name]
    if not named:
        return
    changes: list[edits.Change] = []
    for tag, name, own_tag in named:
        opening, *closing = edits.rename_tag(tag, "error_type")
        changes += [(*opening[:2], f'error_type name="{name}"') if own_tag else opening, *closing]
    first = named[0].tag
    example = f"<{first.name}>" if named[0].own_tag else f'<{first.name} name="{shorten(named[0].name)}">'
    more = f", as are {len(named) - 1} more" if len(named) > 1 else ""
    yield AgentViolation(
        f'{example} is read as <error_type name="{shorten(named[0].name)}">{more}',
        "Write error types as <error_type>.",
        first.name_span,
        edits=tuple(changes),
    )
