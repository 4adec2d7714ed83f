"""Settings of runs and hooks: the classes of their tables in remit.toml, with the rules for their values.

Every limit is a number above 0; no value means "unlimited".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from remit.config.values import ValueRule, read_pairs, read_settings, read_table
from remit.errors import ConfigError
from remit.globs import matches_stars
from remit.harnesses import claude
from remit.light_namedtuple import NamedTuple
from remit.model import NOTHING

if TYPE_CHECKING:
    from collections.abc import Mapping

_LEAST_TOKENS = 320
"""The smallest budget that fits the status, the session id and the first error of a result."""
FORMATS = ("standard", "hyper", "manifest")
_MOST_BLOCKS = 7
_MAIN_WORDS = ("off", "checks")
_Table = TypeVar("_Table", bound=NamedTuple)


class DelegateSettings(NamedTuple):
    """Defaults of all runs: `[delegate]`."""

    runner: str | None = None
    """The runner of agents whose file names none."""
    timeout: float | None = None
    """Seconds that an agent may take if its file sets no timeout. Default: the timeout of its type."""
    reasks: int = 2
    """How often a rejected return is sent back to the agent."""
    result_tokens: int = 400
    """Maximum tokens of a result that the caller gets."""
    commit: bool | None = None
    """Whether a finish step commits the agent's changes. Default: only for runs on a task."""


class LimitSettings(NamedTuple):
    """Maximum number of agents that run at the same time, in all processes of the workspace: `[limits]`."""

    running: int = 32
    """All agents together."""
    per_agent: int | None = None
    """Agents with the same name."""
    per_tree: int | None = None
    """Agents of one run that a user started, with its nested runs."""


class BudgetSettings(NamedTuple):
    """Spend limits of a run that a user starts, for it and all nested runs together: `[budget]`."""

    max_seconds: float | None = None
    """Maximum seconds."""
    max_turns: int | None = None
    """Maximum number of turns of a model."""
    max_tokens: int | None = None
    """Maximum number of tokens."""
    max_usd: float | None = None
    """Maximum cost in USD."""
    max_delegations: int | None = None
    """Maximum number of nested runs, at any depth."""


class RunnerSettings(NamedTuple):
    """Changes to a built-in runner, or a runner of the workspace: `[runners.NAME]`."""

    program: str | None = None
    """The path of the harness's program."""
    args: tuple[str, ...] = ()
    """Additional arguments of the program."""
    env: Mapping[str, str] = NOTHING
    """Additional environment variables of the program."""
    command: str | None = None
    """For a runner of the workspace: a command line. It is started without a shell."""
    prompt: str = "stdin"
    """How `command` gets the prompt: `stdin`, or as the last `argument`."""
    entry: str | None = None
    """For a runner in Python: `package.module:function`."""
    model: str | None = None
    """The model, which overrides the model in agent files."""
    retry: str | None = None
    """Whether a lost run may be started again from the beginning: `safe` or `never`."""

    @property
    def executes(self) -> dict[str, str]:
        """Return the settings that decide which program runs and how, by name."""
        given = {"program": self.program, "command": self.command, "entry": self.entry, "args": " ".join(self.args)}
        given |= {f"env.{name}": value for name, value in self.env.items()}
        return {name: value for name, value in given.items() if value}


class AgentSettings(NamedTuple):
    """Settings of one agent, which may also have a file: `[agents.NAME]`."""

    runner: str | None = None
    """The agent's runner."""
    timeout: float | None = None
    """Seconds that the agent may take."""
    format: str | None = None
    """The format of the agent's return: `standard`, `hyper` or `manifest`."""
    owner: str | None = None
    """Who updates the task's status, writes the manifest and commits: `agent` or `remit` (C19)."""
    retry: str | None = None
    """Whether a lost run may be started again from the beginning: `safe` or `never`."""
    checks: tuple[str, ...] | None = None
    """The acceptance checks of its work, by their names in `[checks]`."""
    schema: str | None = None
    """The file of the JSON Schema that `data` in its returns has to fit, below the workspace's root."""


