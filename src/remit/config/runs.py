"""What a workspace may set about delegations: `[delegate]`, `[limits]`, `[budget]`, `[runners.*]`, `[agents.*]`.

Owns those tables, `[hooks]` for the subagents of harnesses, and `[route.*]` and `[task.*]`, by which a command finds
its agent and knows what it does to a task. A limit that is set is a number from which something follows: nothing
here can mean "without end".
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
"""Into fewer no result fits: status, session and the first error."""
FORMATS = ("standard", "hyper", "manifest")
_MOST_BLOCKS = 7
_Table = TypeVar("_Table", bound=NamedTuple)


class DelegateSettings(NamedTuple):
    """How work is handed on: `[delegate]`."""

    runner: str | None = None
    """Who runs agents whose file does not say it."""
    timeout: float | None = None
    """How long agents may take whose file does not say it, in seconds; else what their kind is given."""
    reasks: int = 2
    """How often a bad return is sent back."""
    result_tokens: int = 400
    """How many tokens of a result reach the caller, at most."""
    commit: bool | None = None
    """Whether settling commits what the agent made; where this is left out, only work on a task."""


class LimitSettings(NamedTuple):
    """How many agents run at once, in all processes of the workspace together: `[limits]`."""

    running: int = 32
    """Agents in all."""
    per_agent: int | None = None
    """Agents of one name."""
    per_tree: int | None = None
    """Agents that one delegation of a person has led to."""


class BudgetSettings(NamedTuple):
    """What a person's own delegation may use with all that it hands on: `[budget]`."""

    max_seconds: float | None = None
    """How long all of it may take."""
    max_turns: int | None = None
    """How many turns of a model."""
    max_tokens: int | None = None
    """How many tokens."""
    max_usd: float | None = None
    """How many dollars."""
    max_delegations: int | None = None
    """How many delegations below it, at any depth."""


class RunnerSettings(NamedTuple):
    """A runner that is set up differently, or one of the workspace's own: `[runners.NAME]`."""

    program: str | None = None
    """Where the harness's program is."""
    args: tuple[str, ...] = ()
    """Given to it in addition."""
    env: Mapping[str, str] = NOTHING
    """Variables that the program is started with, in addition."""
    command: str | None = None
    """For a runner of one's own: any program. It is started without a shell."""
    prompt: str = "stdin"
    """How `command` gets the prompt: `stdin`, or as the last `argument`."""
    entry: str | None = None
    """For a runner in Python: `package.module:function`."""
    model: str | None = None
    """The model, whatever the files of its agents name."""
    retry: str | None = None
    """Whether a lost run may be started again from the beginning: `safe`, or `never`."""

    @property
    def executes(self) -> dict[str, str]:
        """What it would have Remit run or change in what runs, by the name of the setting."""
        told = {"program": self.program, "command": self.command, "entry": self.entry, "args": " ".join(self.args)}
        told |= {f"env.{name}": value for name, value in self.env.items()}
        return {name: value for name, value in told.items() if value}


class AgentSettings(NamedTuple):
    """What the workspace says of an agent, beside its file if it has one: `[agents.NAME]`."""

    runner: str | None = None
    """Who runs it."""
    timeout: float | None = None
    """How long it may take, in seconds."""
    format: str | None = None
    """The format of its return: `standard`, `hyper` or `manifest`."""
    owner: str | None = None
    """Who moves the task, writes the manifest and commits: agent or remit (C19)."""
    retry: str | None = None
    """`safe`: the agent may be started again from the beginning."""


def list_tables_of(agents: Mapping[str, AgentSettings], name: str) -> list[str]:
    """The tables of `[agents]` that are about an agent: its own first, then patterns with stars, the longest first."""
    patterns = (key for key in agents if key != name and "*" in key and matches_stars(key, name))
    return [*([name] if name in agents else []), *sorted(patterns, key=lambda key: (-len(key), key))]


def find_agent_settings(agents: Mapping[str, AgentSettings], name: str) -> AgentSettings:
    """What is set for an agent; for each key the first of its tables that has it."""
    found = AgentSettings()
    for key in list_tables_of(agents, name):
        given = agents[key]._asdict().items()
        found = found._replace(**{each: value for each, value in given if getattr(found, each) is None})
    return found


class TaskCommandSettings(NamedTuple):
    """A command that works on a task: `[task.COMMAND]`. What is not set is as for the command it is `like`."""

    like: str | None = None
    """The command that it is like: `research`, `plan`, `revise`, `implement` or `review`."""
    kind: str | None = None
    """The kind of agent that does it: `research`, `planning`, `implementation`, `review` or `utility`."""
    working: str | None = None
    """The marker while it works."""
    artifact: str | None = None
    """The path of what it makes, below the task's folder."""
    help: str | None = None
    """Its help in `remit task --help`."""
    timeout: float | None = None
    """How long its agent may take, in seconds. Default: what the agent's own file says."""


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


class DelegationSettings(NamedTuple):
    """Everything about delegations."""

    delegate: DelegateSettings = DelegateSettings()
    limits: LimitSettings = LimitSettings()
    budget: BudgetSettings = BudgetSettings()
    runners: Mapping[str, RunnerSettings] = NOTHING
    agents: Mapping[str, AgentSettings] = NOTHING
    route: Mapping[str, Mapping[str, str]] = NOTHING
    """For each command: the agent by the task's language, or `default`."""
    task: Mapping[str, TaskCommandSettings] = NOTHING
    hooks: HookSettings = HookSettings()


TABLES = DelegationSettings._fields


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
}
_TASK = {
    "like": ValueRule("research"),
    "kind": ValueRule(words=("research", "planning", "implementation", "review", "utility")),
    "working": ValueRule("RESEARCHING"),
    "artifact": ValueRule("reports/audit-{version:03d}.md"),
    "help": ValueRule("Audit a task."),
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
}


def read_delegation(values: Mapping[str, Any]) -> DelegationSettings:
    """The tables about delegations, of all that a file has."""

    def get(name: str) -> dict[str, Any]:
        return read_table(values.get(name, {}), name)

    def read_all(kind: type[_Table], name: str, rules: Mapping[str, ValueRule]) -> dict[str, _Table]:
        """Each table of a table, such as `[runners.claude]`."""
        tables = {key: f"{name}.{key}" for key in get(name)}
        for key, full in tables.items():
            if not isinstance(get(name)[key], dict):
                raise ConfigError(f"{full} is not a table", hint=f"write it as [{full}]")
        return {key: read_settings(kind, get(name)[key], full, rules) for key, full in tables.items()}

    return DelegationSettings(
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
            raise ConfigError(f"'{name}' cannot be the name of a command", hint="write it like [task.audit]")
    return commands


def _read_routes(values: dict[str, Any]) -> dict[str, dict[str, str]]:
    """`research = "agent"`, or a table of agents by language."""
    return {
        command: {"default": given} if isinstance(given, str) and given.strip()
        else read_pairs(given, f"route.{command}", '{default = "researcher", lean = "lean-researcher"}')
        for command, given in values.items()
    }  # fmt: skip
