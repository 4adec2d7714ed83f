"""Codex: the names and formats of its files, hooks, session files, command line and stream.

Only this file depends on a release of Codex. Hooks load it on every tool call, so it imports nothing.

Codex has two ways to run subagents, chosen by the model (`codex debug models`). In multi-agent v1, a prompt is plain
and `wait_agent` returns the answer. In v2, which most current models use, the model's server encrypts the messages
between agents, so a hook can't add to a prompt. An agent is addressed by its path (`/root/report`). The caller gets the
final answer with its next request, and `wait_agent` only waits.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

TRIED = ("0.166.0", "0.169.0")
"""The releases that the harness tests have passed with: the oldest and the newest."""
PACKAGE = "@openai/codex"


def find_program(system: str) -> str:
    """Return the program below `node_modules`, as a pattern, for a system such as `linux-x64`."""
    return f"{PACKAGE}-{system}/vendor/*/bin/codex"


# --- files and folders -----------------------------------------------------------------------------------------------

FOLDER = ".codex"
AGENT_FOLDERS = (".codex/agents",)
HOOKS_FILE, SETTINGS_FILE = ".codex/hooks.json", ".codex/config.toml"
PROTECTED_FOLDERS = (".codex",)
FOLDER_VARIABLE = "CODEX_HOME"
"""The variable that names the folder of its settings."""
HOME = "~/.codex"
HOME_FOLDERS = ("agents", "hooks", "plugins", "prompts", "rules", "skills")
HOME_FILES = (
    "config.toml", "hooks.json", "managed_config.toml", "requirements.toml", "AGENTS.md", "AGENTS.override.md",
)  # fmt: skip
"""The files and folders in its settings folder that decide which programs run."""
HOME_SETTINGS = "config.toml"
HOME_STATE = ("~/.codex/**",)
"""Patterns of files that it writes while it runs and that no tool writes to."""
STATE_PLACES = (f"${FOLDER_VARIABLE}", HOME)
"""The folders that it has to write to while running."""
MODEL_VARIABLES = ("OPENAI_BASE_URL",)
MODEL_SETTINGS = (f"${FOLDER_VARIABLE}/config.toml", f"{HOME}/config.toml")
"""The variables and the user's settings that may name a model server."""

# --- agent files -----------------------------------------------------------------------------------------------------

INSTRUCTIONS_KEY, SANDBOX_KEY, NICKNAMES_KEY = "developer_instructions", "sandbox_mode", "nickname_candidates"
EFFORT_KEY, SERVERS_KEY = "model_reasoning_effort", "mcp_servers"
FILE_KEYS = (
    "name", "description", INSTRUCTIONS_KEY, "model", EFFORT_KEY, SANDBOX_KEY, SERVERS_KEY, "skills", NICKNAMES_KEY,
)  # fmt: skip
SETTINGS = (
    "agents", "allow_login_shell", "allow_symlinked_codex_home", "analytics", "approval_policy", "approvals_reviewer",
    "apps", "apps_mcp_product_sku", "audio", "auto_review", "background_terminal_max_timeout", "browser_use",
    "chatgpt_base_url", "check_for_update_on_startup", "cli_auth_credentials_store", "cloud", "compact_prompt",
    "computer_use", "default_permissions", "desktop", "disable_paste_burst", "experimental_compact_prompt_file",
    "experimental_realtime_start_instructions", "experimental_realtime_webrtc_call_base_url",
    "experimental_realtime_ws_backend_prompt", "experimental_realtime_ws_base_url", "experimental_realtime_ws_model",
    "experimental_realtime_ws_startup_context", "experimental_thread_store", "experimental_thread_store_endpoint",
    "experimental_use_unified_exec_tool", "features", "feedback", "file_opener", "forced_chatgpt_workspace_id",
    "forced_login_method", "ghost_snapshot", "goals", "hide_agent_reasoning", "history", "hooks",
    "include_apps_instructions", "include_collaboration_mode_instructions", "include_environment_context",
    "include_permissions_instructions", "instructions", "js_repl_node_module_dirs", "js_repl_node_path", "log_dir",
    "marketplaces", "mcp_enterprise_managed_auth", "mcp_oauth_callback_port", "mcp_oauth_callback_url",
    "mcp_oauth_credentials_store", "mcp_optional_startup_grace_ms", "memories", "model_auto_compact_token_limit",
    "model_auto_compact_token_limit_scope", "model_catalog_json", "model_context_window", "model_instructions_file",
    "model_post_turn_compact_threshold_percent", "model_provider", "model_providers", "model_reasoning_summary",
    "model_verbosity", "notice", "notify", "openai_base_url", "orchestrator", "oss_provider", "otel", "permissions",
    "personality", "plan_mode_reasoning_effort", "plugins", "profile", "profiles", "project_doc_fallback_filenames",
    "project_doc_max_bytes", "project_root_markers", "projects", "realtime", "responses_api_metadata", "review_model",
    "sandbox_workspace_write", "service_tier", "shell_environment_policy", "show_raw_agent_reasoning", "sqlite_home",
    "suppress_unstable_features_warning", "thread_unload_delay_secs", "tool_output_token_limit", "tool_suggest",
    "tools", "tui", "web_search", "windows",
)  # fmt: skip
"""The other settings of Codex (0.166): an agent may change each of them for itself."""
READ_ONLY, WORKSPACE_WRITE, FULL_ACCESS = "read-only", "workspace-write", "danger-full-access"
SANDBOXES = (READ_ONLY, WORKSPACE_WRITE, FULL_ACCESS)

