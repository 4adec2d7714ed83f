"""`remit uninstall`: take Remit's hooks out of the settings of harnesses."""

from __future__ import annotations

import click

from remit.cli import options


@click.command(cls=options.Command, short_help="Take Remit's hooks out of the harnesses' settings.")
@click.option("--harness", "harnesses", multiple=True, metavar="NAME",
              help="claude, codex or opencode, repeatable; all of them when left out.",
              shell_complete=options.offer("claude", "codex", "opencode"))  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Only show what would change.")
@options.output_format("full", "json")
def uninstall(*, harnesses: tuple[str, ...], dry_run: bool, output_format: str) -> int:
    """Take out what remit init --harness has put in; every other byte of those files stays.

    A file that nobody has changed since becomes what it was before, and goes if there was none. What somebody has
    added since stays. Settings, tasks, manifest and the ledger are not touched.

    Exit code 0: nothing of Remit's is there any more, 1: something is, 2: could not run.
    """
    from remit.cli.hooks_output import parse_harness, remove

    names = [parse_harness(name) for name in harnesses]
    return remove(names, dry_run=dry_run, as_json=output_format == "json")
