"""The graph: who may call whom, over all agent files of a workspace.

Owns reachability, depth and cycles. An agent that may call anyone is kept as such and not drawn as an edge to
everybody: what it could do is a finding of its own, not a cycle through the whole workspace.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.agents.definition import ANYONE
from remit.agents.profiles import UTILITY_AGENTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from remit.agents.definition import Definition, Target

MAX_KNOT = 60
"""In a knot of more agents only one circle is told: who has cut it looks again anyway."""
MAX_SHOWN = 12
"""Names of a chain that a sentence spells out."""


class Graph:
    """Agents by name, and the edges between them."""

    def __init__(self) -> None:
        self.agents: dict[str, Definition] = {}
        self.commands: list[Definition] = []
        self.twins: list[tuple[Definition, Definition]] = []
        """Two files of one harness that define an agent of the same name: the first keeps it."""
        self.edges: dict[str, tuple[str, ...]] = {}
        """Only between agents that have a file."""
        self.unknown: list[tuple[Definition, Target]] = []
        """Targets that are neither an agent with a file nor a built-in utility agent."""
        self.cycles: list[tuple[str, ...]] = []
        """The shortest through each agent that can reach itself, once each, from its first name in the alphabet back to
        it; of a knot of very many agents only one."""
        self.in_cycle: frozenset[str] = frozenset()
        """Every agent that can reach itself."""
        self.knots: dict[str, int] = {}
        """For each of them, the knot it is in: agents of one knot reach each other."""
        self.entries: tuple[str, ...] = ()
        self.depths: dict[str, int] = {}
        """The longest chain that leads to an agent; an entry is 1, and so is an agent that nothing calls."""
        self.reached: frozenset[str] = frozenset()
        """The agents that a chain of calls from an entry leads to, and the entries."""
        self.callers: dict[str, str] = {}
        """The agent before each in that chain; an entry at the head of one has none."""

    def find_chain(self, name: str) -> tuple[str, ...]:
        """The longest chain that leads to an agent, from its head on."""
        chain = [name]
        while chain[-1] in self.callers:
            chain.append(self.callers[chain[-1]])
        return tuple(reversed(chain))


def build_graph(definitions: Iterable[Definition]) -> Graph:
    """Put the definitions of a workspace together. The same name in two harnesses' folders is one agent twice over."""
    graph = Graph()
    for definition in sorted(definitions, key=lambda each: each.path):
        if definition.profile == "command":
            graph.commands.append(definition)
        elif definition.name not in graph.agents:
            graph.agents[definition.name] = definition
        elif graph.agents[definition.name].profile == definition.profile:
            graph.twins.append((graph.agents[definition.name], definition))
        elif definition.profile == "standard":
            graph.agents[definition.name] = definition  # the others were compiled from it
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
    """The shortest way round from each member of a knot; a call to itself is a circle of its own."""
    for number, knot in enumerate(components):
        within = frozenset(knot)
        selves = [name for name in knot if name in graph.edges[name]]
        graph.cycles += [(name, name) for name in selves]
        if len(knot) > 1:
            firsts = sorted(knot) if len(knot) <= MAX_KNOT else [min(knot)]
            graph.cycles += {_turn(_find_way_back(graph.edges, first, within)) for first in firsts}
        graph.knots |= dict.fromkeys(knot if len(knot) > 1 else selves, number)
    graph.cycles.sort()
    graph.in_cycle = frozenset(graph.knots)


def _turn(way: tuple[str, ...]) -> tuple[str, ...]:
    """The same circle, from its first name in the alphabet on."""
    at = way.index(min(way))
    return (*way[at:-1], *way[:at], way[at])


def is_cycle_edge(graph: Graph, caller: str, target: str) -> bool:
    """Whether a call may come back to its caller."""
    return caller in graph.knots and graph.knots[caller] == graph.knots.get(target)


def find_components(edges: dict[str, tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Tarjan's strongly connected components, those that are called before their callers; no recursion."""
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
    """The shortest way from a name through others of its knot back to itself."""
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
    raise ValueError(f"{first} is in no knot")


def _find_reached(graph: Graph) -> None:
    """Who is called from outside, and whom calls lead to from there."""
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
    """The longest chain to each agent, callers first; a cycle is walked once and not round and round."""
    graph.depths = dict.fromkeys(graph.entries, 1)
    for component in reversed(components):
        members = frozenset(component)
        if members.isdisjoint(graph.depths):  # a user can run it by its name, so a chain begins here, too
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
    """A chain of calls, for people; of a long one its head and its end."""
    if len(names) > MAX_SHOWN:
        half = MAX_SHOWN // 2
        left = len(names) - 2 * half
        names = [*names[:half], f"… {left} more …", *names[-half:]]
    return " → ".join(names)
