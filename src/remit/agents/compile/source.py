"""The source of a compilation: a standard agent file, with its tools, targets and permissions, and its diagnostics.

The docstring of a function that makes a diagnostic (CMP…) is its page. The modules of the targets only render.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from remit.agents.definition import ANYONE, name_tool, read_permissions, split_claude_tools
from remit.agents.document import read_body
from remit.agents.profiles import TOOLS, UTILITY_AGENTS
from remit.globs import EVERYTHING
from remit.harnesses import codex, opencode
from remit.lazy_regex import lazy
from remit.light_namedtuple import NamedTuple
from remit.model import Diagnostic
from remit.positions import escape_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from remit.agents.definition import Definition
    from remit.agents.document import AgentDocument
    from remit.model import Severity


HARNESSES = {"claude": "Claude Code", "opencode": "opencode", "codex": "Codex"}
"""The names of the targets in messages."""


def lost(document: AgentDocument, pointer: str, to: str, what: str, *, because: str = "") -> Diagnostic:
    """A setting has no place in the harness's file, so the harness runs the agent without it.

    Why: no harness has all settings of the standard. Remit reads the setting from the source, which has to stay in the
    workspace. If the harness starts the agent without Remit, the setting has no effect.

    Bad: relying on `timeout: 1800` while Claude Code runs the agent by itself.

    Good: starting the agent through Remit, or setting the limit in the harness's own configuration.
    """
    hint = "Remit reads it from the source."
    message = f"{HARNESSES[to]}'s agent file has no setting for {what}"
    return _make("CMP001", "warning", document, pointer, message, f"{because} {hint}".lstrip())


def changed(document: AgentDocument, pointer: str, message: str, hint: str, *, stricter: bool = False) -> Diagnostic:
    """The harness's file has a value that is close to the one of the source, but not the same.

    Why: opencode has one permission for writing and editing, its `*` also matches across folders, and each harness has
    other names for models. A wider permission than in the source is a warning, a stricter one is a note.

    Bad: assuming that `specs/*/state.json` matches one folder level; it also matches `specs/a/b/state.json`.

    Good: a pattern that means the same everywhere, such as `specs/**/*`.
    """
    return _make("CMP002", "note" if stricter else "warning", document, pointer, message, hint)


def not_enforced(document: AgentDocument, pointer: str, to: str, what: str) -> Diagnostic:
    """A permission can't be written into the harness's file: only a hook can enforce it.

    Why: an agent of Claude Code has or doesn't have a tool, and a pattern after its name changes nothing. An agent of
    Codex has the sandbox of the session that calls it, whatever its file says. The agent can therefore do what the
    source does not allow.

    Bad: compiling `deny: [{bash: ["rm"]}]` for Claude Code and relying on it.

    Good: Remit's hook (`remit hooks install claude`), which checks each use of a tool against the source; or switching
    the tool off.
    """
    return _make("CMP003", "warning", document, pointer, f"{HARNESSES[to]} doesn't keep {what}",
                 f"Install Remit's hooks to enforce it: remit hooks install {to}.")  # fmt: skip


def left_out(document: AgentDocument, pointer: str, to: str, names: str) -> Diagnostic:
    """Keys that only Remit reads are not in the harness's file.

    Why: a harness ignores unknown keys, or sends them to the provider of the model. The agent works the
    same without them. Remit reads them from the source.

    Bad: reading `agent_type` from the compiled file.

    Good: reading it from the source, whose path is in the first lines of the compiled file.
    """
    message = f"{names} {'are' if ', ' in names else 'is'} not in the file for {HARNESSES[to]}"
    return _make("CMP004", "note", document, pointer, message, "No change is needed.")


def built_in(document: AgentDocument, pointer: str, to: str, names: str) -> Diagnostic:
    """An agent in `can_delegate_to` is built into Remit: the harness has no agent of that name.

    Why: Remit's hooks answer such a call. In a harness without the hooks the call fails, unless the project has an
    agent file of that name.

    Bad: an agent for Claude Code whose preflight asks `status-sync-manager`, without Remit's hooks.

    Good: the hooks that `remit init` installs, or an agent file of that name.
    """
    return _make("CMP005", "note", document, pointer, f"{HARNESSES[to]} has no agent {names}",
                 "Install Remit's hooks with remit init, or write an agent of that name.")  # fmt: skip


def loaded_twice(document: AgentDocument, to: str) -> Diagnostic:
    """The source is in a folder from which the harness loads agents, beside the compiled file.

    Why: the harness then has two agents, and the source has none of the compiled permissions there. opencode also sends
    its unknown keys to the provider of the model.

    Bad: `.claude/agents/subagents/planner.md` compiled to `.claude/agents/planner.md`.

    Good: `agents/planner.md` compiled to `.claude/agents/planner.md`.
    """
    return _make("CMP006", "warning", document, "", f"{HARNESSES[to]} also loads the source as an agent",
                 "Move the source to a folder that no harness reads, such as agents/.")  # fmt: skip


def refused(document: AgentDocument, pointer: str, message: str, hint: str) -> Diagnostic:
    """The file can't be compiled, and nothing was written for it.

    Why: a file that is misread would give an agent with other permissions than intended.
    A harness ignores an agent without a name, a description or instructions, mostly without a message.

    Bad: compiling a file whose frontmatter isn't valid YAML.

    Good: `remit lint` and its fixes first, then `remit agent build`.
    """
    return _make("CMP007", "error", document, pointer, message, hint)


def outdated(document: AgentDocument, path: str, *, missing: bool) -> Diagnostic:
    """The compiled file is missing or out of date. Only `remit agent build --check` reports this.

    Why: the harness runs the compiled file. A change to the source has no effect until the file is written again, and
    the next compilation overwrites a change to the compiled file.

    Bad: a commit that changes `agents/planner.md` and leaves `.claude/agents/planner.md` as it was.

    Good: `remit agent build --to claude`, and both files in one commit.
    """
    state = "doesn't exist" if missing else "is out of date"
    return _make("CMP008", "error", document, "", f"{path} {state}", "Run `remit agent build` without --check.")


def left_over(document: AgentDocument, origin: str) -> Diagnostic:
    """A compiled file has lost its source: the source was removed, or its agent has another name now.

    Why: the harness still loads the file, with its old permissions. Remit removes nothing without a request.

    Bad: `.claude/agents/planner.md`, generated from an `agents/planner.md` that does not exist any more.

    Good: removing it.
    """
    message = f"this file was compiled from {origin}, which no longer defines this agent"
    return _make("CMP009", "error", document, "", message, "Remove it.")


DIAGNOSTICS: dict[str, tuple[Callable[..., Diagnostic], Severity]] = {
    "CMP001": (lost, "warning"),
    "CMP002": (changed, "warning"),
    "CMP003": (not_enforced, "warning"),
    "CMP004": (left_out, "note"),
    "CMP005": (built_in, "note"),
    "CMP006": (loaded_twice, "warning"),
    "CMP007": (refused, "error"),
    "CMP008": (outdated, "error"),
    "CMP009": (left_over, "error"),
}


def _make(  # noqa: PLR0917 - the fields of a diagnostic, in order
    code: str, severity: Severity, document: AgentDocument, pointer: str, message: str, hint: str
) -> Diagnostic:
    place = document.locate(document.key_span(pointer)) if document.text else None
    return Diagnostic(code, severity, message, hint, pointer, place)


MAX_NAMED = 20


def name_some(names: list[str]) -> str:
    """Render names for a message: the first ones, and the number of others."""
    shown = [name[:80] for name in names[:MAX_NAMED]]
    rest = len(names) - len(shown)
    return f"{', '.join(shown)} and {rest} more" if rest else ", ".join(shown)


class CompiledPermission(NamedTuple):
    """The patterns of a tool under `allow` or `deny`."""

    side: str
    tool: str
    pointer: str
    patterns: tuple[str, ...]

    @property
    def is_everything(self) -> bool:
        """Whether it covers all uses of the tool."""
        return any(pattern in EVERYTHING for pattern in self.patterns)

    @property
    def narrows(self) -> bool:
        """Whether it covers only some uses of the tool."""
        return not self.is_everything or any(pattern.startswith("!") for pattern in self.patterns)

    @property
    def forbids_all(self) -> bool:
        """Whether it forbids all uses of the tool: all denied, or none allowed."""
        return self.is_everything if self.side == "deny" else not self.patterns


@dataclass(slots=True)
class CompileSource:
    """An agent file that is being compiled, and its diagnostics so far."""

    document: AgentDocument
    definition: Definition
    to: str
    name: str
    description: str
    body: str
    diagnostics: list[Diagnostic] = field(default_factory=list)
    rows: list[CompiledPermission] = field(default_factory=list)
    """The permissions, one row for each side and tool."""
    other_tools: dict[str, bool] = field(default_factory=dict)
    """Tools that the standard lacks and that the file switches on or off, except the tool that calls agents."""
    targets: list[str] = field(default_factory=list)
    """The agents that it may call, by the list of targets or by permissions on `task`."""
    denied_targets: list[str] = field(default_factory=list)
    """The agents that it may not call, if it may call all others."""

    @property
    def tools(self) -> tuple[str, ...] | None:
        """The standard's tools that are on and not fully denied, or None if the file lists no tools."""
        on = self.definition.tools
        return None if on is None else tuple(tool for tool in TOOLS if tool in on and not self.forbids(tool))

    def forbids(self, tool: str) -> bool:
        """Whether the permissions forbid all uses of a tool."""
        return any(row.tool == tool and row.forbids_all for row in self.rows)

    def has(self, tool: str) -> bool:
        """Whether the agent may use a tool."""
        if self.tools is None or tool in self.tools:
            return not self.forbids(tool)
        return tool not in TOOLS and self.other_tools.get(tool, False) and not self.forbids(tool)

    @property
    def calls_anyone(self) -> bool:
        """Whether the agent may call all agents."""
        return ANYONE in self.targets

    @property
    def own_limits(self) -> str:
        """A note on the target's own limit on the depth of calls."""
        return _OWN_LIMITS[self.to]

    def report(self, diagnostic: Diagnostic) -> None:
        """Add a diagnostic."""
        self.diagnostics.append(diagnostic)

    def report_unenforced(self, pointer: str, what: str) -> None:
        """Report a permission that the target can't enforce."""
        self.report(not_enforced(self.document, pointer, self.to, what))

    def report_calls(self, condition: str = "") -> None:
        """Report limits on calls, for a target that doesn't enforce them."""
        if self.denied_targets:
            self.report_unenforced("/permissions", f"the agent from calling {name_some(self.denied_targets)}")
        if self.targets and not self.calls_anyone:
            self.report_unenforced("/delegation/can_delegate_to", f"calls to {name_some(self.targets)}{condition}")

    def report_patterns(self) -> None:
        """Report all permissions with patterns, for a target without patterns."""
        for row in self.rows:
            if row.tool != "task" and row.narrows and self.has(row.tool):
                self.report_unenforced(row.pointer, describe(row))


