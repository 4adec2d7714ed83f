"""Definition: an agent's name, tools, permissions, targets and limits in one form for all harnesses.

The call graph, the compiler and runs use definitions and never the keys of a harness. A definition is plain data that
can be cached and compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from remit.agents.profiles import GIT_WORKFLOW, STANDARD_KEYS, STATUS_SYNC, TOOLS, UTILITY_AGENTS
from remit.harnesses import claude, codex, opencode
from remit.lazy_regex import lazy
from remit.light_namedtuple import NamedTuple
from remit.positions import escape_key
from remit.spelling import find_similar

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from remit.agents.document import AgentDocument
    from remit.agents.frontmatter import Span
    from remit.agents.profiles import Profile
    from remit.model import TextSpan

MAX_TARGETS = 200
MAX_NAME = 200
_NONE: Mapping[str, Any] = {}
MAX_SECONDS = 10**9
ANYONE = "*"
"""The target of an agent that may call all other agents."""


class Target(NamedTuple):
    """An agent that another agent may call, and the place in that agent's file."""

    name: str
    span: Span
    place: TextSpan

    @property
    def is_bare(self) -> bool:
        """Whether the span covers only the name, so that a fix can replace it."""
        return self.span[1] - self.span[0] == len(self.name)


class Definition(NamedTuple):
    """The harness-independent content of an agent file."""

    name: str
    path: str
    profile: Profile
    description: str = ""
    kind: str | None = None
    mode: str | None = None
    timeout_s: float | None = None
    max_depth: int | None = None
    timeout_default_s: float | None = None
    """Default timeout of agents that this agent calls."""
    timeout_max_s: float | None = None
    """Maximum timeout of agents that this agent calls."""
    targets: tuple[Target, ...] = ()
    command: str | None = None
    tools: tuple[str, ...] | None = None
    """The standard's names of the tools that are on. None: the harness decides."""
    allow: Mapping[str, tuple[str, ...]] = _NONE
    deny: Mapping[str, tuple[str, ...]] = _NONE
    unread: str | None = None
    """Pointer to the first permission that can't be parsed, so that its limits are unknown; None if there is none."""
    calls: tuple[str, ...] = ()
    """For a command file: the agents that it calls."""
    owns_finish: bool = False
    """Whether the agent itself calls utility agents to update the status or to commit (C19)."""
    places: Mapping[str, TextSpan] = _NONE
    """The places of the name, the timeout and the tools."""


def read_definition(document: AgentDocument) -> Definition | None:
    """Return the definition of a document's agent, or None if the file defines no agent."""
    if document.unreadable is not None and not document.text:
        return None
    if document.profile == "command":
        return _define_command(document)
    if document.frontmatter is None or not document.values:
        return None
    depth = document.get("delegation", "max_depth")
    targets = tuple(_find_targets(document))
    targets += tuple(_find_step_targets(document, {target.name for target in targets}))
    return Definition(
        name=_read_text(document.get("name"))[:MAX_NAME] or _find_name(document),
        path=document.path,
        profile=document.profile,
        description=_read_text(document.get("description")),
        kind=_read_text(document.get("agent_type")) or None,
        mode=_read_text(document.get("mode")) or None,
        timeout_s=_read_seconds(document.get("timeout")),
        max_depth=depth if type(depth) is int else None,
        timeout_default_s=_read_seconds(document.get("delegation", "timeout_default")),
        timeout_max_s=_read_seconds(document.get("delegation", "timeout_max")),
        targets=targets,
        command=_read_text(document.get("lifecycle", "command")) or None,
        tools=read_tools(document),
        allow=_read_patterns(document, "allow"),
        deny=_read_patterns(document, "deny"),
        unread=find_unread(document),
        owns_finish=any(target.name in (STATUS_SYNC, GIT_WORKFLOW) for target in targets),
        places={key: document.locate(document.span_of(f"/{key}")) for key in ("name", "timeout", "tools")},
    )