def list_tables_of(agents: Mapping[str, AgentSettings], name: str) -> list[str]:
    """Return the keys of `[agents]` that match an agent: its name first, then patterns, the longest first."""
    patterns = (key for key in agents if key != name and "*" in key and matches_stars(key, name))
    return [*([name] if name in agents else []), *sorted(patterns, key=lambda key: (-len(key), key))]


def find_agent_settings(agents: Mapping[str, AgentSettings], name: str) -> AgentSettings:
    """Return the settings of an agent. Each value is from the first matching table that has it."""
    found = AgentSettings()
    for key in list_tables_of(agents, name):
        given = agents[key]._asdict().items()
        found = found._replace(**{each: value for each, value in given if getattr(found, each) is None})
    return found


class TaskCommandSettings(NamedTuple):
    """A command that works on a task: `[task.COMMAND]`. Missing settings are those of the command in `like`."""

    like: str | None = None
    """The command whose settings are the defaults: `research`, `plan`, `revise`, `implement` or `review`."""
    kind: str | None = None
    """The type of its agent: `research`, `planning`, `implementation`, `review` or `utility`."""
    working: str | None = None
    """The task's status marker during the run."""
    artifact: str | None = None
    """The path of its artifact, relative to the task's folder."""
    help: str | None = None
    """The command's description in `remit task --help`."""
    timeout: float | None = None
    """Seconds that its agent may take. Default: the timeout in the agent's file."""
    checks: tuple[str, ...] = ()
    """The acceptance checks of its runs, by their names in `[checks]`."""


class HookSettings(NamedTuple):
    """How Remit checks the subagents that a harness starts itself: `[hooks]`."""

    enforce: str = "contract"
    """Whose returns are checked: `contract`, agents with a file in the workspace or in a plugin that declares a format;
    `all`, every subagent; `none`."""
    also_enforce: tuple[str, ...] = ()
    """Agents to enforce even though they have no file, such as built-in ones, by name or pattern (`hyper:*`)."""
    observe: tuple[str, ...] = ()
    """Agents that Remit only observes, by name or pattern."""
    blocks: int = 2
    """How often Remit sends a rejected return back. Harnesses overrule a hook that blocks eight times."""
    ask: str = "ask"
    """What happens to a tool call that Remit can't judge: `ask` the user, or `deny`."""
    result: bool = True
    """Whether the caller gets the verified result instead of the agent's whole message."""
    main: str = "off"
    """What Remit does if the user's own session stops: `off`, nothing; `checks`, it runs the acceptance checks of the
    workspace if files changed, and sends a failed one back to the model, at most `blocks` times. Not in opencode."""


class RunSettings(NamedTuple):
    """All settings of runs."""

    delegate: DelegateSettings = DelegateSettings()
    limits: LimitSettings = LimitSettings()
    budget: BudgetSettings = BudgetSettings()
    runners: Mapping[str, RunnerSettings] = NOTHING
    agents: Mapping[str, AgentSettings] = NOTHING
    route: Mapping[str, Mapping[str, str]] = NOTHING
    """For each command: the agent for each language of a task, and `default`."""
    task: Mapping[str, TaskCommandSettings] = NOTHING
    hooks: HookSettings = HookSettings()


TABLES = RunSettings._fields