def read_source(document: AgentDocument, definition: Definition, to: str) -> CompileSource:
    """Read a document, which must have a description and a body, for a target."""
    name = make_name(definition.name)
    description = str(document.get("description")).strip()
    source = CompileSource(document, definition, to, name, description, read_body(document))
    source.rows = list(_read_rows(document))
    _read_tools(source)
    _read_targets(source)
    for row in source.rows:
        if row.side == "deny" and row.forbids_all and row.narrows:
            message = f"the exceptions from denying all of {row.tool[:80]} are denied, too"
            source.report(changed(document, row.pointer, message, "Deny less, without exceptions.", stricter=True))
    if name != definition.name:
        message = f"the name {definition.name[:80]} was changed to {name}"
        source.report(changed(document, "/name", message, "Use letters, digits and hyphens."))
    return source


_NOT_IN_NAMES = lazy(r"[^A-Za-z0-9_-]+")


def make_name(name: str) -> str:
    """Return a name that is a valid file name and safe in all harnesses. Agents and callers get the same one."""
    return _NOT_IN_NAMES.sub("-", name).strip("-")[:100]


def _read_rows(document: AgentDocument) -> Iterator[CompiledPermission]:
    for side in ("allow", "deny"):
        merged: dict[str, CompiledPermission] = {}
        for tool, pointer, patterns in read_permissions(document, side):
            row = merged.get(tool, CompiledPermission(side, tool, pointer, ()))
            texts = (text.strip() for text, _ in patterns if text.strip())
            merged[tool] = row._replace(patterns=tuple(dict.fromkeys([*row.patterns, *texts])))
        yield from merged.values()


