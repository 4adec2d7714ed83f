"""Options: what several commands have in common.

Owns how a command is declared: its help is printed like every other answer, `--json` is short for
`--output-format json`, and a word that is not known is answered with the one that was probably meant.
"""

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
        from remit.cli.output import say
        from remit.terminal import count_columns

        columns = count_columns()
        if columns < _CLICK_LEAST:  # click itself never goes below
            ctx.terminal_width = columns - 2
            ctx.formatter_class = _Narrow
        say(ctx.get_help())
        ctx.exit()


class _Narrow(click.HelpFormatter):
    """Help on a screen that has no room for options and what they are for in columns of the usual width."""

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        """Write names and what they are for."""
        super().write_dl(rows, min(col_max, self.width // 3), col_spacing)


class Command(click.Command):
    """A command whose help is printed like every other answer: nobody reading it is no error."""

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """The option `--help`."""
        option = super().get_help_option(ctx)
        if option is not None:
            option.callback = _show_help
        return option

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse a command line; what is wrong with it is said of this command, not of the whole program."""
        try:
            rest = super().parse_args(ctx, args)
        except click.UsageError as error:
            error.ctx = error.ctx or ctx
            raise
        for param in self.params:
            value = ctx.params.get(param.name or "")
            if isinstance(param, click.Option) and isinstance(value, str) and not value.strip():
                # A script's variable that was never set: nobody means to expect a session called "".
                raise UsageError(f"{param.opts[0]} is empty", hint="leave it out, or say what it is")
        return rest


def offer(*words: str) -> Callable[[click.Context, click.Parameter, str], list[CompletionItem]]:
    """What a shell is offered where only these words fit."""

    def complete(ctx: click.Context, param: click.Parameter, start: str) -> list[CompletionItem]:
        from remit.cli.commands.completion import make_items

        del ctx, param
        return make_items(start, [(word, "") for word in words])

    return complete


def parse_depth(value: str) -> int:
    """A depth of delegation: 0 for a person's own agent, more below."""
    if not (value.isascii() and value.isdigit() and len(value) < MAX_DIGITS):
        raise UsageError(f"'{value}' is not a depth", hint="give a whole number from 0")
    return int(value)


def parse_number(value: str) -> int:
    """A whole number from 1."""
    if not (value.isascii() and value.isdigit() and len(value) < MAX_DIGITS and int(value) > 0):
        raise UsageError(f"'{value}' is not a number from 1", hint="give a whole number")
    return int(value)


def parse_seconds(value: str) -> float:
    """A duration in seconds, with or without a fraction."""
    whole, _, fraction = value.partition(".")
    if not (value.isascii() and f"{whole}{fraction}".isdigit() and whole and len(value) <= 2 * MAX_DIGITS):
        raise UsageError(f"'{value}' is not a duration", hint="give it in seconds, such as 90 or 4.8")
    return float(value)


def parse_path(value: str) -> Path:
    """A path, as the app wants it."""
    from pathlib import Path  # 8 ms, and most command lines name none

    if not value:  # which would be the current folder
        raise UsageError("a path is empty", hint="leave the option out, or name a file or folder")
    return Path(value)


def parse_names(value: str) -> tuple[str, ...]:
    """Names with commas between them, none of them empty."""
    names = tuple(name.strip() for name in value.split(","))
    if not all(names):
        raise UsageError(f"'{value}' has an empty name in it", hint="write it like orchestrator,plan,planner")
    return names


session = click.option("--session", "session_id", metavar="ID", help="Session ID that was issued.")
agent = click.option("--agent", metavar="NAME", help="Agent that was asked.")
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
    """Give a command `--output-format` and `--json`; it receives the format that was meant."""

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
