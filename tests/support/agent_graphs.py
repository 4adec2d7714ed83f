"""Small workspaces: agent files that call each other, as texts by path."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from remit.agents.definition import read_definition
from remit.agents.document import parse_document
from remit.agents.graph import build_graph

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.agents.graph import Graph

Files = dict[str, str]


def write_agent(name: str, *targets: str, command: str = "", timeout: int | None = None, more: str = "") -> Files:
    """A standard agent's file: just enough for the graph."""
    lines = ["---", f"name: {name}", 'version: "1.0.0"', "agent_type: planning"]
    lines += [f"timeout: {timeout}"] if timeout else []
    lines += [more] if more else []
    lines += ["delegation:", "  can_delegate_to:", *(f"    - {target}" for target in targets)] if targets else []
    lines += [f'lifecycle: {{command: "{command}"}}'] if command else []
    return {f"agents/{name}.md": "\n".join([*lines, "---", "", f"# {name}", ""])}


def write_claude(name: str, tools: str) -> Files:
    """A file of Claude Code's."""
    return {f".claude/agents/{name}.md": f"---\nname: {name}\ndescription: d\ntools: {tools}\n---\n\nYou work.\n"}


def write_opencode(name: str, permission: str) -> Files:
    """A file of opencode's."""
    return {f".opencode/agent/{name}.md": f"---\ndescription: d\npermission: {permission}\n---\n\nYou work.\n"}


def read_graph(files: Mapping[str, str]) -> Graph:
    """The graph of a workspace."""
    definitions = [read_definition(parse_document(path, text)) for path, text in files.items()]
    return build_graph(each for each in definitions if each is not None)


class Workspace(NamedTuple):
    """Files that a rule finds fault with, those that it does not, and what its fix makes of the bad ones."""

    bad: Files
    good: Files
    fixed: Files | None = None


_CHILD = write_agent("child")
_READS, _WRITES = "tools: {read: true}", "tools: {read: true, write: true}"

WORKSPACES: Mapping[str, Workspace] = {
    "GRF001": Workspace(
        bad=write_agent("a", "b", command="/a") | write_agent("b", "c") | write_agent("c", "a"),
        good=write_agent("a", "b", "c", command="/a") | write_agent("b", "c") | write_agent("c"),
    ),
    "GRF002": Workspace(
        bad=write_agent("a", "b", command="/a") | write_agent("b", "c") | write_agent("c", "d") | write_agent("d"),
        good=write_agent("a", "b", command="/a") | write_agent("b", "c", "git-workflow-manager") | write_agent("c"),
    ),
    "GRF003": Workspace(
        bad=write_agent("a", "reseacher", command="/a") | write_agent("researcher", command="/r"),
        good=write_agent("a", "researcher", command="/a") | write_agent("researcher", command="/r"),
        fixed=write_agent("a", "researcher", command="/a") | write_agent("researcher", command="/r"),
    ),
    "GRF004": Workspace(
        bad=write_agent("a", command="/a") | write_agent("child"),
        good=write_agent("a", "child", command="/a") | write_agent("child"),
    ),
    "GRF005": Workspace(
        bad=write_agent("a", "child", command="/a", more=_READS) | write_agent("child", more=_WRITES),
        good=write_agent("a", "child", command="/a", more=_WRITES) | write_agent("child", more=_READS),
    ),
    "GRF006": Workspace(
        bad=write_agent("a", "child", command="/a", timeout=300) | write_agent("child", timeout=300),
        good=write_agent("a", "child", command="/a", timeout=301) | write_agent("child", timeout=300),
    ),
    "GRF007": Workspace(
        bad=write_claude("reviewer", "Read, Agent"), good=write_claude("reviewer", "Read, Agent(tester)")
    ),
    "GRF008": Workspace(
        bad={**_CHILD, "agents/other/child.md": _CHILD["agents/child.md"]},
        good={**_CHILD, ".claude/agents/child.md": write_claude("child", "Read")[".claude/agents/child.md"]},
    ),
}
