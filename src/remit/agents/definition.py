"""Definitions: what an agent file says of its agent, in one form for every harness.

Owns the reading of a document into who the agent is, what it may use, whom it may call and how long it may take.
Graph, compilation and delegation look at this, never at a harness's own keys. A definition is plain data, so that it
can be kept and compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from remit.agents.profiles import CLAUDE_TOOLS, TOOLS
from remit.lazy import lazy
from remit.places import escape_key

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from remit.agents.document import Document
    from remit.agents.frontmatter import Span
    from remit.agents.profiles import Profile
    from remit.model import Place

MAX_TARGETS = 200
MAX_NAME = 200
_NONE: Mapping[str, Any] = {}
MAX_SECONDS = 10**9
ANYONE = "*"
"""The target of an agent that may call every other one."""


class Target(NamedTuple):
    """An agent that another may call, and where its file says so."""

    name: str
    span: Span
    place: Place

    @property
    def is_bare(self) -> bool:
        """Whether the span is the name and nothing else, so that another can be written in its place."""
        return self.span[1] - self.span[0] == len(self.name)


class Definition(NamedTuple):
    """What an agent file says of its agent."""

    name: str
    path: str
    profile: Profile
    description: str = ""
    kind: str | None = None
    mode: str | None = None
    timeout_s: float | None = None
    max_depth: int | None = None
    targets: tuple[Target, ...] = ()
    command: str | None = None
    tools: tuple[str, ...] | None = None
    """The standard's names of the tools it may use; None: whatever the harness gives."""
    allow: Mapping[str, tuple[str, ...]] = _NONE
    deny: Mapping[str, tuple[str, ...]] = _NONE
    calls: tuple[str, ...] = ()
    """For a command file: the agents that it names."""
    places: Mapping[str, Place] = _NONE
    """Where the file says its name, its timeout and its tools."""


def define(document: Document) -> Definition | None:
    """The definition in a document; None for a file that defines no agent."""
    if document.fault is not None and not document.text:
        return None
    if document.profile == "command":
        return _define_command(document)
    if document.frontmatter is None or not document.values:
        return None
    depth = document.get("delegation", "max_depth")
    return Definition(
        name=_text(document.get("name"))[:MAX_NAME] or _find_name(document),
        path=document.path,
        profile=document.profile,
        description=_text(document.get("description")),
        kind=_text(document.get("agent_type")) or None,
        mode=_text(document.get("mode")) or None,
        timeout_s=_seconds(document.get("timeout")),
        max_depth=depth if type(depth) is int else None,
        targets=tuple(_find_targets(document)),
        command=_text(document.get("lifecycle", "command")) or None,
        tools=read_tools(document),
        allow=_read_patterns(document, "allow"),
        deny=_read_patterns(document, "deny"),
        places={key: document.locate(document.span_of(f"/{key}")) for key in ("name", "timeout", "tools")},
    )


def _find_name(document: Document) -> str:
    """What an agent is called that has no name of its own: like its file; for opencode, with the folders above it."""
    if document.profile != "opencode":
        return document.stem
    folders = document.path.split("/")[:-1]
    homes = [index for index, folder in enumerate(folders) if folder in ("agent", "agents")]
    return "/".join([*(folders[homes[0] + 1 :] if homes else ()), document.stem])


def _text(value: object) -> str:
    return value.strip()[:2000] if isinstance(value, str) else ""


