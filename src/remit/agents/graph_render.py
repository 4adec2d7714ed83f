"""Renders the call graph as a tree, Mermaid, DOT and plain values.

Shows which agent may call which, depth, timeouts and cycles. Names come from files, so each format quotes them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from remit.agents.definition import ANYONE
from remit.agents.graph import is_cycle_edge
from remit.agents.profiles import UTILITY_AGENTS
from remit.light_namedtuple import NamedTuple
from remit.model import MAX_DEPTH

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.agents.definition import Definition
    from remit.agents.graph import Graph

MAX_LINES = 2_000
_HARNESSES = {"claude": "Claude Code", "opencode": "opencode", "codex": "Codex"}
_BUILT_IN = "built in"
"""The note on a utility agent without a file, which Remit provides."""


class TreeLine(NamedTuple):
    """One line of a tree: its indentation, its text, and whether it is a problem."""

    lead: str
    text: str
    is_problem: bool


def render_tree(graph: Graph) -> list[TreeLine]:
    """Render each entry agent with the agents it may call below it. A repeated name isn't expanded again."""
    lines: list[TreeLine] = []
    drawn: set[str] = set()
    for command, names in _group_by_command(graph):
        lines.append(TreeLine("", command, is_problem=False))
        _render_branch(graph, names, lines, drawn)
    if len(lines) > MAX_LINES:
        lines[MAX_LINES:] = [TreeLine("", "… and more; json shows them all", is_problem=False)]
    return lines


def _group_by_command(graph: Graph) -> list[tuple[str, list[str]]]:
    groups: dict[str, list[str]] = {}
    for name in graph.entries:
        agent = graph.agents[name]
        caller = agent.command or _HARNESSES.get(agent.profile, "called by a command")
        groups.setdefault(caller, []).append(name)
    unreachable = [name for name in graph.agents if name not in graph.reached]
    rows = sorted(groups.items(), key=lambda row: (not row[0].startswith("/"), row[0]))
    return [*rows, *([("unreachable", unreachable)] if unreachable else [])]


def _render_branch(graph: Graph, names: list[str], lines: list[TreeLine], drawn: set[str]) -> None:
    """Yield lines depth first, by a stack of names with their indentation and call chain."""
    chain: tuple[str, ...] = ()
    waiting = [(name, "", index == len(names) - 1, chain) for index, name in enumerate(names)][::-1]
    while waiting and len(lines) <= MAX_LINES:
        name, lead, is_last, chain = waiting.pop()
        cycle = name in chain
        again = name in drawn and not cycle
        depth = len(chain) + 1
        is_problem = cycle or depth > MAX_DEPTH or not _is_known(graph, name)
        branch = "└─ " if is_last else "├─ "
        lines.append(TreeLine(f"{lead}{branch}", _describe(graph, name, depth, cycle=cycle, again=again), is_problem))
        if cycle or again or name not in graph.agents:
            continue
        drawn.add(name)
        inner = [target.name for target in graph.agents[name].targets]
        below = f"{lead}{'   ' if is_last else '│  '}"
        inner = list(dict.fromkeys(inner))
        waiting += [(each, below, index == len(inner) - 1, (*chain, name)) for index, each in enumerate(inner)][::-1]


def _describe(graph: Graph, name: str, depth: int, *, cycle: bool, again: bool) -> str:
    agent = graph.agents.get(name)
    if name == ANYONE:
        return "any agent"
    facts = []
    if agent is None:
        facts += [_BUILT_IN] if name in UTILITY_AGENTS else [] if _is_known(graph, name) else ["does not exist"]
    else:
        facts += [*([agent.kind] if agent.kind else []), *_find_facts(graph, agent, None if cycle else depth)]
    if cycle:
        facts.append("a cycle")
    if again:
        facts.append("see above")
    return f"{name} ({', '.join(facts)})" if facts else name


def _find_facts(graph: Graph, agent: Definition, depth: int | None) -> list[str]:
    """Describe an agent's depth and timeout."""
    too_deep = ", too deep" if depth is not None and depth > MAX_DEPTH and agent.name not in graph.in_cycle else ""
    facts = [f"depth {depth}{too_deep}"] if depth is not None and depth > 1 else []
    return [*facts, f"{agent.timeout_s:g} s"] if agent.timeout_s else facts


def _edges(graph: Graph) -> Iterator[tuple[str, str, bool]]:
    """Return all calls, and whether each is part of a cycle."""
    for name, agent in graph.agents.items():
        for target in dict.fromkeys(target.name for target in agent.targets):
            yield name, target, is_cycle_edge(graph, name, target)


