"""Claude Code: the names and formats of its files, hooks, notifications, command line and stream.

Only this file depends on a release of Claude Code. Hooks load it on every tool call, so it imports nothing. Names are
compared by their ends if releases have added prefixes, and fields are read if they are present, never by their order or
absence. Codex has the same hooks, and Remit's plugin for opencode sends the same events, so this file also has the
names that they share.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

TRIED = ("2.1.197", "2.1.326")
"""The releases that the harness tests have passed with: the oldest and the newest."""
PACKAGE = "@anthropic-ai/claude-code"


def find_program(system: str) -> str:
    """Return the program below `node_modules`, for a system such as `linux-x64`."""
    return f"{PACKAGE}-{system}/claude"


# --- files and folders -----------------------------------------------------------------------------------------------

FOLDER = ".claude"
AGENT_FOLDERS = (".claude/agents",)
COMMAND_FOLDERS = (".claude/commands",)
LOCAL_SETTINGS, SHARED_SETTINGS = ".claude/settings.local.json", ".claude/settings.json"
SETTINGS_PATTERN = ".claude/settings*.json"
SERVERS_FILE, SERVERS_KEY = ".mcp.json", "mcpServers"
"""The file with a project's MCP servers, and the key that they are under."""
PROTECTED_FOLDERS = (
    ".claude/agents", ".claude/commands", ".claude/hooks", ".claude/skills", ".claude/plugins", ".claude-plugin",
)  # fmt: skip
PROTECTED_FILES = {SHARED_SETTINGS: "{}\n", LOCAL_SETTINGS: "{}\n", SERVERS_FILE: '{"mcpServers": {}}\n'}
"""Files of a project that decide which programs run, each with a text that changes nothing."""
FOLDER_VARIABLE = "CLAUDE_CONFIG_DIR"
"""The variable that names the folder of its settings."""
HOME = "~/.claude"
HOME_FOLDERS = ("agents", "commands", "hooks", "skills", "plugins", "output-styles", "rules", "local")
HOME_FILES = ("settings.json", "settings.local.json", ".claude.json", "CLAUDE.md")
"""The files and folders in its settings folder that decide which programs run."""
HOME_SETTINGS = "settings.json"
PLUGIN_FILE, PLUGINS_REGISTRY = ".claude-plugin/plugin.json", "plugins/installed_plugins.json"
"""The file that makes a folder a plugin; and, in its settings folder, the list of installed plugins."""
HOME_PRIVATE = ("shell-snapshots", "session-env")
"""Folders in the settings folder from which a session sources shell code."""
HOME_STATE = ("~/.claude/projects/**", "~/.claude.json")
"""Patterns of files that it writes while it runs and that no tool writes to."""
STATE_PLACES = (f"${FOLDER_VARIABLE}", HOME)
"""The folders that it has to write to while running."""
MODEL_VARIABLES = ("ANTHROPIC_BASE_URL", "ANTHROPIC_BEDROCK_BASE_URL", "ANTHROPIC_VERTEX_BASE_URL")
MODEL_SETTINGS = (f"${FOLDER_VARIABLE}/settings.json", f"{HOME}/settings.json")
"""The variables and the user's settings that may name a model server."""
MANAGED_SETTINGS = "/etc/claude-code/managed-settings.json"
PLUGINS_KEY, NO_HOOKS_KEY, MANAGED_HOOKS_KEY = "enabledPlugins", "disableAllHooks", "allowManagedHooksOnly"
"""In its settings: the plugins that are on or off; whether no hook is called; whether only the administrator's are."""

# --- agent files -----------------------------------------------------------------------------------------------------

