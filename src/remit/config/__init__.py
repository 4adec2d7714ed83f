"""Configuration: the text of remit.toml (or pyproject.toml's [tool.remit.lint]) → Settings.

Owns what a workspace may set and what it may not. Pure: finding and reading the file is the caller's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from remit.config.cluster import LOCAL, ClusterSettings, read_cluster, read_engine
from remit.config.confine import ConfineSettings, read_confine
from remit.config.delegation import FORMATS, DelegationSettings, read_delegation
from remit.config.delegation import TABLES as DELEGATION_TABLES
from remit.config.reading import check_keys, check_name, read_texts, read_word
from remit.errors import ConfigError
from remit.model import NOTHING, STATUSES
from remit.quick_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.model import Severity, Status

_TABLES = {
    "returns": ("format", "status_words"),
    "lint": ("select", "ignore", "extend_select", "per_file_ignores", "severity", "exclude", "baseline", "fail_on"),
    "tasks": ("folder", "show", "focus", "complete", "link"),
    "manifest": ("path", "output_dir"),
    "retention": ("days", "megabytes"),
    "cluster": ClusterSettings._fields,
    "confine": ConfineSettings._fields,
}
MAX_CHARS, MAX_DOTS = 1_000_000, 100
"""Of a whole file, and in one name of it: the parser's time grows with the square of the latter."""
_RESERVED = frozenset({*STATUSES, "complete", "error"})
"""Words that mean something in a format already: nobody makes `failed` mean completed."""
SEVERITIES: tuple[Severity, ...] = ("note", "warning", "error")


class ReturnSettings(NamedTuple):
    """What agents of the workspace return: `[returns]`."""

    format: str | None = None
    """The format of agents for which nothing else declares one: `standard`, `hyper` or `manifest`."""
    status_words: Mapping[str, Status] = NOTHING
    """The workspace's own status words, and the status that each means (C3)."""


class LintSettings(NamedTuple):
    """What a workspace has set for its agent files: `[lint]`."""

    select: tuple[str, ...] = ("ALL",)
    """The rules to apply, by code or by the beginning of one."""
    ignore: tuple[str, ...] = ()
    """Rules not to apply; of two that fit a code, the longer one decides."""
    extend_select: tuple[str, ...] = ()
    """More rules to apply, besides `select`."""
    per_file_ignores: Mapping[str, tuple[str, ...]] = NOTHING
    """Rules not to apply to files that match a pattern."""
    severity: Mapping[str, Severity] = NOTHING
    """Severities for single codes."""
    exclude: tuple[str, ...] = ()
    """Files and folders that are not looked at, as patterns."""
    baseline: str | None = None
    """The file of findings that were there before; they are left out. Made once, it only shrinks."""
    fail_on: Severity = "warning"
    """What is at least as grave makes linting fail."""


class TaskSettings(NamedTuple):
    """Where a workspace keeps its tasks: `[tasks]`. The commands are those of an outside task system (R4.11)."""

    folder: str | None = None
    """The folder of state.json and TODO.md, below the root."""
    show: str | None = None
    """The outside command that prints a task; `{id}` stands for its number. It runs once it is trusted."""
    focus: str | None = None
    """The outside command that takes a task up."""
    complete: str | None = None
    """The outside command that completes a task."""
    link: str | None = None
    """The outside command that links a task to an entry of the manifest."""

    @property
    def commands(self) -> dict[str, str]:
        """The commands that were set, by what they do."""
        given = {"show": self.show, "focus": self.focus, "complete": self.complete, "link": self.link}
        return {name: command for name, command in given.items() if command is not None}


class ManifestSettings(NamedTuple):
    """Where a workspace keeps its findings: `[manifest]`."""

    path: str | None = None
    """The manifest's file, below the root."""
    output_dir: str | None = None
    """The folder of findings files, and of a manifest without a `path`, below the root."""


class RetentionSettings(NamedTuple):
    """How long the record of past delegations is kept, and how large it may grow: `[retention]`."""

    days: int = 90
    """Delegations that ended longer ago are removed, by `remit gc` and now and then by others."""
    megabytes: int = 1024
    """Where the record is larger, the oldest go first."""


class Settings(NamedTuple):
    """What a workspace has set."""

    returns: ReturnSettings = ReturnSettings()
    lint: LintSettings = LintSettings()
    tasks: TaskSettings = TaskSettings()
    manifest: ManifestSettings = ManifestSettings()
    retention: RetentionSettings = RetentionSettings()
    delegation: DelegationSettings = DelegationSettings()
    engine: str = LOCAL
    """Where delegations run, as it is written: on this machine, or through a PostgreSQL."""
    cluster: ClusterSettings = ClusterSettings()
    confine: ConfineSettings = ConfineSettings()


