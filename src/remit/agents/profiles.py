"""Profiles: what each harness knows of an agent file.

Owns the tables: where a harness keeps its agents, which keys it reads, which tools it has, and how a file is told to
be one or the other. A file that names its `agent_type` and its `version` follows the standard wherever it lies; any
other is judged by the rules of its place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

Profile = Literal["standard", "claude", "opencode", "codex", "command"]
PROFILES: tuple[Profile, ...] = ("standard", "claude", "opencode", "codex", "command")

KINDS = ("planning", "implementation", "research", "review", "utility")
"""What a standard agent is for: its `agent_type`."""
TOOLS = ("read", "write", "edit", "bash", "grep", "glob")
"""The tools of the standard."""
SERVICES = frozenset({"status-sync-manager", "git-workflow-manager", "atomic-task-numberer"})
"""Agents that are built in: valid targets of a delegation without a file."""
TIMEOUTS_S = {"research": 3600, "planning": 1800, "implementation": 7200, "review": 3600, "utility": 300}
"""How long an agent of each kind may take (R2.6)."""
DEFAULT_TIMEOUT_S = 3600
CONTEXT_BUDGETS = {"lazy": 50_000, "eager": 100_000, "minimal": 10_000}
"""How many bytes of context each strategy may load (R1.4)."""

STANDARD_KEYS = (
    "name", "version", "description", "mode", "agent_type", "temperature", "max_tokens", "timeout", "tools",
    "permissions", "context_loading", "delegation", "lifecycle", "owner", "retry", "return", "model",
)  # fmt: skip
"""The keys of the standard, and three of Remit's own: who settles (C19), whether to run again, which dialect."""
CLAUDE_KEYS = (
    "name", "description", "tools", "disallowedTools", "model", "permissionMode", "maxTurns", "skills", "mcpServers",
    "hooks", "memory", "background", "effort", "isolation", "initialPrompt", "color", "omitClaudeMd",
    "autoCompactWindow", "observer", "observerMessage", "observeSubagents", "experimental",
)  # fmt: skip
OPENCODE_KEYS = (
    "description", "mode", "model", "temperature", "top_p", "steps", "prompt", "permission", "disable", "hidden",
    "color", "tools", "name", "maxSteps", "options", "variant",
)  # fmt: skip
CODEX_KEYS = (
    "name", "description", "developer_instructions", "model", "model_reasoning_effort", "sandbox_mode", "mcp_servers",
    "skills", "nickname_candidates",
)  # fmt: skip
CODEX_SETTINGS = (
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
COMMAND_KEYS = (
    "name", "description", "agent", "model", "subtask", "argument-hint", "allowed-tools", "version", "mode",
    "command_type", "timeout", "context_level", "language", "routing", "context_loading", "delegation", "category",
    "created", "updated", "updated_by", "author", "tags", "disable-model-invocation",
)  # fmt: skip
KEYS: Mapping[Profile, tuple[str, ...]] = {
    "standard": STANDARD_KEYS,
    "claude": CLAUDE_KEYS,
    "opencode": OPENCODE_KEYS,
    "codex": CODEX_KEYS,
    "command": COMMAND_KEYS,
}

CLAUDE_TOOLS = (
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
"""The tools of Claude Code (2.1), with the names that they had before."""
OPENCODE_TOOLS = (
    "bash", "edit", "write", "read", "grep", "glob", "list", "patch", "task", "todoread", "todowrite", "webfetch",
    "websearch", "codesearch", "lsp", "skill", "question", "external_directory", "doom_loop", "multiedit",
)  # fmt: skip

_PLACES: tuple[tuple[tuple[str, ...], Profile], ...] = (
    ((".claude", "agents"), "claude"),
    ((".opencode", "agent"), "opencode"),
    ((".opencode", "agents"), "opencode"),
    ((".codex", "agents"), "codex"),
    ((".claude", "commands"), "command"),
    ((".opencode", "command"), "command"),
    ((".opencode", "commands"), "command"),
)


def find_place(path: str) -> Profile | None:
    """The harness to whose folder a path belongs; a plain `agents` folder is how Claude Code's plugins keep theirs."""
    parts = tuple(path.split("/")[:-1])
    for place, profile in _PLACES:
        if any(parts[index : index + 2] == place for index in range(len(parts))):
            return profile
    return "claude" if "agents" in parts else None


def is_read_by_claude(path: str) -> bool:
    """Whether Claude Code reads a file as it lies there, whatever rules it follows."""
    return find_place(path) == "claude" and ".claude" in path.split("/")


def choose_profile(path: str, values: Mapping[str, Any], *, has_workflow: bool = False) -> Profile:
    """By which rules a file is judged; in no harness's folder, by what its keys tell."""
    if path.endswith(".toml"):
        return "codex"
    place = find_place(path)
    if place == "command" or (place is None and has_workflow and "agent_type" not in values):
        return "command"
    if _claims_standard(values):
        return "standard"
    if place is not None:
        return place
    if len(_STANDARD_ONLY.intersection(values)) > 1:
        return "standard"
    return "claude" if _OPENCODE_ONLY.isdisjoint(values) else "opencode"


_OPENCODE_ONLY = frozenset({"mode", "permission", "temperature", "top_p", "steps", "maxSteps", "disable", "hidden"})
_STANDARD_ONLY = frozenset(STANDARD_KEYS) - {"name", "description", "tools", "model", "mode", "temperature"}
"""Keys that no harness has: a file in no harness's folder that has some of them is meant to follow the standard."""


def _claims_standard(values: Mapping[str, Any]) -> bool:
    """Whether a file says what it is for and in which version; one of the two may be misspelt."""
    absent = [key for key in ("agent_type", "version") if key not in values]
    if len(absent) != 1:
        return not absent
    from difflib import get_close_matches  # noqa: PLC0415 - 8 ms, and few files have only one of them

    others = [key for key in values if key not in KEYS["claude"] and key not in STANDARD_KEYS]
    return bool(get_close_matches(absent[0], others, n=1, cutoff=0.8))
