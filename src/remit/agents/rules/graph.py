"""Rules on the call graph of all agent files together: cycles, depth, unknown and unreachable agents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.agents.definition import ANYONE
from remit.agents.graph import render_path
from remit.agents.patterns import covered_by_any
from remit.agents.profiles import UTILITY_AGENTS
from remit.light_namedtuple import NamedTuple
from remit.model import MAX_DEPTH, Diagnostic, Fix, TextEdit
from remit.spelling import find_similar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from remit.agents.definition import Definition, Target
    from remit.agents.graph import Graph
    from remit.agents.rules.register import Applicability
    from remit.model import Severity, TextSpan


class GraphViolation(NamedTuple):
    """A violation of a rule on the graph by one agent."""

    agent: Definition
    message: str
    hint: str
    place: TextSpan
    edit: TextEdit | None = None


class GraphRule(NamedTuple):
    """A rule on the graph."""

    code: str
    name: str
    severity: Severity
    documentation: str
    check: Callable[[Graph], Iterator[GraphViolation]]
    fix: Applicability | None


MAX_COMPARED = 20_000
"""Maximum pairs of names that are compared to find a similar name."""

GRAPH_RULES: dict[str, GraphRule] = {}


def graph_rule(
    code: str, *, severity: Severity = "error", fix: Applicability | None = None
) -> Callable[[Callable[[Graph], Iterator[GraphViolation]]], Callable[[Graph], Iterator[GraphViolation]]]:
    """Register a function as a rule on the graph."""

    def register(check: Callable[[Graph], Iterator[GraphViolation]]) -> Callable[[Graph], Iterator[GraphViolation]]:
        name = check.__name__.replace("_", "-")
        GRAPH_RULES[code] = GraphRule(code, name, severity, check.__doc__ or "", check, fix)
        return check

    return register


def check_graph(graph: Graph) -> Iterator[tuple[str, Diagnostic]]:
    """Return all diagnostics on the graph, each with the path of its file."""
    for each in GRAPH_RULES.values():
        for report in each.check(graph):
            fix = Fix(each.fix, report.hint, (report.edit,)) if report.edit and each.fix else None
            yield (
                report.agent.path,
                Diagnostic(each.code, each.severity, report.message, report.hint, "", report.place, fix),
            )


def _find_target(agent: Definition, name: str) -> Target | None:
    return next((target for target in agent.targets if target.name == name), None)


def _place_of_edge(agent: Definition, name: str) -> TextSpan:
    target = _find_target(agent, name)
    return target.place if target else agent.places["name"]


@graph_rule("GRF001")
def cycle(graph: Graph) -> Iterator[GraphViolation]:
    """Agents can call each other in a cycle.

    Why: Remit refuses a call to an ancestor during the run; until then, the cycle costs one run per agent.

    Bad: `planner` can call `researcher`, and `researcher` can call `planner`.

    Good: both call a third agent that calls no other agent.
    """
    for names in graph.cycles:
        agent = graph.agents[names[0]]
        if len(names) == 2:  # noqa: PLR2004 - a rule on single files reports a call to itself
            continue
        yield GraphViolation(
            agent,
            f"agents can call each other in a cycle: {render_path(names)}",
            "Remove one of these calls from can_delegate_to.",
            _place_of_edge(agent, names[1]),
        )


@graph_rule("GRF002")
def too_deep(graph: Graph) -> Iterator[GraphViolation]:
    """A chain of calls is longer than the depth limit.

    Why: Remit refuses the fourth level during the run, after all levels above it have used time and budget. A chain
    counts even if no command calls its first agent, because a user can run that agent by name.

    Bad: an agent calls a second, that one a third, that one a fourth.

    Good: at most three levels below the command.
    """
    chains = [graph.find_chain(name) for name, depth in graph.depths.items()
              if depth == MAX_DEPTH + 1 and name not in graph.in_cycle]  # fmt: skip
    for name, depth in graph.depths.items():
        if depth == MAX_DEPTH and name not in graph.in_cycle:
            built_in = {target.name for target in graph.agents[name].targets} & UTILITY_AGENTS - graph.agents.keys()
            chains += [(*graph.find_chain(name), target) for target in sorted(built_in)]
    for chain in chains:
        caller = graph.agents[chain[-2]]
        message = f"this call would be at depth {MAX_DEPTH + 1}, the maximum is {MAX_DEPTH}: {render_path(chain)}"
        yield GraphViolation(
            caller, message, "Let an agent further up make this call.", _place_of_edge(caller, chain[-1])
        )


@graph_rule("GRF003", fix="unsafe")
def target_unknown(graph: Graph) -> Iterator[GraphViolation]:
    """`can_delegate_to` names an agent that doesn't exist.

    Why: the call fails during the run. The standard's utility agents need no file, because they are built into
    Remit.

    Bad: `can_delegate_to: [reseacher]`

    Good: `can_delegate_to: [researcher]`

    Fix (unsafe): writes the name that was probably meant.
    """
    known = (*graph.agents, *UTILITY_AGENTS)
    meant: dict[str, str | None] = {}
    for agent, target in graph.unknown:
        if target.name not in meant:
            meant[target.name] = find_similar(target.name, known) if len(meant) * len(known) < MAX_COMPARED else None
        name = meant[target.name] if meant[target.name] != agent.name else None  # never suggest itself
        hint = f"Did you mean {name}?" if name else "Create the agent's file, or remove the name."
        edit = TextEdit(*target.span, name, target.place) if name and _is_plain(name) and target.is_bare else None
        yield GraphViolation(agent, f"the agent {target.name} doesn't exist", hint, target.place, edit)


def _is_plain(name: str) -> bool:
    """Whether a name can be written without quotes."""
    return name.replace("-", "").replace("_", "").isalnum() and name[0].isalpha()


@graph_rule("GRF004", severity="warning")
def unreachable(graph: Graph) -> Iterator[GraphViolation]:
    """No command and no primary agent reaches this agent.

    Why: the agent is unused, or its intended caller doesn't list it.

    Bad: a standard agent without `lifecycle.command` that is in no `can_delegate_to`.

    Good: `command: "/plan"`, or its name in a caller's `can_delegate_to`.
    """
    for name, agent in graph.agents.items():
        if name not in graph.reached:
            hint = "Set lifecycle.command, or add it to another agent's can_delegate_to."
            yield GraphViolation(
                agent, "no command and no primary agent reaches this agent", hint, agent.places["name"]
            )


def _edges(graph: Graph) -> Iterator[tuple[Definition, Definition]]:
    for name, targets in graph.edges.items():
        for target in targets:
            if target != name:
                yield graph.agents[name], graph.agents[target]


@graph_rule("GRF005", severity="warning")
def wider_child(graph: Graph) -> Iterator[GraphViolation]:
    """An agent can call an agent with wider permissions than its own.

    Why: the caller can have done what it isn't allowed to do itself, so its own limits have no effect. The
    standard's utility agents don't count: they exist to do this work for others.

    Bad: `reviewer` has `write: false` and can call `implementer`, which can write everywhere.

    Good: a called agent with the same permissions as its caller, or fewer.
    """
    for caller, child in _edges(graph):
        wider = _find_wider(caller, child) if child.name not in UTILITY_AGENTS else None
        if wider:
            yield GraphViolation(caller, f"{child.name} may {wider}, but {caller.name} may not",
                                 "Reduce its permissions, or let another agent make this call.",
                                 _place_of_edge(caller, child.name))  # fmt: skip


def _find_wider(caller: Definition, child: Definition) -> str | None:
    """Return the first permission of an agent that its caller doesn't have."""
    if caller.tools is None or child.tools is None:
        return None
    for tool in child.tools:
        if tool not in caller.tools:
            return f"use {tool}"
    for tool, patterns in child.allow.items():
        own = caller.allow.get(tool)
        if tool not in child.tools or not own:
            continue
        for pattern in patterns:
            if not covered_by_any(pattern, own):
                return f"{tool} {pattern}"
    return None


