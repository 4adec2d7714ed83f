"""`remit manifest`: the group of commands around MANIFEST.jsonl. Each is loaded when it is named."""

from __future__ import annotations

import click

from remit.cli.group import Commands

_VIEWS, _UPKEEP = "remit.cli.commands.findings_views", "remit.cli.commands.findings_upkeep"
COMMANDS = {
    "add": "remit.cli.commands.findings_add",
    "show": _VIEWS,
    "find": _VIEWS,
    "list": _VIEWS,
    "pending": _VIEWS,
    "link": "remit.cli.commands.task_changes",  # a link is kept with the task, and is seen from both
    "validate": "remit.cli.commands.findings_validate",
    "rebuild": _UPKEEP,
    "stats": _UPKEEP,
    "export": _UPKEEP,
}


@click.group(
    cls=Commands, table=COMMANDS, invoke_without_command=True, short_help="Add to MANIFEST.jsonl, search and check it."
)
@click.pass_context
def manifest(ctx: click.Context) -> int:
    """Look after a manifest, in which every entry is one line that points to a findings file."""
    if ctx.invoked_subcommand is None:
        from remit.cli.output import say

        say(ctx.get_help())
    return 0
