"""Tool names: the standard's name and the operation of each tool of a harness."""

from __future__ import annotations

from remit.harnesses import claude, codex, opencode

_NAMES = {
    **claude.TOOLS,
    **codex.TOOLS,
    **opencode.TOOLS,
}
KNOWN = frozenset(_NAMES)
"""The tools of harnesses whose input Remit knows."""
OPERATIONS = {"write": "write", "edit": "write", "bash": "run", "read": "read", "grep": "read", "glob": "read"}


def get_name(tool: str) -> str:
    """Return the standard's name of a tool; its own name if the standard has none."""
    return _NAMES.get(tool, tool)


def get_operation(tool: str) -> str:
    """Return the operation of a tool, as runners name it."""
    name = get_name(tool)
    is_delegating = tool in (*claude.DELEGATING, opencode.DELEGATING) or codex.split_tool(tool)[1] == codex.SPAWN
    return "delegate" if is_delegating else OPERATIONS.get(name, "other")