@graph_rule("GRF006", severity="warning")
def child_outlives_caller(graph: Graph) -> Iterator[GraphViolation]:
    """An agent can call an agent whose timeout isn't shorter than its own.

    Why: the caller's time runs out while it waits, and the work of the agent that it called is lost.

    Bad: `planner` has 1800 seconds and can call `researcher` with 3600.

    Good: a shorter timeout for the called agent.
    """
    for caller, child in _edges(graph):
        if caller.timeout_s and child.timeout_s and child.timeout_s >= caller.timeout_s:
            limits = f"{child.name} may take {child.timeout_s:g} s, but {caller.name} has only {caller.timeout_s:g} s"
            hint = "Give the caller a longer timeout than the called agent."
            yield GraphViolation(caller, limits, hint, _place_of_edge(caller, child.name))


@graph_rule("GRF007", severity="warning")
def may_start_any_agent(graph: Graph) -> Iterator[GraphViolation]:
    """An agent has a tool that can start any agent, including itself.

    Why: an agent that starts itself repeats until the budget is used up. Only a list of names prevents that.

    Bad: `tools: Read, Agent` (Claude Code), `permission: {task: allow}` (opencode)

    Good: `tools: Read, Agent(code-reviewer)`, `permission: {task: {"*": deny, code-reviewer: allow}}`
    """
    for name, agent in graph.agents.items():
        anyone = _find_target(agent, ANYONE)
        itself = _find_target(agent, name) if agent.profile != "standard" else None
        if anyone is not None:
            yield GraphViolation(agent, "the agent can start any agent, including itself",
                                 "Name the agents that it may start.", anyone.place)  # fmt: skip
        elif itself is not None:
            yield GraphViolation(agent, "the agent can start itself", "Remove its own name.", itself.place)


@graph_rule("GRF008")
def duplicate_name(graph: Graph) -> Iterator[GraphViolation]:
    """Two files define agents of the same name.

    Why: a harness loads one of them, and which one isn't defined.

    Bad: `.claude/agents/review/planner.md` and `.claude/agents/plan/planner.md`

    Good: a different name for each.
    """
    for first, second in graph.duplicates:
        yield GraphViolation(
            second,
            f"the name {second.name} is already used by {first.path}",
            "Rename one of them.",
            second.places["name"],
        )