def _list_built_in(name: str) -> list[str]:
    return [_BUILT_IN] if name in UTILITY_AGENTS else []


def render_mermaid(graph: Graph) -> str:
    """Render the graph as Mermaid for Markdown pages."""
    names = _number(graph)
    lines = ["flowchart TD"]
    for name, number in names.items():
        agent = graph.agents.get(name)
        facts = _find_facts(graph, agent, graph.depths[name]) if agent else _list_built_in(name)
        label = ", ".join([name, *facts])
        lines.append(f'  n{number}["{_quote_mermaid("any agent" if name == ANYONE else label)}"]')
    entries = [name for name in graph.entries if graph.agents[name].command]
    for name in entries:
        command = _quote_mermaid(graph.agents[name].command or "")
        lines.append(f'  c{names[name]}(["{command}"]) --> n{names[name]}')
    red = []
    for count, (caller, target, comes_back) in enumerate(_edges(graph), len(entries)):
        lines.append(f"  n{names[caller]} --> n{names[target]}")
        if comes_back:
            red.append(str(count))
    lines += [f"  linkStyle {','.join(red)} stroke:red,stroke-width:3px"] if red else []
    problems = [f"n{number}" for name, number in names.items() if _is_problem(graph, name)]
    lines += ["  classDef problem stroke:red,color:red", f"  class {','.join(problems)} problem"] if problems else []
    return "\n".join(lines)


def _is_problem(graph: Graph, name: str) -> bool:
    return not _is_known(graph, name) or name in graph.in_cycle or graph.depths.get(name, 1) > MAX_DEPTH


def _is_known(graph: Graph, name: str) -> bool:
    """Whether a name is an agent with a file, a built-in utility agent, or a pattern that matches agents."""
    return name in graph.agents or name in UTILITY_AGENTS or ANYONE in name


def _number(graph: Graph) -> dict[str, int]:
    names = [*graph.agents, *(target for _, target, _ in _edges(graph))]
    return {name: number for number, name in enumerate(dict.fromkeys(names))}


def _quote_mermaid(text: str) -> str:
    plain = "".join(char if char.isprintable() else " " for char in text)
    return plain.translate({ord(char): f"#{ord(char)};" for char in '#"<>&`'})


def render_dot(graph: Graph) -> str:
    """Render the graph as DOT for Graphviz."""
    lines = ["digraph agents {", "  rankdir=LR;", "  node [shape=box, style=rounded];"]
    for name in _number(graph):
        agent = graph.agents.get(name)
        label = _escape_dot("any agent" if name == ANYONE else name)
        facts = _find_facts(graph, agent, graph.depths[name]) if agent else _list_built_in(name)
        label += f"\\n{', '.join(facts)}" if facts else ""
        colour = ", color=red, fontcolor=red" if _is_problem(graph, name) else ""
        lines.append(f'  {_quote_dot(name)} [label="{label}"{colour}];')
    for caller, target, comes_back in _edges(graph):
        lines.append(
            f"  {_quote_dot(caller)} -> {_quote_dot(target)}{' [color=red, penwidth=2]' if comes_back else ''};"
        )
    return "\n".join([*lines, "}"])


def _quote_dot(text: str) -> str:
    return f'"{_escape_dot(text)}"'


def _escape_dot(text: str) -> str:
    plain = "".join(char if char.isprintable() else " " for char in text)
    return plain.replace("\\", "\\\\").replace('"', '\\"')


def shape_graph(graph: Graph) -> dict[str, Any]:
    """Return the graph as plain values for JSON."""
    entries = frozenset(graph.entries)
    return {
        "agents": [{**_shape_agent(graph, name), "entry": name in entries} for name in graph.agents],
        "edges": [{"from": caller, "to": target, "cycle": comes_back} for caller, target, comes_back in _edges(graph)],
        "built_in": sorted(
            {target for _, target, _ in _edges(graph) if target in UTILITY_AGENTS - graph.agents.keys()}
        ),
        "cycles": [list(cycle) for cycle in graph.cycles],
        "max_depth": MAX_DEPTH,
    }


def _shape_agent(graph: Graph, name: str) -> dict[str, Any]:
    agent = graph.agents[name]
    return {
        "name": name,
        "path": agent.path,
        "profile": agent.profile,
        "kind": agent.kind,
        "command": agent.command,
        "timeout_seconds": agent.timeout_s,
        "depth": graph.depths[name],
        "caller": graph.callers.get(name),
    }
