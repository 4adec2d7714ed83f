"""Rules on opencode's agents: what keeps it from starting, what it sends to the provider, what it reads otherwise.

A module per subject. What is said of opencode was seen in version 1.18: one value of the wrong type in one agent's
file, and it does not start at all. What all of them ask is here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.harnesses import opencode

if TYPE_CHECKING:
    from remit.agents.document import AgentDocument
    from remit.agents.profiles import Profile

OPENCODE: tuple[Profile, ...] = ("opencode",)
RESTRICTIONS = (
    "permissions", "permissionMode", "allowed-tools", "allowedTools", "allowed_tools", "disallowedTools",
    "disallowed-tools", "disallowed_tools", "deny", "allow",
)  # fmt: skip
"""Other programs' names of the key that says what an agent may do."""
STOPS = "opencode doesn't start"
EDITS = opencode.EDITING_TOOLS
"""Names of tools under which opencode looks for no permission."""


def is_read(document: AgentDocument, pointer: str) -> bool:
    """Whether a table that is none can be told to be so: where the YAML is broken, a table is read as a text."""
    found = document.frontmatter
    return found is not None and (found.whole or not isinstance(document.values.get(pointer[1:]), str))
