"""The runners by name."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from remit.errors import RunnerError
from remit.harnesses import claude, codex, gemini, opencode
from remit.spelling import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from remit.runners.protocol import Runner

RUNNERS = {
    "command": "CommandRunner",
    "claude": "ClaudeRunner",
    "opencode": "OpencodeRunner",
    "codex": "CodexRunner",
    "gemini": "GeminiRunner",
    "python": "PythonRunner",
}
"""The class of each; its module has its name."""


STATE_PLACES = {
    "claude": claude.STATE_PLACES,
    "opencode": opencode.STATE_PLACES,
    "codex": codex.STATE_PLACES,
    "gemini": gemini.STATE_PLACES,
}
"""The files and folders that each harness has to write while it runs, also when it is confined."""


def get_runner(name: str, own: Mapping[str, str] | None = None) -> Runner:
    """Return a runner by its name. `own`: those that the workspace has set up, and what each of them is."""
    kind = (own or {}).get(name, name)
    if kind not in RUNNERS:
        known = tuple(dict.fromkeys((*RUNNERS, *(own or {}))))
        raise RunnerError(f"there is no runner '{name}'", hint=did_you_mean(name, known))
    runner: Runner = getattr(import_module(f"remit.runners.{kind}"), RUNNERS[kind])()
    return runner
