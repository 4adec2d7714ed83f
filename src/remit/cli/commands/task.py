"""`remit task`: the group of commands around the tasks in state.json and TODO.md. Each is loaded when it is named."""

from __future__ import annotations

import click

from remit.cli.group import Commands

_CHANGES, _VIEWS = "remit.cli.commands.task_changes", "remit.cli.commands.task_views"
COMMANDS = {
    "new": _CHANGES,
    "list": _VIEWS,
    "show": _VIEWS,
    "move": _CHANGES,
    "focus": _CHANGES,
    "complete": _CHANGES,
    "block": _CHANGES,
    "link": _CHANGES,
    "archive": _CHANGES,
    "phases": _VIEWS,
}


@click.group(
    cls=Commands, table=COMMANDS, invoke_without_command=True, short_help="Make, move, show and archive tasks."
)
@click.pass_context
def task(ctx: click.Context) -> int:
    """Look after the tasks: state.json is the truth, TODO.md shows it, and both change together."""
    if ctx.invoked_subcommand is None:
        from remit.cli.output import say

        say(ctx.get_help())
    return 0
