"""Inline: code in other languages that stands in a command's own words, or comes in on standard input.

Owns what all judges of code have in common. What they do not know is a doubt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.policy.bash.acts import Hint
from remit.policy.bash.programs.scripts import run_file
from remit.policy.bash.words import HOLE

if TYPE_CHECKING:
    from collections.abc import Callable

    from remit.policy.bash.reading import Reader, Stdin

MAX_CODE = 20_000
UNREAD = "code is run that cannot be looked at"


def doubt_code(reader: Reader, text: str) -> None:
    """Code that nobody can tell anything about, and what it names."""
    reader.doubt(UNREAD)
    reader.add(Hint(text.replace(HOLE, " "), is_code=True))


def take_input(reader: Reader, stdin: Stdin | None, judge: Callable[[Reader, str], None]) -> None:
    """Code that comes in on standard input."""
    if stdin is None:
        reader.note_typed("an interpreter")
    if stdin is None or (not stdin[0] and not stdin[1].is_sure):
        doubt_code(reader, stdin[1].text if stdin else "")
    elif stdin[0]:
        run_file(reader, stdin[1], None, "other")
    else:
        judge(reader, stdin[1].text)


def skip_regex(code: str, at: int, quote: str) -> int:
    """Past the sign that ends it; -1 where it never ends, or might end in brackets."""
    start = at
    while at < len(code) and code[at] != quote:
        at += 2 if code[at] == "\\" else 1
    inner = code[start:at]
    if "[" in inner and "]" not in inner[inner.rindex("[") :].replace("[]", "").replace("[^]", ""):
        return -1
    return at + 1 if quote and at < len(code) else -1
