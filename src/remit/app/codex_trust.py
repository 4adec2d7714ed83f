"""Codex's trust: what a person has told Codex to trust in a workspace, read from their own settings.

Owns reading it. Codex calls the hooks of a repository only where the folder is trusted and each hook was, as it is;
Remit never writes that, because it is the person's consent.
"""

from __future__ import annotations

import json
import os
from typing import Any, NamedTuple

from remit.app.harnesses import CODEX
from remit.errors import RemitError

_MAX_BYTES = 4 * 1024 * 1024
_EVENTS = {"PreToolUse": "pre_tool_use", "PostToolUse": "post_tool_use", "SubagentStart": "subagent_start",
           "SubagentStop": "subagent_stop", "Stop": "stop", "SessionStart": "session_start",
           "SessionEnd": "session_end", "UserPromptSubmit": "user_prompt_submit"}  # fmt: skip


class CodexTrust(NamedTuple):
    """The folders that are trusted above a workspace or at it, and the hashes of the hooks that were."""

    folders: tuple[str, ...] = ()
    hooks: tuple[tuple[str, str], ...] = ()

    def covers(self, event: str, root: str) -> bool:
        """Whether any hook of an event was trusted once; only Codex knows whether it still is what it was."""
        start = f"{root}/{CODEX}:{_EVENTS.get(event, event)}:"
        return any(key.startswith(start) for key, _ in self.hooks)


def load_trust(root: str) -> CodexTrust:
    """What the person has told Codex to trust of a workspace; nothing where their settings cannot be read."""
    import tomllib  # noqa: PLC0415 - only for this

    from remit.workspace.files import load_bytes  # noqa: PLC0415

    folder = os.environ.get("CODEX_HOME") or os.path.expanduser("~/.codex")  # noqa: PTH111 - pathlib costs 8 ms
    try:
        table: dict[str, Any] = tomllib.loads(load_bytes(f"{folder}/config.toml", max_bytes=_MAX_BYTES).decode())
    except (RemitError, ValueError, RecursionError):
        return CodexTrust()
    projects, hooks = _get(table, "projects"), _get(_get(table, "hooks"), "state")
    folders = [name for name in projects if _get(projects, name).get("trust_level") == "trusted"]
    keys = {key: _get(hooks, key).get("trusted_hash") for key in hooks if key.startswith(f"{root}/{CODEX}:")}
    return CodexTrust(
        tuple(name for name in folders if name == root or root.startswith(f"{name.rstrip('/')}/")),
        tuple((key, value) for key, value in keys.items() if isinstance(value, str)),
    )


def _get(table: dict[str, Any], key: str) -> dict[str, Any]:
    value = table.get(key)
    return value if isinstance(value, dict) else {}


def render_trusted(trust: CodexTrust) -> str:
    """The same as settings of Codex's, for a home that is thrown away."""
    folders = [f'\n[projects.{json.dumps(name)}]\ntrust_level = "trusted"\n' for name in trust.folders]
    hooks = [f"\n[hooks.state.{json.dumps(key)}]\ntrusted_hash = {json.dumps(value)}\n" for key, value in trust.hooks]
    return "".join((*folders, *hooks))
