"""Rules on Claude Code's agents: what it drops, what it ignores without a word, what it reads otherwise.

What is said of it was seen in version 2.1.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from remit.agents import edits
from remit.agents.profiles import (
    CLAUDE_KEYS,
    CLAUDE_TOOLS,
    COMMAND_KEYS,
    OPENCODE_KEYS,
    STANDARD_KEYS,
    is_read_by_claude,
)
from remit.agents.rules.keys import find_meant, is_absent, list_names
from remit.agents.rules.register import MAX_REPORTS, Case, Report, rule
from remit.agents.rules.tables import guess, show
from remit.lazy import lazy
from remit.places import escape_key

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from remit.agents.document import Document
    from remit.agents.frontmatter import Span
    from remit.agents.profiles import Profile

_COMMA = lazy(r"[ \t]{0,20},?[ \t]{0,20}")
_CLAUDE: tuple[Profile, ...] = ("claude",)


def _is_own_folder(document: Document) -> bool:
    """Whether it lies in `.claude/agents`; any other `agents` folder is taken for that of a plugin."""
    return ".claude" in document.path.split("/")


def _has_head(document: Document) -> bool:
    """Whether there is a frontmatter to speak of."""
    found = document.frontmatter
    return found is not None and not document.unclosed_frontmatter and bool(found.values or not found.problems)


def _is_told(document: Document, pointer: str) -> bool:
    """Whether another rule speaks of it: a number, a date or a truth value where a text is expected."""
    found = document.frontmatter
    return found is not None and found.plain.get(pointer, "null") != "null"


# --- who it is -------------------------------------------------------------------------------------------------------


@rule("AGT200", "R1.1", profiles=_CLAUDE, fix="unsafe")
def claude_name_missing(case: Case) -> Iterator[Report]:
    """An agent in `.claude/agents` has no name.

    Why: Claude Code takes a file without a name for a note and passes over it in silence. In a plugin the file's name
    is taken instead, so nothing is reported there.

    Bad: a frontmatter with `description` and no `name`

    Good: `name: code-reviewer`

    Fix (unsafe): takes the file's name, which makes an agent of the file.
    """
    document = case.document
    name = case.get("name")
    if not _is_own_folder(document) or not _has_head(document) or _is_told(document, "/name"):
        return
    if "name" in _find_strangers(case).values():
        return
    if is_absent(name):
        told = "empty" if "name" in case.values else "missing"
        yield Report(f"name is {told}: Claude Code passes over the file", "Write it in small letters and hyphens.",
                     document.key_span("/name"), "/name",
                     edits=edits.put_value(document, "", "name", edits.render_scalar(document.stem)))  # fmt: skip
    elif not isinstance(name, str):
        yield Report(f"name is {show(name)}: Claude Code passes over the file", "Write it as a text.",
                     document.span_of("/name"), "/name")  # fmt: skip


_NAME = lazy(r"[a-z0-9]{1,64}(?:-[a-z0-9]{1,64}){0,20}\Z")


@rule("AGT201", "R1.1", profiles=_CLAUDE, severity="warning", fix="unsafe")
def claude_name_form(case: Case) -> Iterator[Report]:
    """The name has other signs in it than small letters, digits and hyphens.

    Why: that is the form that Claude Code documents; a name is typed after `@` and after `--agent`. A name that begins
    with a hyphen is an error: the agent is dropped.

    Bad: `name: Code Reviewer`

    Good: `name: code-reviewer`

    Fix (unsafe): writes it in that form; whoever calls it by the old name has to follow.
    """
    document = case.document
    name = case.get("name")
    if not isinstance(name, str) or not name.strip() or _NAME.match(name.strip()):
        return
    slug = re.sub(r"[^a-z0-9]{1,80}", "-", name.strip().lower()[:64]).strip("-")
    is_dropped = name.startswith("-")
    can_fix = _NAME.match(slug) and name.strip().isascii() and "{" not in name
    told = "begins with a hyphen, so the agent is dropped" if is_dropped else "is not in small letters and hyphens"
    yield Report(f"the name {show(name)} {told}",
                 f"Write {slug}." if can_fix else "Write it in small letters, digits and hyphens.",
                 document.span_of("/name"), "/name", "error" if is_dropped else None,
                 edits.rewrite_text(document, "/name", slug) if can_fix else ())  # fmt: skip


@rule("AGT202", "R1.1", profiles=_CLAUDE, fix="unsafe")
def claude_description_missing(case: Case) -> Iterator[Report]:
    """The agent has no description.

    Why: Claude Code drops an agent without one, and says so in its log only. In a plugin it is a warning: the agent is
    there, and nobody can tell when to use it.

    Bad: a frontmatter with `name` and no `description`

    Good: `description: Reviews changed code for faults. Use after every change.`

    Fix (unsafe): takes the file's title.
    """
    document = case.document
    description = case.get("description")
    if not _has_head(document) or _is_told(document, "/description"):
        return
    if (isinstance(description, str) and description.strip()) or "description" in _find_strangers(case).values():
        return
    absent = is_absent(description)
    told = show(description) if not absent else "empty" if "description" in case.values else "missing"
    title = next((text for level, text, _ in document.body.headings if level == 1 and text), "")
    is_own = _is_own_folder(document)
    effect = "Claude Code drops the agent" if is_own else "nobody can tell when to use it"
    can_fix = title and absent
    yield Report(f"description is {told}: {effect}", "Say what it does and when to use it.",
                 document.key_span("/description"), "/description", None if is_own else "warning",
                 edits.put_value(document, "", "description", edits.quote(title)) if can_fix else ())  # fmt: skip


MAX_DESCRIPTION = 1024


@rule("AGT203", "R1.1", profiles=_CLAUDE, severity="note")
def claude_description_long(case: Case) -> Iterator[Report]:
    """The description is longer than 1,024 characters.

    Why: the descriptions of all agents are in the context of every session, whether one of them is used or not.

    Bad: a description with three worked examples

    Good: one or two sentences that say what it does and when to use it; the rest in the body.
    """
    description = case.get("description")
    if isinstance(description, str) and len(description) > MAX_DESCRIPTION:
        yield Report(f"the description has {len(description)} characters, and every session carries them",
                     "Keep to what it does and when to use it; move the rest to the body.",
                     case.document.key_span("/description"), "/description")  # fmt: skip


@rule("AGT204", "R1.1", profiles=_CLAUDE, severity="warning")
def claude_prompt_missing(case: Case) -> Iterator[Report]:
    """Nothing follows the frontmatter.

    Why: the body is the agent's prompt. Without one it knows only its description.

    Bad: a file that ends with the second `---`

    Good: what the agent should do, below the frontmatter.
    """
    document = case.document
    if _has_head(document) and document.values and not document.text[document.body_start :].strip():
        yield Report("the agent has no prompt", "Write below the frontmatter what it should do.",
                     document.key_span("/name"))  # fmt: skip


# --- keys ------------------------------------------------------------------------------------------------------------

_RESTRICTIONS = {
    "allowed-tools": "tools", "allowedTools": "tools", "allowed_tools": "tools",
    "permission": "tools", "disallowed-tools": "disallowedTools", "disallowed_tools": "disallowedTools",
    "deniedTools": "disallowedTools", "denied-tools": "disallowedTools", "denied_tools": "disallowedTools",
}  # fmt: skip
"""How others call what an agent may use."""


@rule("AGT205", "R1.3", profiles=_CLAUDE, fix="unsafe")
def claude_restriction_ignored(case: Case) -> Iterator[Report]:
    """What the agent may use is said under a key that Claude Code does not read.

    Why: Claude Code ignores the key in silence, so the agent has every tool there is. `allowed-tools` is a key of
    commands and skills, `permission` one of opencode. `permissions` hold where Claude Code's hooks call Remit, and only
    there: that is a warning.

    Bad: `allowed-tools: Read, Grep`

    Good: `tools: Read, Grep`

    Fix (unsafe): gives the key the name that Claude Code reads.
    """
    document = case.document
    if "permissions" in case.values:
        yield Report("Claude Code itself does not read permissions: they hold only where its hooks call Remit",
                     "See that they do: remit init --harness claude. Tools that are not needed at all are left out of "
                     "tools.", document.key_span("/permissions"), "/permissions", "warning")  # fmt: skip
    taken = set()
    for key, meant in _RESTRICTIONS.items():
        if key not in case.values:
            continue
        pointer = f"/{key}"
        if meant in case.values or meant in taken:
            yield Report(f"Claude Code does not read {key}", f"Say it in {meant}, and remove this key.",
                         document.key_span(pointer), pointer, "warning")  # fmt: skip
            continue
        taken.add(meant)
        can_fix = isinstance(case.values[key], str | list) and key != "permission"
        held = "every tool may be used" if meant == "tools" else "nothing is taken away"
        yield Report(f"Claude Code does not read {key}, so {held}", f"Say it in {meant}.", document.key_span(pointer),
                     pointer, edits=edits.rename_key(document, pointer, meant) if can_fix else (),
                     fix_message=f"Rename it to {meant}.")  # fmt: skip


def _find_strangers(case: Case) -> dict[str, str | None]:
    """Each key that Claude Code does not read, and the one that was meant if one is close and not given."""
    strange = [key for key in case.values if key not in CLAUDE_KEYS and key not in (*_RESTRICTIONS, "permissions")]
    elsewhere = {*STANDARD_KEYS, *OPENCODE_KEYS, *COMMAND_KEYS}
    found: dict[str, str | None] = {}
    for key in strange[:MAX_REPORTS]:
        meant = None if key in elsewhere else find_meant(key, CLAUDE_KEYS)
        is_given = meant in case.values or meant in found.values()
        is_told = meant in _RESTRICTIONS.values() and any(other in case.values for other in _RESTRICTIONS)
        found[key] = None if is_given or is_told else meant
    return found


@rule("AGT206", "R1.1", profiles=_CLAUDE, severity="warning", fix="unsafe")
def claude_key_misspelt(case: Case) -> Iterator[Report]:
    """A key is misspelt.

    Why: Claude Code ignores a key that it does not know, and says nothing.

    Bad: `max-turns: 20`

    Good: `maxTurns: 20`

    Fix (unsafe): gives it the name that was probably meant.
    """
    for key, meant in _find_strangers(case).items():
        if meant:
            pointer = f"/{escape_key(key)}"
            yield Report(f"Claude Code knows no key {show(key)}, and ignores it", f"Did you mean {meant}?",
                         case.document.key_span(pointer), pointer,
                         edits=edits.rename_key(case.document, pointer, meant),
                         fix_message=f"Rename it to {meant}.")  # fmt: skip


@rule("AGT207", "R1.1", profiles=_CLAUDE, severity="note")
def claude_keys_ignored(case: Case) -> Iterator[Report]:
    """The frontmatter has keys that Claude Code does not read.

    Why: what they say does not hold: a `timeout`, a `temperature` or a `version` here is a comment. They do no harm.

    Bad: `temperature: 0.2` in `.claude/agents/reviewer.md`

    Good: `maxTurns: 20`; or a standard file, and `remit compile --to claude`.
    """
    ignored = [key for key, meant in _find_strangers(case).items() if not meant and not key.startswith(("x-", "x_"))]
    if ignored:
        pointer = f"/{escape_key(ignored[0])}"
        yield Report(f"Claude Code ignores these keys: {list_names(ignored)}", "Remove them, or keep them as comments.",
                     case.document.key_span(pointer), pointer)  # fmt: skip


_NOT_IN_PLUGINS = ("permissionMode", "hooks", "mcpServers")


@rule("AGT208", "R1.3", profiles=_CLAUDE, severity="note")
def claude_plugin_ignores(case: Case) -> Iterator[Report]:
    """An agent of a plugin sets `permissionMode`, `hooks` or `mcpServers`.

    Why: Claude Code ignores these three in the agents of a plugin. An `agents` folder outside of `.claude` is taken
    for that of a plugin.

    Bad: `permissionMode: plan` in `agents/reviewer.md`

    Good: the same in `.claude/agents/reviewer.md`
    """
    document = case.document
    ignored = [key for key in _NOT_IN_PLUGINS if case.get(key)] if not _is_own_folder(document) else []
    if ignored:
        yield Report(f"in a plugin, Claude Code ignores {list_names(ignored)}",
                     "Keep the agent in .claude/agents, or do without.", document.key_span(f"/{ignored[0]}"),
                     f"/{ignored[0]}")  # fmt: skip


@rule("AGT209", "R1.1", profiles=_CLAUDE, severity="note", fix="unsafe")
def claude_name_not_file(case: Case) -> Iterator[Report]:
    """The agent's name is not that of its file.

    Why: Claude Code calls an agent by the name in its frontmatter; whoever looks for the file by that name does not
    find it, and two files with one name are noticed late.

    Bad: `name: reviewer` in `code-reviewer.md`

    Good: `name: code-reviewer`

    Fix (unsafe): takes the file's name; whoever calls it by the old name has to follow.
    """
    document = case.document
    name = case.get("name")
    if not isinstance(name, str) or not _NAME.match(name.strip()) or name.strip() == document.stem:
        return
    can_fix = _NAME.match(document.stem)
    yield Report(f"Claude Code calls this agent {show(name)}, and not {show(document.stem)}",
                 "Give both the same name.", document.span_of("/name"), "/name",
                 edits=edits.rewrite_text(document, "/name", document.stem) if can_fix else (),
                 fix_message=f"Call it {document.stem}.")  # fmt: skip


# --- hooks -----------------------------------------------------------------------------------------------------------

_EVENTS = (
    "PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "Notification", "UserPromptSubmit",
    "UserPromptExpansion", "SessionStart", "SessionEnd", "Stop", "StopFailure", "SubagentStart", "SubagentStop",
    "PreCompact", "PostCompact", "PermissionRequest", "PermissionDenied", "Setup", "TeammateIdle", "TaskCreated",
    "TaskCompleted", "Elicitation", "ElicitationResult", "ConfigChange", "WorktreeCreate", "WorktreeRemove",
    "InstructionsLoaded", "CwdChanged", "FileChanged", "MessageDisplay",
)  # fmt: skip


@rule("AGT210", "R1.1", profiles=_CLAUDE, fix="safe")
def claude_hooks_no_table(case: Case) -> Iterator[Report]:
    """`hooks` is not a table of events.

    Why: Claude Code ignores every hook in the file then, and tells its log only. An agent that is given as JSON, and
    a file in older versions, is dropped whole. An empty list is the usual way there.

    Bad: `hooks: []`

    Good: no `hooks` at all, or `hooks:` with `PreToolUse:` under it

    Fix (safe): removes an empty list; without it the file means the same.
    """
    hooks = case.get("hooks")
    if hooks is None or isinstance(hooks, dict) or (isinstance(hooks, str) and not hooks):
        return
    told = "an empty list" if hooks == [] else show(hooks)
    yield Report(f"hooks is {told} and not a table of events, so no hook runs",
                 "Remove it." if hooks == [] else "Write each event, such as PreToolUse, with its hooks under it.",
                 case.document.key_span("/hooks"), "/hooks",
                 edits=edits.remove_key(case.document, "/hooks") if hooks == [] else ())  # fmt: skip


@rule("AGT211", "R1.1", profiles=_CLAUDE, fix="unsafe")
def claude_hook_form(case: Case) -> Iterator[Report]:
    """A hook has a form that Claude Code does not read.

    Why: one event that it does not know, or one hook of the wrong form, and it ignores all hooks of the agent.

    Bad: `preToolUse:`, or a command without `type: command`

    Good: `PreToolUse:` with a list of `matcher` and `hooks`, each hook with a `type`

    Fix (unsafe): writes the event that was probably meant.
    """
    document = case.document
    hooks = case.get("hooks")
    for event, groups in list(hooks.items())[:MAX_REPORTS] if isinstance(hooks, dict) else ():
        pointer = f"/hooks/{escape_key(event)}"
        if event not in _EVENTS:
            meant, hint = guess(event, _EVENTS)
            hint = hint if meant else "Events are PreToolUse, PostToolUse, Stop and others."
            can_fix = meant and meant not in hooks
            yield Report(f"{show(event)} is no event of Claude Code, so no hook runs", hint, document.key_span(pointer),
                         pointer, edits=edits.rename_key(document, pointer, meant) if can_fix else (),
                         fix_message=f"Rename it to {meant}.")  # fmt: skip
        elif told := _find_hook_fault(groups):
            yield Report(f"{event} {told}, so no hook runs", "Write a list of matcher and hooks, each with a type.",
                         document.key_span(pointer), pointer)  # fmt: skip


def _find_hook_fault(groups: object) -> str:
    """What is wrong with the hooks of an event; nothing where they can be read."""
    if not isinstance(groups, list):
        return f"is {show(groups)} and not a list"
    for group in groups:
        inner = group.get("hooks") if isinstance(group, dict) else None
        if not isinstance(inner, list):
            return "has an item without a list of hooks"
        if not all(isinstance(hook, dict) and isinstance(hook.get("type"), str) for hook in inner):
            return "has a hook without a type"
    return ""


# --- tools -----------------------------------------------------------------------------------------------------------


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


def _list_entries(document: Document, key: str) -> list[_Entry]:
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


def _split(document: Document, pointer: str, text: str) -> Iterator[_Entry]:
    start, end = document.span_of(pointer)
    source = document.text[start:end]
    shared = document.frontmatter is not None and pointer in document.frontmatter.shared
    exact = not shared and (source == text or source[1:-1] == text)
    offset = start + (source != text)
    for entry in _TOOL.finditer(text):
        span = (offset + entry.start(), offset + entry.end()) if exact else (start, end)
        yield _Entry(entry["name"], entry["pattern"] or "", span, pointer, exact)


@rule("AGT212", "R1.2", profiles=("claude", "standard"), fix="unsafe")
def claude_tools_table(case: Case) -> Iterator[Report]:
    """`tools` or `disallowedTools` is a table.

    Why: Claude Code expects names. From a table it reads none: an agent with a table of tools has no tools at all, and
    a table of what is denied denies nothing.

    Bad: `tools: {read: true, bash: false}`

    Good: `tools: Read`

    Fix (unsafe): writes the names of the tools that are true.
    """
    document = case.document
    if document.profile == "standard" and not is_read_by_claude(document.path):
        return
    for key, told in (("tools", "the agent has no tools at all"), ("disallowedTools", "nothing is denied")):
        value = case.get(key)
        if not isinstance(value, dict):
            continue
        names = _translate(value)
        yield Report(f"{key} is a table, so {told}", f"Write {key}: {names or 'Read, Grep'}.",
                     document.key_span(f"/{key}"), f"/{key}",
                     edits=edits.replace_value(document, f"/{key}", names) if names else ())  # fmt: skip


def _translate(tools: dict[str, object]) -> str:
    """A table of tools as Claude Code's names; empty where one cannot be translated."""
    if not all(isinstance(on, bool) for on in tools.values()) or len(tools) > _MAX_ENTRIES:
        return ""
    known = {name.lower(): name for name in CLAUDE_TOOLS}
    names = [known.get(name.lower(), "") for name, on in tools.items() if on]
    return ", ".join(names) if all(names) else ""


