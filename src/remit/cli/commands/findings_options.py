"""What the commands around a manifest share: which one, which of its entries, and what none of them can show."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from remit.cli import options
from remit.cli.output import say
from remit.errors import UsageError
from remit.manifest.field_values import parse_day

if TYPE_CHECKING:
    from collections.abc import Callable

    from remit.runs.workspace_findings import Manifest

MAX_LIMIT = 1000
_BAD_LINES_SHOWN = 3
FILTERS = ("topic", "task", "status", "since", "until", "actionable")
"""What the options that choose entries are called."""

manifest_file = click.option("--manifest", metavar="FILE", help="Manifest. Default: the workspace's.")


def parse_count(value: str) -> int:
    """A whole number from 1."""
    if not (value.isascii() and value.isdigit() and len(value) < options.MAX_DIGITS and int(value) > 0):
        raise UsageError(f"'{value}' is not a number from 1", hint="give a whole number")
    return int(value)


def parse_limit(value: str) -> int:
    """How many entries to a page."""
    limit = parse_count(value)
    if limit > MAX_LIMIT:
        raise UsageError(f"{limit} entries are too many for a page", hint=f"give at most {MAX_LIMIT}, or use export")
    return limit


def filters(function: Callable[..., int]) -> Callable[..., int]:
    """Give a command the options that choose entries."""
    for option in reversed(
        (
            click.option("--topic", metavar="TAG", help="Only findings with this topic."),
            click.option(
                "--task", metavar="ID", help="Only findings of this task. 12, T12, #12 and task-12 are the same."
            ),
            click.option("--status", metavar="STATUS", help="Only findings with this status."),
            click.option("--since", type=parse_day, metavar="YYYY-MM-DD", help="Only findings since this day."),
            click.option("--until", type=parse_day, metavar="YYYY-MM-DD", help="Only findings until this day."),
            click.option(
                "--actionable/--no-actionable", default=None, help="Only findings that ask for action, or that don't."
            ),
        )
    ):
        function = option(function)
    return function


def pages(function: Callable[..., int]) -> Callable[..., int]:
    """Give a command the options that leaf through entries."""
    limit = click.option("--limit", type=parse_limit, default="20", metavar="N", help="Findings per page. Default: 20.")
    page = click.option("--page", type=parse_count, default="1", metavar="N", help="Page number. Default: 1.")
    return limit(page(function))


def count_entries(number: int) -> str:
    """How many entries: `1 entry`, `3 entries`."""
    return f"{number:,} {'entry' if number == 1 else 'entries'}"


def tell_bad_lines(opened: Manifest) -> None:
    """Say on standard error that there are lines which nobody can find."""
    bad = opened.find_bad_lines(limit=_BAD_LINES_SHOWN + 1)
    if bad:
        lines = ", ".join(str(each.line) for each in bad[:_BAD_LINES_SHOWN])
        more = ", …" if len(bad) > _BAD_LINES_SHOWN else ""
        where = f"line {lines} is no entry" if len(bad) == 1 else f"lines {lines}{more} are no entries"
        say(f"note: {where}; remit findings validate tells why", stderr=True)
