"""The acceptance checks of a workspace: `[checks.NAME]`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from remit.config.values import ValueRule, read_settings, read_table, read_texts
from remit.errors import ConfigError
from remit.light_namedtuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

WEAKENED = ("warn", "partial")


class CheckSettings(NamedTuple):
    """A command that has to pass before Remit believes that work is complete: `[checks.NAME]`."""

    run: str = ""
    """The command, for `/bin/sh`."""
    timeout: float = 600
    """How long it may take, in seconds. A check that takes longer counts as not run."""
    when: tuple[str, ...] = ()
    """Run it only if a file changed that one of these patterns matches. Default: always."""
    cwd: str | None = None
    """The folder to run it in, below the root. Default: the root."""
    protect: tuple[str, ...] | None = None
    """Files that decide the check, as patterns: if the agent changes one, the result is `partial`.
    Default: the configuration files of the programs that `run` names, and remit.toml."""
    baseline: bool = False
    """Whether a failed check runs once more on the tree before the run, in a worktree."""
    junit: str | None = None
    """The JUnit XML report that the command writes, below `cwd`: Remit compares the numbers of tests."""
    weakened: str = "warn"
    """What follows if tests were deleted, skipped or run less: `warn`, or `partial`."""


def read_checks(values: object) -> dict[str, CheckSettings]:
    """Read the tables `[checks.NAME]`."""
    tables = read_table(values, "checks")
    return {name: _read_check(table, name) for name, table in tables.items()}


def _read_check(values: Any, name: str) -> CheckSettings:  # noqa: ANN401 - whatever TOML has
    plain = name.replace("-", "").replace("_", "")
    if not (plain.isascii() and plain.isalnum()):
        raise ConfigError(f"'{name}' can't be the name of a check", hint="write it like [checks.tests]")
    if not isinstance(values, dict):
        raise ConfigError(f"checks.{name} is not a table", hint=f"write it as [checks.{name}]")
    if not str(values.get("run", "")).strip():
        raise ConfigError(f"[checks.{name}] has no command", hint='write it as run = "pytest -q"')
    return read_settings(CheckSettings, values, f"checks.{name}", _RULES)


def _read_patterns(value: object, name: str) -> tuple[str, ...]:
    """Read one pattern or a list of patterns."""
    patterns = read_texts([value] if isinstance(value, str) else value, name, "src/**")
    for each in patterns:
        if not each.strip("/ ") or ".." in each.split("/"):  # it matches nothing, so the check would never run
            raise ConfigError(f"{name} has the pattern {each!r}, which matches no file below the root",
                              hint=f'write it as {name.rpartition(".")[2]} = ["src/**"]')  # fmt: skip
    return patterns


def _read_below(value: object, name: str) -> str:
    """Read a path that stays below the root."""
    steps = value.split("/") if isinstance(value, str) else [".."]
    if not steps[0] or ".." in steps or "\0" in str(value):
        raise ConfigError(f"{name} is not a path below the workspace's root",
                          hint=f'write it as {name.rpartition(".")[2]} = "backend"')  # fmt: skip
    return str(value).rstrip("/")


_RULES: Mapping[str, ValueRule] = {
    "run": ValueRule("pytest -q"),
    "timeout": ValueRule(600),
    "when": ValueRule(read=_read_patterns),
    "cwd": ValueRule(read=_read_below),
    "protect": ValueRule(read=_read_patterns),
    "junit": ValueRule(read=_read_below),
    "weakened": ValueRule(words=WEAKENED),
}
