"""The group: which commands there are, and what is said of a command line that does not fit.

Owns the table of commands. A command's module is loaded when it is asked for; the others cost nothing.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from remit.cli.options import Command
from remit.errors import RemitError, UsageError
from remit.spelling import did_you_mean, find_similar

if TYPE_CHECKING:
    from collections.abc import Mapping

SECTIONS = {
    "Check returns": {
        "check": "remit.cli.commands.check",
        "convert": "remit.cli.commands.convert",
        "return": "remit.cli.commands.returns",
        "instructions": "remit.cli.commands.describe",
        "schema": "remit.cli.commands.describe",
        "explain": "remit.cli.commands.describe",
    },
    "Agents": {
        "lint": "remit.cli.commands.lint",
        "fix": "remit.cli.commands.lint",
        "graph": "remit.cli.commands.graph",
        "new": "remit.cli.commands.agent_make",
        "migrate": "remit.cli.commands.agent_make",
        "compile": "remit.cli.commands.agent_make",
    },
    "Work": {
        "init": "remit.cli.commands.init",
        "task": "remit.cli.commands.task",
        "sync": "remit.cli.commands.sync",
        "manifest": "remit.cli.commands.findings",
        "errors": "remit.cli.commands.errors",
    },
    "Delegate": {
        "run": "remit.cli.commands.run",
        "research": "remit.cli.commands.task_work",
        "plan": "remit.cli.commands.task_work",
        "revise": "remit.cli.commands.task_work",
        "implement": "remit.cli.commands.task_work",
        "review": "remit.cli.commands.task_work",
        "wait": "remit.cli.commands.wait",
        "cancel": "remit.cli.commands.wait",
        "resume": "remit.cli.commands.resume_retry",
        "retry": "remit.cli.commands.resume_retry",
        "worker": "remit.cli.commands.worker",
        "drain": "remit.cli.commands.worker",
    },
    "See": {
        "ps": "remit.cli.commands.ps",
        "tree": "remit.cli.commands.ps",
        "show": "remit.cli.commands.show",
        "logs": "remit.cli.commands.logs",
        "report": "remit.cli.commands.report",
        "status": "remit.cli.commands.status",
        "ui": "remit.cli.commands.serve",
        "serve": "remit.cli.commands.serve",
        "doctor": "remit.cli.commands.doctor",
        "gc": "remit.cli.commands.gc",
    },
    "Connect": {
        "hook": "remit.cli.commands.hook",
        "mcp": "remit.cli.commands.mcp",
        "may": "remit.cli.commands.agent_can",
        "trust": "remit.cli.commands.trust",
        "uninstall": "remit.cli.commands.uninstall",
        "completion": "remit.cli.commands.completion",
    },
}
COMMANDS = {name: module for section in SECTIONS.values() for name, module in section.items()}
HIDDEN = {"drive": "remit.cli.commands.drive"}
"""What Remit starts by itself."""

OTHER_WORDS = {
    **dict.fromkeys(("install", "setup", "set-up"), "did you mean 'init'?"),
    **dict.fromkeys(("delegate", "start", "spawn", "exec"), "did you mean 'run'?"),
    **dict.fromkeys(("stop", "kill", "abort"), "did you mean 'cancel'?"),
    **dict.fromkeys(("dashboard", "web", "gui"), "did you mean 'ui'?"),
    **dict.fromkeys(("validate", "verify", "judge"), "did you mean 'check'?"),
    **dict.fromkeys(("list", "ls", "jobs", "delegations"), "did you mean 'ps'?"),
    **dict.fromkeys(("agent", "agents"), "remit graph draws them, remit lint judges them"),
    **dict.fromkeys(("clean", "prune"), "did you mean 'gc'?"),
    "version": "did you mean 'remit --version'?",
}
"""What other programs call what is here, too: by its letters such a word may be close to its opposite."""


class Commands(Command, click.Group):
    """A group that loads a command when it is named."""

    def __init__(self, *args: Any, table: Mapping[str, str] = COMMANDS, **options: Any) -> None:  # noqa: ANN401 - click's own
        super().__init__(*args, **options)
        self.table = table

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands, in the order in which they are worth knowing."""
        del ctx
        return list(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load a command; asking for one that is not there is a mistake with a name."""
        module = self.table.get(cmd_name) or (HIDDEN.get(cmd_name) if self.table is COMMANDS else None)
        if module is not None:
            taken = cmd_name in {"compile", "list", "return"}  # names that Python has taken
            name = f"{cmd_name}_" if taken else cmd_name
            command: click.Command = getattr(import_module(module), name)
            return command
        if ctx.resilient_parsing:  # a shell asks what could follow
            return None
        own = self.list_own()
        if cmd_name in own:
            from remit.cli.commands.task_work import make_command

            return make_command(cmd_name, own[cmd_name])
        above = ctx.command_path.removeprefix("remit").lstrip()
        name = f"{above} {cmd_name}".lstrip()
        raise UsageError(f"there is no command '{name}'", hint=self.suggest(cmd_name, (*self.table, *own)))

    def suggest(self, word: str, known: tuple[str, ...]) -> str:
        """What to try instead of a command that is not there."""
        return did_you_mean(word, known)

    def list_own(self) -> dict[str, str]:
        """The commands that are nobody's but the workspace's, and what each is for."""
        return {}


class Program(Commands):
    """The whole program: its commands are many, so its help has sections."""

    def list_own(self) -> dict[str, str]:
        """The commands that the workspace has set up as `[task.NAME]`."""
        from remit.runs.tasks.own_commands import list_own_commands

        return {name: text for name, text in list_own_commands().items() if name not in self.table}

    def suggest(self, word: str, known: tuple[str, ...]) -> str:
        """What to try instead of a command that is not there; all of them would be a wall."""
        meant = find_similar(word, known)
        near = "see remit --help" if meant is None else f"did you mean '{meant}'?"
        return OTHER_WORDS.get(word.lower(), near)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the sections, the commands of all of them in one column."""
        try:
            own = self.list_own()
        except RemitError:  # whoever uses what is set up wrongly is told; the help is for everybody
            own = {}
        width = max(map(len, (*self.table, *own)))
        for title, names in SECTIONS.items():
            found = {name: self.get_command(ctx, name) for name in names}
            rows = [(name.ljust(width), each.get_short_help_str(80)) for name, each in found.items() if each]
            rows += [(name.ljust(width), text) for name, text in own.items() if title == "Delegate"]
            with formatter.section(title):
                formatter.write_dl(rows)


@click.group(
    cls=Program,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Without a command Remit says what to do next here. Each command has a --help of its own.",
)
@click.option("--version", is_flag=True, help="Show the version and exit.")
@click.pass_context
def root(ctx: click.Context, *, version: bool) -> int:
    """Remit runs AI subagents, checks what they return, and passes on only what it could verify."""
    from remit.cli.output import say

    if version:
        from remit import __version__

        say(f"remit {__version__}")
        ctx.exit()
    if ctx.invoked_subcommand is None:
        from remit.cli.commands.welcome import welcome

        welcome()
    return 0


def invoke(args: list[str]) -> int:
    """Run one command line; the exit code that its command gives."""
    if "_REMIT_COMPLETE" in os.environ:
        root.main(args, prog_name="remit")
    try:
        # Many programs have a command of that name, so it is tried before --help.
        given = [*args[1:], "--help"] if args[:1] == ["help"] else args
        with root.make_context("remit", given) as ctx:
            code: int = root.invoke(ctx)
            return code
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.ClickException as error:
        raise _translate(error) from None


def _translate(error: click.ClickException) -> UsageError:
    """What click has to say, in one sentence that ends with what to do next."""
    ctx = error.ctx if isinstance(error, click.UsageError) else None
    hint = f"see '{ctx.command_path if ctx else 'remit'} --help'"
    if isinstance(error, click.NoSuchOption):
        if error.option_name in ("-V", "-v") and ctx is not None and ctx.command is root:
            hint = "did you mean --version?"
        meant = f"did you mean {error.possibilities[0]}?" if error.possibilities else hint
        return UsageError(f"there is no option {error.option_name}", hint=meant)
    if isinstance(error, click.MissingParameter) and error.param is not None:
        named = f"{error.param.opts[0]} " if isinstance(error.param, click.Option) else ""
        name = f"{named}{error.param.metavar or error.param.human_readable_name.upper()}"
        return UsageError(f"{name} is missing", hint=hint)
    sentence = error.format_message().rstrip(".")
    return UsageError(sentence[:1].lower() + sentence[1:], hint=hint)