DENIED_KEY = "disallowedTools"
FILE_KEYS = (
    "name", "description", "tools", DENIED_KEY, "model", "permissionMode", "maxTurns", "skills", "mcpServers",
    "hooks", "memory", "background", "effort", "isolation", "initialPrompt", "color", "omitClaudeMd",
    "autoCompactWindow", "observer", "observerMessage", "observeSubagents", "experimental",
)  # fmt: skip
ALL_TOOLS = (
    "Agent", "AgentOutput", "AgentOutputTool", "Artifact", "AskUserQuestion", "Bash", "BashOutput", "BashOutputTool",
    "Brief", "Config", "CronCreate", "CronDelete", "CronList", "DesignSync", "Edit", "EnterPlanMode", "EnterWorktree",
    "ExitPlanMode", "ExitWorktree", "Glob", "Grep", "KillBash", "KillShell", "ListAgents", "ListMcpResources",
    "ListMcpResourcesTool", "ListPeers", "LS", "LSP", "Monitor", "MultiEdit", "NotebookEdit", "NotebookRead",
    "PowerShell", "Projects", "PushNotification", "Read", "ReadMcpResource", "ReadMcpResourceDir",
    "ReadMcpResourceDirTool", "ReadMcpResourceTool", "RemoteTrigger", "REPL", "ReportFindings", "ScheduleWakeup",
    "SendMessage", "SendUserFile", "SendUserMessage", "ShareOnboardingGuide", "Skill", "SlashCommand",
    "StructuredOutput", "Task", "TaskCreate", "TaskGet", "TaskList", "TaskOutput", "TaskStop", "TaskUpdate",
    "TeamCreate", "TeamDelete", "TodoRead", "TodoWrite", "ToolSearch", "WaitForMcpServers", "WebFetch", "WebSearch",
    "Workflow", "Write",
)  # fmt: skip
"""The tools that an agent file can name (2.1), with their former names."""
HOOK_EVENTS = (
    "PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "Notification", "UserPromptSubmit",
    "UserPromptExpansion", "SessionStart", "SessionEnd", "Stop", "StopFailure", "SubagentStart", "SubagentStop",
    "PreCompact", "PostCompact", "PermissionRequest", "PermissionDenied", "Setup", "TeammateIdle", "TaskCreated",
    "TaskCompleted", "Elicitation", "ElicitationResult", "ConfigChange", "WorktreeCreate", "WorktreeRemove",
    "InstructionsLoaded", "CwdChanged", "FileChanged", "MessageDisplay",
)  # fmt: skip
"""The events that `hooks` in an agent's file can name."""
MODELS = ("sonnet", "opus", "haiku", "inherit", "opusplan", "best", "fable")
"""Aliases; the id of a model begins with `claude-`."""
FREE_MODE, EDITS_MODE = "bypassPermissions", "acceptEdits"
MODES = ("default", "manual", EDITS_MODE, "auto", "dontAsk", FREE_MODE, "plan")
EFFORTS = ("low", "medium", "high", "xhigh", "max")
MEMORIES = ("user", "project", "local")
COLORS = ("red", "blue", "green", "yellow", "purple", "orange", "pink", "cyan")

# --- hooks -----------------------------------------------------------------------------------------------------------

BEFORE_TOOL, AFTER_TOOL, FAILED_TOOL = "PreToolUse", "PostToolUse", "PostToolUseFailure"
AGENT_START, AGENT_STOP, STOP, FAILED_STOP = "SubagentStart", "SubagentStop", "Stop", "StopFailure"
PROMPT, SESSION_START, SESSION_END, NEW_SETTINGS = "UserPromptSubmit", "SessionStart", "SessionEnd", "ConfigChange"
"""The events that Remit answers."""
EVENT_KEY, SESSION_KEY, CWD_KEY, TRANSCRIPT_KEY = "hook_event_name", "session_id", "cwd", "transcript_path"
AGENT_ID, AGENT_TYPE = "agent_id", "agent_type"
"""The keys of the subagent that an event comes from."""
TOOL_KEY, INPUT_KEY, CALL_KEY, RESPONSE_KEY, ERROR_KEY = (
    "tool_name", "tool_input", "tool_use_id", "tool_response", "error",
)  # fmt: skip
ANSWER_KEY, STOP_ACTIVE_KEY, AGENT_TRANSCRIPT_KEY = (
    "last_assistant_message", "stop_hook_active", "agent_transcript_path",
)  # fmt: skip
"""The keys of an event of an agent that stops."""
PROMPT_TEXT, FIRST_PROMPT, CHANGED_FILE = "prompt", "first_prompt", "file_path"
"""The text of a prompt; the first prompt of an agent, from the plugin for opencode; the changed settings file."""
SOURCE_KEY, RESUMED, STARTED = "source", "resume", "startup"
"""The key with the reason why a session starts, and its values."""
PROJECT_VARIABLE = "CLAUDE_PROJECT_DIR"
SPECIFIC_KEY, NAME_KEY = "hookSpecificOutput", "hookEventName"
DECISION_KEY, DECISION_REASON, NEW_INPUT, NEW_OUTPUT = (
    "permissionDecision", "permissionDecisionReason", "updatedInput", "updatedToolOutput",
)  # fmt: skip
CONTEXT_KEY, WARNING_KEY = "additionalContext", "systemMessage"
"""The keys of an answer."""

