"""The table of Remit's commands: names, groups, implementing modules and properties.

The command line, shell completion, the hooks' guard, telemetry, `remit doctor` and the reference pages read this table.
"""

from __future__ import annotations

from remit.light_namedtuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_CLI = "remit.cli.commands."


class CommandEntry(NamedTuple):
    """A command: `name` is what follows `remit`, and `target` is its module and attribute below remit.cli.commands."""

    name: str
    target: str
    help: str
    section: str = ""
    """The section of `remit --help`, for the commands at the root."""
    is_hidden: bool = False
    is_open: bool = False
    """An agent may call it without a ticket, because it acts for no run."""
    not_with: tuple[str, ...] = ()
    """Options that make it write files, so that it isn't open."""
    only_with: str = ""
    """The only option with which it is open."""
    is_forwarded: bool = False
    """It writes to the ledger or to Remit's files, so Remit runs it for a confined agent outside of the confinement."""
    runs_agents: bool = False
    """It starts, ends or follows runs, so telemetry is sent after it."""
    is_server: bool = False

    @property
    def module(self) -> str:
        """Return the module that implements the command."""
        return f"{_CLI}{self.target.partition(':')[0]}"

    @property
    def attribute(self) -> str:
        """Return the command's name in its module."""
        return self.target.partition(":")[2]


class GroupEntry(NamedTuple):
    """A group of commands."""

    name: str
    help: str
    about: str


_RUN, _CHECK, _WORKSPACE, _CONNECT = "Run agents", "Check", "Workspace", "Connect"
GROUPS_SECTION = "Groups"