def parse_settings(text: str, *, table: tuple[str, ...] = ()) -> Settings:
    """Read the settings from TOML text. `table` leads to them in a file of others, which may have `lint` only."""
    import tomllib  # noqa: PLC0415 - 7 ms, and most workspaces have no configuration

    from remit.places import find_deep_name  # noqa: PLC0415 - as above

    if len(text) > MAX_CHARS or find_deep_name(text, MAX_DOTS) is not None:
        raise ConfigError("the configuration is too large or nested too deep to be one", hint="make it shorter")
    try:
        values: Any = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # a number of more digits than Python reads is a ValueError, too
        raise ConfigError(f"the configuration is not TOML: {error}", hint="correct it, or remove it") from error
    for name in table:
        values = values.get(name, {}) if isinstance(values, dict) else values
    if not isinstance(values, dict):
        raise ConfigError(f"[{'.'.join(table)}] is not a table", hint=f"write it as [{'.'.join(table)}]")
    refused = next((name for name in values if table and name != "lint"), None)
    if refused is not None:
        shared = ".".join(table)
        hint = f"move it to remit.toml: of a file that agents may edit, Remit reads only [{shared}.lint]"
        raise ConfigError(f"{shared}.{refused} is not a setting of this file", hint=hint)
    return Settings(
        ReturnSettings(**_read_returns(_read_table(values, "returns"))),
        _read_lint(_read_table(values, "lint")),
        TaskSettings(**_read_tasks(_read_table(values, "tasks"))),
        ManifestSettings(**_read_paths(_read_table(values, "manifest"), "manifest")),
        RetentionSettings(**_read_retention(_read_table(values, "retention"))),
        read_delegation(values),
        read_engine(values.get("engine", LOCAL)),
        read_cluster(_read_table(values, "cluster")),
        read_confine(_read_table(values, "confine")),
    )


def _read_table(values: dict[str, Any], name: str) -> dict[str, Any]:
    """One table, its keys known and spelled with underscores; also says whether the others are tables at all."""
    for other in values:
        check_name(other, (*_TABLES, *DELEGATION_TABLES, "engine"), "a table")
    inner = values.get(name, {})
    if not isinstance(inner, dict):
        raise ConfigError(f"[{name}] is not a table", hint=f"write it as [{name}]")
    return check_keys(inner, name, _TABLES[name])


def _read_lint(values: dict[str, Any]) -> LintSettings:
    known: dict[str, Any] = {}
    for key in ("select", "ignore", "extend_select", "exclude"):
        if key in values:
            known[key] = read_texts(values[key], f"lint.{key}", "vendor/**" if key == "exclude" else "AGT1")
    if "per_file_ignores" in values:
        rows = _read_rows(values["per_file_ignores"], "lint.per_file_ignores", '{"docs/**" = ["AGT1"]}')
        known["per_file_ignores"] = {
            name: read_texts(codes, f"lint.per_file_ignores.{name}", "AGT1") for name, codes in rows
        }
    if "severity" in values:
        rows = _read_rows(values["severity"], "lint.severity", '{AGT126 = "note"}')
        known["severity"] = {code.upper(): read_severity(word, f"lint.severity.{code}") for code, word in rows}
    if "fail_on" in values:
        known["fail_on"] = read_severity(values["fail_on"], "lint.fail_on")
    if "baseline" in values:
        if not isinstance(values["baseline"], str) or not values["baseline"].strip():
            raise ConfigError(
                "lint.baseline is not the name of a file", hint='write it as baseline = ".remit-baseline.json"'
            )
        known["baseline"] = values["baseline"]
    return LintSettings(**known)


def _read_tasks(values: dict[str, Any]) -> dict[str, str]:
    commands = {key: value for key, value in values.items() if key != "folder"}
    for key, command in commands.items():
        if not isinstance(command, str) or "{id}" not in command:
            raise ConfigError(
                f"tasks.{key} is not a command with {{id}} in it", hint=f'write it as {key} = "cleo {key} {{id}}"'
            )
    return commands | _read_paths({key: values[key] for key in values if key == "folder"}, "tasks")


def _read_paths(values: dict[str, Any], table: str) -> dict[str, str]:
    """Paths that stay below the workspace's root."""
    for key, path in values.items():
        steps = path.split("/") if isinstance(path, str) else []
        if not any(step.strip() for step in steps) or not steps[0] or ".." in steps or "\0" in path:
            hint = f'write it as {key} = "docs/{table}", from the workspace\'s root'
            raise ConfigError(f"{table}.{key} is not a path below the workspace's root", hint=hint)
    return {key: path.rstrip("/") for key, path in values.items()}


_MOST_KEPT = 1_000_000
"""Days or megabytes: almost 3,000 years, or a terabyte. What is far above does not fit into the ledger's numbers."""


def _read_retention(values: dict[str, Any]) -> dict[str, int]:
    for key, value in values.items():
        if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= _MOST_KEPT:
            raise ConfigError(f"retention.{key} is not a number from 1 to {_MOST_KEPT}", hint=f"write it as {key} = 90")
    return values


def _read_rows(values: Any, name: str, example: str) -> list[tuple[str, Any]]:  # noqa: ANN401 - whatever the file holds
    if not isinstance(values, dict):
        raise ConfigError(f"{name} is not a table", hint=f"write it as {name.rpartition('.')[2]} = {example}")
    return list(values.items())


def read_severity(word: Any, name: str) -> Severity:  # noqa: ANN401 - whatever somebody wrote
    """A severity by its name."""
    found = next((each for each in SEVERITIES if each == word), None)
    if found is None:
        raise ConfigError(f"{name} is {word!r}", hint=f"use one of {', '.join(SEVERITIES)}")
    return found


def _read_returns(values: dict[str, Any]) -> dict[str, Any]:
    if "format" in values:
        read_word(values["format"], "returns.format", FORMATS)
    words = values.get("status_words", {})
    if not isinstance(words, dict):
        raise ConfigError(
            "returns.status_words is not a table", hint='write it as status_words = {planned = "completed"}'
        )
    for word, status in words.items():
        if word in _RESERVED:
            raise ConfigError(f"'{word}' has a meaning of its own", hint="map only words that no format knows")
        if status not in STATUSES:
            raise ConfigError(f"'{word}' is mapped to {status!r}", hint=f"map it to one of {', '.join(STATUSES)}")
    return values