DELEGATING = ("Agent", "Task")
"""The tool that starts a subagent; `Task` in older releases."""
DEFAULT_AGENT = "general-purpose"
"""The agent that a call without a name starts."""
AGENT_KEY, PROMPT_KEY, BACKGROUND_KEY = "subagent_type", "prompt", "run_in_background"
"""The input of that tool. Since 2.1.198, the default is the background; `background: true` in the agent file and a
terminal override the call."""
RETURNING = {"StructuredOutput": "", "SubagentHandback": "message"}
"""Tools whose input is the return: the key that the text is under, or "" if the whole input is the return.

`StructuredOutput` ends an agent of a `Workflow` that has a schema, and a block at SubagentStop is ignored then.
`SubagentHandback` (auto mode, since 2.1.278) ends an agent and delivers its message before SubagentStop."""
SENDING = ("SendMessage",)
"""Tools that send a message to another agent or session."""
RECIPIENT_KEYS = ("to", "id", "agent_id")
MAIN_RECIPIENT = "main"
"""The recipient that is the session itself."""
NAMES = {"read": "Read", "write": "Write", "edit": "Edit", "bash": "Bash", "grep": "Grep", "glob": "Glob"}
OTHER_NAMES = {
    "webfetch": "WebFetch", "websearch": "WebSearch", "todowrite": "TodoWrite", "skill": "Skill", "lsp": "LSP",
}  # fmt: skip
"""Its names of the tools of the standard and of opencode."""
EDITING_TOOLS = ("MultiEdit", "NotebookEdit")
"""Other tools that edit files."""
PATH_KEYS, COMMAND_KEY, OLD_KEY, NEW_KEY = ("file_path", "notebook_path"), "command", "old_string", "new_string"
"""The input of tools for files and commands."""
EXIT_SIGN = "Exit code "
"""The beginning of the error of a command that ran. Other errors: no command started, or it was stopped."""
SHELL_VARIABLE, ENVIRONMENT_KEY = "CLAUDE_CODE_SHELL", "env"
"""The variable with the shell for commands; and, in its settings, the variables for itself and its hooks."""
SHELL_SESSION = "CLAUDE_CODE_SESSION_ID"
"""The variable with the session id, in the environment of hooks and commands."""
WORKTREE_KEY = "isolation"
"""In the input of the tool that starts a subagent: whether the subagent gets a working tree of its own."""
TOOLS = {
    "Bash": "bash", "Monitor": "bash", "PowerShell": "bash", "REPL": "bash",
    "Read": "read", "NotebookRead": "read", "LS": "read",
    "Write": "write",
    "Edit": "edit", "MultiEdit": "edit", "NotebookEdit": "edit",
    "Grep": "grep", "Glob": "glob", "WebFetch": "webfetch", "WebSearch": "websearch",
}  # fmt: skip
"""The standard's names of its tools."""
COMMAND_TOOLS = ("Bash", "Monitor")
"""The tools that start a shell with a given command."""
ENTRY_VARIABLE, TERMINAL = "CLAUDE_CODE_ENTRYPOINT", "cli"


def is_terminal(environ: Mapping[str, str]) -> bool:
    """Return whether a user types in the session, by the environment of its hooks."""
    return environ.get(ENTRY_VARIABLE) == TERMINAL


def get_transcript(main: str, agent_id: str) -> str:
    """Return the transcript of a subagent, which is beside the transcript of the session."""
    return f"{main.removesuffix('.jsonl')}/subagents/agent-{agent_id}.jsonl"


def get_note(transcript: str) -> str:
    """Return the file beside a subagent's transcript that names the call which started it."""
    return f"{transcript.removesuffix('.jsonl')}.meta.json"


NOTE_CALL = "toolUseId"
AGENT_ID_KEY = "agentId"
"""In that note: the call. In the response of the tool that starts a subagent: the id that the subagent has in hooks."""


def is_launched(response: Mapping[str, Any]) -> bool:
    """Return whether a subagent continues in the background, so that its answer comes as a notification."""
    return response.get("isAsync") is True or response.get("status") == "async_launched"


def read_answer(response: Mapping[str, Any]) -> str | None:
    """Return the answer of a subagent in the tool's response, without the harness's own notes; None if there is none.

    The answer of a hand-back has a key of its own, and `content` only says that it was delivered.
    """
    report = response.get("handbackReport")
    if isinstance(report, dict) and isinstance(report.get("text"), str):
        return str(report["text"])
    content = response.get("content")
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return None
    first, last = _get_count(response, "harnessNoteCount"), _get_count(response, "harnessTailCount")
    parts = content[first : len(content) - last]
    return "\n".join(part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str))


