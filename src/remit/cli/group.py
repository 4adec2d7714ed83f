"""The root command and the groups, built from the table of commands.

A command's module is loaded when the command is called; help and completion of names need none of them.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from remit import commands
from remit.cli import options
from remit.errors import RemitError, UsageError
from remit.spelling import find_similar

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_MIN_PURPOSE_COLUMNS = 30
"""The purpose of a command is printed below the command if fewer columns are left beside it."""


class Commands(options.Command, click.Group):
    """A group of the table, or the root, whose name is empty. It loads a command when it is called."""

    def __init__(self, *args: Any, group_name: str = "", **settings: Any) -> None:  # noqa: ANN401 - click's own
        super().__init__(*args, **settings)
        self.group_name = group_name

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the visible commands and groups, in the order of the help."""
        del ctx
        return commands.list_names(self.group_name)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load a command; a name that isn't in the table raises a usage error."""
        group = None if self.group_name else commands.get_group(cmd_name)
        if group is not None:
            return Commands(
                group.name,
                group_name=group.name,
                help=group.about,
                invoke_without_command=True,
                callback=_show_group_help,
            )
        entry = commands.get_command(f"{self.group_name} {cmd_name}".lstrip())
        if entry is not None:
            command: click.Command = getattr(import_module(entry.module), entry.attribute)
            command.name, command.short_help = entry.name.rpartition(" ")[2], entry.help
            return command
        if ctx.resilient_parsing:  # a shell asks for completions
            return None
        own = self.list_own()
        if cmd_name in own:
            from remit.cli.commands.task_work import make_command

            return make_command(cmd_name, own[cmd_name])
        name = f"{self.group_name} {cmd_name}".lstrip()
        raise UsageError(f"there is no command '{name}'", hint=self.suggest(cmd_name, [*self.list_commands(ctx), *own]))

    def suggest(self, word: str, known: list[str]) -> str:
        """Return a hint with the command that the user probably meant."""
        name = f"{self.group_name} {word.lower()}".lstrip()
        meant = commands.OTHER_WORDS.get(name)
        if meant is None:
            near = find_similar(word, known)
            meant = f"{self.group_name} {near}".lstrip() if near is not None else commands.OTHER_WORDS.get(word.lower())
        return (
            f"see 'remit {self.group_name}".rstrip() + " --help'" if meant is None else f"did you mean 'remit {meant}'?"
        )

    def list_own(self) -> dict[str, str]:
        """Return the workspace's own commands in this group, with their help."""
        if self.group_name != "task":
            return {}
        from remit.runs.tasks.task_commands import list_own_commands

        known = commands.list_names("task")
        return {name: text for name, text in list_own_commands().items() if name not in known}

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands with their help, all sections in one column."""
        del ctx
        sections: dict[str, list[tuple[str, str]]] = {}
        for entry in commands.list_commands(self.group_name):
            sections.setdefault(entry.section or "Commands", []).append((entry.name.rpartition(" ")[2], entry.help))
        if self.group_name:
            try:
                own = self.list_own()
            except RemitError:  # help doesn't fail because of wrong settings
                own = {}
            sections["Commands"] += own.items()
        else:
            sections[commands.GROUPS_SECTION] = [(group.name, group.help) for group in commands.GROUPS]
        width = max(len(name) for rows in sections.values() for name, _ in rows)
        for title, rows in sections.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), text) for name, text in rows])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Offer the names with the given beginning, without loading the commands."""
        from remit.cli.commands.completion import make_items

        helps = {entry.name.rpartition(" ")[2]: entry.help for entry in commands.list_commands(self.group_name)}
        helps |= {} if self.group_name else {group.name: group.help for group in commands.GROUPS}
        return [*make_items(incomplete, helps.items()), *click.Command.shell_complete(self, ctx, incomplete)]


def _show_group_help() -> int:
    """Print the help of a group that is called without a command."""
    from remit.cli.output import print_lines

    ctx = click.get_current_context()
    if ctx.invoked_subcommand is None:
        print_lines(ctx.get_help())
    return 0


@click.group(
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Without a command, Remit suggests what to do next here. Each command has its own --help.",
)
@click.option("-C", "folder", metavar="DIR", expose_value=False, help="Run as if Remit was started in DIR.")
@click.option("--color", metavar="WHEN", expose_value=False, help="auto, always or never. Default: auto.")
@click.option("-q", "--quiet", is_flag=True, expose_value=False, help="Print only results and errors.")
@click.option("-V", "--version", is_flag=True, help="Show the version and exit.")
@click.pass_context
def root(ctx: click.Context, *, version: bool) -> int:
    """Remit runs AI coding agents and verifies what they say they did."""
    from remit.cli.output import print_lines

    if version:
        from remit import __version__

        print_lines(f"remit {__version__}")
        ctx.exit()
    if ctx.invoked_subcommand is None:
        _show_next_steps()
    return 0


def _show_next_steps() -> None:
    """Print what Remit is, the commands that are useful in this folder, and the command that lists all others."""
    from remit.cli.output import get_paint, print_lines
    from remit.maintenance.next_steps import suggest_steps
    from remit.terminal import find_width, fold, quote

    paint = get_paint()
    steps = [*suggest_steps(), ("remit --help", "list all commands")]
    width = max(len(command) for command, _ in steps)
    columns = find_width()
    print_lines("\n".join(fold("Remit runs AI coding agents and verifies what they say they did.", columns)))
    print_lines("\nWhat you can do next in this folder:")
    is_narrow = columns is not None and columns - width - 4 < _MIN_PURPOSE_COLUMNS
    margin = " " * (6 if is_narrow else width + 4)
    for command, purpose in steps:
        lines = fold(quote(purpose), None if columns is None else columns - len(margin))
        gap = f"\n{margin}" if is_narrow else " " * (width - len(command) + 2)
        print_lines(f"  {paint('strong', quote(command))}{gap}{f'{chr(10)}{margin}'.join(lines)}")


def invoke(args: list[str]) -> int:
    """Run one command line and return its exit code."""
    if "_REMIT_COMPLETE" in os.environ:
        root.main(args, prog_name="remit")
    try:
        # Many programs have a command `help`, so users try it.
        given = [*args[1:], "--help"] if args[:1] == ["help"] else args
        with root.make_context("remit", given) as ctx:
            code: int = root.invoke(ctx)
            return code
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.ClickException as error:
        raise _translate(error) from None


def _translate(error: click.ClickException) -> UsageError:
    """Return click's error as one sentence with a hint."""
    ctx = error.ctx if isinstance(error, click.UsageError) else None
    hint = f"see '{ctx.command_path if ctx else 'remit'} --help'"
    if isinstance(error, click.NoSuchOption):
        if error.option_name == "-v" and ctx is not None and ctx.command is root:
            hint = "did you mean --version?"
        meant = f"did you mean {error.possibilities[0]}?" if error.possibilities else hint
        return UsageError(f"there is no option {error.option_name}", hint=meant)
    if isinstance(error, click.MissingParameter) and error.param is not None:
        named = f"{error.param.opts[0]} " if isinstance(error.param, click.Option) else ""
        name = f"{named}{error.param.metavar or error.param.human_readable_name.upper()}"
        return UsageError(f"{name} is missing", hint=hint)
    sentence = error.format_message().rstrip(".")
    return UsageError(sentence[:1].lower() + sentence[1:], hint=hint)
