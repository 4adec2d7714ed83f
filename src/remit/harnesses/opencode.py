"""opencode: the names and formats of its files, plugin, command line and stream.

Only this file and the plugin (`harness_files/opencode/remit.js`), which sends events in the format of Claude Code,
depend on a release of opencode. Hooks load this file on every tool call, so it imports nothing.
"""

from __future__ import annotations

TRIED = ("1.18.33",)
"""The releases that the harness tests have passed with."""
PACKAGE = "opencode-ai"


def find_program(system: str) -> str:
    """Return the program below `node_modules`, for a system such as `linux-x64`."""
    return f"opencode-{system}/bin/opencode"


# --- files and folders -----------------------------------------------------------------------------------------------

FOLDER = ".opencode"
AGENT_FOLDERS = (".opencode/agent", ".opencode/agents")
COMMAND_FOLDERS = (".opencode/command", ".opencode/commands")
PLUGIN_FILE = ".opencode/plugin/remit.js"
SETTINGS_FILES = ("opencode.jsonc", "opencode.json", ".opencode/opencode.jsonc", ".opencode/opencode.json")
SETTINGS_FILE, SETTINGS_PATTERN, SERVERS_KEY = "opencode.json", "opencode.json*", "mcp"
PROTECTED_FOLDERS = (
    *AGENT_FOLDERS, *COMMAND_FOLDERS, ".opencode/plugin", ".opencode/plugins", ".opencode/tool", ".opencode/tools",
)  # fmt: skip
PROTECTED_FILES = dict.fromkeys(SETTINGS_FILES, "{}\n")
"""Files of a project that decide which programs run, each with a text that changes nothing."""
FOLDER_VARIABLE = "OPENCODE_CONFIG_DIR"
"""The variable that names the folder of its settings."""
HOME = "~/.config/opencode"
HOME_FOLDERS = ("",)
"""The folders in its settings folder that decide which programs run: all of them."""
HOME_PRIVATE = ("",)
"""opencode writes to its settings folder when it starts, so a confined opencode gets a temporary copy."""
STATE_PLACES = ("~/.local/share/opencode", "~/.local/state/opencode", "~/.cache/opencode")
"""The folders that it has to write to while running."""
MODEL_VARIABLES = ("OPENCODE_CONFIG_CONTENT", "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL")
MODEL_SETTINGS = ("$OPENCODE_CONFIG", f"{HOME}/opencode.json", f"{HOME}/opencode.jsonc")
"""The variables and the user's settings that may name a model server."""
PLUGIN_PACKAGE = "@opencode-ai/plugin"
"""The package that it fetches for plugins, unless a lock file beside them has it."""

# --- agent files -----------------------------------------------------------------------------------------------------

FILE_KEYS = (
    "description", "mode", "model", "temperature", "top_p", "steps", "prompt", "permission", "disable", "hidden",
    "color", "tools", "name", "maxSteps", "options", "variant",
)  # fmt: skip
ALL_TOOLS = (
    "bash", "edit", "write", "read", "grep", "glob", "list", "patch", "task", "todoread", "todowrite", "webfetch",
    "websearch", "codesearch", "lsp", "skill", "question", "external_directory", "doom_loop", "multiedit",
)  # fmt: skip
"""The tools that an agent file can name."""
EDITING_TOOLS = frozenset({"write", "patch", "multiedit", "apply_patch"})
"""Tools whose permission is `edit`."""
MODES = ("subagent", "primary", "all")

# --- the plugin and its tools ----------------------------------------------------------------------------------------

LAST_MAJOR = 1
"""The last major version that loads Remit's plugin: opencode 2 doesn't run plugins of opencode 1."""

