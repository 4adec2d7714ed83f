"""Messages: where a command gets its text from.

Owns the choice between files that were named and standard input, and what standard input is called in answers.
"""

from __future__ import annotations

import sys

from remit.errors import UsageError
from remit.terminal import write

STDIN = "<stdin>"


def choose_sources(files: tuple[str, ...], *, command: str) -> tuple[str, ...]:
    """Where the messages come from; standard input, unless somebody sits there who does not know it."""
    if files.count("-") > 1:
        raise UsageError("standard input can be read only once", hint="give - once")
    if sys.stdin is None and (not files or "-" in files):
        raise UsageError("standard input is closed", hint="name a FILE, or pipe a message in")
    if not files and sys.stdin.isatty():
        example = f"remit {command} MESSAGE.md"
        raise UsageError("no message to read", hint=f"name a file ({example}), or pipe a message in")
    return files or ("-",)


def name_source(source: str) -> str:
    """What a source is called in answers."""
    return STDIN if source == "-" else source


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
