"""Harnesses: the names, files and formats of each harness, one module per harness.

These modules contain every name and format that a new release of a harness may change, with small functions that read
them, so that a change of a harness is a change of one file. Hooks load them on every tool call, so they import next to
nothing.
"""

HOOKED = ("claude", "codex", "opencode")
"""The harnesses that call `remit hook NAME`."""
SESSION_VARIABLES = ("CLAUDECODE", "CLAUDE_CODE_", "CLAUDE_ENV_FILE", "CODEX_", "OPENCODE", "GEMINI_CLI")
"""How the variables begin that harnesses set for the programs of one session."""