@rule("AGT213", "R1.2", profiles=_CLAUDE, severity="warning", fix="safe")
def claude_tools_empty(case: Case) -> Iterator[Report]:
    """`tools` stands there without a value.

    Why: the agent then has no tools at all. Without the key it would have every tool.

    Bad: `tools:`

    Good: `tools: Read, Grep`; no `tools` for every tool; `tools: []` where none is meant

    Fix (safe): writes `tools: []`, which says the same and shows it.
    """
    value = case.get("tools")
    if "tools" in case.values and is_absent(value):
        yield Report("tools is empty, so the agent has no tools at all",
                     "Name the tools, remove the key for every tool, or write [] if none is meant.",
                     case.document.key_span("/tools"), "/tools",
                     edits=edits.replace_value(case.document, "/tools", "[]"), fix_message="Write [].")  # fmt: skip


@rule("AGT214", "R1.2", profiles=_CLAUDE, severity="warning", fix="unsafe")
def claude_tool_unknown(case: Case) -> Iterator[Report]:
    """A tool is named that Claude Code does not have.

    Why: names are case-sensitive, and one that is unknown is passed over: the agent lacks the tool, or keeps one that
    was denied. Tools of an MCP server are called `mcp__server__tool`.

    Bad: `tools: read, Grepp`

    Good: `tools: Read, Grep`

    Fix (unsafe): writes the name that was probably meant; the agent can use that tool then.
    """
    for key in ("tools", "disallowedTools"):
        for entry in _list_entries(case.document, key)[:MAX_REPORTS]:
            if entry.name in CLAUDE_TOOLS or entry.name.startswith("mcp__") or "*" in entry.name:
                continue
            meant = find_meant(entry.name, CLAUDE_TOOLS)
            yield Report(f"Claude Code has no tool {show(entry.name)}", _hint_at_tool(entry.name, meant),
                         entry.name_span, entry.pointer,
                         edits=((*entry.name_span, meant),) if meant and entry.exact else (),
                         fix_message=f"Write {meant}.")  # fmt: skip


