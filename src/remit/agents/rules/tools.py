"""Rules on `tools` of standard agents, Claude Code and opencode."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from remit.agents import edits
from remit.agents.profiles import TOOLS, is_read_by_claude
from remit.agents.rules.field_table import TRUTHS, can_judge_type, is_absent, show, suggest
from remit.agents.rules.register import MAX_REPORTS, AgentFileContext, AgentViolation, agent_rule
from remit.harnesses import claude, opencode
from remit.lazy_regex import lazy
from remit.light_namedtuple import NamedTuple
from remit.positions import escape_key
from remit.spelling import SURE, find_similar

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.agents.document import AgentDocument
    from remit.agents.frontmatter import Span

STOPS = "opencode doesn't start"


# --- the standard ----------------------------------------------------------------------------------------------------


@agent_rule("AGT050", fix="safe")
def tools_invalid(case: AgentFileContext) -> Iterator[AgentViolation]:
    """`tools` isn't a table of names with true or false.

    Why: a table also says which tools are off. Remit accepts a list, with a note; a program that expects a table
    may turn no tool on.

    Bad: `tools: [read, grep]`

    Good: `tools: {read: true, grep: true}`

    Fix (safe): turns a list into a table, with true for each tool.
    """
    document = case.document
    value = document.get_section("tools")
    if value is None or isinstance(value, dict) or is_read_by_claude(document.path):
        return  # in Claude Code, tools is a list
    listed = isinstance(value, list)
    yield AgentViolation("tools is a list, expected a table of tools with true or false" if listed
                         else "tools isn't a table of tools with true or false",
                         "Write true or false for each tool.", document.span_of("/tools"), "/tools",
                         severity="note" if listed else None, edits=_make_table(document, value),
                         fix_message="Convert it to a table")  # fmt: skip


def _make_table(document: AgentDocument, value: object) -> tuple[edits.Change, ...]:
    """Turn a list, or a string with commas, into a table with true for each tool."""
    names = value.replace(",", " ").split() if isinstance(value, str) else value
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        return ()
    names = [name.lower() for name in names]
    if len(set(names)) < len(names) or not set(names) <= {*TOOLS, *opencode.ALL_TOOLS}:
        return ()
    if isinstance(value, str):
        return edits.replace_value(document, "/tools", f"{{{', '.join(f'{name}: true' for name in names)}}}")
    return _rewrite_items(document, names)


def _rewrite_items(document: AgentDocument, names: list[str]) -> tuple[edits.Change, ...]:
    found = document.frontmatter
    if found is None or found.shared:
        return ()
    spans = [found.spans[f"/tools/{index}"] for index in range(len(names))]
    if "/tools" in found.flow:
        start, end = found.spans["/tools"]
        inner = [(at, to, f"{name}: true") for (at, to), name in zip(spans, names, strict=True)]
        return ((start, start + 1, "{"), *inner, (end - 1, end, "}"))
    text = document.text
    dashes = [text.rfind("-", 0, at) for at, _ in spans]
    indent = "" if text[dashes[0] - 1] in " \t" else "  "  # unlike a list, a table must be indented below its key
    return tuple((dash, to, f"{indent}{name}: true") for dash, (_, to), name in zip(dashes, spans, names, strict=True))


@agent_rule("AGT051", fix="unsafe")
def tool_unknown(case: AgentFileContext) -> Iterator[AgentViolation]:
    """`tools` names a tool that doesn't exist.

    Why: harnesses ignore an unknown name, and the intended tool keeps its default. A name that resembles no tool is
    a warning, and a tool of a single harness is a note.

    Bad: `tools: {reed: true}`

    Good: `tools: {read: true}`

    Fix (unsafe): writes the tool that was probably meant.
    """
    document = case.document
    value = document.get_section("tools")
    for name, pointer in _list_standard_tools(value):
        known = name if isinstance(value, dict) else name.lower()  # in a list, case is ignored
        if known in TOOLS or not name or "*" in name or name.startswith("mcp"):
            continue  # a pattern, or a tool of an MCP server, may exist
        harness = "opencode" if name in opencode.ALL_TOOLS else "Claude Code" if name in claude.ALL_TOOLS else ""
        if not harness or name.lower() in TOOLS:
            yield report_unknown_tool(document, name, pointer, is_key=isinstance(value, dict))
        elif not isinstance(value, dict) or value[name] is not False:  # an unknown tool that is off has no effect
            yield AgentViolation(f"{name} is a tool of {harness}, not of the standard",
                                 f"Keep it if the agent runs in {harness} only.", document.key_span(pointer), pointer,
                                 severity="note")  # fmt: skip


def _list_standard_tools(value: object) -> Iterator[tuple[str, str]]:
    """Yield each name with its pointer."""
    if isinstance(value, dict):
        yield from ((name, f"/tools/{name}") for name in value)
    elif isinstance(value, list):
        yield from ((name, f"/tools/{index}") for index, name in enumerate(value) if isinstance(name, str))


def report_unknown_tool(document: AgentDocument, name: str, pointer: str, *, is_key: bool) -> AgentViolation:
    """Report an unknown tool, with the similar known one."""
    meant, hint = suggest(name, TOOLS)
    taken = pointer.rpartition("/")[0] + f"/{meant}" in (document.frontmatter.keys if document.frontmatter else ())
    change = edits.rename_key if is_key else edits.replace_value
    return AgentViolation(f"there is no tool {show(name)}", hint, document.key_span(pointer), pointer,
                          severity="error" if meant else "warning",
                          edits=change(document, pointer, meant) if meant and not taken else (),
                          fix_message=f"Write {meant}")  # fmt: skip


_SPOKEN = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


@agent_rule("AGT052", fix="safe")
def tool_not_boolean(case: AgentFileContext) -> Iterator[AgentViolation]:
    """A tool's value is neither true nor false.

    Why: some programs treat a string as true, even `"false"`, and others ignore it.

    Bad: `write: "false"`

    Good: `write: false`

    Fix (safe): removes the quotes from "true" and "false".
    """
    document = case.document
    value = document.get_section("tools")
    for name, state in value.items() if isinstance(value, dict) else ():
        if isinstance(state, bool):
            continue
        pointer = f"/tools/{name}"
        meant = _SPOKEN.get(str(state).strip().lower()) if isinstance(state, str | int) else None
        clear = isinstance(state, str) and state.strip().lower() in ("true", "false")
        word = "true" if meant else "false"
        yield AgentViolation(f"the tool {name[:80]} is neither true nor false", "Write true or false, without quotes.",
                             document.span_of(pointer), pointer,
                             edits=edits.replace_value(document, pointer, word) if meant is not None else (),
                             fix_message=f"Write {word}", applicability="safe" if clear else "unsafe")  # fmt: skip


# --- Claude Code -----------------------------------------------------------------------------------------------------


_COMMA = lazy(r"[ \t]{0,20},?[ \t]{0,20}")


class _ClaudeTool(NamedTuple):
    """A tool in a file of Claude Code."""

    name: str
    pattern: str
    span: Span
    pointer: str
    exact: bool
    """Whether the span covers only the entry, so that it can be edited."""

    @property
    def name_span(self) -> Span:
        """The span of the name without parentheses."""
        return (self.span[0], self.span[0] + len(self.name)) if self.exact else self.span


_TOOL = lazy(r"(?P<name>[^\s,()]{1,200})(?P<pattern>\([^)]{0,2000}\)?)?")
_MAX_ENTRIES = 300


def _list_claude_tools(document: AgentDocument, key: str) -> list[_ClaudeTool]:
    """Return the tools under a key: a string with commas or spaces, or a list of such strings."""
    value = document.get(key)
    texts = [(f"/{key}", value)]
    if isinstance(value, list):
        texts = [(f"/{key}/{index}", item) for index, item in enumerate(value[:_MAX_ENTRIES])]
    found: list[_ClaudeTool] = []
    for pointer, text in texts:
        if isinstance(text, str):
            found += _split(document, pointer, text)
    return found[:_MAX_ENTRIES]


def _split(document: AgentDocument, pointer: str, text: str) -> Iterator[_ClaudeTool]:
    start, end = document.span_of(pointer)
    source = document.text[start:end]
    shared = document.frontmatter is not None and pointer in document.frontmatter.shared
    exact = not shared and (source == text or source[1:-1] == text)
    offset = start + (source != text)
    for entry in _TOOL.finditer(text):
        span = (offset + entry.start(), offset + entry.end()) if exact else (start, end)
        yield _ClaudeTool(entry["name"], entry["pattern"] or "", span, pointer, exact)


@agent_rule("AGT212", profiles=("claude",), fix="unsafe")
def claude_tools_invalid(case: AgentFileContext) -> Iterator[AgentViolation]:
    """`tools` or `disallowedTools` is a table.

    Why: Claude Code expects names and reads none from a table: the agent has no tools at all, and a table in
    `disallowedTools` denies nothing.

    Bad: `tools: {read: true, bash: false}`

    Good: `tools: Read`

    Fix (unsafe): writes the names of the tools that are true.
    """
    document = case.document
    for key, effect in (("tools", "the agent has no tools at all"), ("disallowedTools", "nothing is denied")):
        value = case.get(key)
        if not isinstance(value, dict):
            continue
        names = _render_tools(value)
        yield AgentViolation(f"{key} is a table, so {effect}", f"Write {key}: {names or 'Read, Grep'}.",
                             document.key_span(f"/{key}"), f"/{key}",
                             edits=edits.replace_value(document, f"/{key}", names) if names else ())  # fmt: skip


def _render_tools(tools: dict[str, object]) -> str:
    """Render a table of tools with Claude Code's names, or "" if a name is unknown."""
    if not all(isinstance(on, bool) for on in tools.values()) or len(tools) > _MAX_ENTRIES:
        return ""
    known = {name.lower(): name for name in claude.ALL_TOOLS}
    names = [known.get(name.lower(), "") for name, on in tools.items() if on]
    return ", ".join(names) if all(names) else ""


