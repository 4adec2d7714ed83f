"""Configuration: parses remit.toml (or pyproject.toml's [tool.remit.lint]) into `Settings`.

Has the classes of all tables except those on runs, which are in `runs`. Reads no files: `storage.settings` does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from remit.config.checks import CheckSettings, read_checks
from remit.config.runs import FORMATS, RunSettings, read_run_settings
from remit.config.runs import TABLES as RUN_TABLES
from remit.config.values import ValueRule, check_name, read_settings, read_table, read_texts, read_word
from remit.errors import ConfigError
from remit.lazy_regex import lazy
from remit.light_namedtuple import NamedTuple
from remit.model import NOTHING, STATUSES

if TYPE_CHECKING:
    import re
    from collections.abc import Mapping

    from remit.model import Severity, Status

MAX_CHARS, MAX_DOTS = 1_000_000, 100
"""Maximum characters of a file and dots in a key. The parser's time grows with the square of the dots."""
_RESERVED = frozenset({*STATUSES, "complete", "error"})
"""Status words of the formats, which a workspace can't give another meaning."""
SEVERITIES: tuple[Severity, ...] = ("note", "warning", "error")


class ReturnSettings(NamedTuple):
    """The returns of the workspace's agents: `[returns]`."""

    format: str | None = None
    """The format of agents that declare none: `standard`, `hyper` or `manifest`."""
    status_words: Mapping[str, Status] = NOTHING
    """The workspace's own status words, each with the status that it means (C3)."""


class LintSettings(NamedTuple):
    """How `remit lint` checks the workspace's agent files: `[lint]`."""

    select: tuple[str, ...] = ("ALL",)
    """The rules to apply, by code or prefix."""
    ignore: tuple[str, ...] = ()
    """Rules to skip, by code or prefix. The longest prefix in `select` and `ignore` that matches a code decides."""
    extend_select: tuple[str, ...] = ()
    """Rules to apply in addition to `select`."""
    per_file_ignores: Mapping[str, tuple[str, ...]] = NOTHING
    """Rules to skip in files that match a pattern."""
    severity: Mapping[str, Severity] = NOTHING
    """The severity of single codes."""
    exclude: tuple[str, ...] = ()
    """Patterns of files and folders to skip."""
    baseline: str | None = None
    """The file of known diagnostics, which are not reported. After it is created, entries are only removed."""
    fail_on: Severity = "warning"
    """The lowest severity that makes `remit lint` fail."""


class TaskSettings(NamedTuple):
    """The folder of the tasks, and the commands of an external task system (R4.11): `[tasks]`."""

    folder: str | None = None
    """The folder of state.json and TODO.md, relative to the workspace root."""
    show: str | None = None
    """The external command that prints a task; `{id}` is replaced by its number. It runs only if it is trusted."""
    focus: str | None = None
    """The external command that starts work on a task."""
    complete: str | None = None
    """The external command that completes a task."""
    link: str | None = None
    """The external command that links a task to an entry of the manifest."""

    @property
    def commands(self) -> dict[str, str]:
        """The commands that are set, by key."""
        given = {"show": self.show, "focus": self.focus, "complete": self.complete, "link": self.link}
        return {name: command for name, command in given.items() if command is not None}


class ManifestSettings(NamedTuple):
    """The files of the research findings: `[manifest]`."""

    path: str | None = None
    """The manifest's file, relative to the workspace root."""
    output_dir: str | None = None
    """The folder of findings files, and of the manifest if `path` isn't set; relative to the workspace root."""


class RetentionSettings(NamedTuple):
    """How long finished runs are kept, and their maximum size: `[retention]`."""

    days: int = 90
    """Runs that ended longer ago are removed by `remit gc`, and from time to time by other commands."""
    megabytes: int = 1024
    """If the records of all runs are larger, the oldest are removed."""