def _hint_at_tool(name: str, meant: str | None) -> str:
    if meant:
        return f"Did you mean {meant}?"
    if name.lower() in ("none", "null", "nothing"):
        return "Write [] if no tool is meant."
    return "Tools of an MCP server are called mcp__server__tool." if "mcp" in name.lower() else "Remove it."


@rule("AGT215", "R1.3", profiles=_CLAUDE, severity="warning", fix="safe")
def claude_tool_contradiction(case: Case) -> Iterator[Report]:
    """A tool is both given and taken away.

    Why: what `disallowedTools` names is taken away first, so the agent does not have it, whatever `tools` says.

    Bad: `tools: Read, Bash` and `disallowedTools: Bash`

    Good: `tools: Read`

    Fix (safe): removes it from `tools`, unless nothing would be left there.
    """
    document = case.document
    denied = {entry.name for entry in _list_entries(document, "disallowedTools") if not entry.pattern}
    given = _list_entries(document, "tools") if denied else []
    both = [entry for entry in given if entry.name in denied]
    for entry in both[:MAX_REPORTS]:
        can_fix = len(both) < len(given) and entry.exact
        yield Report(f"{entry.name} is given by tools and taken away by disallowedTools", "Name it in one of them.",
                     entry.span, entry.pointer, edits=_cut_entry(document, entry) if can_fix else (),
                     fix_message="Remove it from tools.")  # fmt: skip