def replace_answer(response: Mapping[str, Any], text: str) -> dict[str, Any]:
    """Return the tool's response with another text, without the counts of the old text."""
    kept = {key: value for key, value in response.items() if not key.startswith(("harness", "handback"))}
    return {**kept, "content": [{"type": "text", "text": text}]}


def read_tokens(response: Mapping[str, Any]) -> int | None:
    """Return the tokens that a subagent has used, from the response of the tool that started it; None if unknown."""
    tokens = response.get("totalTokens")
    return tokens if type(tokens) is int and 0 <= tokens < 1 << 60 else None


def read_tool_count(response: Mapping[str, Any]) -> int | None:
    """Return how many tools a subagent has used, from the same response; None if unknown."""
    count = response.get("totalToolUseCount")
    return count if type(count) is int else None


def read_return(tool: str, tool_input: Mapping[str, Any]) -> object:
    """Return the return in the input of a returning tool: a text, or the whole input."""
    key = RETURNING[tool]
    return tool_input.get(key) if key else dict(tool_input)


def read_changed_files(response: object) -> tuple[list[str], bool] | None:
    """Return the files that changed while a command ran, and whether the list is complete; None if it is missing.

    Since 2.1.326 at the latest, the result has this list if `DIFF_VARIABLE` or a setting turns it on, in git
    repositories only. It compares the trees before and after the command, so another agent may have changed the files.
    A command that failed, or that changed nothing, has no such list.
    """
    found = response.get("bashEditDiff") if isinstance(response, dict) else None
    if not isinstance(found, dict):
        return None
    shown, named = found.get("files"), found.get("changedFiles")
    shown = shown if isinstance(shown, list) else []
    named = named if isinstance(named, list) else [each.get("filePath") for each in shown if isinstance(each, dict)]
    paths = [str(path) for path in named if isinstance(path, str) and path]
    is_whole = not found.get("unavailable") and not found.get("skipped")
    return paths, is_whole and len(paths) >= len(shown) + _get_count(found, "moreFiles")


def _get_count(response: Mapping[str, Any], key: str) -> int:
    count = response.get(key)
    return count if type(count) is int and count > 0 else 0


# --- notifications: the prompt of a UserPromptSubmit -----------------------------------------------------------------


class Notification:
    """One task in a notification."""

    __slots__ = ("answer", "is_agent", "task_id", "tokens")

    def __init__(self, task_id: str, *, is_agent: bool, answer: str | None = None, tokens: int | None = None) -> None:
        self.task_id = task_id
        """The id; of a subagent, its id in hooks."""
        self.is_agent = is_agent
        """Whether the task is certainly a subagent. Commands and workflows also send notifications."""
        self.answer = answer
        """The final message; None if the notification has none."""
        self.tokens = tokens


_MAX_DIGITS = 17


def is_notification(prompt: str) -> bool:
    """Return whether a prompt is a notification about a background task or of another agent."""
    return "<task-notification>" in prompt or "<agent-message" in prompt


def read_notifications(prompt: str) -> list[Notification]:
    """Return the tasks in a notification, in order."""
    found = []
    for piece in prompt.split("<task-notification>")[1:]:
        head, _, rest = piece.partition("<result>")
        answer, closed, tail = rest.rpartition("</result>")
        digits = _cut(tail, "<subagent_tokens>", "</subagent_tokens>")
        tokens = int(digits) if digits.isascii() and digits.isdecimal() and len(digits) <= _MAX_DIGITS else None
        task_id = _cut(head, "<task-id>", "</task-id>")
        is_agent = bool(digits) and "<agent_count>" not in tail  # only a workflow of several agents has a count
        found.append(Notification(task_id, is_agent=is_agent, answer=answer if closed else None, tokens=tokens))
    for piece in prompt.split("<agent-message")[1:]:
        task_id = _cut(piece.partition(">")[0], 'from="', '"')
        found.append(Notification(task_id, is_agent="[Subagent hand-back]" in piece))
    return [each for each in found if each.task_id]


def _cut(text: str, begin: str, end: str) -> str:
    """Return the text between two marks; empty if they aren't there."""
    _, found, rest = text.partition(begin)
    inner, closed, _ = rest.partition(end)
    return inner.strip() if found and closed else ""


# --- the command line ------------------------------------------------------------------------------------------------