def describe(row: CompiledPermission) -> str:
    """Describe the limit of a permission for a message."""
    return f"{row.tool} {'to' if row.side == 'allow' else 'from'} {name_some(list(row.patterns))}"


# --- tools, and agents that it may call ------------------------------------------------------------------------------


def _read_tools(source: CompileSource) -> None:
    """Read the tools that the standard lacks. Reports values that aren't boolean, and patterns."""
    document, value = source.document, source.document.get("tools")
    if isinstance(value, dict):
        for name, on in value.items():
            if not isinstance(on, bool):
                message = f"tools.{name[:80]} is neither true nor false, so it is off"
                source.report(changed(document, f"/tools/{escape_key(name)}", message, "Write true or false."))
        named = {name: on is True for name, on in value.items()}
    else:
        items = split_claude_tools(value) if isinstance(value, str | list) else []
        named = {_name_tool(item): True for item in items}
        patterns = [item for item in items if "(" in item and _name_tool(item) not in _CALLING]
        if patterns:
            source.report(lost(document, "/tools", source.to, f"the patterns of {name_some(patterns)}"))
    source.other_tools = {name: on for name, on in named.items() if name and name not in (*TOOLS, *_CALLING, ANYONE)}


_CALLING = ("task", "agent")
"""Names of the tool that calls agents."""