def _cut_entry(document: Document, entry: _Entry) -> tuple[edits.Change, ...]:
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


_WITH_NAMES = frozenset({"Agent", "Task", "Skill"})


@rule("AGT216", "R1.3", profiles=_CLAUDE, severity="warning")
def claude_tool_pattern(case: Case) -> Iterator[Report]:
    """A tool is named with a pattern, such as `Bash(git:*)`.

    Why: in an agent's file Claude Code looks at the name alone. In `tools` the agent gets the whole tool, in
    `disallowedTools` it loses the whole tool. Patterns work in the permissions of the settings.

    Bad: `tools: Read, Bash(git:*)`

    Good: `tools: Read, Bash`, and a permission rule or a `PreToolUse` hook for what it may run
    """
    for key, told in (("tools", "may use all of"), ("disallowedTools", "loses all of")):
        for entry in _list_entries(case.document, key)[:MAX_REPORTS]:
            if entry.pattern and entry.pattern not in ("()", "(*)") and entry.name not in _WITH_NAMES:
                yield Report(f"the pattern {show(entry.pattern)} is ignored: the agent {told} {entry.name[:40]}",
                             "Keep patterns in the permissions of the settings, or in a hook.", entry.span,
                             entry.pointer)  # fmt: skip


_NOT_FOR_SUBAGENTS = frozenset({"AskUserQuestion", "EnterPlanMode", "ExitPlanMode"})