NO_SHELL = "features.shell_tool = false"
"""The line of an agent file that removes its shell. Codex ignores an agent's `sandbox_mode` (0.169)."""

# --- hooks -----------------------------------------------------------------------------------------------------------

SPAWN, WAIT, FOLLOW_UP = "spawn_agent", "wait_agent", "followup_task"
"""Tools for subagents, without the prefixes that Codex adds."""
PREFIXES = {"": "v1", "multi_agent_v1": "v1", "multi_agent_v1.": "v1", "collaboration": "v2", "collaboration.": "v2"}
"""The prefixes of those names, with their multi-agent version."""
AGENT_KEY, PROMPT_KEY, TASK_KEY = "agent_type", "message", "task_name"
"""The input of `spawn_agent`; the task's name in v2 only."""
DEFAULT_AGENT = "default"
"""The agent that a call without a name starts."""
GIVING = ("send_input", "resume_agent", FOLLOW_UP)
"""Tools that give an existing agent more work."""
TELLING = ("send_message",)
"""Tools that send an agent a message and start nothing."""
RECIPIENT_KEYS = ("target", "id", "agent_id")
ROOT_PATH = "/root"
"""The path of the session itself, above the paths of its agents in v2."""
HEAD_BYTES = 16 * 1024
"""The size of the beginning of a session file that describes the agent, before its instructions."""
NAMES = {"bash": ("exec_command", "shell_command", "shell")}
"""Its names of the standard's tools; files are changed by a patch or by a command."""
COMMAND_KEYS = ("cmd", "command")
WORKDIR_KEY = "workdir"
"""The input of its shell: the folder."""
PATCH_KEYS, PATCH_START = ("input", "patch", "command"), "*** Begin Patch"
PATCH_MARKS = ("*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ")
"""The keys with a patch, the beginning of a patch, and the prefixes of file names in a patch."""
AGENT_ID_KEY = "agent_id"
"""In the response of `spawn_agent`: the id that the subagent has in hooks."""
TOOLS = {
    "Bash": "bash", "shell": "bash", "exec_command": "bash", "local_shell": "bash", "shell_command": "bash",
    "unified_exec": "bash", "apply_patch": "edit",
}  # fmt: skip
"""The standard's names of its tools."""
USED_TOOL_MARKS = ('"function_call"', '"custom_tool_call"')
"""Texts in the session file of an agent that used a tool."""
_ENCRYPTED, _SHORTEST = "gAAAA", 24
"""The beginning and the minimum length of an encrypted text."""


def split_tool(tool: str) -> tuple[str, str]:
    """Return the prefix and the name of a tool for subagents; ("", "") for any other tool."""
    if tool.startswith("mcp__"):
        return "", ""
    for name in (SPAWN, WAIT, *GIVING, *TELLING):
        if tool.endswith(name):
            return tool[: -len(name)], name
    return "", ""


def find_trouble(tool: str, tool_input: Mapping[str, Any]) -> str:
    """Return why Remit can't check the agent that a call of `spawn_agent` starts; empty if it can."""
    version = PREFIXES.get(split_tool(tool)[0], "")
    if not version:
        return f"Remit doesn't know the tool '{tool}', so it can't check the agent; do the work yourself"
    prompt = tool_input.get(PROMPT_KEY)
    if version == "v1" and isinstance(prompt, str) and is_encrypted(prompt):
        return f"the message of '{tool}' is encrypted, so Remit can't add its instructions; do the work yourself"
    if version == "v2" and not isinstance(tool_input.get(TASK_KEY), str):
        return f"'{tool}' has no `{TASK_KEY}`, which identifies the agent; add one"
    return ""