def _name_tool(item: str) -> str:
    name = name_tool(item.partition("(")[0].strip())
    return name.lower() if name.lower() in (*opencode.ALL_TOOLS, *_CALLING) else name


_IS_NAME = lazy(r"[A-Za-z0-9_:/-]{1,200}\Z")
_OWN_LIMITS = {
    "claude": "Claude Code itself stops after 5 levels.",
    "opencode": f"A nested agent calls others only with subagent_depth above 1 in {opencode.SETTINGS_FILE}.",
    "codex": f"Codex has agents.max_depth in its {codex.HOME_SETTINGS}, which multi-agent v2 does not check.",
}


def _read_targets(source: CompileSource) -> None:
    named = [target.name for target in source.definition.targets]
    named += [name for row in source.rows if (row.side, row.tool) == ("allow", "task") for name in row.patterns]
    denied = [name for row in source.rows if (row.side, row.tool) == ("deny", "task") for name in row.patterns]
    if not EVERYTHING.isdisjoint(denied):
        return
    names = (name if _IS_NAME.match(name) or "*" in name else make_name(name) for name in named if name not in denied)
    source.targets = [name for name in dict.fromkeys(names) if name]
    source.denied_targets = denied if source.calls_anyone else []
    utility = [name for name in source.targets if name in UTILITY_AGENTS]
    if utility:
        source.report(built_in(source.document, "/delegation/can_delegate_to", source.to, name_some(utility)))


# --- models ----------------------------------------------------------------------------------------------------------

_ALIASES = frozenset({"sonnet", "opus", "haiku", "inherit", "default"})


def translate_model(source: CompileSource) -> str | None:
    """Return the target's name of the model, or None without a model or if the target can't run it."""
    value = source.document.get("model")
    if value is None or value == "":
        return None
    name = str(value).strip()
    translated = _convert_model(name, source.to)
    if translated is None:
        message = f"this harness has no model {name[:80]}, so it was left out"
        source.report(changed(source.document, "/model", message, "The agent runs with the session's model."))
    elif translated != name:
        message = f"the model {name[:80]} was changed to {translated[:80]}"
        source.report(changed(source.document, "/model", message, "Check that it is the intended model."))
    return translated


def _convert_model(name: str, to: str) -> str | None:
    if to == "claude":
        bare = name.removeprefix("anthropic/")
        return bare if bare in _ALIASES or bare.startswith("claude") else None
    if to == "codex":
        bare = name.removeprefix("openai/")
        return bare if "/" not in bare and bare not in _ALIASES and not bare.startswith(("claude", "gemini")) else None
    if "/" in name:
        return name
    maker = {"claude": "anthropic", "gpt": "openai", "gemini": "google"}.get(name.partition("-")[0])
    return f"{maker}/{name}" if maker else None