@rule("AGT217", "R1.2", profiles=_CLAUDE, severity="note")
def claude_tool_not_given(case: Case) -> Iterator[Report]:
    """A tool is named that subagents are never given.

    Why: a subagent cannot ask the user or switch the mode of the session, whatever its file says. It can when it is
    started with `--agent`.

    Bad: `tools: Read, AskUserQuestion`

    Good: an agent that returns its question to whoever called it
    """
    for entry in _list_entries(case.document, "tools"):
        if entry.name in _NOT_FOR_SUBAGENTS and (entry.name, case.get("permissionMode")) != ("ExitPlanMode", "plan"):
            yield Report(f"a subagent is never given {entry.name}", "Let it return what it wants to ask.", entry.span,
                         entry.pointer)  # fmt: skip


# --- other values ----------------------------------------------------------------------------------------------------

_ALIASES = ("sonnet", "opus", "haiku", "inherit", "opusplan", "best", "fable")
_FAMILY = lazy(r"(?:claude[-_ .]{0,3})?(?P<family>sonnet|opus|haiku)[-_ .v]{0,3}[\d.]{0,8}\Z")


@rule("AGT220", "R1.1", profiles=_CLAUDE, severity="warning", fix="unsafe")
def claude_model_unknown(case: Case) -> Iterator[Report]:
    """The model is neither an alias nor a full id.

    Why: Claude Code passes on what it does not know, and the agent fails at its first request, unless a gateway of
    yours knows the name. Aliases are sonnet, opus, haiku, inherit; an id begins with `claude-`.

    Bad: `model: sonnet-4.5`, `model: anthropic/claude-sonnet-4-5`

    Good: `model: sonnet`, `model: claude-sonnet-4-5`

    Fix (unsafe): writes the alias, or the id without its provider.
    """
    model = case.get("model")
    if model is None or _is_told(case.document, "/model"):
        return
    if not isinstance(model, str):
        yield Report(f"model is {show(model)} and not a text, so it is ignored", "Write an alias, such as sonnet.",
                     case.document.span_of("/model"), "/model")  # fmt: skip
        return
    meant = _find_model(model.strip().removesuffix("[1m]"))
    if meant:
        yield Report(f"{show(model)} is neither an alias nor the id of a model", f"Did you mean {meant}?",
                     case.document.span_of("/model"), "/model",
                     edits=edits.rewrite_text(case.document, "/model", meant),
                     fix_message=f"Write {meant}.")  # fmt: skip