@agent_rule("AGT213", profiles=("claude",), severity="warning", fix="safe")
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


@agent_rule("AGT214", profiles=("claude",), severity="warning", fix="unsafe")
def claude_tool_unknown(case: AgentFileContext) -> Iterator[AgentViolation]:
    """Claude Code has no tool of this name.

    Why: names are case-sensitive, and Claude Code ignores unknown names: the agent lacks the tool, or keeps a tool
    that should be denied. Tools of an MCP server are named `mcp__server__tool`.

    Bad: `tools: read, Grepp`

    Good: `tools: Read, Grep`

    Fix (unsafe): writes the name that was probably meant; the agent can then use that tool.
    """
    for key in ("tools", "disallowedTools"):
        for entry in _list_claude_tools(case.document, key)[:MAX_REPORTS]:
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


@agent_rule("AGT215", profiles=("claude",), severity="warning", fix="safe")
def claude_tool_conflict(case: AgentFileContext) -> Iterator[AgentViolation]:
    """A tool is in both `tools` and `disallowedTools`.

    Why: `disallowedTools` wins, so the agent doesn't have the tool.

    Bad: `tools: Read, Bash` and `disallowedTools: Bash`

    Good: `tools: Read`

    Fix (safe): removes it from `tools`, unless that would leave `tools` empty.
    """
    document = case.document
    denied = {entry.name for entry in _list_claude_tools(document, "disallowedTools") if not entry.pattern}
    given = _list_claude_tools(document, "tools") if denied else []
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


