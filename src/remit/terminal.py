"""Terminal: what may reach a screen, how wide it is there, and in which colour.

Owns the escaping of foreign text. An agent's text may hold control sequences, characters that turn the direction of
writing, and bytes that were no text at all; no line of output carries any of it raw. Nothing else writes colour codes.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, TextIO

from remit.errors import RemitError

if TYPE_CHECKING:
    from collections.abc import Iterable

TAB = "    "
"""A tab in an excerpt: of one width everywhere, so that carets line up."""

MAX_SHOWN = 400
"""Characters of a message that are shown; an agent can put a megabyte into a path that a message quotes."""

_DEFAULT_COLUMNS = 100
_MIN_COLUMNS = 40
_STYLES = {
    "error": "\x1b[1;31m",
    "warning": "\x1b[1;33m",
    "note": "\x1b[1;36m",
    "good": "\x1b[1;32m",
    "frame": "\x1b[1;34m",
    "strong": "\x1b[1m",
}
_RESET = "\x1b[0m"


class Paint:
    """Puts text into colour, or leaves it as it is."""

    def __init__(self, *, on: bool) -> None:
        self.on = on

    def __call__(self, style: str, text: str) -> str:
        """Text that is already escaped, in the colour of its role."""
        return f"{_STYLES[style]}{text}{_RESET}" if self.on and text else text


COLOR_CHOICES = ("auto", "always", "never")
_chosen = ["auto"]


def choose_color(when: str) -> None:
    """Set whether output has color: one of COLOR_CHOICES, which wins over the environment unless it is `auto`."""
    _chosen[0] = when


def wants_color(stream: TextIO | None) -> bool:
    """Whether a stream gets color: a terminal does, unless --color or the environment (no-color.org) says otherwise."""
    if _chosen[0] != "auto":
        return _chosen[0] == "always"
    env = os.environ
    if env.get("NO_COLOR"):
        return False
    if env.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return env.get("TERM") != "dumb" and stream is not None and stream.isatty()


def count_columns() -> int:
    """How wide the output is: what COLUMNS says, else the terminal, else enough for most screens."""
    named = os.environ.get("COLUMNS", "")
    if named.isascii() and named.isdigit() and int(named[:6]) > 0:
        return max(_MIN_COLUMNS, int(named[:6]))
    try:
        found = os.get_terminal_size(sys.__stdout__.fileno()).columns if sys.__stdout__ else 0
    except (OSError, ValueError):
        found = 0
    return max(_MIN_COLUMNS, found or _DEFAULT_COLUMNS)


def find_width() -> int | None:
    """How wide lines of prose may be; None where nobody has said, and no screen is there: a program reads them."""
    if os.environ.get("COLUMNS", "").isdigit() or (sys.stdout is not None and sys.stdout.isatty()):
        return count_columns()
    return None


def fold(text: str, room: int | None) -> list[str]:
    """A sentence that is already escaped, on as many lines as it needs; on one where there is room for any."""
    if room is None:
        return [text]
    lines: list[str] = []
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and sum(measure(longer)) <= room:
            lines[-1] = longer
        else:
            lines += [word[at : at + room] for at in range(0, len(word), room)] if word.isascii() else [cut(word, room)]
    return lines


def cut(text: str, columns: int) -> str:
    """A text that takes no more than so many columns."""
    if text.isascii() and len(text) <= columns:
        return text
    widths = measure(text)
    if sum(widths) <= columns:
        return text
    room, kept = columns - 1, 0
    for width in widths:
        if width > room:
            break
        room -= width
        kept += 1
    return f"{text[:kept]}…"


def is_visible(char: str) -> bool:
    """Return whether a character may be sent as it is: not a control, not invisible, not half of one.

    Spaces of other widths are harmless, and prose is full of them.
    """
    return char.isprintable() or (char.isspace() and char >= "\xa0" and char not in "\u2028\u2029")


def escape(text: str, *, keep: str = "") -> str:
    """Foreign text as it may be shown: what is not visible becomes `<U+001B>`.

    That form is nobody else's: an escape that the agent wrote as JSON stays what it is, and the two are told apart.
    """
    if text.isprintable():
        return text
    return "".join([char if char in keep else escape_char(char) for char in text])


def escape_char(char: str) -> str:
    """One character as it may be shown."""
    return char if is_visible(char) else f"<U+{ord(char):04X}>"


def shorten(text: str) -> str:
    """The beginning and the end of a text that is too long to be shown."""
    return text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN * 3 // 4]} … {text[-MAX_SHOWN // 4 :]}"


def quote(text: str) -> str:
    """A sentence that may quote foreign text: escaped, on one line, and of bounded length."""
    return escape(shorten(text))


def measure(chars: Iterable[str]) -> list[int]:
    """Return how many columns each piece of shown text takes."""
    return [len(piece) if piece.isascii() else sum(map(_measure_char, piece)) for piece in chars]


def _measure_char(char: str) -> int:
    from unicodedata import category, east_asian_width  # a message in plain ASCII does without

    if category(char) in ("Mn", "Me"):
        return 0
    return 2 if east_asian_width(char) in "WF" else 1


_SIMPLER = str.maketrans("✓✗·…", "+x-~")


def write(text: str, *, stream: TextIO | None) -> None:
    """Send text to a stream in whatever encoding it has.

    Nobody reading any more (`| head`) is no error: the work goes on, and the exit code still says what came of it.
    """
    if stream is None:
        return
    encoding = stream.encoding or "utf-8"
    if not encoding.lower().startswith("utf"):
        text = text.translate(_SIMPLER)
    write_bytes(text.encode(encoding, "backslashreplace"), stream=stream)


def write_bytes(data: bytes, *, stream: TextIO | None) -> None:
    """Send bytes to a stream as they are, at once: nothing is left to be written when the process ends."""
    if stream is None:
        return
    try:
        stream.flush()
        stream.buffer.write(data)
        stream.flush()
    except BrokenPipeError:
        pass
    except OSError as error:
        raise RemitError(f"the output can't be written: {(error.strerror or str(error)).lower()}",
                         hint="make room, or send it somewhere else") from error  # fmt: skip
