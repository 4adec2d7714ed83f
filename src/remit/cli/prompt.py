"""Asking: one question on a terminal.

Owns when somebody can be asked at all. Where nobody sits, nothing waits.
"""

from __future__ import annotations

import sys

from remit.terminal import write


def can_ask() -> bool:
    """Whether a person reads the output and can answer."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))


def ask(question: str, *, default: bool) -> bool:
    """Ask once; an empty answer is the one in capitals, no answer at all is no."""
    write(f"{question} [{'Y/n' if default else 'y/N'}] ", stream=sys.stdout)
    answer = sys.stdin.readline(100)
    if not answer:
        write("\n", stream=sys.stdout)
        return False
    word = answer.strip().lower()
    return default if not word else word in ("y", "yes")
