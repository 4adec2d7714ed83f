"""Rules on confinement: permissions that the kernel enforces differently from how they are written.

Owns what the form of a rule shows. Which files exist, and so how many of them a pattern protects, is known when an
agent starts: the result's notes and `remit doctor` say so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.agents.definition import read_tools
from remit.agents.rules.field_lookup import show
from remit.agents.rules.permissions import list_entries
from remit.agents.rules.register import AgentFileContext, AgentViolation, agent_rule
from remit.globs import EVERYTHING, is_pattern
from remit.harnesses import claude, opencode
from remit.light_namedtuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.agents.document import AgentDocument
    from remit.agents.rules.permissions import PermissionEntry

_WRITING = ("write", "edit")
_EXACT = (["**"], ["**", "*"], ["**", "**"])
"""The ends of a pattern that mean a folder with everything in it."""
_PROTECTED = frozenset({claude.SETTINGS_PATTERN, opencode.SETTINGS_PATTERN})
"""Files that Remit protects from every agent, also those that don't exist yet."""


class _Form(NamedTuple):
    """A pattern as the kernel could enforce it: the path before its first star, and whether the rest is all of it."""

    path: str
    has_stars: bool
    is_folder: bool


def _read_form(pattern: str) -> _Form:
    parts = [part for part in pattern.removeprefix("./").split("/") if part != "."]
    if parts[-1:] == [""]:
        parts[-1] = "**"
    at = next((at for at, part in enumerate(parts) if is_pattern(part)), len(parts))
    path = "/".join(parts[:at]) or ("/" if pattern.startswith("/") else ".")
    return _Form(path, at < len(parts), parts[at:] in _EXACT)


@agent_rule("AGT160", severity="note", profiles=("standard", "claude", "opencode"))
def permission_not_enforceable(case: AgentFileContext) -> Iterator[AgentViolation]:
    """The kernel enforces a permission differently from how it is written.

    Why: the kernel knows files and folders, but no patterns. Remit compares each tool call with the pattern. For
    the commands of a confined agent, the kernel allows the whole folder before a star, protects and hides only
    files that exist when the agent starts, doesn't limit reading to the allowed files, and lets no program replace
    a file that is allowed by its name (`sed -i`, `git checkout`). An agent without bash isn't reported.

    Bad: `allow: [{write: ["docs/**/*.md"]}]`

    Good: `allow: [{write: ["docs/**"]}]`
    """
    document = case.document
    tools = read_tools(document)
    if tools is not None and document.get_section("tools") is not None and "bash" not in tools:
        return
    allow, deny = list_entries(document, "allow"), list_entries(document, "deny")
    seen: set[str] = set()
    for entry in (entry for tool in _WRITING for entry in allow.get(tool, ())):
        if entry.pattern not in seen and not entry.pattern.startswith("!"):
            yield from _check_allowed(document, entry)
        seen.add(entry.pattern)
    if all(tool in allow for tool in _WRITING):
        write, edit = ({entry.pattern for entry in allow[tool]} for tool in _WRITING)
        if write != edit and allow["edit"]:
            told = "write and edit are allowed different patterns; commands may write what one of the two allows"
            yield _report(document, allow["edit"][0], told, "Allow both the same.")
    reading = allow.get("read", [])
    if reading and not any(entry.pattern in EVERYTHING for entry in reading):
        yield _report(document, reading[0], "the kernel doesn't limit commands to the files that read is allowed",
                      "Deny read what commands may not read.")  # fmt: skip
    seen.clear()
    for entry in (entry for tool in (*_WRITING, "read") for entry in deny.get(tool, ())):
        form = _read_form(entry.pattern)
        if entry.pattern not in seen | _PROTECTED and form.has_stars and not form.is_folder:
            does = "hides" if entry.tool == "read" else "protects"
            told = f"the kernel {does} what matches {show(entry.pattern)} when the agent starts, not what is made later"
            yield _report(document, entry, told, "Deny a whole folder, or review the files that the agent makes.")
        seen.add(entry.pattern)


def _check_allowed(document: AgentDocument, entry: PermissionEntry) -> Iterator[AgentViolation]:
    """Report what the kernel makes of a pattern that may be written."""
    form = _read_form(entry.pattern)
    if form.has_stars and not form.is_folder:
        where = "the workspace" if form.path == "." else show(form.path)
        told = f"the kernel can't enforce {show(entry.pattern)}; commands may write everything in {where}"
        yield _report(document, entry, told, "Allow a whole folder that contains only what the agent may write.")
    elif not form.has_stars:
        told = f"the kernel lets commands change {show(entry.pattern)} in place; a program that replaces the file fails"
        hint = f"Allow its folder if programs have to replace it. If it is a folder, write {show(f'{form.path}/**')}."
        yield _report(document, entry, told, hint)


def _report(document: AgentDocument, entry: PermissionEntry, message: str, hint: str) -> AgentViolation:
    return AgentViolation(message, hint, document.span_of(entry.pointer), entry.pointer)
