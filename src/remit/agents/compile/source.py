"""The source of a compilation: a standard agent file, read once for a target.

Owns the reading: the tools that are on, the agents it may call, its permissions, and its body without comments for
Remit. The modules of the targets only write.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from remit.agents.compile.diagnostics import built_in, changed, lost, name_some, not_enforced
from remit.agents.definition import ANYONE, name_tool, read_permissions, split_claude_tools
from remit.agents.profiles import TOOLS, UTILITY_AGENTS
from remit.globs import EVERYTHING
from remit.harnesses import codex, opencode
from remit.lazy_regex import lazy
from remit.light_namedtuple import NamedTuple
from remit.positions import escape_key

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.agents.definition import Definition
    from remit.agents.document import AgentDocument
    from remit.model import Diagnostic


class CompiledPermission(NamedTuple):
    """What one side of the permissions says of one tool."""

    side: str
    tool: str
    pointer: str
    patterns: tuple[str, ...]

    @property
    def is_everything(self) -> bool:
        """Whether it speaks of all that the tool can do."""
        return any(pattern in EVERYTHING for pattern in self.patterns)

    @property
    def narrows(self) -> bool:
        """Whether it leaves something of the tool and takes something from it."""
        return not self.is_everything or any(pattern.startswith("!") for pattern in self.patterns)

    @property
    def forbids_all(self) -> bool:
        """Whether nothing is left that the tool may do: all of it denied, or nothing at all allowed."""
        return self.is_everything if self.side == "deny" else not self.patterns


@dataclass(slots=True)
class CompileSource:
    """An agent file that is being compiled, and what there is to say of it so far."""

    document: AgentDocument
    definition: Definition
    to: str
    name: str
    description: str
    body: str
    findings: list[Diagnostic] = field(default_factory=list)
    rows: list[CompiledPermission] = field(default_factory=list)
    """The permissions, one row for each side and tool."""
    other_tools: dict[str, bool] = field(default_factory=dict)
    """Tools beyond the standard's that the file switches on or off; the one that calls agents is not among them."""
    targets: list[str] = field(default_factory=list)
    """The agents that it may call; permissions on `task` count like the list of targets."""
    denied_targets: list[str] = field(default_factory=list)
    """Those that it may not call, although it may call any other."""

    @property
    def tools(self) -> tuple[str, ...] | None:
        """The standard's tools that are on and of which not everything is denied; None: the file does not say."""
        on = self.definition.tools
        return None if on is None else tuple(tool for tool in TOOLS if tool in on and not self.forbids(tool))

    def forbids(self, tool: str) -> bool:
        """Whether the permissions leave nothing of a tool."""
        return any(row.tool == tool and row.forbids_all for row in self.rows)

    def has(self, tool: str) -> bool:
        """Whether the agent may use a tool at all."""
        if self.tools is None or tool in self.tools:
            return not self.forbids(tool)
        return tool not in TOOLS and self.other_tools.get(tool, False) and not self.forbids(tool)

    @property
    def calls_anyone(self) -> bool:
        """Whether the list of targets has no limit."""
        return ANYONE in self.targets

    @property
    def own_limits(self) -> str:
        """How the target itself limits the depth of calls."""
        return _OWN_LIMITS[self.to]

    def report(self, finding: Diagnostic) -> None:
        """Add a diagnostic."""
        self.findings.append(finding)

    def report_unenforced(self, pointer: str, what: str) -> None:
        """Add the diagnostic of a permission that the target cannot enforce."""
        self.report(not_enforced(self.document, pointer, self.to, what))

    def report_calls(self, condition: str = "") -> None:
        """Report that the agent may call others than its targets, for a target that does not stop it."""
        if self.denied_targets:
            self.report_unenforced("/permissions", f"the agent from calling {name_some(self.denied_targets)}")
        if self.targets and not self.calls_anyone:
            self.report_unenforced("/delegation/can_delegate_to", f"calls to {name_some(self.targets)}{condition}")

    def report_patterns(self) -> None:
        """Report every permission that narrows a tool of the agent, for a target that has no patterns."""
        for row in self.rows:
            if row.tool != "task" and row.narrows and self.has(row.tool):
                self.report_unenforced(row.pointer, describe(row))


def read_source(document: AgentDocument, definition: Definition, to: str) -> CompileSource:
    """Read a document for a target. It must have a description and a body."""
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
    """A name that is a file name everywhere and that no harness misreads; the same for an agent and for its callers."""
    return _NOT_IN_NAMES.sub("-", name).strip("-")[:100]


def read_body(document: AgentDocument) -> str:
    """The instructions, with plain line breaks and without comments that are meant for Remit."""
    given = document.get(codex.INSTRUCTIONS_KEY) if document.profile == "codex" else None
    if isinstance(given, str):  # its files have no body
        return given.replace("\r\n", "\n").strip("\n").rstrip() + "\n"
    text, parts, at = document.text, [], document.body_start
    for start, end in sorted(ignore.cut for ignore in document.ignores):
        if start >= at:
            parts.append(text[at:start])
            at = end
    body = "".join([*parts, text[at:]])
    return body.replace("\r\n", "\n").strip("\n").rstrip() + "\n"


def _read_rows(document: AgentDocument) -> Iterator[CompiledPermission]:
    for side in ("allow", "deny"):
        merged: dict[str, CompiledPermission] = {}
        for tool, pointer, patterns in read_permissions(document, side):
            row = merged.get(tool, CompiledPermission(side, tool, pointer, ()))
            texts = (text.strip() for text, _ in patterns if text.strip())
            merged[tool] = row._replace(patterns=tuple(dict.fromkeys([*row.patterns, *texts])))
        yield from merged.values()


def describe(row: CompiledPermission) -> str:
    """What a row keeps a tool to, or from."""
    return f"{row.tool} {'to' if row.side == 'allow' else 'from'} {name_some(list(row.patterns))}"


# --- tools, and agents that it may call ------------------------------------------------------------------------------


def _read_tools(source: CompileSource) -> None:
    """The tools beyond the standard's; a switch that is neither on nor off, and a pattern, are reported."""
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
"""The tool that calls agents."""


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
    """The model's name as the target writes it; None if the file names none, or one that the target cannot run."""
    value = source.document.get("model")
    if value is None or value == "":
        return None
    name = str(value).strip()
    translated = {"claude": _claude_model, "opencode": _opencode_model, "codex": _codex_model}[source.to](name)
    if translated is None:
        message = f"this harness has no model {name[:80]}, so it was left out"
        source.report(changed(source.document, "/model", message, "The agent runs with the session's model."))
    elif translated != name:
        message = f"the model {name[:80]} was changed to {translated[:80]}"
        source.report(changed(source.document, "/model", message, "Check that it is the intended model."))
    return translated


def _claude_model(name: str) -> str | None:
    bare = name.removeprefix("anthropic/")
    return bare if bare in _ALIASES or bare.startswith("claude") else None


def _opencode_model(name: str) -> str | None:
    if "/" in name:
        return name
    maker = {"claude": "anthropic", "gpt": "openai", "gemini": "google"}.get(name.partition("-")[0])
    return f"{maker}/{name}" if maker else None


def _codex_model(name: str) -> str | None:
    bare = name.removeprefix("openai/")
    return bare if "/" not in bare and bare not in _ALIASES and not bare.startswith(("claude", "gemini")) else None