COMMANDS = (
    CommandEntry("run", "run:run", "Run an agent and verify its result.", _RUN, is_forwarded=True, runs_agents=True),
    CommandEntry("ps", "ps:ps", "List runs.", _RUN, is_open=True),
    CommandEntry("show", "show:show", "Show a run in detail, or write it to a file.", _RUN, is_open=True,
                 not_with=("-o", "--output")),
    CommandEntry("logs", "logs:logs", "Show what an agent printed.", _RUN, is_open=True),
    CommandEntry("wait", "wait:wait", "Wait for runs and show their results.", _RUN, is_open=True, runs_agents=True),
    CommandEntry("cancel", "wait:cancel", "Cancel a run and its nested runs.", _RUN, runs_agents=True),
    CommandEntry("resume", "resume_retry:resume", "Continue a finished run in its harness session.", _RUN,
                 runs_agents=True),
    CommandEntry("retry", "resume_retry:retry", "Run the same request again.", _RUN, runs_agents=True),
    CommandEntry("check", "check:check", "Check returns of agents.", _CHECK, is_open=True),
    CommandEntry("checks", "checks:checks", "Run the acceptance checks on the current tree.", _CHECK, is_open=True),
    CommandEntry("lint", "lint:lint", "Check agent files, and fix them with --fix.", _CHECK, is_open=True,
                 not_with=("--fix",)),
    CommandEntry("explain", "explain:explain", "Explain a diagnostic's code.", _CHECK, is_open=True),
    CommandEntry("init", "init:init", "Set up a workspace.", _WORKSPACE),
    CommandEntry("status", "status:status", "Show tasks, runs, findings and errors.", _WORKSPACE, is_open=True),
    CommandEntry("doctor", "doctor:doctor", "Check the installation and workspace for problems.", _WORKSPACE,
                 is_open=True),
    CommandEntry("gc", "gc:gc", "Remove old records and leftovers of crashes.", _WORKSPACE),
    CommandEntry("serve", "serve:serve", "Start the dashboard and the HTTP API.", _CONNECT, is_server=True),
    CommandEntry("mcp", "mcp:mcp", "Start the MCP server on standard input and output.", _CONNECT, is_server=True),
    CommandEntry("completion", "completion:completion", "Print the completion script of a shell.", _CONNECT),
    CommandEntry("hook", "internal:hook", "Answer an event of a harness.", is_hidden=True),
    CommandEntry("drive", "internal:drive", "Supervise a detached run.", is_hidden=True, runs_agents=True),
    CommandEntry("agent new", "agent:new", "Create an agent file from a template."),
    CommandEntry("agent list", "agent:list_agents", "List the agents of the workspace.", is_open=True),
    CommandEntry("agent graph", "agent:graph", "Draw which agent may call which.", is_open=True),
    CommandEntry("agent can", "agent:can", "Check whether an agent may use a tool.", is_open=True),
    CommandEntry("agent upgrade", "agent:upgrade", "Upgrade agent files to the current format."),
    CommandEntry("agent build", "agent:build", "Write an agent file for other harnesses."),
    CommandEntry("task new", "task_changes:new", "Create a task.", is_open=True, is_forwarded=True),
    CommandEntry("task list", "task_views:list_tasks", "List tasks.", is_open=True),
    CommandEntry("task show", "task_views:show", "Show a task.", is_open=True),
    CommandEntry("task set-status", "task_changes:set_status", "Set the status of a task or a phase.", is_open=True,
                 is_forwarded=True),
    CommandEntry("task start", "task_changes:start", "Start a task, or show the current one.", is_open=True,
                 is_forwarded=True),
    CommandEntry("task done", "task_changes:done", "Complete a task.", is_open=True, is_forwarded=True),
    CommandEntry("task block", "task_changes:block", "Block a task, with a reason.", is_open=True, is_forwarded=True),
    CommandEntry("task link", "task_changes:link", "Link a task to a finding.", is_open=True, is_forwarded=True),
    CommandEntry("task phases", "task_views:phases", "Show the phases of a task's plan.", is_open=True),
    CommandEntry("task archive", "task_changes:archive", "Archive finished tasks.", is_open=True, is_forwarded=True),
    CommandEntry("task sync", "task_sync:sync", "Synchronize state.json and TODO.md.", is_open=True,
                 only_with="--check"),
    CommandEntry("task research", "task_work:research", "Research a task and write a report.", runs_agents=True),
    CommandEntry("task plan", "task_work:plan", "Plan a task from its research.", runs_agents=True),
    CommandEntry("task implement", "task_work:implement", "Implement a task, phase by phase.", runs_agents=True),
    CommandEntry("task revise", "task_work:revise", "Revise the plan of a task.", runs_agents=True),
    CommandEntry("task review", "task_work:review", "Review the work on a task.", runs_agents=True),
    CommandEntry("findings add", "findings:add", "Add a finding to the manifest.", is_open=True,
                 is_forwarded=True),
    CommandEntry("findings list", "findings:list_findings", "List or search findings.", is_open=True),
    CommandEntry("findings show", "findings:show", "Show a finding.", is_open=True),
    CommandEntry("findings link", "task_changes:link", "Link a task to a finding.", is_open=True, is_forwarded=True),
    CommandEntry("findings validate", "findings:validate", "Check the manifest and its files.", is_open=True),
    CommandEntry("findings stats", "findings:stats", "Count findings by status, topic and date.",
                 is_open=True),
    CommandEntry("findings export", "findings_export:export", "Export findings as JSON, CSV or Markdown.",
                 is_open=True),
    CommandEntry("findings reindex", "findings:reindex", "Rebuild the index of the manifest.", is_open=True),
    CommandEntry("errors list", "errors:list_errors", "List errors by their cause.", is_open=True),
    CommandEntry("errors show", "errors:show", "Show an error, or all errors of a cause.", is_open=True),
    CommandEntry("errors resolve", "errors:resolve", "Mark errors as fixed, ignored or open.", is_open=True),
    CommandEntry("return submit", "returns:submit", "Check a return and hand it in.", is_open=True,
                 is_forwarded=True),
    CommandEntry("return prompt", "returns:prompt", "Print the prompt that asks for a return.", is_open=True),
    CommandEntry("return schema", "returns:schema", "Print the JSON Schema of a return.", is_open=True),
    CommandEntry("return convert", "returns:convert", "Convert a return to another format.", is_open=True),
    CommandEntry("hooks install", "hooks:install", "Install Remit's hooks into a harness."),
    CommandEntry("hooks uninstall", "hooks:uninstall", "Remove Remit's hooks from harnesses."),
    CommandEntry("hooks check", "hooks:check", "Test the hooks in the installed harness."),
    CommandEntry("worker start", "worker:start", "Start a worker on this machine.", runs_agents=True),
    CommandEntry("worker list", "worker:list_workers", "List workers and queues.", is_open=True),
    CommandEntry("worker drain", "worker:drain", "Stop workers after their current runs.", runs_agents=True),
    CommandEntry("config show", "config:show", "Show the settings and where each comes from.", is_open=True),
    CommandEntry("config trust", "config:trust", "Trust the programs that the settings run."),
)  # fmt: skip

GROUPS = (
    GroupEntry("agent", "Create, list and build agent files.", "Manage agent files."),
    GroupEntry("task", "Manage tasks and run agents on them.",
               "Manage the tasks in state.json and TODO.md, and run agents on them. Both files change together."),
    GroupEntry("findings", "Add, search and check research findings.",
               "Manage research findings. Each one is a line of MANIFEST.jsonl and points to a findings file."),
    GroupEntry("errors", "List and resolve logged errors.", "Manage errors.json, the errors of this workspace."),
    GroupEntry("return", "Submit, describe and convert returns.", "Work with returns, the objects that agents send."),
    GroupEntry("hooks", "Install and check hooks in a harness.",
               "Manage Remit's hooks in the settings of Claude Code, Codex and opencode."),
    GroupEntry("worker", "Start, list and drain workers.", "Manage workers, which run agents for other machines."),
    GroupEntry("config", "Show and trust the settings.", "Show the settings, and trust the programs that they run."),
)  # fmt: skip

SHORT_FORMS = ("research", "plan", "implement", "revise", "review")
"""Commands of `task` that also work at the root."""

