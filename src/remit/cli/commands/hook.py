"""`remit hook`, where it is asked for with options; without any, the hook itself answers and this is not loaded."""

from __future__ import annotations

import click

from remit.cli import options
from remit.harnesses import HOOKED


@click.command(cls=options.Command)
@click.argument("harness", type=click.Choice(HOOKED))
def hook(harness: str) -> int:
    """Read one event of HARNESS as JSON from standard input, and print the decision.

    A harness starts this, not a person: remit hooks install claude sets it up. It prints nothing where there is
    nothing to say. Exit code 0: what is printed counts; 2: the event could not be read, and what it asks is refused.
    """
    from remit.hooks.main import main

    main([harness])
    return 0