def _find_model(model: str) -> str:
    """What is meant by a word that is no name of a model; nothing where it is one, or may be one to a gateway."""
    low = model.lower()[:200]
    if not low or low in _ALIASES or low.startswith("arn:"):
        return ""
    provider, _, name = low.rpartition("/")
    if provider in ("anthropic", "claude") and name:
        return _find_model(name) or name
    if found := _FAMILY.match(low):
        return found["family"]
    return "" if "claude" in low or "/" in low else find_meant(low, _ALIASES) or ""


_MODES = ("default", "acceptEdits", "auto", "dontAsk", "bypassPermissions", "plan")


@rule("AGT221", "R1.3", profiles=_CLAUDE, fix="unsafe")
def claude_mode_unknown(case: Case) -> Iterator[Report]:
    """`permissionMode` is none that Claude Code knows.

    Why: it is ignored, and the agent runs in the mode of the session, which may allow more.

    Bad: `permissionMode: readonly`

    Good: `permissionMode: plan`

    Fix (unsafe): writes the mode that was probably meant.
    """
    yield from _check_choice(case, "permissionMode", _MODES)


def _check_choice(case: Case, key: str, known: Sequence[str]) -> Iterator[Report]:
    """One of a few words, or nothing."""
    value = case.get(key)
    pointer = f"/{key}"
    if is_absent(value) or value in known or _is_told(case.document, pointer):
        return
    meant, hint = guess(value, known) if isinstance(value, str) else ("", f"Known are: {', '.join(known)}.")
    yield Report(f"{key} is {show(value)}, which Claude Code ignores", hint, case.document.span_of(pointer), pointer,
                 edits=edits.rewrite_text(case.document, pointer, meant) if meant else (),
                 fix_message=f"Write {meant}.")  # fmt: skip


