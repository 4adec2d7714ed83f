"""`remit` alone: what it is, and what to do next in this folder."""

from __future__ import annotations

from remit.doors.cli.output import get_paint, say
from remit.doors.terminal import quote

HELP = "remit --help"


def welcome() -> None:
    """Say what Remit is, which commands are worth running here, and where the others are."""
    from remit.app.first_steps import suggest_steps

    paint = get_paint()
    steps = [*suggest_steps(), (HELP, "see every command")]
    width = max(len(command) for command, _ in steps)
    say("Remit hands work to AI subagents, and brings back what can be trusted.\n\nNext, in this folder:")
    for command, purpose in steps:
        say(f"  {paint('strong', quote(command))}{' ' * (width - len(command))}  {quote(purpose)}")