LOCAL = "local"
BACKEND = "REMIT_BACKEND"
"""The environment variable that overrides `backend`."""
_SCHEMES = ("postgresql://", "postgres://")
_VARIABLE = lazy(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


class ClusterSettings(NamedTuple):
    """How runs are sent to other machines: `[cluster]`."""

    remote: str = ""
    """The git remote that workers clone from and push to. Without one, trees are sent through the database."""
    lease: float = 15
    """Seconds without a heartbeat of its worker after which another worker may take over a run."""
    poll: float = 0.2
    """Seconds between two polls of a worker for new runs."""
    save_every: float = 30
    """Seconds between two saves of an unfinished run's files by its worker."""
    parcel_megabytes: int = 32
    """Maximum size of a tree or result that is sent through the database."""


CONFINE_MODES = ("off", "auto", "require")
NETWORKS = ("none", "model", "all")


class ConfineSettings(NamedTuple):
    """Which agents are confined, and what they may write and reach: `[confine]`."""

    mode: str = "auto"
    """`off`: only runs with `--confine`. `auto`: also agents whose file has permissions, if the machine supports it.
    `require`: all agents, and runs that can't be confined are refused."""
    write: tuple[str, ...] = ()
    """Further folders that confined agents may write, such as `~/.cache/uv`."""
    network: str = "all"
    """The network that confined agents can reach: `none`, only the ports of the `model`, or `all`."""
    judge: bool = True
    """Whether the kernel refuses to start denied programs, if the machine supports it."""


class Settings(NamedTuple):
    """All settings of a workspace."""

    returns: ReturnSettings = ReturnSettings()
    lint: LintSettings = LintSettings()
    tasks: TaskSettings = TaskSettings()
    manifest: ManifestSettings = ManifestSettings()
    retention: RetentionSettings = RetentionSettings()
    runs: RunSettings = RunSettings()
    backend: str = LOCAL
    """Where runs execute: `local`, or the address of a PostgreSQL database, with its variables not yet filled in."""
    cluster: ClusterSettings = ClusterSettings()
    confine: ConfineSettings = ConfineSettings()
    checks: Mapping[str, CheckSettings] = NOTHING
    """The commands that have to pass before Remit believes that work is complete, by name."""


def parse_settings(text: str, *, table: tuple[str, ...] = ()) -> Settings:
    """Parse settings from TOML. `table` is their path in a file of other tools, which may set only `lint`."""
    import tomllib  # noqa: PLC0415 - 7 ms, and most workspaces have no configuration

    from remit.positions import find_deep_name  # noqa: PLC0415 - as above

    if len(text) > MAX_CHARS or find_deep_name(text, MAX_DOTS) is not None:
        raise ConfigError("the configuration is too large or nested too deeply", hint="make it shorter")
    try:
        values: Any = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # a number of more digits than Python reads is a ValueError, too
        raise ConfigError(f"the configuration isn't valid TOML: {error}", hint="correct it, or remove it") from error
    for name in table:
        values = values.get(name, {}) if isinstance(values, dict) else values
    if not isinstance(values, dict):
        raise ConfigError(f"[{'.'.join(table)}] isn't a table", hint=f"write it as [{'.'.join(table)}]")
    refused = next((name for name in values if table and name != "lint"), None)
    if refused is not None:
        shared = ".".join(table)
        hint = f"move it to remit.toml: Remit reads only [{shared}.lint] from a file that agents may edit"
        raise ConfigError(f"{shared}.{refused} isn't a setting of this file", hint=hint)
    for name in values:
        check_name(name, (*_TABLES, *RUN_TABLES, "backend", "checks"), "a table")
    tables = {name: read_settings(kind, read_table(values.get(name, {}), name), name, rules)
              for name, (kind, rules) in _TABLES.items()}  # fmt: skip
    return Settings(
        runs=read_run_settings(values),
        backend=_read_backend(values.get("backend", LOCAL)),
        checks=read_checks(values.get("checks", {})),
        **tables,
    )


def _read_codes(values: object, name: str) -> dict[str, tuple[str, ...]]:
    rows = read_table(values, name, '{"docs/**" = ["AGT1"]}')
    return {pattern: read_texts(codes, f"{name}.{pattern}", "AGT1") for pattern, codes in rows.items()}


def _read_severities(values: object, name: str) -> dict[str, str]:
    rows = read_table(values, name, '{AGT126 = "note"}')
    return {code.upper(): read_word(word, f"{name}.{code}", SEVERITIES) for code, word in rows.items()}


def _read_file_name(value: object, name: str) -> str:
    if not isinstance(value, str) or not value.strip():
        hint = 'write it as baseline = ".remit-baseline.json"'
        raise ConfigError(f"{name} isn't a file name", hint=hint)
    return value


def _read_command(value: object, name: str) -> str:
    if not isinstance(value, str) or "{id}" not in value:
        key = name.rpartition(".")[2]
        hint = f'write it as {key} = "cleo {key} {{id}}"'
        raise ConfigError(f"{name} isn't a command that contains {{id}}", hint=hint)
    return value


def _read_path(value: object, name: str) -> str:
    """Return a path that stays within the workspace root."""
    steps = value.split("/") if isinstance(value, str) else []
    if not any(step.strip() for step in steps) or not steps[0] or ".." in steps or "\0" in str(value):
        table, _, key = name.rpartition(".")
        hint = f'write it as {key} = "docs/{table}", relative to the workspace root'
        raise ConfigError(f"{name} isn't a path within the workspace", hint=hint)
    return str(value).rstrip("/")


def _read_status_words(values: object, name: str) -> dict[str, Status]:
    words = read_table(values, name, '{planned = "completed"}')
    for word, status in words.items():
        if word in _RESERVED:
            raise ConfigError(f"'{word}' is a status word of a format", hint="map only words that no format has")
        if status not in STATUSES:
            raise ConfigError(f"'{word}' is mapped to {status!r}", hint=f"map it to one of {', '.join(STATUSES)}")
    return words


_CLUSTER = {
    "remote": ValueRule("git@example.org:team/project.git"),
    "lease": ValueRule(15),
    "poll": ValueRule(0.2),
    "save_every": ValueRule(30),
    "parcel_megabytes": ValueRule(32, least=1),
}
_CONFINE = {
    "mode": ValueRule(words=CONFINE_MODES),
    "write": ValueRule("~/.cache/uv"),
    "network": ValueRule(words=NETWORKS),
}
_CODES, _COMMAND, _PATH = ValueRule("AGT1"), ValueRule(read=_read_command), ValueRule(read=_read_path)
_MOST_KEPT = 1_000_000
"""Maximum days or megabytes. Much larger values would exceed the ledger's integers."""
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
    "cluster": (ClusterSettings, _CLUSTER),
    "confine": (ConfineSettings, _CONFINE),
}
"""Each table except those on runs: its class, and rules for its values."""


