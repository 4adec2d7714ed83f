"""The manifest of a workspace: one line for each finding, only appended, and an index for queries.

This module has the values that users give on a command line, because the command line loads them at start-up.
"""

from __future__ import annotations

from remit.errors import UsageError


def parse_day(value: str) -> str:
    """Return a calendar day as YYYY-MM-DD. Raise `UsageError` if it isn't one."""
    from datetime import date  # noqa: PLC0415 - only if a day is given

    try:
        return date.fromisoformat(value).isoformat()
    except ValueError:
        raise UsageError(f"'{value}' isn't a day", hint="write it as YYYY-MM-DD") from None


def parse_slug(value: str) -> str:
    """Return a topic for file names: lower-case letters and digits with hyphens. Raise `UsageError` if it isn't one."""
    plain = value.replace("-", "")
    if not (plain.isascii() and plain.isalnum() and value == value.lower() and all(value.split("-"))):
        raise UsageError(f"'{value}' isn't a topic", hint="write it like upload-limits")
    return value
