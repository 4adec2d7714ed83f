"""Options that several commands share, and the base class of commands."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING

import click

from remit.errors import UsageError
from remit.manifest import parse_day
from remit.spelling import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from click.shell_completion import CompletionItem

MAX_DIGITS = 10
_CLICK_LEAST = 52


def _show_help(ctx: click.Context, param: click.Parameter, value: bool) -> None:  # noqa: FBT001 - click's protocol
    del param
    if value and not ctx.resilient_parsing:
        from remit.cli.output import print_lines
        from remit.terminal import count_columns

        columns = count_columns()
        if columns < _CLICK_LEAST:  # click's own minimum
            ctx.terminal_width = columns - 2
            ctx.formatter_class = _Narrow
        print_lines(ctx.get_help())
        ctx.exit()


class _Narrow(click.HelpFormatter):
    """Formats help for a screen that is too narrow for two columns of the usual width."""

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        """Write names and descriptions in two columns."""
        super().write_dl(rows, min(col_max, self.width // 3), col_spacing)


class Command(click.Command):
    """A command that prints its help like every other output, so that a closed pipe is no error."""

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """Return the option `--help`."""
        option = super().get_help_option(ctx)
        if option is not None:
            option.callback = _show_help
        return option

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse a command line. Errors refer to the help of this command."""
        try:
            rest = super().parse_args(ctx, args)
        except click.UsageError as error:
            error.ctx = error.ctx or ctx
            raise
        for param in self.params:
            value = ctx.params.get(param.name or "")
            if isinstance(param, click.Option) and isinstance(value, str) and not value.strip():
                # A script's variable may be unset; no user wants a session named "".
                raise UsageError(f"{param.opts[0]} is empty", hint="leave it out, or give a value")
        return rest


def offer(*words: str) -> Callable[[click.Context, click.Parameter, str], list[CompletionItem]]:
    """Return a completion function that offers these words."""

    def complete(ctx: click.Context, param: click.Parameter, start: str) -> list[CompletionItem]:
        from remit.cli.commands.completion import make_items

        del ctx, param
        return make_items(start, [(word, "") for word in words])

    return complete


def parse_depth(value: str) -> int:
    """Parse a delegation depth: 0 for a run that the user started, more for nested runs."""
    if not (value.isascii() and value.isdigit() and len(value) < MAX_DIGITS):
        raise UsageError(f"'{value}' is not a depth", hint="give a whole number from 0")
    return int(value)


def parse_number(value: str) -> int:
    """Parse a positive whole number."""
    if not (value.isascii() and value.isdigit() and len(value) < MAX_DIGITS and int(value) > 0):
        raise UsageError(f"'{value}' isn't a positive number", hint="give a whole number from 1")
    return int(value)


def parse_seconds(value: str) -> float:
    """Parse a number of seconds, with or without a fraction."""
    whole, _, fraction = value.partition(".")
    if not (value.isascii() and f"{whole}{fraction}".isdigit() and whole and len(value) <= 2 * MAX_DIGITS):
        raise UsageError(f"'{value}' is not a duration", hint="give it in seconds, such as 90 or 4.8")
    return float(value)


def parse_path(value: str) -> Path:
    """Parse a path."""
    from pathlib import Path  # takes 8 ms, and most command lines have no path

    if not value:  # it would mean the current folder
        raise UsageError("a path is empty", hint="leave the option out, or name a file or folder")
    return Path(value)


def parse_names(value: str) -> tuple[str, ...]:
    """Parse names separated by commas. None may be empty."""
    names = tuple(name.strip() for name in value.split(","))
    if not all(names):
        raise UsageError(f"'{value}' contains an empty name", hint="write it like orchestrator,plan,planner")
    return names


session = click.option("--session", "session_id", metavar="ID", help="Session ID that Remit issued for the run.")
agent = click.option("--agent", metavar="NAME", help="Agent that was expected to return.")
offer_formats = offer("standard", "hyper", "manifest")
format = click.option(
    "--format",
    metavar="FORMAT",
    help="Format of the return: standard, hyper, manifest. Default: detected.",
    shell_complete=offer_formats,
)
manifest = click.option(
    "--manifest", type=parse_path, metavar="FILE", help="Manifest whose last entry belongs to the message."
)
depth = click.option("--depth", type=parse_depth, metavar="N", help="Delegation depth.")
path = click.option("--path", type=parse_names, metavar="A,B,C", help="Call chain, ending with the agent.")
day = click.option("--date", type=parse_day, metavar="YYYY-MM-DD", help="Day of a manifest entry.")


def output_format(*formats: str) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Add `--output-format` and `--json` to a command, which receives the chosen format."""

    def parse_format(value: str) -> str:
        if value not in formats:
            raise UsageError(f"there is no output format '{value}'", hint=did_you_mean(value, formats))
        return value

    def decorate(function: Callable[..., int]) -> Callable[..., int]:
        @wraps(function)
        def command(*, as_json: bool, output_format: str, **rest: object) -> int:
            return function(output_format="json" if as_json else output_format, **rest)

        text = f"{', '.join(formats[:-1])} or {formats[-1]}. Default: {formats[0]}."
        named = click.option(
            "--output-format",
            type=parse_format,
            metavar="FORMAT",
            default=formats[0],
            help=text,
            shell_complete=offer(*formats),
        )
        short = click.option("--json", "as_json", is_flag=True, help="Same as --output-format json.")
        return named(short(command))

    return decorate
