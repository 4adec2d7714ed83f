"""Codex: what it calls things and where it puts them, in its hooks, its session files and its stream.

Owns every name and shape of Codex that Remit relies on, and tiny readers of them. A new release changes this file and
nothing else. Hooks load it on every tool call, so it imports nothing.

Codex has two ways to run subagents, chosen by the model (`codex debug models`). In multi-agent v1 a prompt is plain and
`wait_agent` gives the answer. In v2, which most current models get, the model's server encrypts what agents send each
other, so that a hook can't add to a prompt. An agent is known by its path (`/root/report`). Its final answer reaches
the caller with the caller's next request, and `wait_agent` only waits.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

TRIED = ("0.166.0", "0.169.0")
"""The releases that the harness tests have passed with: the oldest and the newest."""
PACKAGE = "@openai/codex"
FOLDER_VARIABLE = "CODEX_HOME"
"""The variable that names the folder of its settings."""

# --- hooks -----------------------------------------------------------------------------------------------------------

SPAWN, WAIT, FOLLOW_UP = "spawn_agent", "wait_agent", "followup_task"
"""Tools for subagents, without what Codex writes before their names."""
PREFIXES = {"": "v1", "multi_agent_v1": "v1", "multi_agent_v1.": "v1", "collaboration": "v2", "collaboration.": "v2"}
"""What Codex writes before those names, and which multi-agent version that is."""
AGENT_KEY, PROMPT_KEY, TASK_KEY = "agent_type", "message", "task_name"
"""The input of `spawn_agent`; the task's name in v2 only."""
DEFAULT_AGENT = "default"
"""The agent that a call without a name starts."""
GIVING = ("send_input", "resume_agent", FOLLOW_UP)
"""Tools that give an agent which was started before more work."""
TELLING = ("send_message",)
"""Tools that send an agent a message and start nothing."""
RECIPIENT_KEYS = ("target", "id", "agent_id")
ROOT_PATH = "/root"
"""The path of the session itself, below which v2 has its agents."""
HEAD_BYTES = 16 * 1024
"""So much of a session file has what is known of its agent; its instructions come behind that."""
TOOLS = {
    "Bash": "bash", "shell": "bash", "exec_command": "bash", "local_shell": "bash", "shell_command": "bash",
    "unified_exec": "bash", "apply_patch": "edit",
}  # fmt: skip
"""The standard's names of its tools."""
USED_TOOL_MARKS = ('"function_call"', '"custom_tool_call"')
"""What a session file has of an agent that used a tool."""
_ENCRYPTED, _SHORTEST = "gAAAA", 24
"""How an encrypted text begins, and how long it is at least."""


def split_tool(tool: str) -> tuple[str, str]:
    """What stands before the name of a tool for subagents, and the name; ("", "") for any other tool."""
    if tool.startswith("mcp__"):
        return "", ""
    for name in (SPAWN, WAIT, *GIVING, *TELLING):
        if tool.endswith(name):
            return tool[: -len(name)], name
    return "", ""


def find_trouble(tool: str, tool_input: Mapping[str, Any]) -> str:
    """Why Remit can't check the agent that a call of `spawn_agent` starts; empty if it can."""
    version = PREFIXES.get(split_tool(tool)[0], "")
    if not version:
        return f"Remit does not know the tool '{tool}', so it could not check the agent; do the work yourself"
    prompt = tool_input.get(PROMPT_KEY)
    if version == "v1" and isinstance(prompt, str) and is_encrypted(prompt):
        return f"the message of '{tool}' is encrypted, so Remit cannot add its instructions; do the work yourself"
    if version == "v2" and not isinstance(tool_input.get(TASK_KEY), str):
        return f"'{tool}' has no `{TASK_KEY}`, by which Remit knows the agent; give it one"
    return ""


def is_sealed(tool: str) -> bool:
    """Whether a call of this tool starts an agent whose prompt must stay as it is."""
    return PREFIXES.get(split_tool(tool)[0]) == "v2"


def is_encrypted(text: str) -> bool:
    """Whether a text is one that the model's server has encrypted."""
    return text.startswith(_ENCRYPTED) and len(text) >= _SHORTEST and not any(char.isspace() for char in text)


def read_agent_path(head: str) -> str:
    """The path of the agent whose session file begins so; empty in v1, and for the session itself.

    A quote within a text has a backslash before it, so that this can only be the key.
    """
    _, found, rest = head.partition('"agent_path":"')
    path, closed, _ = rest.partition('"')
    return path if found and closed and path.startswith(f"{ROOT_PATH}/") else ""


def resolve_path(target: str, caller_path: str) -> str:
    """The path of the agent that a caller names: whole, or below its own."""
    return target if target.startswith("/") else f"{caller_path or ROOT_PATH}/{target}"


def read_total_tokens(tail: str) -> int | None:
    """What the agent of a session file has used so far, by the end of the file; None if that isn't there.

    It counts the whole thread, with what follow-ups have used.
    """
    _, found, rest = tail.rpartition('"total_token_usage":{')
    _, counted, digits = rest.partition("}")[0].rpartition('"total_tokens":')
    return int(digits) if found and counted and digits.isascii() and digits.isdecimal() else None


TITLE_PROMPT = "Generate a concise, single-line task title"
"""How its terminal asks the model for the title of a session: in a thread of its own, with all tools."""

# --- trust -----------------------------------------------------------------------------------------------------------

UNTRUSTED = "Untrusted project-local configuration is disabled"
"""What it prints, since 0.169, in a folder that the user doesn't trust: hooks, agents and servers there are off."""
TRUST_OPTION = "--trust"
"""Of `codex exec`, since 0.169: trust the folder and go on."""
TRUSTED_EVENTS = {
    "PreToolUse": "pre_tool_use", "PostToolUse": "post_tool_use", "SubagentStart": "subagent_start",
    "SubagentStop": "subagent_stop", "Stop": "stop", "SessionStart": "session_start", "SessionEnd": "session_end",
    "UserPromptSubmit": "user_prompt_submit",
}  # fmt: skip
"""What its settings call the events of hooks that were trusted."""

# --- the stream of `codex exec --json` -------------------------------------------------------------------------------

OPERATIONS = {
    "command_execution": "run",
    "file_change": "write",
    "collab_tool_call": "delegate",
    "mcp_tool_call": "other",
    "web_search": "read",
}
"""The types of items that are uses of tools."""
FAILED = frozenset({"failed", "declined"})
"""The states of such an item that failed."""
BYPASS_OPTION = "--dangerously-bypass-approvals-and-sandbox"
