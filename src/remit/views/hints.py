"""Hints for interfaces other than the command line: what an HTTP client or a model can do instead of a command.

An error has one hint. If the hint names a command, HTTP and MCP get the operation or the tool that does the same, from
this table.
"""

from __future__ import annotations

from typing import Literal

from remit.lazy_regex import lazy

Interface = Literal["cli", "http", "mcp"]

_COMMAND = lazy(r"\bremit (?P<command>[a-z]+)(?: (?P<part>[a-z-]+))?")
_OPTION = lazy(r"(?<![\w-])--(?P<option>[a-z][a-z-]*)")
_USER = "ask the user to fix this on the command line"
_INSTEAD: dict[str, dict[Interface, str]] = {
    "ps": {"http": "GET /api/v1/runs lists all runs", "mcp": "the tool status lists all runs with all: true"},
    "run": {"http": "POST /api/v1/runs starts a run", "mcp": "the tool delegate starts a run"},
    "show": {"http": "GET /api/v1/runs/{id} shows a run", "mcp": "the tool result shows a run"},
    "wait": {"http": "GET /api/v1/runs/{id} shows a run", "mcp": "the tool result waits with wait_seconds"},
    "logs": {"http": "GET /api/v1/runs/{id}/log has its output", "mcp": "the tool result has part: answer"},
    "cancel": {"http": "POST /api/v1/runs/{id}/cancel ends a run", "mcp": "the tool cancel ends a run"},
    "retry": {"http": "POST /api/v1/runs/{id}/retry repeats a run", "mcp": "the tool delegate starts a new run"},
    "resume": {
        "http": "POST /api/v1/runs/{id}/resume continues it",
        "mcp": "the tool delegate starts a new run",
    },
    "task list": {"http": "GET /api/v1/tasks lists the tasks", "mcp": "state.json and TODO.md list the tasks"},
    "task show": {"http": "GET /api/v1/tasks/{number} shows a task", "mcp": "the tool task_show shows a task"},
    "task set-status": {"http": "POST /api/v1/tasks/{number}/move does it", "mcp": "the tool task_move does it"},
    "findings list": {"http": "GET /api/v1/manifest lists the findings", "mcp": "the tool find_findings lists them"},
    "findings show": {"http": "GET /api/v1/manifest/{id} shows a finding", "mcp": "read remit://findings/{id}"},
    "findings add": {"mcp": "the tool add_finding adds a finding"},
    "errors list": {"http": "GET /api/v1/errors lists the errors"},
    "errors show": {"http": "GET /api/v1/errors lists the errors"},
    "agent list": {
        "http": "GET /api/v1/agents lists the agents",
        "mcp": "the resources remit://agents/… are the agents",
    },
    "lint": {"http": "POST /api/v1/lint checks agent files", "mcp": "the tool lint checks agent files"},
    "checks": {"http": "GET /api/v1/checks lists the checks", "mcp": "the tool checks runs them"},
    "check": {"http": "POST /api/v1/check checks a message", "mcp": "the tool check_return checks a message"},
    "return submit": {"mcp": "the tool submit_return submits a return"},
}
_FIELDS = {
    "input": "inputs", "check": "checks", "runner": "runner", "command": "runner", "task": "task", "timeout": "timeout",
    "format": "format", "return-format": "return_format", "worktree": "worktree", "confine": "confine",
    "max-seconds": "max_seconds", "max-turns": "max_turns", "max-tokens": "max_tokens", "max-usd": "max_usd",
    "max-delegations": "max_delegations",
}  # fmt: skip
"""The options that HTTP and MCP have as fields of a request."""


def fit_hint(hint: str, interface: Interface) -> str:
    """The hint for an interface: unchanged, unless it names a command or an option and the interface has none."""
    if interface == "cli":
        return hint
    command, option = _COMMAND.search(hint), _OPTION.search(hint)
    if command is not None:
        found = _INSTEAD.get(f"{command['command']} {command['part']}") or _INSTEAD.get(command["command"], {})
        return found.get(interface, _USER)
    if option is None:
        return hint
    return f"set the field {_FIELDS[option['option']]}" if option["option"] in _FIELDS else _USER
