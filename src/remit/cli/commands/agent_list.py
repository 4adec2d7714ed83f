"""`remit agent list`: the agents of a workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from remit.cli import options
from remit.cli.output import get_paint, say, say_json
from remit.terminal import count_columns, cut, escape, quote
from remit.views.render import ACCEPTED, count

if TYPE_CHECKING:
    from remit.agents.definition import Definition

_MIN_DESCRIPTION = 20


@click.command("list", cls=options.Command)
@click.argument("paths", nargs=-1, metavar="[PATH…]")
@options.output_format("full", "json")
def list_agents(paths: tuple[str, ...], *, output_format: str) -> int:
    """List the agents that the files below each PATH, or all of the workspace, define: name, kind, file, description.

    Exit code 0: listed, 2: could not run.
    """
    from remit.agent_files.lint import load_graph

    found = sorted(load_graph(paths).agents.values(), key=lambda agent: agent.name)
    if output_format == "json":
        say_json([_shape(agent) for agent in found])
        return ACCEPTED
    widths = [max(map(len, column), default=0) for column in zip(*map(_list_cells, found), strict=True)]
    room = max(_MIN_DESCRIPTION, count_columns() - sum(widths) - 2 * len(widths))
    for agent in found:
        name, *cells = (cell.ljust(width) for cell, width in zip(_list_cells(agent), widths, strict=True))
        description = cut(quote(" ".join(agent.description.split())), room)
        say("  ".join((get_paint()("strong", name), *cells, description)).rstrip())
    say(count(len(found), "agent") if found else "no agent files found; `remit agent new` creates one")
    return ACCEPTED


def _list_cells(agent: Definition) -> tuple[str, ...]:
    return escape(agent.name), escape(agent.kind or ""), escape(agent.path)


def _shape(agent: Definition) -> dict[str, str | None]:
    return {
        "name": agent.name,
        "kind": agent.kind,
        "profile": agent.profile,
        "path": agent.path,
        "description": agent.description,
    }
