"""Rules on what goes wrong: does the agent know what to do then."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.agents import edits
from remit.agents.outline import ERROR_PARTS, find_part, is_slip, unfold
from remit.agents.passages import USUAL_ERRORS, render_error, render_section
from remit.agents.rules.register import Case, Report, rule
from remit.agents.rules.sections import find_top, is_empty, shorten
from remit.lazy import lazy
from remit.quick_tuple import NamedTuple
from remit.spelling import squeeze

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.agents.document import Document
    from remit.agents.tags import Tag

_USUAL_WORDS = {
    "validation_failure": "validation", "file_operation_failure": "file", "delegation_failure": "delegation",
    "git_failure": "git",
}  # fmt: skip
"""The usual types besides timeout, and the word that a type of another name shares with each: `git_commit_failed`."""
_NAMED_TAGS = ("error_type", "error_case", "error", "case", "scenario")
_GIT = lazy(r"\bgit\b")


class Trouble(NamedTuple):
    """A type of error that the agent speaks of."""

    tag: Tag
    name: str
    own_tag: bool
    """Whether its name is that of its tag: `<timeout>` in the place of `<error_type name="timeout">`."""


def find_troubles(document: Document) -> list[Trouble]:
    """Every type of error in the section: what stands directly in it, unless that is the part of one."""
    section = document.outline.get("error_handling")
    troubles = []
    for tag in unfold(section) if section else ():
        if (tag.inline and not tag.closed) or _is_error_part(tag):
            continue
        if tag.name in _NAMED_TAGS or is_slip(tag.name, "error_type"):
            troubles.append(Trouble(tag, (tag.get("name") or tag.get("type") or "").strip(), own_tag=False))
        else:
            troubles.append(Trouble(tag, tag.name, own_tag=True))
    return troubles


@rule("AGT131", "R1.23 R1.29", fix="unsafe")
def error_handling_missing(case: Case) -> Iterator[Report]:
    """Nothing says what the agent does when something fails.

    Why: a failure that nobody foresaw ends in a return that claims success, or in none.

    Bad: no `<error_handling>`

    Good: `<error_handling><error_type name="timeout">…</error_type></error_handling>`

    Fix (unsafe): adds the section with what to do on a timeout, which is the one that is required.
    """
    document = case.document
    section = document.outline.get("error_handling")
    if section is None and document.outline.lacks("error_handling"):
        block = render_section("error_handling", render_error("timeout"))
        yield Report("<error_handling> is missing", "Say for each type of error how it is seen and what is done.",
                     find_top(document), edits=edits.add_section(document, block, name="error_handling"))  # fmt: skip
    elif section is not None and is_empty(document, section):
        yield Report("<error_handling> is empty", "Say for each type of error how it is seen and what is done.",
                     section.name_span, edits=edits.add_child(document, section, render_error("timeout")))  # fmt: skip


@rule("AGT132", "R1.23", fix="unsafe")
def timeout_unhandled(case: Case) -> Iterator[Report]:
    """No type of error is called timeout.

    Why: every delegation has a time limit. An agent that does not plan for it loses its work, instead of saving it
    and returning partial. In a section without types of errors, lint looks for the word `timeout`.

    Bad: an `<error_handling>` without `timeout`

    Good: `<error_type name="timeout">` with `<detection>`, `<handling>`, `<recovery>` and `<logging>`

    Fix (unsafe): adds it.
    """
    document = case.document
    section = document.outline.get("error_handling")
    if section is None or is_empty(document, section):
        return
    names = [trouble.name for trouble in find_troubles(document)] or [document.text_of(section)]
    if not any("timeout" in squeeze(name) for name in names):
        yield Report("the error handling does not name timeout",
                     "Say how the agent saves its work and returns partial when time runs out.", section.name_span,
                     edits=edits.add_child(document, section, render_error("timeout")))  # fmt: skip


@rule("AGT133", "R1.23", severity="note", fix="unsafe")
def usual_error_missing(case: Case) -> Iterator[Report]:
    """A usual type of error is missing.

    Why: these failures happen: a wrong input, a file that cannot be written, an agent that does not answer, a commit
    that is refused. Only the timeout is required, so this is a note. A type of another name counts if it has the word
    `validation`, `file`, `delegation` or `git` in it; `delegation_failure` is for agents that may call others, and
    `git_failure` for those whose steps use git.

    Bad: an `<error_handling>` without `git_failure`

    Good: timeout, validation_failure, file_operation_failure, delegation_failure, git_failure

    Fix (unsafe): adds them, in general words.
    """
    document = case.document
    section, troubles = document.outline.get("error_handling"), find_troubles(document)
    if section is None or not troubles:
        return
    spoken = {word for trouble in troubles for word in _WORD.findall(trouble.name.lower())}
    missing = [name for name, word in _USUAL_WORDS.items() if word not in spoken and _can_happen(document, name)]
    if missing:
        yield Report(f"the error handling does not name {', '.join(missing)}",
                     "Say how each is seen, handled, recovered from and logged.", section.name_span,
                     edits=edits.add_child(document, section, "\n".join(map(render_error, missing))))  # fmt: skip


_WORD = lazy(r"[a-z]{1,40}")


def _can_happen(document: Document, name: str) -> bool:
    """Whether an agent can meet this error: who calls nobody meets no failing call, who commits nothing no git."""
    if name == "delegation_failure":
        return bool(document.get("delegation", "can_delegate_to"))
    flow = document.outline.get("process_flow")
    return name != "git_failure" or (flow is not None and _GIT.search(document.text_of(flow)) is not None)


@rule("AGT134", "R1.23", severity="warning")
def error_part_missing(case: Case) -> Iterator[Report]:
    """A type of error lacks its detection, handling, recovery or logging.

    Why: detection and handling are for the agent, recovery is for the user, logging is for whoever looks afterwards.

    Bad: `<error_type name="timeout">Return partial.</error_type>`

    Good: `<error_type name="timeout">` with all four parts.
    """
    document = case.document
    troubles = find_troubles(document)
    plain = [trouble for trouble in troubles if not _has_part(trouble.tag)]
    if plain:
        names = ", ".join(trouble.name for trouble in plain if trouble.name)
        yield Report(f"{shorten(names) or 'an error type'} {'are' if len(plain) > 1 else 'is'} not divided into "
                     "detection, handling, recovery and logging", "Say each in a tag of its own.",
                     plain[0].tag.name_span)  # fmt: skip
    for trouble in troubles:
        if not _has_part(trouble.tag):
            continue
        slipped = document.outline.slipped(trouble.tag)
        missing = [
            part for part in ERROR_PARTS if part not in slipped and is_empty(document, find_part(trouble.tag, part))
        ]
        if missing:
            yield Report(f"the error type {shorten(trouble.name)}".rstrip() + f" has no {', '.join(missing)}",
                         f"Add {' and '.join(f'<{part}>' for part in missing)}.", trouble.tag.name_span)  # fmt: skip


def _has_part(tag: Tag) -> bool:
    return any(map(_is_error_part, unfold(tag)))


def _is_error_part(tag: Tag) -> bool:
    return any(tag.name == part or is_slip(tag.name, part) for part in ERROR_PARTS)


@rule("AGT135", "R1.23")
def error_type_unnamed(case: Case) -> Iterator[Report]:
    """A type of error has no name.

    Why: the name is what the agent writes into its return and into the log.

    Bad: `<error_type>`

    Good: `<error_type name="timeout">`
    """
    for trouble in find_troubles(case.document):
        if not trouble.name:
            usual = ", ".join(USUAL_ERRORS)
            yield Report("a type of error has no name", f"Give it one; usual are {usual}.", trouble.tag.name_span)


@rule("AGT136", "R1.23", severity="note", fix="safe")
def error_type_as_tag(case: Case) -> Iterator[Report]:
    """The types of errors are written as tags of their own.

    Why: `<timeout>` is understood as `<error_type name="timeout">`, other tools look for the latter.

    Bad: `<timeout>Return partial.</timeout>` in `<error_handling>`

    Good: `<error_type name="timeout">Return partial.</error_type>`

    Fix (safe): writes them as error types.
    """
    named = [each for each in find_troubles(case.document) if each.tag.closed and each.tag.name != "error_type"]
    named = [each for each in named if not is_slip(each.tag.name, "error_type") and each.name]
    if not named:
        return
    changes: list[edits.Change] = []
    for tag, name, own_tag in named:
        opening, *closing = edits.rename_tag(tag, "error_type")
        changes += [(*opening[:2], f'error_type name="{name}"') if own_tag else opening, *closing]
    first = named[0].tag
    example = f"<{first.name}>" if named[0].own_tag else f'<{first.name} name="{shorten(named[0].name)}">'
    more = f", as are {len(named) - 1} more" if len(named) > 1 else ""
    yield Report(f'{example} is understood as <error_type name="{shorten(named[0].name)}">{more}',
                 "Write the types of errors as <error_type>.", first.name_span, edits=tuple(changes))  # fmt: skip