def is_sealed(tool: str) -> bool:
    """Return whether a call of this tool starts an agent with an encrypted prompt."""
    return PREFIXES.get(split_tool(tool)[0]) == "v2"


def is_encrypted(text: str) -> bool:
    """Return whether the model's server has encrypted a text."""
    return text.startswith(_ENCRYPTED) and len(text) >= _SHORTEST and not any(char.isspace() for char in text)


def read_agent_path(head: str) -> str:
    """Return the agent's path from the beginning of its session file; empty in v1 and for the session itself.

    JSON escapes quotes in a text, so a match can only be the key.
    """
    _, found, rest = head.partition('"agent_path":"')
    path, closed, _ = rest.partition('"')
    return path if found and closed and path.startswith(f"{ROOT_PATH}/") else ""


def resolve_path(target: str, caller_path: str) -> str:
    """Return the path of the agent that a caller names, by an absolute path or relative to its own."""
    return target if target.startswith("/") else f"{caller_path or ROOT_PATH}/{target}"


def read_total_tokens(tail: str) -> int | None:
    """Return the tokens that an agent has used so far, from the end of its session file; None if they aren't there.

    This counts the whole thread, including follow-ups.
    """
    _, found, rest = tail.rpartition('"total_token_usage":{')
    _, counted, digits = rest.partition("}")[0].rpartition('"total_tokens":')
    return int(digits) if found and counted and digits.isascii() and digits.isdecimal() else None


TITLE_PROMPT = "Generate a concise, single-line task title"
"""The beginning of the prompt for a session's title, which the terminal sends in a separate thread with all tools."""

# --- trust -----------------------------------------------------------------------------------------------------------

UNTRUSTED = "Untrusted project-local configuration is disabled"
"""Its message, since 0.169, in a folder that the user doesn't trust: hooks, agents and servers are off there."""
TRUST_OPTION = "--trust"
"""The option of `codex exec` that trusts the folder (since 0.169)."""
TRUSTED_EVENTS = {
    "PreToolUse": "pre_tool_use", "PostToolUse": "post_tool_use", "SubagentStart": "subagent_start",
    "SubagentStop": "subagent_stop", "Stop": "stop", "SessionStart": "session_start", "SessionEnd": "session_end",
    "UserPromptSubmit": "user_prompt_submit",
}  # fmt: skip
"""The names of events in its settings for trusted hooks."""
HASH_KEY = "trusted_hash"
SERVER_COMMAND, LIST_HOOKS = "app-server", "hooks/list"
"""The command and the request that list the hooks that Codex would call."""
MODELS_COMMAND = ("debug", "models")

# --- the command line ------------------------------------------------------------------------------------------------

STREAM_OPTIONS = ("exec", "--json", "--skip-git-repo-check")
RESUME_COMMAND = "resume"
SANDBOX_OPTION, APPROVE_OPTION, MODEL_OPTION = "--sandbox", "--approve-for-me", "--model"
BYPASS_OPTION = "--dangerously-bypass-approvals-and-sandbox"
_CONFIG = """\
model = "{model}"
model_provider = "scripted"
model_context_window = 400000
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
web_search = "disabled"

[model_providers.scripted]
name = "scripted"
base_url = "{url}/v1"
env_key = "SCRIPTED_API_KEY"
wire_api = "responses"
request_max_retries = 1
stream_max_retries = 1
stream_idle_timeout_ms = 60000

[analytics]
enabled = false

[feedback]
enabled = false

[otel]
exporter = "none"
metrics_exporter = "none"
"""


def set_up(home: str, url: str, model: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return the environment and the files, by path, with which it uses one model server and no other service."""
    folder = f"{home}/{FOLDER}"
    config = _CONFIG.format(url=url, model=model)
    return {FOLDER_VARIABLE: folder, "SCRIPTED_API_KEY": "scripted"}, {f"{folder}/{HOME_SETTINGS}": config}


# --- the stream ------------------------------------------------------------------------------------------------------

THREAD_STARTED, THREAD_KEY = "thread.started", "thread_id"
TURN_STARTED, TURN_COMPLETED, TURN_FAILED = "turn.started", "turn.completed", "turn.failed"
ITEM_PREFIX, ITEM_COMPLETED = "item.", "item.completed"
"""The types of its lines."""
MESSAGE_ITEM = "agent_message"
"""The type of an item that is a message of the agent. In a request of multi-agent v2, one from another agent."""

OPERATIONS = {
    "command_execution": "run",
    "file_change": "write",
    "collab_tool_call": "delegate",
    "mcp_tool_call": "other",
    "web_search": "read",
}
"""The types of items that are uses of tools."""
FAILED = frozenset({"failed", "declined"})
"""The states of a failed tool use."""