@rule("AGT222", "R1.3", profiles=_CLAUDE, severity="warning")
def claude_bypasses_permissions(case: Case) -> Iterator[Report]:
    """The agent runs without permission checks.

    Why: `bypassPermissions` lets it run every command and write every file without asking, and so may whoever gets a
    sentence into what it reads.

    Bad: `permissionMode: bypassPermissions`

    Good: `permissionMode: acceptEdits`, and permission rules for what it needs
    """
    if case.get("permissionMode") == "bypassPermissions" and _is_own_folder(case.document):
        yield Report("the agent runs without any permission check", "Allow what it needs, and no more.",
                     case.document.span_of("/permissionMode"), "/permissionMode")  # fmt: skip


_DIGITS = lazy(r"\s{0,20}\+?0{0,20}[1-9]")


@rule("AGT223", "R1.1", profiles=_CLAUDE, severity="warning")
def claude_turns_not_positive(case: Case) -> Iterator[Report]:
    """`maxTurns` is not a positive whole number.

    Why: it is ignored, and the agent runs without a limit.

    Bad: `maxTurns: 0`, `maxTurns: unlimited`

    Good: `maxTurns: 20`
    """
    turns = case.get("maxTurns")
    is_counted = type(turns) is int or (isinstance(turns, float) and turns.is_integer())
    is_read = turns > 0 if is_counted else isinstance(turns, str) and _DIGITS.match(turns)
    if turns is not None and not is_read:
        yield Report(f"maxTurns is {show(turns)}, so there is no limit", "Write a whole number above 0.",
                     case.document.span_of("/maxTurns"), "/maxTurns")  # fmt: skip


