"""opencode: what it calls things and where it puts them, in its plugins and its stream.

Owns every name and shape of opencode that Remit relies on. The plugin (`harness_files/opencode/remit.js`) turns its
events into the shape of Claude Code's. Hooks load this on every tool call, so it imports nothing.
"""

from __future__ import annotations

TRIED = ("1.18.33",)
"""The releases that the harness tests have passed with."""
PACKAGE = "opencode-ai"
FOLDER_VARIABLE = "OPENCODE_CONFIG_DIR"
"""The variable that names the folder of its settings."""
LAST_MAJOR = 1
"""The last major version that loads Remit's plugin: the plugins of opencode 1 do not run in opencode 2."""

DELEGATING = "task"
"""The tool that starts a subagent."""
DEFAULT_AGENT = "general"
"""The agent that a call without a name starts."""
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
"""What its tools do, as the runners call it."""


def loads_plugin(version: str) -> bool | None:
    """Whether a release loads Remit's plugin, by what `opencode --version` says; None if that can't be read."""
    digits = version.strip().removeprefix("v").partition(".")[0]
    return int(digits) <= LAST_MAJOR if digits.isascii() and digits.isdecimal() else None
