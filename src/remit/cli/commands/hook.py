"""`remit hook`, where it is asked for with options; without any, the hook itself answers and this is not loaded."""

from __future__ import annotations

import click

from remit.cli import options
from remit.harnesses import HOOKED


@click.command(cls=options.Command)
@click.argument("harness", type=click.Choice(HOOKED))
def hook(harness: str) -> int:
    """Read one event of HARNESS as JSON from standard input, and print the decision.

    A harness starts this: remit hooks install claude sets it up. Without a decision it prints nothing. Exit code 0: the
    output counts; 2: the event could not be read, and the action is refused.
    """
    from remit.hooks.main import main

    main([harness])
    return 0