def _find_name(document: AgentDocument) -> str:
    """Return the name of an agent without a `name`: its file name; for opencode, with the folders above."""
    if document.profile != "opencode":
        return document.stem
    folders = document.path.split("/")[:-1]
    homes = [index for index, folder in enumerate(folders) if folder in ("agent", "agents")]
    return "/".join([*(folders[homes[0] + 1 :] if homes else ()), document.stem])


def _read_text(value: object) -> str:
    return value.strip()[:2000] if isinstance(value, str) else ""


def _read_seconds(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if 0 < value <= MAX_SECONDS else None  # larger integers can't be converted to float


# --- whom it may call ------------------------------------------------------------------------------------------------


def _find_targets(document: AgentDocument) -> Iterator[Target]:
    if document.profile == "standard":
        yield from _find_standard_targets(document)
    elif document.profile == "claude":
        yield from _find_claude_targets(document)
    elif document.profile == "opencode":
        yield from _find_opencode_targets(document)


def _make_target(document: AgentDocument, name: str, span: Span) -> Target:
    """Return a target at a span, without the quotes around the name."""
    name, text = name.strip(), document.text[slice(*span)]
    if text[:1] in ("'", '"') and text[1:-1] == name:
        span = span[0] + 1, span[1] - 1
    return Target(name, span, document.locate(span))


def _find_standard_targets(document: AgentDocument) -> Iterator[Target]:
    named = document.get("delegation", "can_delegate_to")
    seen = set()
    for index, name in enumerate(named[:MAX_TARGETS] if isinstance(named, list) else ()):
        if isinstance(name, str) and name.strip():
            seen.add(name.strip())
            yield _make_target(document, name, document.span_of(f"/delegation/can_delegate_to/{index}"))
    patterns = document.body.find("delegation_patterns")
    for tag in patterns.find_all("delegate_to")[:MAX_TARGETS] if patterns else ():
        name = (tag.get("name") or "").strip()
        if name and name not in seen and "{" not in name:
            yield _make_target(document, name, tag.find_value("name") or tag.name_span)


def _find_step_targets(document: AgentDocument, known: set[str]) -> Iterator[Target]:
    """Yield utility agents that are named only in the preflight or postflight step."""
    for step in document.outline.steps:
        if step.role in ("preflight", "postflight"):
            for name in sorted(UTILITY_AGENTS - known):
                start = document.text.find(name, step.tag.inner_start, step.tag.inner_end)
                if start >= 0:
                    known.add(name)
                    yield _make_target(document, name, (start, start + len(name)))


_CALL = lazy(rf"(?:{'|'.join(claude.DELEGATING)})(?:\((?P<names>[^()]{{0,400}})\))?\Z")


def split_claude_tools(value: object) -> list[str]:
    """Split Claude Code's tools: a list, or a string with commas or spaces, except those in parentheses."""
    if isinstance(value, list):
        return [item.strip() for item in value if isinstance(item, str)]
    return [tool for tool in _BETWEEN_TOOLS.split(value) if tool] if isinstance(value, str) else []


_BETWEEN_TOOLS = lazy(r"[,\s](?![^()]{0,400}\))")


def _find_claude_targets(document: AgentDocument) -> Iterator[Target]:
    span = document.span_of("/tools")
    for tool in split_claude_tools(document.get("tools"))[:MAX_TARGETS]:
        found = _CALL.match(tool)
        for name in (found["names"] or ANYONE).split(",") if found else ():
            yield _make_target(document, name.strip() or ANYONE, span)


def _find_opencode_targets(document: AgentDocument) -> Iterator[Target]:
    rights = document.get("permission", "task")
    if isinstance(rights, dict):
        for name, right in list(rights.items())[:MAX_TARGETS]:
            if right in ("allow", "ask"):
                yield _make_target(document, name, document.key_span(f"/permission/task/{escape_key(name)}"))
    elif rights in ("allow", "ask") or document.get("tools", "task") is True:
        yield _make_target(document, ANYONE, document.span_of("/permission/task" if rights else "/tools/task"))


# --- what it may use -------------------------------------------------------------------------------------------------

_STANDARD_NAMES = {name: tool for tool, name in claude.NAMES.items()} | dict.fromkeys(claude.EDITING_TOOLS, "edit")


def read_tools(document: AgentDocument) -> tuple[str, ...] | None:
    """Return the standard's names of the tools that a file switches on, or None if it lists no tools."""
    value = document.get("tools")
    if document.profile == "claude" or isinstance(value, str):
        names = [tool.partition("(")[0] for tool in split_claude_tools(value)]
        known = [_STANDARD_NAMES[name] for name in names if name in claude.ALL_TOOLS and name in _STANDARD_NAMES]
        names_tools = value is not None if document.profile == "claude" else bool(known)
        return tuple(dict.fromkeys(known)) if names_tools else None
    if isinstance(value, dict):
        return tuple(name for name, on in value.items() if on is True and name in TOOLS)
    if isinstance(value, list):
        lowered = (item.lower() for item in value if isinstance(item, str))
        return tuple(name for name in dict.fromkeys(lowered) if name in TOOLS)
    return None


_SAME = {"powershell": "bash"} | {name.lower(): tool for name, tool in codex.TOOLS.items()}
_DENIED_AS = {name: tool for name, tool in opencode.TOOLS.items() if name != tool}
"""opencode's other names of tools. Denying one of them denies the tool."""
_KNOWN = frozenset(name.lower() for name in (*TOOLS, *opencode.ALL_TOOLS, *claude.ALL_TOOLS, *_SAME))
_CLAUDE_RULE = lazy(r"(?P<tool>[A-Za-z][A-Za-z0-9_-]{0,200})(?:\((?P<pattern>[^\n]{0,2000})\))?\Z")


def name_tool(given: str) -> str:
    """Return the standard's name of a tool in a permission, ignoring case; unknown names are returned unchanged."""
    lowered = given.strip().lower()
    if lowered in (*TOOLS, "webfetch", "websearch"):
        return lowered
    return _STANDARD_NAMES.get(given.strip()) or _SAME.get(lowered) or given


def is_strange_tool(name: str) -> bool:
    """Whether neither a harness nor an MCP server can have a tool with this name."""
    return name.strip().lower() not in _KNOWN and "*" not in name and not name.startswith("mcp")


def _read_patterns(document: AgentDocument, side: str) -> dict[str, tuple[str, ...]]:
    """Return the patterns under `allow` or `deny`, by tool."""
    found: dict[str, tuple[str, ...]] = {}
    for name, _, patterns in read_permissions(document, side):
        tool = _DENIED_AS.get(name, name) if side == "deny" else name
        found[tool] = found.get(tool, ()) + tuple(pattern for pattern, _ in patterns)
    return found


def read_permissions(document: AgentDocument, side: str) -> Iterator[tuple[str, str, list[tuple[str, str]]]]:
    """Yield each tool under `allow` or `deny`, its pointer, and its patterns with their pointers."""
    rows: Any = document.get("permissions", side)
    places = [(f"/permissions/{side}", rows)]
    if isinstance(rows, list):
        places = [(f"/permissions/{side}/{index}", row) for index, row in enumerate(rows)]
    for pointer, row in places:
        if isinstance(row, str) and row is not rows:
            name, listed = read_claude_rule(row, side)
            if name:
                yield name, pointer, [(pattern, pointer) for pattern in listed]
        for tool, patterns in row.items() if isinstance(row, dict) else ():
            at = f"{pointer}/{escape_key(tool)}"
            if isinstance(patterns, str):
                yield name_tool(tool), at, [(patterns, at)]
            elif isinstance(patterns, list):
                texts = [(text, f"{at}/{index}") for index, text in enumerate(patterns) if isinstance(text, str)]
                yield name_tool(tool), at, texts


def read_claude_rule(text: str, side: str) -> tuple[str, list[str]]:
    """Parse a rule in Claude Code's syntax, `Bash(git push:*)`, into tool and patterns. The tool is "" if invalid."""
    found = _CLAUDE_RULE.match(text.strip())
    if found is None or is_strange_tool(found["tool"]):
        return "", []
    tool, pattern = name_tool(found["tool"]), (found["pattern"] or "").strip()
    if tool == "bash":
        pattern = pattern.removesuffix(":*").removesuffix(" *").strip()
    elif tool in TOOLS and pattern:
        return tool, _place_claude_path(pattern, side)
    return tool, [pattern or "*"]


def _place_claude_path(pattern: str, side: str) -> list[str]:
    """Convert a path of Claude Code: `//x` is absolute, `/x` starts at the root, a bare name matches in any folder."""
    if pattern.startswith("//"):
        return [pattern[1:]]
    path = pattern.removeprefix("./").removeprefix("/")
    bare = path == pattern and "/" not in path.rstrip("/") and "*" not in path[:1] and path[:1] != "~"
    if side == "allow" or not path:
        return [path or "**"]
    path = f"**/{path.rstrip('/')}" if bare else path.rstrip("/")
    return [path, f"{path}/**"]  # denying a folder also denies its content


def find_unread(document: AgentDocument) -> str | None:
    """Return the pointer to the first permission that can't be parsed, or None."""
    table = document.get("permissions")
    misspelled = find_misspelled_permissions(document)
    if misspelled or (table is not None and not isinstance(table, dict)):
        return f"/{escape_key(misspelled)}" if misspelled else "/permissions"
    problems = document.frontmatter.problems if document.frontmatter is not None else ()
    spoilt = next((each.pointer for each in problems if f"{each.pointer}/".startswith("/permissions/")), None)
    if spoilt is not None or table is None:
        return spoilt  # of a duplicate key, only one value is known
    for side, rows in table.items():
        at = f"/permissions/{escape_key(side)}"
        if side not in ("allow", "deny"):
            if document.profile == "codex":
                continue  # Codex has settings with that name
            return at
        if not isinstance(rows, list | dict) and rows is not None:
            return at
        for index, row in enumerate(rows) if isinstance(rows, list) else ((-1, rows or {}),):
            unread = _find_unread_tool(row, at if index < 0 else f"{at}/{index}", side)
            if unread is not None:
                return unread
    return None


def find_misspelled_permissions(document: AgentDocument) -> str:
    """Return a key that is a misspelled `permissions`, or an empty string."""
    if document.profile == "codex":
        return ""
    known = {*STANDARD_KEYS, *claude.FILE_KEYS, *opencode.FILE_KEYS}
    return next((key for key in document.values if key.lower().startswith("perm") and key not in known), "")


def _find_unread_tool(row: object, at: str, side: str) -> str | None:
    if isinstance(row, str):
        return None if read_claude_rule(row, side)[0] else at
    if not isinstance(row, dict):
        return at
    for tool, patterns in row.items():
        texts = patterns if isinstance(patterns, list) else [patterns]
        if isinstance(patterns, str) and ", " in patterns:
            return f"{at}/{escape_key(tool)}"  # several patterns in one string would be read as one
        is_misspelled = is_strange_tool(tool) and find_similar(tool[:80], TOOLS) is not None
        if is_misspelled or not all(isinstance(text, str) for text in texts):
            return f"{at}/{escape_key(tool)}"
    return None


# --- command files ---------------------------------------------------------------------------------------------------

_MENTION = lazy(
    rf"(?:@|{claude.AGENT_KEY}[=:]\s{{0,4}}[\"']?|(?:agent|subagent|to|invoke)[:=]?\s{{1,4}}[`\"']?)"
    r"(?P<name>[a-z][a-z0-9]{0,40}(?:-[a-z0-9]{1,40}){0,8})"
)


def _define_command(document: AgentDocument) -> Definition:
    """Define a command, which calls the agent in its frontmatter and the agents that its text names."""
    named = [document.get("agent"), document.get("routing", "default"), document.get("routing", "lean")]
    calls = [name for name in named if isinstance(name, str)]
    calls += [found["name"] for found in _MENTION.finditer(document.text, document.body_start)]
    named_once = tuple(dict.fromkeys(calls))[:MAX_TARGETS]
    return Definition(document.stem, document.path, "command", calls=named_once)
