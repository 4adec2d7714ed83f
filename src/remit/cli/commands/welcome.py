"""`remit` alone: what it is, and what to do next in this folder."""

from __future__ import annotations

from remit.cli.output import get_paint, say
from remit.terminal import find_width, fold, quote

HELP = "remit --help"
_MIN_ROOM = 30
"""A purpose that has less room beside its command goes below it."""


def welcome() -> None:
    """Say what Remit is, which commands are worth running here, and where the others are."""
    from remit.maintenance.next_steps import suggest_steps

    paint = get_paint()
    steps = [*suggest_steps(), (HELP, "list all commands")]
    width = max(len(command) for command, _ in steps)
    columns = find_width()
    what = "Remit runs AI coding agents and verifies what they say they did."
    say("\n".join(fold(what, columns)))
    say("\nWhat you can do next in this folder:")
    is_narrow = columns is not None and columns - width - 4 < _MIN_ROOM
    margin = " " * (6 if is_narrow else width + 4)
    for command, purpose in steps:
        told = fold(quote(purpose), None if columns is None else columns - len(margin))
        gap = f"\n{margin}" if is_narrow else " " * (width - len(command) + 2)
        say(f"  {paint('strong', quote(command))}{gap}{f'{chr(10)}{margin}'.join(told)}")
