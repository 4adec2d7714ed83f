"""Profiles: chooses which rules apply to an agent file.

Has the keys of the standard and of command files. The keys, tools and folders of harnesses are in `remit.harnesses`. A
file with the structure of the standard is checked by its rules in every folder, so that a missing `version` or
`agent_type` is reported. Any other file is checked by the rules of its folder.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from remit.harnesses import claude, codex, opencode

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

Profile = Literal["standard", "claude", "opencode", "codex", "command"]
PROFILES: tuple[Profile, ...] = ("standard", "claude", "opencode", "codex", "command")

KINDS = ("planning", "implementation", "research", "review", "utility")
"""The values of `agent_type`."""
TOOLS = ("read", "write", "edit", "bash", "grep", "glob")
"""The tools of the standard."""
STATUS_SYNC, GIT_WORKFLOW, TASK_NUMBERER = "status-sync-manager", "git-workflow-manager", "atomic-task-numberer"
UTILITY_AGENTS = frozenset({STATUS_SYNC, GIT_WORKFLOW, TASK_NUMBERER})
"""The utility agents of the standard. Remit provides those without a file in the project (R1.18, D1)."""
TIMEOUTS_S = {"research": 3600, "planning": 1800, "implementation": 7200, "review": 3600, "utility": 300}
"""The default timeout of each type of agent (R2.6)."""
DEFAULT_TIMEOUT_S = 3600
CONTEXT_BUDGETS = {"lazy": 50_000, "eager": 100_000, "minimal": 10_000}
"""Maximum bytes of context for each strategy (R1.4)."""

STANDARD_KEYS = (
    "name", "version", "description", "mode", "agent_type", "temperature", "max_tokens", "timeout", "tools",
    "permissions", "context_loading", "delegation", "lifecycle", "owner", "retry", "return", "checks",
    "data_schema", "model",
)  # fmt: skip
"""The keys of the standard, and Remit's own: `owner` (C19), `retry` and `return`."""
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
    """Return the harness whose folder contains a path. Plugins of Claude Code use a plain `agents` folder."""
    parts = path.split("/")[:-1]
    within = f"/{'/'.join(parts)}/"
    for folders, profile in _PLACES:
        if any(f"/{folder}/" in within for folder in folders):
            return profile
    return "claude" if "agents" in parts else None


def is_read_by_claude(path: str) -> bool:
    """Whether Claude Code loads a file at this path, regardless of its profile."""
    return find_place(path) == "claude" and claude.FOLDER in path.split("/")


def choose_profile(path: str, values: Mapping[str, Any], sections: Collection[str] = ()) -> Profile:
    """Return the profile of a file, by its folder, the keys of its frontmatter and the sections of its body."""
    if path.endswith(".toml"):
        return "codex"
    place = find_place(path)
    is_subagent = "agent_type" in values or values.get("mode") == "subagent"
    if place == "command" or (place is None and "workflow_execution" in sections and not is_subagent):
        return "command"
    if _follows_standard(path, values, sections):
        return "standard"
    if place is not None:
        return place
    if len(_STANDARD_ONLY.intersection(values)) > 1:
        return "standard"
    return "claude" if _OPENCODE_ONLY.isdisjoint(values) else "opencode"


_OPENCODE_ONLY = frozenset({"mode", "permission", "temperature", "top_p", "steps", "maxSteps", "disable", "hidden"})
_STANDARD_ONLY = frozenset(STANDARD_KEYS) - {"name", "description", "tools", "model", "mode", "temperature"}
"""Keys of no harness. Outside of harness folders, they show that a file follows the standard."""
_SIGNS = ("agent_type", "context_loading", "delegation", "lifecycle")
"""Keys that only the standard has. Other projects also use `version`, `timeout` and `permissions`."""
_SECTIONS = frozenset({
    "inputs_required", "inputs_forbidden", "process_flow", "delegation_patterns", "artifact_creation", "return_format",
    "quality_standards", "error_handling",
})  # fmt: skip
"""Sections of the standard. Older opencode agents have two of them, too."""
_STANDARD_FOLDER = "/agent/subagents/"
"""The standard's folder of agents, in `.opencode`."""


def _follows_standard(path: str, values: Mapping[str, Any], sections: Collection[str]) -> bool:
    """Whether a file follows the standard, with or without `version` and `agent_type`.

    Elsewhere, two of the standard's own keys are needed, or one of them and two sections, because a file with sections
    only may be compiled for a harness. In the standard's own folder, one key or three sections are enough.
    """
    if "agent_type" in values and "version" in values:
        return True
    if values.get("mode") in ("primary", "all"):
        return False
    permissions = values.get("permissions")
    has_lists = isinstance(permissions, dict) and ("allow" in permissions or "deny" in permissions)
    keys = sum(key in values for key in _SIGNS) + has_lists
    signs = keys + len(_SECTIONS.intersection(sections))
    if _STANDARD_FOLDER in f"/{path}":
        return keys > 0 or signs > 2  # noqa: PLR2004 - see above
    return keys > 1 or (keys == 1 and signs > 2)  # noqa: PLR2004