def _cut_entry(document: AgentDocument, entry: _ClaudeTool) -> tuple[edits.Change, ...]:
    """Remove a tool: its item of a list, or its part of a string with a comma."""
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


@agent_rule("AGT216", profiles=("claude",), severity="warning")
def claude_tool_pattern(case: AgentFileContext) -> Iterator[AgentViolation]:
    """A tool has a pattern, such as `Bash(git:*)`.

    Why: in an agent file, Claude Code reads only the name. In `tools`, the agent gets the whole tool; in
    `disallowedTools`, it loses the whole tool. Patterns work in the permissions of the settings.

    Bad: `tools: Read, Bash(git:*)`

    Good: `tools: Read, Bash`, and a permission rule or a `PreToolUse` hook for its commands
    """
    for key, effect in (("tools", "may use all of"), ("disallowedTools", "loses all of")):
        for entry in _list_claude_tools(case.document, key)[:MAX_REPORTS]:
            if entry.pattern and entry.pattern not in ("()", "(*)") and entry.name not in _WITH_NAMES:
                yield AgentViolation(
                    f"the pattern {show(entry.pattern)} is ignored: the agent {effect} {entry.name[:40]}",
                    "Keep patterns in the permissions of the settings, or in a hook.",
                    entry.span,
                    entry.pointer,
                )


_NOT_FOR_SUBAGENTS = frozenset({"AskUserQuestion", "EnterPlanMode", "ExitPlanMode"})


@agent_rule("AGT217", profiles=("claude",), severity="note")
def claude_tool_unavailable(case: AgentFileContext) -> Iterator[AgentViolation]:
    """Subagents never get this tool.

    Why: a subagent can't ask the user or switch the mode of the session, whatever its file says. An agent that is
    started with `--agent` can.

    Bad: `tools: Read, AskUserQuestion`

    Good: an agent that returns its question to its caller
    """
    for entry in _list_claude_tools(case.document, "tools"):
        if entry.name in _NOT_FOR_SUBAGENTS and (entry.name, case.get("permissionMode")) != ("ExitPlanMode", "plan"):
            yield AgentViolation(
                f"subagents never get {entry.name}",
                "Have the agent return its question to its caller.",
                entry.span,
                entry.pointer,
            )


# --- opencode --------------------------------------------------------------------------------------------------------