EVENTS = ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "SubagentStop")
"""The events that the plugin sends."""
SHELL_VARIABLE = "REMIT_SHELL"
"""In the environment of hooks: the shell that opencode starts for commands, if it is Remit's."""
TICKET_ANSWER, TICKET_KEY = "commandTicket", "command_ticket"
"""The keys of a command's ticket: in the answer before the command, and in the event after it."""
COMMAND_TOOLS = ("bash",)
"""The tools that start a shell with a given command."""
DELEGATING = "task"
"""The tool that starts a subagent."""
DEFAULT_AGENT = "general"
"""The agent that a call without a name starts."""
PATH_KEYS, COMMAND_KEY, OLD_KEY, NEW_KEY = ("filePath",), "command", "oldString", "newString"
PATCH_KEY = "patchText"
"""The input of tools for files and commands."""
TOOLS = {
    "bash": "bash", "read": "read", "list": "read", "write": "write", "edit": "edit", "multiedit": "edit",
    "patch": "edit", "grep": "grep", "glob": "glob", "webfetch": "webfetch", "websearch": "websearch",
}  # fmt: skip
"""The standard's names of its tools."""
OPERATIONS = {
    **dict.fromkeys(("read", "grep", "glob", "list", "lsp", "webfetch", "websearch", "codesearch"), "read"),
    **dict.fromkeys(("write", "edit", "multiedit", "patch", "apply_patch"), "write"),
    "bash": "run",
    DELEGATING: "delegate",
}
"""The operations of its tools, as runners name them."""


def loads_plugin(version: str) -> bool | None:
    """Return whether a release loads Remit's plugin, by the output of `opencode --version`; None if that is unknown."""
    digits = version.strip().removeprefix("v").partition(".")[0]
    return int(digits) <= LAST_MAJOR if digits.isascii() and digits.isdecimal() else None


# --- the command line ------------------------------------------------------------------------------------------------

STREAM_OPTIONS = ("run", "--format=json")
SESSION_OPTION, AGENT_OPTION, MODEL_OPTION = "--session", "--agent", "--model"
CONFIG_VARIABLE = "OPENCODE_CONFIG_CONTENT"
"""The variable with settings that override those in files."""
OUTPUT_VARIABLE = "OPENCODE_EXPERIMENTAL_OUTPUT_TOKEN_MAX"
"""The variable with the maximum number of tokens of one answer."""
QUIET = {"OPENCODE_DISABLE_AUTOUPDATE": "1"}
LOGS = {"OPENCODE_PRINT_LOGS": "1", "OPENCODE_LOG_LEVEL": "ERROR"}
PERMISSIONS = {"read": "read", "write": "edit", "edit": "edit", "bash": "bash", "grep": "grep", "glob": "glob"}
"""The permissions of the standard's tools."""


def set_up(home: str, url: str, model: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return the environment and the files, by path, with which it uses one model server and no other service."""
    import json  # noqa: PLC0415 - only for tests

    del model
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "scripted",
        "options": {"baseURL": f"{url}/v1", "apiKey": "scripted"},
        "models": {
            "scripted": {
                "name": "scripted",
                "tool_call": True,
                "temperature": True,
                "limit": {"context": 400_000, "output": 8000},
                "cost": {"input": 3, "output": 15},
            }
        },
    }
    config = {
        "autoupdate": False,
        "share": "disabled",
        "model": "scripted/scripted",
        "small_model": "scripted/scripted",
        "enabled_providers": ["scripted"],
        "provider": {"scripted": provider},
    }
    switches = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS", "CLAUDE_CODE", "SHARE")
    models = f"{home}/models.json"
    own = {CONFIG_VARIABLE: json.dumps(config), "OPENCODE_MODELS_PATH": models}
    return {f"OPENCODE_DISABLE_{switch}": "1" for switch in switches} | own, {models: "{}"}


# --- the stream and the log ------------------------------------------------------------------------------------------

SESSION_KEY, CALL_KEY = "sessionID", "callID"
STEP_START, STEP_FINISH = "step_start", "step_finish"
FALLBACK = r'agent "[^"]{0,200}" (?:not found|is a subagent)[^\n]{0,80}Falling back to default agent'
UNANSWERED = r'message="stream error"[^\n]{0,1000} error\.error="([^"\n]{1,500})'
REJECTED = r"permission requested: ([^\n]{1,300}); auto-rejecting"
"""Patterns of its messages: another agent runs, a server failed, a request for permission was rejected."""
