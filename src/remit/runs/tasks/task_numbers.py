"""The number of a task as users and programs write it."""

from __future__ import annotations

from remit.errors import UsageError

MAX_DIGITS = 10


def parse_number(value: str) -> int:
    """The number of a task, with or without a `#`."""
    plain = value.removeprefix("#")
    if not (plain.isascii() and plain.isdigit() and len(plain) < MAX_DIGITS):
        from remit.runs.tasks.workspace_tasks import Tasks  # noqa: PLC0415 - only for the error

        Tasks().check_own()  # an outside system's tasks may have such names
        raise UsageError(f"'{value}' isn't the number of a task", hint="remit task list shows them")
    return int(plain)


def parse_task(value: str) -> int | str:
    """The number of a task, or its id in an outside system."""
    plain = value.removeprefix("#")
    return parse_number(plain) if plain.isascii() and plain.isdigit() else value
