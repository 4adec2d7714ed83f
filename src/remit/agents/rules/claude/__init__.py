"""Rules on Claude Code's agents: what it drops, what it ignores without a word, what it reads otherwise.

A module per subject. What is said of Claude Code was seen in version 2.1. What all of them ask is here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.harnesses import claude

if TYPE_CHECKING:
    from remit.agents.document import AgentDocument
    from remit.agents.profiles import Profile

CLAUDE: tuple[Profile, ...] = ("claude",)
RESTRICTIONS = {
    "allowed-tools": "tools", "allowedTools": "tools", "allowed_tools": "tools",
    "permission": "tools", "disallowed-tools": "disallowedTools", "disallowed_tools": "disallowedTools",
    "deniedTools": "disallowedTools", "denied-tools": "disallowedTools", "denied_tools": "disallowedTools",
}  # fmt: skip
"""Other programs' names of the keys that say what an agent may use."""


def is_own_folder(document: AgentDocument) -> bool:
    """Whether it lies in `.claude/agents`; any other `agents` folder is taken for that of a plugin."""
    return claude.FOLDER in document.path.split("/")
