"""Terminal output: escaping of foreign text, widths and colors.

An agent's text may contain control sequences, characters that reverse the text direction, and invalid bytes. No line of
output contains them unescaped. Only this module writes color codes.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, TextIO

from remit.errors import RemitError

if TYPE_CHECKING:
    from collections.abc import Iterable

TAB = "    "
"""A tab in an excerpt: a fixed width, so that carets line up."""

MAX_SHOWN = 400
"""The maximum length of a shown message. A message may quote a path, and an agent can write a path of a megabyte."""

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
    """Colors text, or returns it unchanged if color is off."""

    def __init__(self, *, on: bool) -> None:
        self.on = on

    def __call__(self, style: str, text: str) -> str:
        """Return text that is already escaped in the color of its role."""
        return f"{_STYLES[style]}{text}{_RESET}" if self.on and text else text


COLOR_CHOICES = ("auto", "always", "never")
_chosen = ["auto"]


def choose_color(when: str) -> None:
    """Set whether output has color: one of COLOR_CHOICES, which overrides the environment unless it is `auto`."""
    _chosen[0] = when


def wants_color(stream: TextIO | None) -> bool:
    """Whether a stream gets color: terminals do, unless --color or the environment (no-color.org) decides."""
    if _chosen[0] != "auto":
        return _chosen[0] == "always"
    env = os.environ
    if env.get("NO_COLOR"):
        return False
    if env.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return env.get("TERM") != "dumb" and stream is not None and stream.isatty()


def count_columns() -> int:
    """Return the width of the output: COLUMNS, else that of the terminal, else a default."""
    named = os.environ.get("COLUMNS", "")
    if named.isascii() and named.isdigit() and int(named[:6]) > 0:
        return max(_MIN_COLUMNS, int(named[:6]))
    try:
        found = os.get_terminal_size(sys.__stdout__.fileno()).columns if sys.__stdout__ else 0
    except (OSError, ValueError):
        found = 0
    return max(_MIN_COLUMNS, found or _DEFAULT_COLUMNS)


def find_width() -> int | None:
    """Return the width for prose; None without COLUMNS and a terminal, because a program reads the output."""
    if os.environ.get("COLUMNS", "").isdigit() or (sys.stdout is not None and sys.stdout.isatty()):
        return count_columns()
    return None


def fold(text: str, room: int | None) -> list[str]:
    """Wrap a sentence that is already escaped; return one line if the width is unlimited."""
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
    """Cut a text to a number of columns."""
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
    """Return whether a character may be printed unescaped: no control character, not invisible, no lone surrogate.

    Spaces of other widths are harmless and common in prose.
    """
    return char.isprintable() or (char.isspace() and char >= "\xa0" and char not in "\u2028\u2029")


def escape(text: str, *, keep: str = "") -> str:
    """Escape foreign text: an invisible character becomes `<U+001B>`.

    This form differs from JSON escapes, so that both can be distinguished in the output.
    """
    if text.isprintable():
        return text
    return "".join([char if char in keep else escape_char(char) for char in text])


def escape_char(char: str) -> str:
    """Escape one character."""
    return char if is_visible(char) else f"<U+{ord(char):04X}>"


def shorten(text: str) -> str:
    """Cut the middle of a text that is too long to be shown."""
    return text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN * 3 // 4]} … {text[-MAX_SHOWN // 4 :]}"


def quote(text: str) -> str:
    """Escape and shorten a sentence that may quote foreign text, for one line."""
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
    """Write text to a stream in the stream's encoding.

    A closed pipe (`| head`) isn't an error: the command continues, and its exit code is valid.
    """
    if stream is None:
        return
    encoding = stream.encoding or "utf-8"
    if not encoding.lower().startswith("utf"):
        text = text.translate(_SIMPLER)
    write_bytes(text.encode(encoding, "backslashreplace"), stream=stream)


def write_bytes(data: bytes, *, stream: TextIO | None) -> None:
    """Write bytes to a stream unchanged and flush them, because the process ends without flushing."""
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
