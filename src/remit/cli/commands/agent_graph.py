"""`remit agent graph`: which agent may call which."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from remit.cli import options
from remit.cli.output import get_paint, hand_over, say, say_json
from remit.views.render import ACCEPTED, NOT_ACCEPTED, count

if TYPE_CHECKING:
    from remit.agents.graph import Graph


@click.command(cls=options.Command)
@click.argument("paths", nargs=-1, metavar="[PATH…]")
@options.output_format("tree", "mermaid", "dot", "json")
def graph(paths: tuple[str, ...], *, output_format: str) -> int:
    """Draw which agents may call which, how deep, and for how long. Cycles are red.

    Exit code 0: drawn, 1: drawn, and it has a cycle, 2: could not run.
    """
    from remit.agent_files import lint
    from remit.agents import graph_render

    found = lint.load_graph(paths)
    if output_format == "json":
        say_json(graph_render.shape_graph(found))
    elif output_format == "tree":
        _show_tree(found)
    else:
        hand_over(lint.render_graph(found, output_format))
    return NOT_ACCEPTED if found.cycles else ACCEPTED


def _show_tree(found: Graph) -> None:
    from remit.agents import graph_render
    from remit.terminal import escape

    paint = get_paint()
    if not found.agents:
        say("no agent files found; name a file or a folder")
        return
    for line in graph_render.render_tree(found):
        text = escape(line.text)
        shown = paint("error", text) if line.fault else text if line.lead else paint("strong", text)
        say(f"{paint('frame', line.lead)}{shown}")
    calls = sum(len(targets) for targets in found.edges.values())
    say(f"\n{count(len(found.agents), 'agent')}, {count(calls, 'call')}, {count(len(found.cycles), 'circle')}")