_DELEGATE = {
    "runner": ValueRule("claude"),
    "timeout": ValueRule(3600),
    "reasks": ValueRule(2),
    "result_tokens": ValueRule(400, least=_LEAST_TOKENS),
}
_LIMITS = dict.fromkeys(LimitSettings._fields, ValueRule(8, least=1))
_BUDGET = dict.fromkeys(BudgetSettings._fields, ValueRule(5, least=1))
_RUNNER = {
    "program": ValueRule("/opt/claude/bin/claude"),
    "args": ValueRule("--verbose"),
    "env": ValueRule('{LANG = "C.UTF-8"}'),
    "command": ValueRule("prog --flag"),
    "prompt": ValueRule(words=("stdin", "argument")),
    "entry": ValueRule("package.module:function"),
    "model": ValueRule("sonnet"),
    "retry": ValueRule(words=("safe", "never")),
}
_AGENT = {
    "runner": ValueRule("claude"),
    "timeout": ValueRule(3600),
    "format": ValueRule(words=FORMATS),
    "owner": ValueRule(words=("agent", "remit")),
    "retry": ValueRule(words=("safe", "never")),
    "checks": ValueRule("tests"),
    "schema": ValueRule("schemas/review.json"),
}
_TASK = {
    "like": ValueRule("research"),
    "kind": ValueRule(words=("research", "planning", "implementation", "review", "utility")),
    "working": ValueRule("RESEARCHING"),
    "artifact": ValueRule("reports/audit-{version:03d}.md"),
    "help": ValueRule("Audit a task."),
    "checks": ValueRule("tests"),
    "timeout": ValueRule(3600),
}
_HOOKS = {
    "enforce": ValueRule(words=("contract", "all", "none")),
    "also_enforce": ValueRule(claude.DEFAULT_AGENT),
    "observe": ValueRule(claude.DEFAULT_AGENT),
    "blocks": ValueRule(
        2,
        most=_MOST_BLOCKS,
        hint=f"write a number from 0 to {_MOST_BLOCKS}: harnesses overrule a hook that blocks eight times",
    ),
    "ask": ValueRule(words=("ask", "deny")),
    "main": ValueRule(words=_MAIN_WORDS),
}


def read_run_settings(values: Mapping[str, Any]) -> RunSettings:
    """Read the tables on runs from all tables of a file."""

    def get(name: str) -> dict[str, Any]:
        return read_table(values.get(name, {}), name)

    def read_all(kind: type[_Table], name: str, rules: Mapping[str, ValueRule]) -> dict[str, _Table]:
        """Read each table within a table, such as `[runners.claude]`."""
        tables = {key: f"{name}.{key}" for key in get(name)}
        for key, full in tables.items():
            if not isinstance(get(name)[key], dict):
                raise ConfigError(f"{full} isn't a table", hint=f"write it as [{full}]")
        return {key: read_settings(kind, get(name)[key], full, rules) for key, full in tables.items()}

    return RunSettings(
        read_settings(DelegateSettings, get("delegate"), "delegate", _DELEGATE),
        read_settings(LimitSettings, get("limits"), "limits", _LIMITS),
        read_settings(BudgetSettings, get("budget"), "budget", _BUDGET),
        _check_runners(read_all(RunnerSettings, "runners", _RUNNER)),
        read_all(AgentSettings, "agents", _AGENT),
        _read_routes(get("route")),
        _check_commands(read_all(TaskCommandSettings, "task", _TASK)),
        read_settings(HookSettings, get("hooks"), "hooks", _HOOKS),
    )


def _check_runners(runners: dict[str, RunnerSettings]) -> dict[str, RunnerSettings]:
    for name, runner in runners.items():
        if runner.command and runner.entry:
            raise ConfigError(f"[runners.{name}] has both a command and an entry", hint="keep one of them")
    return runners


def _check_commands(commands: dict[str, TaskCommandSettings]) -> dict[str, TaskCommandSettings]:
    for name in commands:
        plain = name.replace("-", "")
        if not (plain.isascii() and plain.isalnum() and name == name.lower() and name[0].isalpha()):
            raise ConfigError(f"'{name}' can't be the name of a command", hint="write it like [task.audit]")
    return commands


def _read_routes(values: dict[str, Any]) -> dict[str, dict[str, str]]:
    """Read `[route]`. Each value is the name of an agent, or a table of agents by language."""
    return {
        command: {"default": given} if isinstance(given, str) and given.strip()
        else read_pairs(given, f"route.{command}", '{default = "researcher", lean = "lean-researcher"}')
        for command, given in values.items()
    }  # fmt: skip
