"""Task numbers as users write them. The command line imports this module for every command, so it imports little."""

from __future__ import annotations

from remit.errors import UsageError

MAX_DIGITS = 10


def parse_number(value: str) -> int:
    """Parse the number of a task, with or without a `#`."""
    plain = value.removeprefix("#")
    if not (plain.isascii() and plain.isdigit() and len(plain) < MAX_DIGITS):
        from remit.runs.tasks.workspace_tasks import Tasks  # noqa: PLC0415 - only for an error

        Tasks().check_own()  # an outside system may have such ids
        raise UsageError(f"'{value}' isn't the number of a task", hint="remit task list shows them")
    return int(plain)


def parse_task(value: str) -> int | str:
    """Parse the number of a task, or its id in an outside system."""
    plain = value.removeprefix("#")
    return parse_number(plain) if plain.isascii() and plain.isdigit() else value
