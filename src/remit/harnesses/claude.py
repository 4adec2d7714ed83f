"""Claude Code: what it calls things and where it puts them, in its hooks, its notifications and its stream.

Owns every name and shape of Claude Code that Remit relies on, and tiny readers of them. A new release changes this file
and nothing else. Hooks load it on every tool call, so it imports nothing. Names are compared by their end where
releases have put prefixes in front, and fields are read by presence, never by order or absence.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

TRIED = ("2.1.197", "2.1.326")
"""The releases that the harness tests have passed with: the oldest and the newest."""
PACKAGE = "@anthropic-ai/claude-code"

# --- hooks -----------------------------------------------------------------------------------------------------------

DELEGATING = ("Agent", "Task")
"""The tool that starts a subagent; `Task` in older releases."""
DEFAULT_AGENT = "general-purpose"
"""The agent that a call without a name starts."""
AGENT_KEY, PROMPT_KEY, BACKGROUND_KEY = "subagent_type", "prompt", "run_in_background"
"""The input of that tool. Since 2.1.198 a call that doesn't say is in the background; `background: true` in the agent's
file and a terminal overrule what the call says."""
RETURNING = {"StructuredOutput": "", "SubagentHandback": "message"}
"""Tools whose input is the return: the key that the text is under, or "" if the whole input is the return.

`StructuredOutput` ends an agent of a `Workflow` that has a schema, and a block at SubagentStop is ignored then.
`SubagentHandback` (auto mode, since 2.1.278) ends an agent and delivers its message before SubagentStop."""
SENDING = ("SendMessage",)
"""Tools that send a message to another agent or session."""
RECIPIENT_KEYS = ("to", "id", "agent_id")
MAIN_RECIPIENT = "main"
"""The recipient that is the session itself."""
TOOLS = {
    "Bash": "bash", "Monitor": "bash", "PowerShell": "bash", "REPL": "bash",
    "Read": "read", "NotebookRead": "read", "LS": "read",
    "Write": "write",
    "Edit": "edit", "MultiEdit": "edit", "NotebookEdit": "edit",
    "Grep": "grep", "Glob": "glob", "WebFetch": "webfetch", "WebSearch": "websearch",
}  # fmt: skip
"""The standard's names of its tools."""
FOLDER_VARIABLE = "CLAUDE_CONFIG_DIR"
"""The variable that names the folder of its settings."""


def is_terminal(environ: Mapping[str, str]) -> bool:
    """Whether a session is one in which a user types, by the environment of its hooks."""
    return environ.get("CLAUDE_CODE_ENTRYPOINT") == "cli"


def get_transcript(main: str, agent_id: str) -> str:
    """The file in which it keeps what a subagent says, beside the transcript of the session."""
    return f"{main.removesuffix('.jsonl')}/subagents/agent-{agent_id}.jsonl"


def get_note(transcript: str) -> str:
    """The file beside a subagent's transcript that names the call which started it."""
    return f"{transcript.removesuffix('.jsonl')}.meta.json"


NOTE_CALL = "toolUseId"
AGENT_ID_KEY = "agentId"
"""In that note: the call. In the response of the tool that starts a subagent: the id that the subagent has in hooks."""


def is_launched(response: Mapping[str, Any]) -> bool:
    """Whether a subagent runs on in the background, so that its answer comes by a notification."""
    return response.get("isAsync") is True or response.get("status") == "async_launched"


def read_answer(response: Mapping[str, Any]) -> str | None:
    """The words of a subagent in the tool's response, without the harness's own notes; None if there are none.

    A hand-back's words are under a key of their own, and `content` only says that they were delivered.
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
    """The tool's response with another text in it, and without counts that are of the old one."""
    kept = {key: value for key, value in response.items() if not key.startswith(("harness", "handback"))}
    return {**kept, "content": [{"type": "text", "text": text}]}


def read_tokens(response: Mapping[str, Any]) -> int | None:
    """What a subagent has used, by the response of the tool that started it."""
    tokens = response.get("totalTokens")
    return tokens if type(tokens) is int and 0 <= tokens < 1 << 60 else None


def read_tool_count(response: Mapping[str, Any]) -> int | None:
    """How many tools a subagent has used, by the same."""
    count = response.get("totalToolUseCount")
    return count if type(count) is int else None


def read_return(tool: str, tool_input: Mapping[str, Any]) -> object:
    """What a returning tool returns: a text, or the whole input."""
    key = RETURNING[tool]
    return tool_input.get(key) if key else dict(tool_input)


