"""Options of commands that run an agent, and the request fields that they set."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from remit.cli import options
from remit.errors import StateError, UsageError
from remit.runs.tasks.task_numbers import parse_task
from remit.views.render import COULD_NOT_RUN

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from remit.runs.admission.limits import Budget

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_HINT = "write it like 90, 90s, 15m or 2h"


def parse_duration(value: str) -> float:
    """Parse a duration and return seconds: `90`, `90s`, `15m`, `2h`."""
    number, unit = (value[:-1], value[-1]) if value[-1:] in _UNITS else (value, "s")
    whole, _, fraction = number.partition(".")
    if not (number.isascii() and f"{whole}{fraction}".isdigit() and whole and len(number) <= options.MAX_DIGITS):
        raise UsageError(f"'{value}' is not a duration", hint=_HINT)
    return float(number) * _UNITS[unit]


def parse_count(value: str) -> int:
    """Parse a whole number, with or without thousands separators."""
    plain = value.replace("_", "").replace(",", "")
    if not (plain.isascii() and plain.isdigit() and len(plain) < 2 * options.MAX_DIGITS):
        raise UsageError(f"'{value}' is not a number", hint="give a whole number, such as 20")
    return int(plain)


def parse_dollars(value: str) -> float:
    """An amount in dollars."""
    plain = value.removeprefix("$")
    whole, _, cents = plain.partition(".")
    if not (plain.isascii() and f"{whole}{cents}".isdigit() and len(plain) <= 2 * options.MAX_DIGITS):
        raise UsageError(f"'{value}' is not an amount", hint="give it in dollars, such as 0.50")
    return float(plain)


def parse_inputs(given: tuple[str, ...]) -> dict[str, str]:
    """Parse NAME=VALUE items. Each name may occur once."""
    inputs: dict[str, str] = {}
    for each in given:
        name, sign, value = each.partition("=")
        if not sign or not name.strip():
            raise UsageError(f"'{each}' isn't an input", hint="write it as NAME=VALUE")
        if name.strip() in inputs:
            raise UsageError(f"the input '{name.strip()}' is given twice", hint="give it once")
        inputs[name.strip()] = value
    return inputs


_TIMEOUT = click.option(
    "--timeout", type=parse_duration, metavar="TIME", help="Time limit of this run: 90, 90s, 15m or 2h."
)
_BUDGET = (
    click.option(
        "--max-seconds", type=parse_duration, metavar="TIME", help="Time limit for this run and all nested runs."
    ),
    click.option(
        "--max-turns", type=parse_count, metavar="N", help="Limit of model turns for this run and all nested runs."
    ),
    click.option("--max-tokens", type=parse_count, metavar="N", help="Token limit for this run and all nested runs."),
    click.option(
        "--max-usd", type=parse_dollars, metavar="USD", help="Spend limit in USD for this run and all nested runs."
    ),
    click.option("--max-delegations", type=parse_count, metavar="N", help="Limit of nested runs, at any depth."),
)
_OPTIONS = (
    click.option("--input", "inputs", metavar="NAME=VALUE", multiple=True, help="Input of the agent. Can be repeated."),
    click.option(
        "--runner",
        metavar="NAME",
        help="claude, opencode, codex, gemini, command, python, or one of your own.",
        shell_complete=options.offer("claude", "opencode", "codex", "gemini", "command", "python"),
    ),
    click.option(
        "--command",
        metavar='"PROG ARGS"',
        help="Program to run as the agent: it reads the prompt and prints the return.",
    ),
    _TIMEOUT,
    click.option(
        "--return-format",
        metavar="FORMAT",
        help="Format that the agent returns: standard, hyper, manifest.",
        shell_complete=options.offer_formats,
    ),
    click.option(
        "--format",
        metavar="FORMAT",
        help="Format of the result. Default: the agent's own.",
        shell_complete=options.offer_formats,
    ),
    *_BUDGET,
    click.option(
        "--check",
        "checks",
        metavar="NAME|COMMAND",
        multiple=True,
        help="Check that has to pass for completed. Can be repeated.",
    ),
    click.option(
        "--schema",
        type=options.parse_path,
        metavar="FILE",
        help="JSON Schema that the return's data has to fit.",
    ),
    click.option("--confine", is_flag=True, help="Confine writes to the workspace without protected files."),
    click.option(
        "--commit/--no-commit",
        default=None,
        help="Commit the agent's changes, skipping git hooks. Default: only for task runs.",
    ),
)
"""In the order of the help."""

worktree = click.option("--worktree", is_flag=True, help="Run in a separate git worktree.")
"""Not for task commands, which link and commit in the task's own tree."""
task = click.option("--task", "task_id", type=parse_task, metavar="N", help="Task that the agent works on.")


def with_run_options(function: Callable[..., int]) -> Callable[..., int]:
    """Add the options of a run to a command; `gather` converts their values to request fields."""
    function = _report_state_errors(function)
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def with_limit_options(function: Callable[..., int]) -> Callable[..., int]:
    """Add the limit options to a command; `gather_limits` converts their values to request fields."""
    function = _report_state_errors(function)
    for option in reversed((_TIMEOUT, *_BUDGET)):
        function = option(function)
    return function


def _report_state_errors(function: Callable[..., int]) -> Callable[..., int]:
    """Return exit code 2 if the state of the workspace prevents a run, since 1 means an unsuccessful run."""

    @wraps(function)
    def command(*, as_json: bool, output_format: str, **rest: object) -> int:
        try:
            return function(as_json=as_json, output_format=output_format, **rest)
        except StateError as error:
            from remit.cli.output import report_error

            report_error(error, as_json=as_json or output_format == "json")
            return COULD_NOT_RUN

    return command


def gather_limits(given: dict[str, Any]) -> dict[str, Any]:
    """Return the request fields of the limit options that were given."""
    budget = _make_budget(given)
    fields: dict[str, Any] = {} if given["timeout"] is None else {"timeout_s": given["timeout"]}
    return fields | ({} if all(limit is None for limit in budget) else {"budget": budget})


def gather(given: dict[str, Any]) -> dict[str, Any]:
    """Return the request fields of the run options."""
    fields: dict[str, Any] = {
        name: given[name] for name in ("runner", "command", "return_format", "format", "confine", "checks")
    }
    fields["inputs"] = parse_inputs(given["inputs"])
    fields["schema"] = load_schema(given["schema"])
    fields["timeout_s"] = given["timeout"]
    fields["commits"] = given["commit"]
    fields["budget"] = _make_budget(given)
    return fields


def load_schema(path: Path | None) -> dict[str, Any] | None:
    """Return the schema in a file that the user names; None if there is none."""
    if path is None:
        return None
    from remit.storage.schema_files import load_schema

    return load_schema(str(path))


def _make_budget(given: dict[str, Any]) -> Budget:
    from remit.runs.admission.limits import Budget, check_budget

    return check_budget(Budget(*(given[name] for name in Budget._fields)))
