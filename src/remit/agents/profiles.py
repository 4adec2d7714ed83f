"""Profiles: by which rules an agent file is judged.

Owns the keys of the standard and of command files, and the choice of the profile. Which keys and tools a harness knows
and where it keeps its agents is in `remit.harnesses`. A file that names its `agent_type` and its `version` follows the
standard wherever it lies; any other is judged by the rules of its place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from remit.harnesses import claude, codex, opencode

if TYPE_CHECKING:
    from collections.abc import Mapping

Profile = Literal["standard", "claude", "opencode", "codex", "command"]
PROFILES: tuple[Profile, ...] = ("standard", "claude", "opencode", "codex", "command")

KINDS = ("planning", "implementation", "research", "review", "utility")
"""What a standard agent is for: its `agent_type`."""
TOOLS = ("read", "write", "edit", "bash", "grep", "glob")
"""The tools of the standard."""
SERVICES = frozenset({"status-sync-manager", "git-workflow-manager", "atomic-task-numberer"})
"""Agents that are built in: valid targets of a delegation without a file."""
TIMEOUTS_S = {"research": 3600, "planning": 1800, "implementation": 7200, "review": 3600, "utility": 300}
"""How long an agent of each kind may take (R2.6)."""
DEFAULT_TIMEOUT_S = 3600
CONTEXT_BUDGETS = {"lazy": 50_000, "eager": 100_000, "minimal": 10_000}
"""How many bytes of context each strategy may load (R1.4)."""

STANDARD_KEYS = (
    "name", "version", "description", "mode", "agent_type", "temperature", "max_tokens", "timeout", "tools",
    "permissions", "context_loading", "delegation", "lifecycle", "owner", "retry", "return", "model",
)  # fmt: skip
"""The keys of the standard, and three of Remit's own: who settles (C19), whether to run again, which dialect."""
COMMAND_KEYS = (
    "name", "description", "agent", "model", "subtask", "argument-hint", "allowed-tools", "version", "mode",
    "command_type", "timeout", "context_level", "language", "routing", "context_loading", "delegation", "category",
    "created", "updated", "updated_by", "author", "tags", "disable-model-invocation",
)  # fmt: skip
KEYS: Mapping[Profile, tuple[str, ...]] = {
    "standard": STANDARD_KEYS,
    "claude": claude.FILE_KEYS,
    "opencode": opencode.FILE_KEYS,
    "codex": codex.FILE_KEYS,
    "command": COMMAND_KEYS,
}

_PLACES: tuple[tuple[tuple[str, ...], Profile], ...] = (
    *((claude.AGENT_FOLDERS, "claude"), (opencode.AGENT_FOLDERS, "opencode"), (codex.AGENT_FOLDERS, "codex")),
    *((claude.COMMAND_FOLDERS, "command"), (opencode.COMMAND_FOLDERS, "command")),
)


def find_place(path: str) -> Profile | None:
    """The harness to whose folder a path belongs; a plain `agents` folder is how Claude Code's plugins keep theirs."""
    parts = path.split("/")[:-1]
    within = f"/{'/'.join(parts)}/"
    for folders, profile in _PLACES:
        if any(f"/{folder}/" in within for folder in folders):
            return profile
    return "claude" if "agents" in parts else None


def is_read_by_claude(path: str) -> bool:
    """Whether Claude Code reads a file as it lies there, whatever rules it follows."""
    return find_place(path) == "claude" and claude.FOLDER in path.split("/")


def choose_profile(path: str, values: Mapping[str, Any], *, has_workflow: bool = False) -> Profile:
    """By which rules a file is judged; in no harness's folder, by what its keys tell."""
    if path.endswith(".toml"):
        return "codex"
    place = find_place(path)
    if place == "command" or (place is None and has_workflow and "agent_type" not in values):
        return "command"
    if _claims_standard(values):
        return "standard"
    if place is not None:
        return place
    if len(_STANDARD_ONLY.intersection(values)) > 1:
        return "standard"
    return "claude" if _OPENCODE_ONLY.isdisjoint(values) else "opencode"


_OPENCODE_ONLY = frozenset({"mode", "permission", "temperature", "top_p", "steps", "maxSteps", "disable", "hidden"})
_STANDARD_ONLY = frozenset(STANDARD_KEYS) - {"name", "description", "tools", "model", "mode", "temperature"}
"""Keys that no harness has: a file in no harness's folder that has some of them is meant to follow the standard."""


def _claims_standard(values: Mapping[str, Any]) -> bool:
    """Whether a file says what it is for and in which version; one of the two may be misspelt."""
    absent = [key for key in ("agent_type", "version") if key not in values]
    if len(absent) != 1:
        return not absent
    from difflib import get_close_matches  # noqa: PLC0415 - 8 ms, and few files have only one of them

    others = [key for key in values if key not in KEYS["claude"] and key not in STANDARD_KEYS]
    return bool(get_close_matches(absent[0], others, n=1, cutoff=0.8))
