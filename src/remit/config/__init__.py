"""Configuration: the text of remit.toml (or pyproject.toml's [tool.remit.lint]) → Settings.

Owns what a workspace may set and what it may not. Pure: finding and reading the file is the caller's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from remit.config import cluster, confine
from remit.config.cluster import LOCAL, ClusterSettings, read_backend
from remit.config.confine import ConfineSettings
from remit.config.runs import FORMATS, DelegationSettings, read_delegation
from remit.config.runs import TABLES as DELEGATION_TABLES
from remit.config.values import ValueRule, check_name, read_settings, read_table, read_texts, read_word
from remit.errors import ConfigError
from remit.light_namedtuple import NamedTuple
from remit.model import NOTHING, STATUSES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.model import Severity, Status

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
    backend: str = LOCAL
    """Where delegations run, as it is written: on this machine, or through a PostgreSQL."""
    cluster: ClusterSettings = ClusterSettings()
    confine: ConfineSettings = ConfineSettings()


def parse_settings(text: str, *, table: tuple[str, ...] = ()) -> Settings:
    """Read the settings from TOML text. `table` leads to them in a file of others, which may have `lint` only."""
    import tomllib  # noqa: PLC0415 - 7 ms, and most workspaces have no configuration

    from remit.positions import find_deep_name  # noqa: PLC0415 - as above

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
    for name in values:
        check_name(name, (*_TABLES, *DELEGATION_TABLES, "backend"), "a table")
    tables = {name: read_settings(kind, read_table(values.get(name, {}), name), name, rules)
              for name, (kind, rules) in _TABLES.items()}  # fmt: skip
    return Settings(delegation=read_delegation(values), backend=read_backend(values.get("backend", LOCAL)), **tables)


def _read_codes(values: object, name: str) -> dict[str, tuple[str, ...]]:
    rows = read_table(values, name, '{"docs/**" = ["AGT1"]}')
    return {pattern: read_texts(codes, f"{name}.{pattern}", "AGT1") for pattern, codes in rows.items()}


def _read_severities(values: object, name: str) -> dict[str, str]:
    rows = read_table(values, name, '{AGT126 = "note"}')
    return {code.upper(): read_word(word, f"{name}.{code}", SEVERITIES) for code, word in rows.items()}


def _read_file_name(value: object, name: str) -> str:
    if not isinstance(value, str) or not value.strip():
        hint = 'write it as baseline = ".remit-baseline.json"'
        raise ConfigError(f"{name} is not the name of a file", hint=hint)
    return value


def _read_command(value: object, name: str) -> str:
    if not isinstance(value, str) or "{id}" not in value:
        key = name.rpartition(".")[2]
        hint = f'write it as {key} = "cleo {key} {{id}}"'
        raise ConfigError(f"{name} is not a command with {{id}} in it", hint=hint)
    return value


def _read_path(value: object, name: str) -> str:
    """A path that stays below the workspace's root."""
    steps = value.split("/") if isinstance(value, str) else []
    if not any(step.strip() for step in steps) or not steps[0] or ".." in steps or "\0" in str(value):
        table, _, key = name.rpartition(".")
        hint = f'write it as {key} = "docs/{table}", from the workspace\'s root'
        raise ConfigError(f"{name} is not a path below the workspace's root", hint=hint)
    return str(value).rstrip("/")


def _read_status_words(values: object, name: str) -> dict[str, Status]:
    words = read_table(values, name, '{planned = "completed"}')
    for word, status in words.items():
        if word in _RESERVED:
            raise ConfigError(f"'{word}' has a meaning of its own", hint="map only words that no format knows")
        if status not in STATUSES:
            raise ConfigError(f"'{word}' is mapped to {status!r}", hint=f"map it to one of {', '.join(STATUSES)}")
    return words


_CODES, _COMMAND, _PATH = ValueRule("AGT1"), ValueRule(read=_read_command), ValueRule(read=_read_path)
_MOST_KEPT = 1_000_000
"""Days or megabytes: almost 3,000 years, or a terabyte. What is far above does not fit into the ledger's numbers."""
_TABLES: Mapping[str, tuple[type[Any], Mapping[str, ValueRule]]] = {
    "returns": (
        ReturnSettings,
        {"format": ValueRule(words=FORMATS), "status_words": ValueRule(read=_read_status_words)},
    ),
    "lint": (
        LintSettings,
        {
            "select": _CODES,
            "ignore": _CODES,
            "extend_select": _CODES,
            "per_file_ignores": ValueRule(read=_read_codes),
            "severity": ValueRule(read=_read_severities),
            "exclude": ValueRule("vendor/**"),
            "baseline": ValueRule(read=_read_file_name),
            "fail_on": ValueRule(words=SEVERITIES),
        },
    ),
    "tasks": (
        TaskSettings,
        {"folder": _PATH, "show": _COMMAND, "focus": _COMMAND, "complete": _COMMAND, "link": _COMMAND},
    ),
    "manifest": (ManifestSettings, {"path": _PATH, "output_dir": _PATH}),
    "retention": (
        RetentionSettings,
        {"days": ValueRule(90, least=1, most=_MOST_KEPT), "megabytes": ValueRule(1024, least=1, most=_MOST_KEPT)},
    ),
    "cluster": (ClusterSettings, cluster.RULES),
    "confine": (ConfineSettings, confine.RULES),
}
"""The tables that have a class of their own, other than those about delegations."""