_EFFORTS = ("low", "medium", "high", "xhigh", "max")


@rule("AGT224", "R1.1", profiles=_CLAUDE, severity="warning", fix="unsafe")
def claude_value_unknown(case: Case) -> Iterator[Report]:
    """`memory`, `isolation` or `effort` has a value that Claude Code does not know.

    Why: the value is ignored: the agent remembers nothing, works in your own tree, thinks as long as any other. Known
    are `memory` user, project, local; `isolation` worktree; `effort` low, medium, high, xhigh, max or a whole number.

    Bad: `isolation: work-tree`

    Good: `isolation: worktree`

    Fix (unsafe): writes the value that was probably meant.
    """
    yield from _check_choice(case, "memory", ("user", "project", "local"))
    if case.get("isolation") != "remote":
        yield from _check_choice(case, "isolation", ("worktree",))
    effort = case.get("effort")
    is_number = type(effort) is int or (isinstance(effort, str) and _DIGITS.match(effort))
    if not is_number and not (isinstance(effort, str) and effort.lower() in (*_EFFORTS, "med")):
        yield from _check_choice(case, "effort", _EFFORTS)


_COLORS = ("red", "blue", "green", "yellow", "purple", "orange", "pink", "cyan")


@rule("AGT225", "R1.1", profiles=_CLAUDE, severity="note", fix="unsafe")
def claude_color_unknown(case: Case) -> Iterator[Report]:
    """The color is none that Claude Code shows.

    Why: it knows eight names and nothing else; any other color is ignored.

    Bad: `color: "#38BDF8"`

    Good: `color: cyan`

    Fix (unsafe): writes the color that was probably meant.
    """
    yield from _check_choice(case, "color", _COLORS)


@rule("AGT226", "R1.1", profiles=_CLAUDE, severity="warning")
def claude_list_expected(case: Case) -> Iterator[Report]:
    """`mcpServers` or `skills` is not a list.

    Why: Claude Code ignores `mcpServers` unless it is a list, and `skills` if it is a table; the agent runs without
    them.

    Bad: `mcpServers: {github: {command: gh-mcp}}`

    Good: `mcpServers: [github]`, or a list with `github: {command: gh-mcp}` as an item
    """
    for key in ("mcpServers", "skills"):
        value = case.get(key)
        is_read = value is None or isinstance(value, list) or (key == "skills" and isinstance(value, str))
        if not is_read and not (key == "mcpServers" and not _is_own_folder(case.document)):
            yield Report(f"{key} is {show(value)} and not a list, so it is ignored", "Write a list.",
                         case.document.key_span(f"/{key}"), f"/{key}")  # fmt: skip


@rule("AGT227", "R1.1", profiles=_CLAUDE, severity="warning")
def claude_background_unknown(case: Case) -> Iterator[Report]:
    """`background` is neither true nor false.

    Why: anything else is ignored, and the agent runs in the foreground.

    Bad: `background: always`

    Good: `background: true`
    """
    value = case.get("background")
    if value is None or isinstance(value, bool) or str(value).lower()[:9] in _TRUTHS:
        return
    yield Report(f"background is {show(value)}, which Claude Code ignores", "Write true or false.",
                 case.document.span_of("/background"), "/background")  # fmt: skip


_TRUTHS = frozenset({"true", "false", "yes", "no", "on", "off", "y", "n", "1", "0"})
"""Spellings of true and false; those that are not read have a rule of their own."""
