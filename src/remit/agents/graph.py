"""The call graph: which agent may call which, in all agent files of a workspace.

Computes reachability, depth and cycles. An agent that may call all agents is marked and has no edges to them, so that
it isn't reported as cycles through the whole workspace.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.agents.definition import ANYONE
from remit.agents.profiles import UTILITY_AGENTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from remit.agents.definition import Definition, Target

MAX_COMPONENT = 60
"""In a larger strongly connected component, only one cycle is reported."""
MAX_SHOWN = 12
"""Maximum names of a call chain in a message."""


class Graph:
    """The agents by name, and the calls between them."""

    def __init__(self) -> None:
        self.agents: dict[str, Definition] = {}
        self.commands: list[Definition] = []
        self.duplicates: list[tuple[Definition, Definition]] = []
        """Pairs of files of one harness that define an agent with the same name. The first one counts."""
        self.edges: dict[str, tuple[str, ...]] = {}
        """The agents that each agent may call; only agents with a file."""
        self.unknown: list[tuple[Definition, Target]] = []
        """Targets that are neither agents with a file nor built-in utility agents."""
        self.cycles: list[tuple[str, ...]] = []
        """The shortest cycle through each agent, without duplicates, starting at its alphabetically first name. Very
        large components have only one."""
        self.in_cycle: frozenset[str] = frozenset()
        """All agents on a cycle."""
        self.components_by_name: dict[str, int] = {}
        """The strongly connected component of each agent."""
        self.entries: tuple[str, ...] = ()
        self.depths: dict[str, int] = {}
        """The length of the longest call chain to each agent. Entry agents and agents that none calls have 1."""
        self.reached: frozenset[str] = frozenset()
        """The entry agents, and all agents that they reach."""
        self.callers: dict[str, str] = {}
        """The agent before each agent in that chain. The first agent of a chain has none."""

    def find_chain(self, name: str) -> tuple[str, ...]:
        """Return the longest call chain to an agent."""
        chain = [name]
        while chain[-1] in self.callers:
            chain.append(self.callers[chain[-1]])
        return tuple(reversed(chain))


def build_graph(definitions: Iterable[Definition]) -> Graph:
    """Build the graph. Files with the same name in the folders of two harnesses are one agent."""
    graph = Graph()
    for definition in sorted(definitions, key=lambda each: each.path):
        if definition.profile == "command":
            graph.commands.append(definition)
        elif definition.name not in graph.agents:
            graph.agents[definition.name] = definition
        elif graph.agents[definition.name].profile == definition.profile:
            graph.duplicates.append((graph.agents[definition.name], definition))
        elif definition.profile == "standard":
            graph.agents[definition.name] = definition  # the other files were compiled from it
    _find_edges(graph)
    components = find_components(graph.edges)
    _find_cycles(graph, components)
    _find_reached(graph)
    _find_depths(graph, components)
    return graph


def _find_edges(graph: Graph) -> None:
    for name, definition in graph.agents.items():
        known = []
        for target in definition.targets:
            if target.name in graph.agents:
                known.append(target.name)
            elif target.name not in UTILITY_AGENTS and ANYONE not in target.name:
                graph.unknown.append((definition, target))
        graph.edges[name] = tuple(dict.fromkeys(known))


def _find_cycles(graph: Graph, components: list[tuple[str, ...]]) -> None:
    """Find the shortest cycle through each member of a component. A call to itself is a cycle, too."""
    for number, members in enumerate(components):
        within = frozenset(members)
        selves = [name for name in members if name in graph.edges[name]]
        graph.cycles += [(name, name) for name in selves]
        if len(members) > 1:
            firsts = sorted(members) if len(members) <= MAX_COMPONENT else [min(members)]
            graph.cycles += {_rotate(_find_way_back(graph.edges, first, within)) for first in firsts}
        graph.components_by_name |= dict.fromkeys(members if len(members) > 1 else selves, number)
    graph.cycles.sort()
    graph.in_cycle = frozenset(graph.components_by_name)


def _rotate(way: tuple[str, ...]) -> tuple[str, ...]:
    """Rotate a cycle so that it starts at its alphabetically first name."""
    at = way.index(min(way))
    return (*way[at:-1], *way[:at], way[at])


def is_cycle_edge(graph: Graph, caller: str, target: str) -> bool:
    """Whether a call is part of a cycle."""
    return caller in graph.components_by_name and graph.components_by_name[caller] == graph.components_by_name.get(
        target
    )


def find_components(edges: dict[str, tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Return the strongly connected components, called ones before callers, by Tarjan's algorithm without recursion."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    on_stack: dict[str, bool] = {}
    stack: list[str] = []
    components: list[tuple[str, ...]] = []
    for root in edges:
        if root in index:
            continue
        work = [(root, 0)]
        while work:
            name, step = work.pop()
            if step == 0:
                index[name] = low[name] = len(index)
                stack.append(name)
                on_stack[name] = True
            targets = edges[name]
            if step and on_stack.get(targets[step - 1]):
                low[name] = min(low[name], low[targets[step - 1]])
            while step < len(targets) and targets[step] in index:
                if on_stack.get(targets[step]):
                    low[name] = min(low[name], index[targets[step]])
                step += 1
            if step < len(targets):
                work += [(name, step + 1), (targets[step], 0)]
            elif low[name] == index[name]:
                components.append(_pop_component(name, stack, on_stack))
    return components


def _pop_component(name: str, stack: list[str], on_stack: dict[str, bool]) -> tuple[str, ...]:
    component = []
    while True:
        member = stack.pop()
        on_stack[member] = False
        component.append(member)
        if member == name:
            return tuple(component)


def _find_way_back(edges: dict[str, tuple[str, ...]], first: str, within: frozenset[str]) -> tuple[str, ...]:
    """Return the shortest cycle from a name through its component."""
    came_from: dict[str, str] = {}
    waiting = [first]
    for name in waiting:
        if name != first and first in edges[name]:
            way = [first, name]
            while way[-1] != first:
                way.append(came_from[way[-1]])
            return tuple(reversed(way))
        for target in edges[name]:
            if target in within and target != first and target not in came_from:
                came_from[target] = name
                waiting.append(target)
    raise ValueError(f"{first} is on no cycle")


def _find_reached(graph: Graph) -> None:
    """Return the entry agents and all agents that they reach."""
    called = {name for command in graph.commands for name in command.calls}
    graph.entries = tuple(
        name for name, each in graph.agents.items()
        if each.command or name in called or each.mode in ("primary", "all") or each.profile != "standard"
    )  # fmt: skip
    waiting = list(graph.entries)
    reached = set(waiting)
    for name in waiting:
        new = [target for target in graph.edges[name] if target not in reached]
        waiting += new
        reached.update(new)
    graph.reached = frozenset(reached)


def _find_depths(graph: Graph, components: list[tuple[str, ...]]) -> None:
    """Compute the longest call chain to each agent, callers first. Cycles are followed once."""
    graph.depths = dict.fromkeys(graph.entries, 1)
    for component in reversed(components):
        members = frozenset(component)
        if members.isdisjoint(graph.depths):  # a user can run it by name, so a chain can start here
            graph.depths[min(component)] = 1
        waiting = [name for name in component if name in graph.depths]
        for name in waiting:
            for target in graph.edges[name]:
                if target in members and target not in graph.depths:
                    _set_depth(graph, name, target)
                    waiting.append(target)
        for name in waiting:
            for target in graph.edges[name]:
                if target not in members and graph.depths[name] >= graph.depths.get(target, 0):
                    _set_depth(graph, name, target)


def _set_depth(graph: Graph, caller: str, target: str) -> None:
    graph.depths[target] = graph.depths[caller] + 1
    graph.callers[target] = caller


def render_path(names: Sequence[str]) -> str:
    """Render a call chain for a message. A long chain is shortened in the middle."""
    if len(names) > MAX_SHOWN:
        half = MAX_SHOWN // 2
        left = len(names) - 2 * half
        names = [*names[:half], f"… {left} more …", *names[-half:]]
    return " → ".join(names)
