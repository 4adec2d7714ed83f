"""Runner registry: the runners by name, and the folders that each harness writes to."""

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
"""The class of each runner. The module has the runner's name."""


STATE_PLACES = {
    "claude": claude.STATE_PLACES,
    "opencode": opencode.STATE_PLACES,
    "codex": codex.STATE_PLACES,
    "gemini": gemini.STATE_PLACES,
}
"""The files and folders that each harness has to write while running, even if it is confined."""


def get_runner(name: str, own: Mapping[str, str] | None = None) -> Runner:
    """Return a runner by its name. `own`: the workspace's own runners, each with the runner that it is based on."""
    kind = (own or {}).get(name, name)
    if kind not in RUNNERS:
        known = tuple(dict.fromkeys((*RUNNERS, *(own or {}))))
        raise RunnerError(f"there is no runner '{name}'", hint=did_you_mean(name, known))
    runner: Runner = getattr(import_module(f"remit.runners.{kind}"), RUNNERS[kind])()
    return runner
