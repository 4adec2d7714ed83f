"""Input of commands: messages from files or standard input, and the user's answer to a question on the terminal."""

from __future__ import annotations

import sys

from remit.errors import UsageError
from remit.terminal import write

STDIN = "<stdin>"


def choose_sources(files: tuple[str, ...], *, command: str) -> tuple[str, ...]:
    """Return the files to read, or `-` for standard input; refuse to wait for input from a terminal."""
    if files.count("-") > 1:
        raise UsageError("standard input can be read only once", hint="give - once")
    if sys.stdin is None and (not files or "-" in files):
        raise UsageError("standard input is closed", hint="name a FILE, or pipe a message in")
    if not files and sys.stdin.isatty():
        example = f"remit {command} MESSAGE.md"
        raise UsageError("no message to read", hint=f"name a file ({example}), or pipe a message in")
    return files or ("-",)


def name_source(source: str) -> str:
    """Return the name of a source in output."""
    return STDIN if source == "-" else source


def can_ask() -> bool:
    """Return whether standard input and output are terminals, so that a user can answer."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))


def ask(question: str, *, default: bool) -> bool:
    """Ask a yes-or-no question once. An empty line means the default, and the end of input means no."""
    write(f"{question} [{'Y/n' if default else 'y/N'}] ", stream=sys.stdout)
    answer = sys.stdin.readline(100)
    if not answer:
        write("\n", stream=sys.stdout)
        return False
    word = answer.strip().lower()
    return default if not word else word in ("y", "yes")
