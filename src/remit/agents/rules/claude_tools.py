"""Rules on the tools that an agent of Claude Code's is given or denied."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from remit.agents import edits
from remit.agents.rules.claude_fields import CLAUDE
from remit.agents.rules.field_lookup import is_absent, show
from remit.agents.rules.register import MAX_REPORTS, AgentFileContext, AgentViolation, agent_rule
from remit.harnesses import claude
from remit.lazy_regex import lazy
from remit.light_namedtuple import NamedTuple
from remit.spelling import SURE, find_similar

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.agents.document import AgentDocument
    from remit.agents.frontmatter import Span

_COMMA = lazy(r"[ \t]{0,20},?[ \t]{0,20}")


class _Entry(NamedTuple):
    """A tool that a file names."""

    name: str
    pattern: str
    span: Span
    pointer: str
    exact: bool
    """Whether the span is that of the entry itself, so that it can be edited."""

    @property
    def name_span(self) -> Span:
        """Where the name stands, without what is in parentheses."""
        return (self.span[0], self.span[0] + len(self.name)) if self.exact else self.span


_TOOL = lazy(r"(?P<name>[^\s,()]{1,200})(?P<pattern>\([^)]{0,2000}\)?)?")
_MAX_ENTRIES = 300


def _list_entries(document: AgentDocument, key: str) -> list[_Entry]:
    """The tools under a key: a text with commas or spaces between them, or a list of such texts."""
    value = document.get(key)
    texts = [(f"/{key}", value)]
    if isinstance(value, list):
        texts = [(f"/{key}/{index}", item) for index, item in enumerate(value[:_MAX_ENTRIES])]
    found: list[_Entry] = []
    for pointer, text in texts:
        if isinstance(text, str):
            found += _split(document, pointer, text)
    return found[:_MAX_ENTRIES]


def _split(document: AgentDocument, pointer: str, text: str) -> Iterator[_Entry]:
    start, end = document.span_of(pointer)
    source = document.text[start:end]
    shared = document.frontmatter is not None and pointer in document.frontmatter.shared
    exact = not shared and (source == text or source[1:-1] == text)
    offset = start + (source != text)
    for entry in _TOOL.finditer(text):
        span = (offset + entry.start(), offset + entry.end()) if exact else (start, end)
        yield _Entry(entry["name"], entry["pattern"] or "", span, pointer, exact)


@agent_rule("AGT212", profiles=CLAUDE, fix="unsafe")
def claude_tools_invalid(case: AgentFileContext) -> Iterator[AgentViolation]:
    """`tools` or `disallowedTools` is a table.

    Why: Claude Code expects names and reads none from a table: the agent has no tools at all, and a table in
    `disallowedTools` denies nothing.

    Bad: `tools: {read: true, bash: false}`

    Good: `tools: Read`

    Fix (unsafe): writes the names of the tools that are true.
    """
    document = case.document
    for key, told in (("tools", "the agent has no tools at all"), ("disallowedTools", "nothing is denied")):
        value = case.get(key)
        if not isinstance(value, dict):
            continue
        names = _translate(value)
        yield AgentViolation(f"{key} is a table, so {told}", f"Write {key}: {names or 'Read, Grep'}.",
                             document.key_span(f"/{key}"), f"/{key}",
                             edits=edits.replace_value(document, f"/{key}", names) if names else ())  # fmt: skip


def _translate(tools: dict[str, object]) -> str:
    """A table of tools as Claude Code's names; empty where one cannot be translated."""
    if not all(isinstance(on, bool) for on in tools.values()) or len(tools) > _MAX_ENTRIES:
        return ""
    known = {name.lower(): name for name in claude.ALL_TOOLS}
    names = [known.get(name.lower(), "") for name, on in tools.items() if on]
    return ", ".join(names) if all(names) else ""


@agent_rule("AGT213", profiles=CLAUDE, severity="warning", fix="safe")
def claude_tools_empty(case: AgentFileContext) -> Iterator[AgentViolation]:
    """`tools` has no value.

    Why: the agent has no tools at all. Without the key, it would have all tools.

    Bad: `tools:`

    Good: `tools: Read, Grep`; no `tools` for all tools; `tools: []` for none

    Fix (safe): writes `tools: []`, which means the same and is explicit.
    """
    value = case.get("tools")
    if "tools" in case.values and is_absent(value):
        yield AgentViolation(
            "tools is empty, so the agent has no tools at all",
            "List the tools, remove the key to allow all tools, or write [] for none.",
            case.document.key_span("/tools"),
            "/tools",
            edits=edits.replace_value(case.document, "/tools", "[]"),
            fix_message="Write [].",
        )