def _get_count(response: Mapping[str, Any], key: str) -> int:
    count = response.get(key)
    return count if type(count) is int and count > 0 else 0


# --- notifications: the prompt of a UserPromptSubmit -----------------------------------------------------------------


class Notice:
    """One task that a prompt brings news of."""

    __slots__ = ("answer", "is_agent", "task_id", "tokens")

    def __init__(self, task_id: str, *, is_agent: bool, answer: str | None = None, tokens: int | None = None) -> None:
        self.task_id = task_id
        """Of a subagent, the id that it has in hooks."""
        self.is_agent = is_agent
        """Whether it is a subagent for sure: commands and workflows send notifications, too."""
        self.answer = answer
        """Its last words; None if they aren't there."""
        self.tokens = tokens


_MAX_DIGITS = 17


def is_notice(prompt: str) -> bool:
    """Whether a prompt is one that the harness wrote to bring news of a background task or of another agent."""
    return "<task-notification>" in prompt or "<agent-message" in prompt


def read_notices(prompt: str) -> list[Notice]:
    """The tasks that a prompt brings news of, in its order."""
    found = []
    for piece in prompt.split("<task-notification>")[1:]:
        head, _, rest = piece.partition("<result>")
        answer, closed, tail = rest.rpartition("</result>")
        digits = _cut(tail, "<subagent_tokens>", "</subagent_tokens>")
        tokens = int(digits) if digits.isascii() and digits.isdecimal() and len(digits) <= _MAX_DIGITS else None
        task_id = _cut(head, "<task-id>", "</task-id>")
        is_agent = bool(digits) and "<agent_count>" not in tail  # which a workflow of several has
        found.append(Notice(task_id, is_agent=is_agent, answer=answer if closed else None, tokens=tokens))
    for piece in prompt.split("<agent-message")[1:]:
        task_id = _cut(piece.partition(">")[0], 'from="', '"')
        found.append(Notice(task_id, is_agent="[Subagent hand-back]" in piece))
    return [each for each in found if each.task_id]


def _cut(text: str, begin: str, end: str) -> str:
    """What stands between two marks; empty if they aren't there."""
    _, found, rest = text.partition(begin)
    inner, closed, _ = rest.partition(end)
    return inner.strip() if found and closed else ""


# --- the stream of `claude -p --output-format=stream-json` -----------------------------------------------------------

RESULT_INPUT = ("inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")
RESULT_OUTPUT = ("outputTokens",)
RESULT_COST = "costUSD"
"""Of one model in `modelUsage`."""
LIVE_INPUT = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
LIVE_OUTPUT = ("output_tokens",)
"""Of one message, and of `usage` in a result."""
SINCE_LAST = "model_usage_since_last_result"
"""Since 2.1.311. Without it, `modelUsage` counts the whole session of the process; since 2.1.275 also what the
processes before it have used, if it resumes a session."""
RESULT_LIMITS = {"error_max_turns": "turns", "error_max_budget_usd": "budget"}
SYNTHETIC_MODEL = "<synthetic>"
"""The model of messages that the program writes itself."""
UNKNOWN_SESSION = "No conversation found"
SHELL_TASK = "local_bash"
"""The type of a command in the background. The program waits for those up to ten minutes, since 2.1.275."""
OPERATIONS = {
    **dict.fromkeys(("Read", "Grep", "Glob", "LSP", "NotebookRead", "WebFetch", "WebSearch"), "read"),
    **dict.fromkeys(("Write", "Edit", "MultiEdit", "NotebookEdit"), "write"),
    "Bash": "run",
    **dict.fromkeys(DELEGATING, "delegate"),
}
RETRIES_VARIABLE = "CLAUDE_CODE_MAX_RETRIES"
UPDATES_VARIABLE = "DISABLE_AUTOUPDATER"


def counts_earlier_runs(version: str) -> bool:
    """Whether `modelUsage` of a resumed session counts what earlier processes have used, by the program's version."""
    return _read_version(version) >= (2, 1, 275)


def list_task_types(record: Mapping[str, Any]) -> list[str]:
    """The types of the tasks that still run in the background, by a `background_tasks_changed` line."""
    tasks = record.get("tasks")
    found = [task.get("task_type") for task in tasks if isinstance(task, dict)] if isinstance(tasks, list) else []
    return [kind if isinstance(kind, str) else "" for kind in found]


def _read_version(text: str) -> tuple[int, ...]:
    """The numbers of a version; none for one that can't be read, which is less than any."""
    parts = text.split("-", maxsplit=1)[0].split(".")
    return tuple(int(part) for part in parts) if all(part.isdecimal() for part in parts) else ()
