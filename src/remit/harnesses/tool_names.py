"""The tools of all harnesses by the standard's names, and what they do."""

from __future__ import annotations

from remit.harnesses import claude, codex, opencode

_NAMES = {
    **claude.TOOLS,
    **codex.TOOLS,
    **opencode.TOOLS,
}
KNOWN = frozenset(_NAMES)
"""The tools of harnesses whose input is understood here."""
OPERATIONS = {"write": "write", "edit": "write", "bash": "run", "read": "read", "grep": "read", "glob": "read"}


def get_name(tool: str) -> str:
    """Return the standard's name of a tool; of one that it has none for, its own."""
    return _NAMES.get(tool, tool)


def get_operation(tool: str) -> str:
    """Return what a tool does, as the runners call it."""
    name = get_name(tool)
    is_delegating = tool in (*claude.DELEGATING, opencode.DELEGATING) or codex.split_tool(tool)[1] == codex.SPAWN
    return "delegate" if is_delegating else OPERATIONS.get(name, "other")
