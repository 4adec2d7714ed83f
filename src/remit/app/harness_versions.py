"""Harness versions: the releases that Remit's tests ran with, and the one that is installed.

Owns the list. The pins of `make agents` are among them, which a test asserts.
"""

from __future__ import annotations

import re

from remit.workspace.machine import ask_program

TRIED = {
    "claude": ("2.1.197", "2.1.326"),
    "codex": ("0.166.0", "0.169.0"),
    "opencode": ("1.18.33",),
    "gemini": ("0.61.0",),
}
_SECONDS = 15.0
_NUMBER = re.compile(r"\d+(?:\.\d+)+[\w.+-]*")


def ask_version(program: str, *, seconds: float = _SECONDS) -> str:
    """The version that a harness prints; empty if it prints none in time."""
    answer = ask_program([program, "--version"], seconds=seconds)
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
    return [f"{name} {version} was not tried with this Remit (tried: {', '.join(TRIED[name])})"]
