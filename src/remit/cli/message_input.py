"""Messages: where a command gets its text from.

Owns the choice between files that were named and standard input, and what standard input is called in answers.
"""

from __future__ import annotations

import sys

from remit.errors import UsageError

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