OTHER_WORDS = {
    **dict.fromkeys(("setup", "set-up"), "init"),
    "install": "hooks install",
    "uninstall": "hooks uninstall",
    **dict.fromkeys(("delegate", "start", "spawn", "exec"), "run"),
    **dict.fromkeys(("stop", "kill", "abort"), "cancel"),
    **dict.fromkeys(("dashboard", "web", "gui", "ui"), "serve --open"),
    **dict.fromkeys(("validate", "verify", "judge"), "check"),
    **dict.fromkeys(("list", "ls", "jobs", "delegations", "runs"), "ps"),
    "tree": "ps --tree",
    **dict.fromkeys(("log", "tail"), "logs"),
    **dict.fromkeys(("inspect", "describe"), "show"),
    "report": "show --format html -o FILE",
    **dict.fromkeys(("clean", "prune"), "gc"),
    **dict.fromkeys(("fix", "format"), "lint --fix"),
    "agents": "agent list",
    **dict.fromkeys(("new", "create"), "agent new"),
    **dict.fromkeys(("migrate", "upgrade"), "agent upgrade"),
    **dict.fromkeys(("compile", "build"), "agent build"),
    "graph": "agent graph",
    **dict.fromkeys(("may", "can"), "agent can"),
    "tasks": "task list",
    "sync": "task sync",
    **dict.fromkeys(("manifest", "finding"), "findings list"),
    **dict.fromkeys(("instructions", "prompt"), "return prompt"),
    "schema": "return schema",
    "convert": "return convert",
    "submit": "return submit",
    **dict.fromkeys(("workers", "nodes"), "worker list"),
    "drain": "worker drain",
    "trust": "config trust",
    "settings": "config show",
    "version": "--version",
    "agent migrate": "agent upgrade",
    "agent compile": "agent build",
    "agent may": "agent can",
    **dict.fromkeys(("task complete", "task finish"), "task done"),
    **dict.fromkeys(("task focus", "task begin"), "task start"),
    "task move": "task set-status",
    **dict.fromkeys(("task create", "task add"), "task new"),
    **dict.fromkeys(("findings find", "findings search"), "findings list WORDS"),
    "findings pending": "findings list --pending",
    "findings rebuild": "findings reindex",
    "findings new": "findings add",
    **dict.fromkeys(("errors mark", "errors fix"), "errors resolve"),
    "return instructions": "return prompt",
    "return check": "check",
    "hooks remove": "hooks uninstall",
    "worker stop": "worker drain",
}
"""Names of commands in other programs and in earlier versions, with the command to suggest."""

_BY_NAME = {entry.name: entry for entry in COMMANDS}
_GROUP_NAMES = frozenset(group.name for group in GROUPS)
_OPTIONS_WITH_VALUE = ("-C", "--color")
_HARMLESS_OPTIONS = frozenset({"-h", "--help", "-V", "--version"})


def list_commands(group: str = "") -> list[CommandEntry]:
    """Return the visible commands of a group, or of the root."""
    return [entry for entry in COMMANDS if entry.name.rpartition(" ")[0] == group and not entry.is_hidden]


def list_names(group: str = "") -> list[str]:
    """Return the words that may follow a group's name, or `remit`: visible commands, then groups."""
    names = [entry.name.rpartition(" ")[2] for entry in list_commands(group)]
    return names if group else [*names, *(each.name for each in GROUPS)]


def get_group(name: str) -> GroupEntry | None:
    """Return the group with a name."""
    return next((group for group in GROUPS if group.name == name), None)


def get_command(name: str) -> CommandEntry | None:
    """Return the command with a full name or short form."""
    return _BY_NAME.get(f"task {name}" if name in SHORT_FORMS else name)


def skip_root_options(words: Sequence[str]) -> Sequence[str]:
    """Return the words from the command on."""
    at = 0
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in _OPTIONS_WITH_VALUE else 1
    return words[at:]


def find_command(words: Sequence[str]) -> CommandEntry | None:
    """Return the command of a command line; None if the line only requests help or names an unknown command."""
    rest = skip_root_options(words)
    if rest and rest[0] in _GROUP_NAMES:
        return get_command(" ".join(rest[:2]))
    return get_command(rest[0]) if rest else None


def is_open_to_agents(words: Sequence[str]) -> bool:
    """Return whether an agent may run a command line without a ticket."""
    rest = skip_root_options(words)
    if not rest or (rest[0] in _GROUP_NAMES and (len(rest) == 1 or rest[1] in _HARMLESS_OPTIONS)):
        return True  # only prints help
    entry = find_command(rest)
    if entry is None or not entry.is_open:
        return False
    if entry.only_with and entry.only_with not in rest:
        return False
    return not any(_is_option(word, option) for word in rest for option in entry.not_with)


def _is_option(word: str, option: str) -> bool:
    """Return whether a word gives an option, also with its value attached or among other letters."""
    if option.startswith("--"):
        return word == option or word.startswith(f"{option}=")
    return word[:1] == "-" and word[1:2] != "-" and option[1] in word