@agent_rule("AGT214", profiles=CLAUDE, severity="warning", fix="unsafe")
def claude_tool_unknown(case: AgentFileContext) -> Iterator[AgentViolation]:
    """Claude Code has no tool of this name.

    Why: names are case-sensitive, and Claude Code ignores unknown names: the agent lacks the tool, or keeps a tool
    that should be denied. Tools of an MCP server are named `mcp__server__tool`.

    Bad: `tools: read, Grepp`

    Good: `tools: Read, Grep`

    Fix (unsafe): writes the name that was probably meant; the agent can then use that tool.
    """
    for key in ("tools", "disallowedTools"):
        for entry in _list_entries(case.document, key)[:MAX_REPORTS]:
            if entry.name in claude.ALL_TOOLS or entry.name.startswith("mcp__") or "*" in entry.name:
                continue
            meant = find_similar(entry.name, claude.ALL_TOOLS, least=SURE)
            yield AgentViolation(f"Claude Code has no tool {show(entry.name)}", _hint_at_tool(entry.name, meant),
                                 entry.name_span, entry.pointer,
                                 edits=((*entry.name_span, meant),) if meant and entry.exact else (),
                                 fix_message=f"Write {meant}.")  # fmt: skip


def _hint_at_tool(name: str, meant: str | None) -> str:
    if meant:
        return f"Did you mean {meant}?"
    if name.lower() in ("none", "null", "nothing"):
        return "Write [] for no tools."
    return "Tools of an MCP server are named mcp__server__tool." if "mcp" in name.lower() else "Remove it."


@agent_rule("AGT215", profiles=CLAUDE, severity="warning", fix="safe")
def claude_tool_conflict(case: AgentFileContext) -> Iterator[AgentViolation]:
    """A tool is in both `tools` and `disallowedTools`.

    Why: `disallowedTools` wins, so the agent doesn't have the tool.

    Bad: `tools: Read, Bash` and `disallowedTools: Bash`

    Good: `tools: Read`

    Fix (safe): removes it from `tools`, unless that would leave `tools` empty.
    """
    document = case.document
    denied = {entry.name for entry in _list_entries(document, "disallowedTools") if not entry.pattern}
    given = _list_entries(document, "tools") if denied else []
    both = [entry for entry in given if entry.name in denied]
    for entry in both[:MAX_REPORTS]:
        can_fix = len(both) < len(given) and entry.exact
        yield AgentViolation(
            f"{entry.name} is in both tools and disallowedTools",
            "Keep it in one of them.",
            entry.span,
            entry.pointer,
            edits=_cut_entry(document, entry) if can_fix else (),
            fix_message="Remove it from tools.",
        )


def _cut_entry(document: AgentDocument, entry: _Entry) -> tuple[edits.Change, ...]:
    """Remove a tool: the item of a list that is nothing else, or a word with the comma after or before it."""
    start, end = entry.span
    text = document.text
    whole = document.span_of(entry.pointer)
    if entry.pointer.count("/") > 1 and len(text[slice(*whole)].strip("'\"")) == end - start:
        return edits.remove_item(document, entry.pointer)
    after = _COMMA.match(text, end, whole[1])
    if after and "," in after[0]:
        return ((start, after.end(), ""),)
    before = re.search(r"[ \t]{0,20},?[ \t]{0,20}\Z", text[max(whole[0], start - 50) : start])
    return ((start - len(before[0]) if before else start, end, ""),)


_WITH_NAMES = frozenset({*claude.DELEGATING, claude.OTHER_NAMES["skill"]})


@agent_rule("AGT216", profiles=CLAUDE, severity="warning")
def claude_tool_pattern(case: AgentFileContext) -> Iterator[AgentViolation]:
    """A tool has a pattern, such as `Bash(git:*)`.

    Why: in an agent file, Claude Code reads only the name. In `tools`, the agent gets the whole tool; in
    `disallowedTools`, it loses the whole tool. Patterns work in the permissions of the settings.

    Bad: `tools: Read, Bash(git:*)`

    Good: `tools: Read, Bash`, and a permission rule or a `PreToolUse` hook for its commands
    """
    for key, told in (("tools", "may use all of"), ("disallowedTools", "loses all of")):
        for entry in _list_entries(case.document, key)[:MAX_REPORTS]:
            if entry.pattern and entry.pattern not in ("()", "(*)") and entry.name not in _WITH_NAMES:
                yield AgentViolation(
                    f"the pattern {show(entry.pattern)} is ignored: the agent {told} {entry.name[:40]}",
                    "Keep patterns in the permissions of the settings, or in a hook.",
                    entry.span,
                    entry.pointer,
                )


_NOT_FOR_SUBAGENTS = frozenset({"AskUserQuestion", "EnterPlanMode", "ExitPlanMode"})


@agent_rule("AGT217", profiles=CLAUDE, severity="note")
def claude_tool_unavailable(case: AgentFileContext) -> Iterator[AgentViolation]:
    """Subagents never get this tool.

    Why: a subagent can't ask the user or switch the mode of the session, whatever its file says. An agent that is
    started with `--agent` can.

    Bad: `tools: Read, AskUserQuestion`

    Good: an agent that returns its question to its caller
    """
    for entry in _list_entries(case.document, "tools"):
        if entry.name in _NOT_FOR_SUBAGENTS and (entry.name, case.get("permissionMode")) != ("ExitPlanMode", "plan"):
            yield AgentViolation(
                f"subagents never get {entry.name}",
                "Have the agent return its question to its caller.",
                entry.span,
                entry.pointer,
            )
