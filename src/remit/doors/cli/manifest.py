"""`remit manifest`: the group of commands around MANIFEST.jsonl. Each is loaded when it is named."""

from __future__ import annotations

import click

from remit.doors.cli.group import Commands

COMMANDS = {"validate": "remit.doors.cli.manifest_validate"}


@click.group(
    cls=Commands, table=COMMANDS, invoke_without_command=True, short_help="Look after MANIFEST.jsonl: validate."
)
@click.pass_context
def manifest(ctx: click.Context) -> int:
    """Look after a manifest, in which every entry is one line."""
    if ctx.invoked_subcommand is None:
        from remit.doors.cli.output import say

        say(ctx.get_help())
    return 0