@agent_rule("AGT325", profiles=("opencode", "standard"), fix="unsafe")
def opencode_tools_invalid(case: AgentFileContext) -> Iterator[AgentViolation]:
    """`tools` isn't a table of true and false, in a file that opencode reads.

    Why: opencode doesn't start. A list of names is Claude Code's syntax.

    Bad: `tools: Read, Grep`

    Good: `permission: {"*": deny, read: allow, grep: allow}`

    Fix (unsafe): turns a list into permissions: allow for its tools, deny for all others.
    """
    document = case.document
    tools = case.get("tools")
    if "tools" not in case.values or document.place != "opencode" or not can_judge_type(document, "/tools"):
        return
    is_standard = document.profile == "standard"  # other rules check the values of a standard agent's table
    if isinstance(tools, dict):
        for name, on in tools.items() if not is_standard else ():
            pointer = f"/tools/{escape_key(name)}"
            if not isinstance(on, bool) and str(on).lower()[:9] not in TRUTHS:
                meant = {"allow": "true", "deny": "false"}.get(str(on)[:9], "")
                yield AgentViolation(f"tools.{name[:60]} is {show(on)}, so {STOPS}", "Write true or false.",
                                     document.key_span(pointer), pointer,
                                     edits=edits.replace_value(document, pointer, meant) if meant else (),
                                     fix_message=f"Write {meant}.")  # fmt: skip
        return
    changes = _make_permission(document, tools) if not is_standard and _can_take_permission(document) else ()
    yield AgentViolation(f"tools is {show(tools)}, expected a table, so {STOPS}", "Move it to permission.",
                         document.key_span("/tools"), "/tools", edits=changes,
                         fix_message="Convert it to permissions.")  # fmt: skip


def _can_take_permission(document: AgentDocument) -> bool:
    """Whether a fix may add `permission`: it is missing, and no other fix adds it."""
    from remit.agents.rules.opencode import TABLE  # noqa: PLC0415 - not for standard files

    given = {"permission", "permissions"} & document.values.keys()
    return not given and "permission" not in TABLE.find_unknown_keys(document).values()


def _make_permission(document: AgentDocument, tools: object) -> tuple[edits.Change, ...]:
    """Convert a list of tools to permissions. Returns no changes if a tool is unknown."""
    texts = tools.split(",") if isinstance(tools, str) else tools if isinstance(tools, list) else []
    known = {name.lower(): "edit" if name in opencode.EDITING_TOOLS else name for name in opencode.ALL_TOOLS}
    names = [known.get(text.strip().lower(), "") if isinstance(text, str) else "" for text in texts[:100]]
    if not names or not all(names):
        return ()
    rights = ", ".join(f"{name}: allow" for name in dict.fromkeys(names))
    renamed = edits.rename_key(document, "/tools", "permission")
    replaced = edits.replace_value(document, "/tools", f'{{"*": deny, {rights}}}')
    return (*renamed, *replaced) if renamed and replaced else ()


@agent_rule("AGT326", profiles=("opencode",), severity="note", fix="unsafe")
def opencode_tools_deprecated(case: AgentFileContext) -> Iterator[AgentViolation]:
    """`tools` is deprecated.

    Why: since version 1.1, `permission` controls the tools of an agent. opencode still converts `tools` to
    permissions; `permission` wins for the same tool.

    Bad: `tools: {write: false, bash: true}`

    Good: `permission: {edit: deny, bash: allow}`

    Fix (unsafe): converts it to permissions, as opencode does; versions before 1.1 read only some of them.
    """
    document = case.document
    tools = case.get("tools")
    if not isinstance(tools, dict) or not all(isinstance(on, bool) for on in tools.values()):
        return
    yield AgentViolation("tools is deprecated", "Move it to permission.", document.key_span("/tools"), "/tools",
                         edits=_convert_switches(document, tools) if tools and _can_take_permission(document) else (),
                         fix_message="Convert it to permissions.")  # fmt: skip


def _convert_switches(document: AgentDocument, tools: dict[str, bool]) -> tuple[edits.Change, ...]:
    """Write each true as allow and each false as deny. write and patch become edit."""
    names = ["edit" if name in ("write", "patch") else name for name in tools]
    found = document.frontmatter
    if (
        len(set(names)) < len(names)
        and len({on for name, on in tools.items() if name in ("write", "edit", "patch")}) > 1
    ):
        return ()  # they contradict each other, so the author has to decide
    changes = list(edits.rename_key(document, "/tools", "permission"))
    seen: set[str] = set()
    for name, (tool, on) in zip(names, tools.items(), strict=True):
        pointer = f"/tools/{escape_key(tool)}"
        if found is None or pointer in found.shared:
            return ()
        if name in seen:
            changes += edits.remove_key(document, pointer)
            continue
        seen.add(name)
        changes += edits.rename_key(document, pointer, name) if name != tool else ()
        changes += edits.replace_value(document, pointer, "allow" if on else "deny")
    return tuple(changes)
