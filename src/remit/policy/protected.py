"""Protected: the places that decide what agents may do, and that agents therefore do not write to or even read.

Owns the lists. They hold whatever an agent's own file allows; the caller puts the first into the ground that calls are
judged on, and may add to it.
"""

from __future__ import annotations

PROTECTED = (
    # Remit's own
    "**/remit.toml",
    "**/.remit",
    "**/.remit/**",
    # agent files, wherever they are looked for
    "**/agents/**/*.md",
    "**/.claude/agents/**",
    "**/.claude/commands/**",
    "**/.opencode/agent/**",
    "**/.opencode/agents/**",
    "**/.opencode/command/**",
    "**/.opencode/commands/**",
    "**/.codex/agents/**",
    # Claude Code's
    ".claude/hooks/**",
    ".claude/skills/**",
    ".claude/plugins/**",
    ".claude/settings*.json",
    ".claude-plugin/**",
    ".mcp.json",
    # opencode's
    ".opencode/plugin/**",
    ".opencode/plugins/**",
    ".opencode/tool/**",
    ".opencode/tools/**",
    ".opencode/opencode.json",
    ".opencode/opencode.jsonc",
    "opencode.json",
    "opencode.jsonc",
    # Codex's
    ".codex/**",
    # what git runs and is told by
    ".git/hooks/**",
    ".git/config",
    ".git/config.worktree",
    # the user's own settings of all of them
    "~/.claude/agents/**",
    "~/.claude/commands/**",
    "~/.claude/hooks/**",
    "~/.claude/skills/**",
    "~/.claude/plugins/**",
    "~/.claude/settings*.json",
    "~/.claude/shell-snapshots/**",
    "~/.claude/session-env/**",
    "~/.claude/projects/**",
    "~/.claude.json",
    "~/.codex/**",
    "~/.config/opencode/**",
    "~/.config/remit/**",
)
"""Patterns of paths, relative to the root or to the home folder."""

SECRET = ("**/.remit/server.json",)
"""What no agent reads either: it has the token of the server in it, by which people hand work on."""
