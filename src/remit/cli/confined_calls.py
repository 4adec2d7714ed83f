"""Forwarding: a command of a confined agent, carried out by the process that drives its run."""

from __future__ import annotations

import os

from remit.commands import find_command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

SOCKET = "REMIT_SOCKET"


def is_forwarded(words: Sequence[str]) -> bool:
    """Whether a command is carried out outside of the confinement."""
    entry = find_command(words)
    return entry is not None and entry.is_forwarded and {"-h", "--help"}.isdisjoint(words)


def forward(words: Sequence[str]) -> int:
    """Have a command carried out; its exit code. A file that it reads is opened here, inside of the confinement."""
    from remit.attempts.confined_calls import send_call

    at = next((at for at, word in enumerate(words) if at > 1 and not word.startswith("-")), 0)
    file = words[at] if [*words[:2]] == ["return", "submit"] and at and words[at - 1] != "--output-format" else ""
    if file:
        words = [*words[:at], "-", *words[at + 1 :]]
    return send_call(os.environ[SOCKET], words, os.environ.get("REMIT_TICKET", ""), file=file)
