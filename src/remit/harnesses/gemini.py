"""Gemini CLI: the names and formats of its files, command line and stream. Remit runs it, but has no hooks in it.

Only this file depends on a release of Gemini CLI.
"""

from __future__ import annotations

TRIED = ("0.61.0",)
"""The releases that the harness tests have passed with."""
PACKAGE = "@google/gemini-cli"


def find_program(system: str) -> str:
    """Return the program below `node_modules`, which is the same on every system."""
    del system
    return ".bin/gemini"


# --- files and folders -----------------------------------------------------------------------------------------------

FOLDER = ".gemini"
HOME_FOLDERS = ("agents", "commands", "extensions", "hooks", "policies", "skills")
PROTECTED_FOLDERS = tuple(f"{FOLDER}/{name}" for name in HOME_FOLDERS)
PROTECTED_FILES = {".gemini/settings.json": "{}\n", ".gemini/.env": ""}
"""Files of a project that decide which programs run, each with a text that changes nothing."""
HOME = "~/.gemini"
HOME_FILES = ("settings.json", "trustedFolders.json", "GEMINI.md", ".env")
"""The files and folders in its settings folder that decide which programs run."""
HOME_STATE = ("~/.gemini/**",)
"""Patterns of files that it writes while it runs and that no tool writes to."""
STATE_PLACES = (HOME,)
"""The folders that it has to write to while running."""
MODEL_VARIABLES = ("GOOGLE_GEMINI_BASE_URL", "GOOGLE_VERTEX_BASE_URL")
MODEL_SETTINGS = ("~/.gemini/settings.json", "~/.gemini/.env")
"""The variables and the user's settings that may name a model server."""

# --- tools -----------------------------------------------------------------------------------------------------------

NAMES = {
    "read": ("read_file",), "write": ("write_file",), "edit": ("replace",), "bash": ("run_shell_command",),
    "grep": ("search_file_content", "grep_search"), "glob": ("glob",),
}  # fmt: skip
"""Its names of the standard's tools, with a former name."""
PATH_KEYS, COMMAND_KEY = ("file_path", "absolute_path", "path"), "command"
"""The input of tools for files and commands."""
OPERATIONS = {
    **dict.fromkeys(("read_file", "read_many_files", "list_directory", "glob", "search_file_content"), "read"),
    **dict.fromkeys(("grep_search", "web_fetch", "google_web_search"), "read"),
    **dict.fromkeys(("write_file", "replace"), "write"),
    "run_shell_command": "run",
    "invoke_agent": "delegate",
}
"""The operations of its tools, as runners name them."""

# --- the command line ------------------------------------------------------------------------------------------------

STREAM_OPTION, SESSION_OPTION, RESUME_OPTION = "--output-format=stream-json", "--session-id", "--resume"
MODE_OPTION, FREE_OPTIONS, MODEL_OPTION = "--approval-mode", ("-y", "--yolo"), "--model"
FREE_MODE, EDITS_MODE = "yolo", "auto_edit"


def set_up(home: str, url: str, model: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return the environment and the files, by path, with which it uses one model server and no other service."""
    import json  # noqa: PLC0415 - only for tests

    del model
    settings = {
        "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
    }
    environ = {
        "GEMINI_API_KEY": "scripted",
        "GEMINI_MODEL": "gemini-2.5-flash",  # otherwise it has a model choose the model
        "GOOGLE_GEMINI_BASE_URL": url,
        "GEMINI_TELEMETRY_ENABLED": "false",
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
    }
    return environ, {f"{home}/{FOLDER}/settings.json": json.dumps(settings)}


# --- the stream ------------------------------------------------------------------------------------------------------

SESSION_KEY, TOOL_KEY, TOOL_ID, INPUT_KEY = "session_id", "tool_name", "tool_id", "parameters"
