"""The agent files of a workspace with their diagnostics, and the graph of calls.

Nothing is written: reading this view neither creates nor updates a baseline.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.agent_files.lint import LintRequest, lint_all
from remit.agents.graph_render import shape_graph
from remit.errors import UsageError
from remit.runs.agent_lookup import list_harnesses, list_own_runners, load_settings_or_usual
from remit.storage.settings import find_root, is_inside
from remit.views.json_builders import build_agent, build_lint, build_list

if TYPE_CHECKING:
    from collections.abc import Sequence

    from remit.agents.definition import Definition
    from remit.agents.graph import Graph
    from remit.schemas import AgentsObject, LintObject

MOST_PATHS = 100


def load_agents() -> AgentsObject:
    """All agent files with their diagnostics, the graph of calls, and the runners that can run an agent here."""
    linted = lint_all()
    defined = _list_defined(linted.graph)
    files = [build_agent(path, defined.get(path), found) for path, found in linted.diagnostics.items()]
    graph = shape_graph(linted.graph)
    unknown = [{"from": agent.name, "to": target.name} for agent, target in linted.graph.unknown]
    return {
        **build_list(files), "graph": graph | {"unknown": unknown}, "counts": build_lint(linted, most=0)["counts"],
        "runners": list_runners(),
    }  # fmt: skip


def list_runners() -> list[str]:
    """The runners of this machine: installed harnesses, and runners of the workspace's settings."""
    root = find_root()
    settings, _ = load_settings_or_usual(root)
    return [*list_harnesses(root), *list_own_runners(settings)]


def lint_files(paths: Sequence[str] = ()) -> LintObject:
    """The diagnostics of the agent files below some paths of the workspace; default: of all agent files."""
    root = find_root()
    if len(paths) > MOST_PATHS:
        raise UsageError(f"{len(paths)} paths are too many", hint=f"name at most {MOST_PATHS}")
    within = [path if path.startswith("/") else f"{root}/{path}" for path in paths]
    for path, place in zip(paths, within, strict=True):
        if "\0" in path or not (is_inside(place, root) or place.rstrip("/.") == root):
            raise UsageError(f"'{path[:200]}' is not in the workspace", hint="name a file or a folder inside it")
    return build_lint(lint_all(LintRequest(paths=tuple(within))))


def _list_defined(graph: Graph) -> dict[str, Definition]:
    """The definition of each file, by its path."""
    others = (*graph.commands, *(each for pair in graph.duplicates for each in pair))
    return {each.path: each for each in (*others, *graph.agents.values())}