def _seconds(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if 0 < value <= MAX_SECONDS else None  # a number of 400 digits is no float


# --- whom it may call ------------------------------------------------------------------------------------------------


def _find_targets(document: Document) -> Iterator[Target]:
    if document.profile == "standard":
        yield from _find_standard_targets(document)
    elif document.profile == "claude":
        yield from _find_claude_targets(document)
    elif document.profile == "opencode":
        yield from _find_opencode_targets(document)


def _aim(document: Document, name: str, span: Span) -> Target:
    """A target at a span; where the name stands there in quotes, at what is between them."""
    name, text = name.strip(), document.text[slice(*span)]
    if text[:1] in ("'", '"') and text[1:-1] == name:
        span = span[0] + 1, span[1] - 1
    return Target(name, span, document.locate(span))


def _find_standard_targets(document: Document) -> Iterator[Target]:
    named = document.get("delegation", "can_delegate_to")
    seen = set()
    for index, name in enumerate(named[:MAX_TARGETS] if isinstance(named, list) else ()):
        if isinstance(name, str) and name.strip():
            seen.add(name.strip())
            yield _aim(document, name, document.span_of(f"/delegation/can_delegate_to/{index}"))
    patterns = document.body.find("delegation_patterns")
    for tag in patterns.find_all("delegate_to")[:MAX_TARGETS] if patterns else ():
        name = (tag.get("name") or "").strip()
        if name and name not in seen and "{" not in name:
            yield _aim(document, name, tag.find_value("name") or tag.name_span)


_CALL = lazy(r"(?:Task|Agent)(?:\((?P<names>[^()]{0,400})\))?\Z")


def split_claude_tools(value: object) -> list[str]:
    """Claude Code's tools: a list, or a text with commas or spaces between them, none of which are in parentheses."""
    if isinstance(value, list):
        return [item.strip() for item in value if isinstance(item, str)]
    return [tool for tool in _BETWEEN_TOOLS.split(value) if tool] if isinstance(value, str) else []


_BETWEEN_TOOLS = lazy(r"[,\s](?![^()]{0,400}\))")


def _find_claude_targets(document: Document) -> Iterator[Target]:
    span = document.span_of("/tools")
    for tool in split_claude_tools(document.get("tools"))[:MAX_TARGETS]:
        found = _CALL.match(tool)
        for name in (found["names"] or ANYONE).split(",") if found else ():
            yield _aim(document, name.strip() or ANYONE, span)


def _find_opencode_targets(document: Document) -> Iterator[Target]:
    rights = document.get("permission", "task")
    if isinstance(rights, dict):
        for name, right in list(rights.items())[:MAX_TARGETS]:
            if right in ("allow", "ask"):
                yield _aim(document, name, document.key_span(f"/permission/task/{escape_key(name)}"))
    elif rights in ("allow", "ask") or document.get("tools", "task") is True:
        yield _aim(document, ANYONE, document.span_of("/permission/task" if rights else "/tools/task"))


# --- what it may use -------------------------------------------------------------------------------------------------

_STANDARD_NAMES = {
    "Read": "read", "Write": "write", "Edit": "edit", "MultiEdit": "edit", "NotebookEdit": "edit", "Bash": "bash",
    "Grep": "grep", "Glob": "glob",
}  # fmt: skip


def read_tools(document: Document) -> tuple[str, ...] | None:
    """The standard's names of the tools that a file switches on; None where it says nothing."""
    value = document.get("tools")
    if document.profile == "claude" or isinstance(value, str):
        names = [tool.partition("(")[0] for tool in split_claude_tools(value)]
        known = [_STANDARD_NAMES[name] for name in names if name in CLAUDE_TOOLS and name in _STANDARD_NAMES]
        told = value is not None if document.profile == "claude" else bool(known)
        return tuple(dict.fromkeys(known)) if told else None
    if isinstance(value, dict):
        return tuple(name for name, on in value.items() if on is True and name in TOOLS)
    if isinstance(value, list):
        lowered = (item.lower() for item in value if isinstance(item, str))
        return tuple(name for name in dict.fromkeys(lowered) if name in TOOLS)
    return None


def _read_patterns(document: Document, side: str) -> dict[str, tuple[str, ...]]:
    """The patterns of one side of the permissions, by tool."""
    found: dict[str, tuple[str, ...]] = {}
    for tool, _, patterns in read_permissions(document, side):
        found[tool] = found.get(tool, ()) + tuple(pattern for pattern, _ in patterns)
    return found


def read_permissions(document: Document, side: str) -> Iterator[tuple[str, str, list[tuple[str, str]]]]:
    """Each tool on one side of the permissions, its pointer, and its patterns with theirs."""
    rows: Any = document.get("permissions", side)
    if isinstance(rows, dict):
        tables = [(f"/permissions/{side}", rows)]
    else:
        items = enumerate(rows) if isinstance(rows, list) else ()
        tables = [(f"/permissions/{side}/{index}", row) for index, row in items if isinstance(row, dict)]
    for pointer, table in tables:
        for tool, patterns in table.items():
            at = f"{pointer}/{escape_key(tool)}"
            if isinstance(patterns, str):
                yield tool, at, [(patterns, at)]
            elif isinstance(patterns, list):
                yield (
                    tool,
                    at,
                    [(text, f"{at}/{index}") for index, text in enumerate(patterns) if isinstance(text, str)],
                )


# --- command files ---------------------------------------------------------------------------------------------------

_MENTION = lazy(
    r"(?:@|subagent_type[=:]\s{0,4}[\"']?|(?:agent|subagent|to|invoke)[:=]?\s{1,4}[`\"']?)"
    r"(?P<name>[a-z][a-z0-9]{0,40}(?:-[a-z0-9]{1,40}){0,8})"
)


def _define_command(document: Document) -> Definition:
    """A command is an entry: it calls the agent of its frontmatter, and those its text names."""
    named = [document.get("agent"), document.get("routing", "default"), document.get("routing", "lean")]
    calls = [name for name in named if isinstance(name, str)]
    calls += [found["name"] for found in _MENTION.finditer(document.text, document.body_start)]
    named_once = tuple(dict.fromkeys(calls))[:MAX_TARGETS]
    return Definition(document.stem, document.path, "command", calls=named_once)