STREAM_OPTIONS = ("-p", "--output-format=stream-json", "--verbose")
SESSION_OPTION, RESUME_OPTION = "--session-id", "--resume"
MODE_OPTION, FREE_OPTION = "--permission-mode", "--dangerously-skip-permissions"
TOOLS_OPTION, ALLOWED_OPTION = "--tools", "--allowedTools"
AGENT_OPTION, INSTRUCTIONS_OPTION, MODEL_OPTION = "--agent", "--append-system-prompt-file", "--model"
TURNS_OPTION, BUDGET_OPTION = "--max-turns", "--max-budget-usd"
RETRIES_VARIABLE = "CLAUDE_CODE_MAX_RETRIES"
OUTPUT_VARIABLE = "CLAUDE_CODE_MAX_OUTPUT_TOKENS"
"""The variable with the maximum number of tokens of one answer. There is none for the temperature, and no option."""
UPDATES_VARIABLE = "DISABLE_AUTOUPDATER"
SWITCHES = (
    UPDATES_VARIABLE, "DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING", "DISABLE_BUG_COMMAND",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", RETRIES_VARIABLE,
)  # fmt: skip


def set_up(home: str, url: str, model: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return the environment and the files, by path, with which it uses one model server and no other service."""
    del model  # it requests its own models from any server
    own = {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "scripted", FOLDER_VARIABLE: f"{home}/{FOLDER}"}
    return dict.fromkeys(SWITCHES, "1") | own, {}


# --- the stream ------------------------------------------------------------------------------------------------------

INIT, TASKS_CHANGED, API_RETRY = "init", "background_tasks_changed", "api_retry"
"""Lines of the type `system`, by subtype."""
VERSION_KEY, PARENT_CALL = "claude_code_version", "parent_tool_use_id"
"""Keys of the first line, and of a message of a subagent: the call that started the subagent."""
RETRY_STATUS, RETRY_ERROR, RETRY_ATTEMPT, RETRY_LIMIT = "error_status", "error", "attempt", "max_retries"
TURNS_KEY, COST_KEY, ANSWER, DENIALS_KEY, IS_ERROR = (
    "num_turns", "total_cost_usd", "result", "permission_denials", "is_error",
)  # fmt: skip
"""Keys of a result."""
MODELS_KEY = "modelUsage"

RESULT_INPUT = ("inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")
RESULT_OUTPUT = ("outputTokens",)
RESULT_COST = "costUSD"
"""Keys of one model in `modelUsage`."""
LIVE_INPUT = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
LIVE_OUTPUT = ("output_tokens",)
"""Keys of the usage of one message, and of `usage` in a result."""
SINCE_LAST = "model_usage_since_last_result"
"""Since 2.1.311. Without it, `modelUsage` counts the whole session of the process; since 2.1.275 it includes the usage
of earlier processes if the process resumes a session."""
RESULT_LIMITS = {"error_max_turns": "turns", "error_max_budget_usd": "budget"}
SYNTHETIC_MODEL = "<synthetic>"
"""The model of messages that the program writes itself."""
UNKNOWN_SESSION = "No conversation found"
SHELL_TASK = "local_bash"
"""The type of a command in the background. Since 2.1.275, the program waits for such commands for up to ten minutes."""
OPERATIONS = {
    **dict.fromkeys(("Read", "Grep", "Glob", "LSP", "NotebookRead", "WebFetch", "WebSearch"), "read"),
    **dict.fromkeys(("Write", "Edit", "MultiEdit", "NotebookEdit"), "write"),
    "Bash": "run",
    **dict.fromkeys(DELEGATING, "delegate"),
}
DIFF_VARIABLE = "CLAUDE_CODE_BASH_EDIT_DIFF"
"""The variable that adds the changed files to the result of a command, where the model doesn't see them."""
TOOL_RESPONSE = "tool_use_result"
"""The key of a tool's result beside a message of the type `user`."""


def counts_earlier_runs(version: str) -> bool:
    """Return whether `modelUsage` of a resumed session includes the usage of earlier processes, by the version."""
    return _read_version(version) >= (2, 1, 275)


def list_task_types(record: Mapping[str, Any]) -> list[str]:
    """Return the types of the tasks that still run in the background, from a `background_tasks_changed` line."""
    tasks = record.get("tasks")
    found = [task.get("task_type") for task in tasks if isinstance(task, dict)] if isinstance(tasks, list) else []
    return [kind if isinstance(kind, str) else "" for kind in found]


def _read_version(text: str) -> tuple[int, ...]:
    """Return the numbers of a version; an empty tuple, the lowest version, if it can't be parsed."""
    parts = text.split("-", maxsplit=1)[0].split(".")
    return tuple(int(part) for part in parts) if all(part.isdecimal() for part in parts) else ()
