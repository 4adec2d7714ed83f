"""The source of a compilation: a standard agent file, and all that a target wants to know of it.

Owns the reading: which tools are on, whom the agent may call, what its permissions say, its body without what is meant
for Remit. Targets only write.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from remit.agents.compile.told import built_in, changed, lost, name_some, unenforced
from remit.agents.definition import ANYONE, read_permissions
from remit.agents.profiles import TOOLS, UTILITY_AGENTS
from remit.globs import EVERYTHING
from remit.harnesses import codex, opencode
from remit.lazy import lazy
from remit.quick_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.agents.definition import Definition
    from remit.agents.document import Document
    from remit.model import Finding


class Row(NamedTuple):
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
class Source:
    """An agent file that is being compiled, and what there is to say of it so far."""

    document: Document
    definition: Definition
    to: str
    name: str
    description: str
    body: str
    findings: list[Finding] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    """The permissions, one row for each side and tool."""
    other_tools: dict[str, bool] = field(default_factory=dict)
    """Tools beyond the standard's that the file switches on or off; the one that calls agents is not among them."""

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

    def tell(self, *findings: Finding) -> None:
        """Say something of the source."""
        self.findings += findings


def read_source(document: Document, definition: Definition, to: str) -> Source:
    """Read a document for a target. It has been looked at before: it has a description and a body."""
    name = make_name(definition.name)
    description = str(document.get("description")).strip()
    source = Source(document, definition, to, name, description, read_body(document))
    source.rows = list(_read_rows(document))
    source.other_tools = _read_other_tools(document)
    for row in source.rows:
        if row.side == "deny" and row.forbids_all and row.narrows:
            message = f"what is excepted from denying all of {row.tool[:80]} is denied too"
            source.tell(changed(document, row.pointer, message, "Deny less, without exceptions.", stricter=True))
    if name != definition.name:
        message = f"the name {definition.name[:80]} became {name}"
        source.tell(changed(document, "/name", message, "Use letters, digits and hyphens."))
    return source


_NOT_IN_NAMES = lazy(r"[^A-Za-z0-9_-]+")


def make_name(name: str) -> str:
    """A name that is a file name everywhere and that no harness misreads; the same for an agent and for its callers."""
    return _NOT_IN_NAMES.sub("-", name).strip("-")[:100]


def read_body(document: Document) -> str:
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


def _read_rows(document: Document) -> Iterator[Row]:
    for side in ("allow", "deny"):
        merged: dict[str, Row] = {}
        for tool, pointer, patterns in read_permissions(document, side):
            row = merged.get(tool, Row(side, tool, pointer, ()))
            texts = (text.strip() for text, _ in patterns if text.strip())
            merged[tool] = row._replace(patterns=tuple(dict.fromkeys([*row.patterns, *texts])))
        yield from merged.values()


def describe(row: Row) -> str:
    """What a row keeps a tool to, or from."""
    return f"{row.tool} {'to' if row.side == 'allow' else 'from'} {name_some(list(row.patterns))}"


# --- whom it may call ------------------------------------------------------------------------------------------------


_IS_NAME = lazy(r"[A-Za-z0-9_:/-]{1,200}\Z")


def read_targets(source: Source) -> list[str]:
    """The names of the agents that it may call; permissions on `task` count like the list of targets."""
    named = [target.name for target in source.definition.targets]
    named += [name for row in source.rows if (row.side, row.tool) == ("allow", "task") for name in row.patterns]
    denied = {name for row in source.rows if (row.side, row.tool) == ("deny", "task") for name in row.patterns}
    if denied & EVERYTHING:
        return []
    names = (name if _IS_NAME.match(name) or "*" in name else make_name(name) for name in named if name not in denied)
    targets = [name for name in dict.fromkeys(names) if name]
    utility = [name for name in targets if name in UTILITY_AGENTS]
    if utility:
        source.tell(built_in(source.document, "/delegation/can_delegate_to", source.to, name_some(utility)))
    return targets


def calls_anyone(targets: list[str]) -> bool:
    """Whether there is no limit to whom it may call."""
    return ANYONE in targets


_OWN_LIMITS = {
    "claude": "Claude Code itself stops after 5 levels.",
    "opencode": f"A nested agent calls others only with subagent_depth above 1 in {opencode.SETTINGS_FILE}.",
    "codex": f"A nested agent calls others only with agents.max_depth above 1 in Codex's {codex.HOME_SETTINGS}.",
}


def tell_lost_limits(source: Source, targets: list[str]) -> None:
    """Depth and timeouts of delegations: no harness takes them from an agent's file."""
    table = source.document.get("delegation")
    named = [key for key in ("max_depth", "timeout_default", "timeout_max") if isinstance(table, dict) and key in table]
    if named and targets:
        at, because = f"/delegation/{named[0]}", _OWN_LIMITS[source.to]
        source.tell(lost(source.document, at, source.to, name_some(named), because=because))


def tell_free_calls(source: Source, targets: list[str], condition: str = "") -> None:
    """Say that the agent may call others than its targets, for a harness that does not stop it."""
    if targets and not calls_anyone(targets):
        what = f"calls to {name_some(targets)}{condition}"
        source.tell(unenforced(source.document, "/delegation/can_delegate_to", source.to, what))


def tell_unenforced(source: Source) -> None:
    """Name every permission that narrows a tool which the agent has, for a harness that has no patterns."""
    for row in source.rows:
        if row.tool != "task" and row.narrows and source.has(row.tool):
            source.tell(unenforced(source.document, row.pointer, source.to, describe(row)))


def _read_other_tools(document: Document) -> dict[str, bool]:
    value = document.get("tools")
    if isinstance(value, dict):
        named = {name: on for name, on in value.items() if isinstance(on, bool)}
    else:
        named = {name.lower(): True for name in value if isinstance(name, str)} if isinstance(value, list) else {}
    return {name: on for name, on in named.items() if name not in TOOLS and name != "task"}


# --- models ----------------------------------------------------------------------------------------------------------

_ALIASES = frozenset({"sonnet", "opus", "haiku", "inherit", "default"})


def translate_model(source: Source) -> str | None:
    """The model's name as the target writes it; None where the file names none, or one that the target cannot run."""
    value = source.document.get("model")
    if not isinstance(value, str) or not value.strip():
        return None
    name = value.strip()
    translated = {"claude": _claude_model, "opencode": _opencode_model, "codex": _codex_model}[source.to](name)
    if translated is None:
        message = f"the model {name[:80]} is none of this harness, so it is left out"
        source.tell(changed(source.document, "/model", message, "The agent runs with the session's own model."))
    elif translated != name:
        message = f"the model {name[:80]} became {translated[:80]}"
        source.tell(changed(source.document, "/model", message, "Check that it is the one that is meant."))
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