# --- the backend -----------------------------------------------------------------------------------------------------


def _read_backend(value: object) -> str:
    """Return the backend as it is written in the settings."""
    if value == LOCAL or (isinstance(value, str) and value.startswith((*_SCHEMES, "${"))):
        return str(value)
    raise _refuse_backend("backend", value)


def _refuse_backend(where: str, value: object) -> ConfigError:
    """Make an error that shows only the scheme of an address, because the rest may contain a password."""
    scheme, is_address, _ = str(value).partition("://")
    shown = f"'{scheme}://…'" if is_address else "an address without postgresql://" if "@" in scheme else repr(value)
    hint = 'write "local" or "postgresql://user@host/database"'
    return ConfigError(f"{where} isn't supported: {shown}", hint=hint)


def fill_backend(written: str, environ: Mapping[str, str]) -> str:
    """Return the database's address with its variables filled in, or "" if runs execute on this machine."""
    chosen = environ.get(BACKEND, "").strip() or written

    def fill(match: re.Match[str]) -> str:
        if match[1] not in environ:
            raise ConfigError(f"backend uses the variable {match[1]}, which isn't set", hint=f"export {match[1]}=…")
        return environ[match[1]]

    address = _VARIABLE.sub(fill, chosen)
    if address in ("", LOCAL):
        return ""
    if not address.startswith(_SCHEMES):
        raise _refuse_backend(BACKEND if environ.get(BACKEND, "").strip() else "backend", address)
    return address
