"""Values of manifest entries as users and programs write them."""

from __future__ import annotations

from remit.errors import UsageError


def parse_day(value: str) -> str:
    """A day of the calendar, as YYYY-MM-DD."""
    from datetime import date  # noqa: PLC0415 - only where a day is given

    try:
        return date.fromisoformat(value).isoformat()
    except ValueError:
        raise UsageError(f"'{value}' is not a day", hint="write it as YYYY-MM-DD") from None


def parse_slug(value: str) -> str:
    """A topic as it stands in file names: small letters and digits, with hyphens between them."""
    plain = value.replace("-", "")
    if not (plain.isascii() and plain.isalnum() and value == value.lower() and all(value.split("-"))):
        raise UsageError(f"'{value}' is not a topic", hint="write it like upload-limits")
    return value
