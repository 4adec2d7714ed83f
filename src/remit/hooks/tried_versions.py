"""Harness versions: the releases that Remit's tests ran with, and the one that is installed.

Which they are stands in `remit.harnesses`. The pins of `make agents` are among them, which a test asserts.
"""

from __future__ import annotations

import re

from remit.harnesses import claude, codex, gemini, opencode
from remit.storage.machine import run_program

TRIED = {"claude": claude.TRIED, "codex": codex.TRIED, "opencode": opencode.TRIED, "gemini": gemini.TRIED}
UNPROTECTED_HINT = "use opencode 1, or have Remit start the agents: remit run --runner opencode"
_SECONDS = 15.0
_NUMBER = re.compile(r"\d+(?:\.\d+)+[\w.+-]*")


def ask_version(program: str, *, seconds: float = _SECONDS) -> str:
    """The version that a harness prints; empty if it prints none in time."""
    answer = run_program([program, "--version"], seconds=seconds)
    return read_version(answer.text) if answer.code == 0 else ""


def read_version(text: str) -> str:
    """The first version number in what a harness prints, after the warnings that Codex may print before it."""
    lines = [line for line in text.splitlines() if not line.startswith("WARNING")]
    found = _NUMBER.search("\n".join(lines))
    return found[0] if found else ""


def describe_untried(name: str, version: str) -> list[str]:
    """A sentence that says that a release was not tried; nothing if it was, or the version is unknown."""
    if not version or version in TRIED[name]:
        return []
    if name == "opencode" and opencode.loads_plugin(version) is False:
        return [describe_unprotected(version)]
    return [f"{name} {version} was not tried with this Remit (tried: {', '.join(TRIED[name])})"]


def describe_unprotected(version: str) -> str:
    """A sentence that says that a release of opencode does not load Remit's plugin."""
    return f"opencode {version} does not load Remit's plugin: its subagents are not checked"
