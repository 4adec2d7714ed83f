"""What a rule's page shows as bad and as good, read as changes to a file.

Owns the few words that such an example is told with. `X` and `Y` stand together; `X`, `Y` are two examples, and so are
`X`, or `Y`; `X` in `Y` and `X` under `Y` say where; no `X`, and `Y` without `X`, leave something out. Where other words
follow, the example is over: they are for people.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

_SPAN = re.compile(r"`([^`]+)`")
_FIRST = ("", "a", "an", "a frontmatter with", "a file with")
_JOINED = ("and", "and a", "with", "with a")
_APART = (",", ";", "or", ", or", ", or a", "; or")
_PLACES = ("in", "in a", "in an", "under")


class Move(NamedTuple):
    """One change: something is written in its place or added to what is there, or left out."""

    verb: Literal["set", "add", "drop"]
    text: str
    under: str = ""


class Shown(NamedTuple):
    """One example: all its changes, and the file's path where it matters."""

    moves: tuple[Move, ...]
    path: str = ""


def read_shown(documentation: str, word: str) -> list[Shown]:
    """The examples in the paragraph that a word begins; none where it is told in words."""
    paragraph = next((part for part in documentation.split("\n\n") if part.startswith(f"{word}: ")), "")
    text = " ".join(paragraph.split()).removeprefix(f"{word}: ")
    shown: list[Shown] = []
    end = 0
    for found in _SPAN.finditer(text):
        between, end = text[end : found.start()].strip(), found.end()
        if not _take(shown, between, found[1]):
            break
    return shown


def _take(shown: list[Shown], between: str, span: str) -> bool:
    """Take one span in; whether the words before it are known."""
    last = shown.pop() if shown else Shown(())
    *before, move = last.moves or (None,)
    if move is None and between in _FIRST:
        taken = [Shown((Move("set", span),))]
    elif move is None and between.endswith(("no", "without")):
        taken = [Shown((Move("drop", span),))]
    elif move is None:
        return False
    elif between in _PLACES and (span.startswith("<") or "." not in span):
        taken = [last._replace(moves=(*before, move._replace(under=span)))]
    elif between in _PLACES:
        taken = [last._replace(path=span)]
    elif between == "without":
        taken = [last._replace(moves=(*before, Move("drop", span, move.text)))]
    elif between in _JOINED:
        taken = [last._replace(moves=(*last.moves, Move("set", span)))]
    elif between in ("and no", "and, further down,"):
        taken = [last._replace(moves=(*last.moves, Move("drop" if between == "and no" else "add", span)))]
    elif between in _APART or between == ", or no":
        taken = [last, Shown((Move("drop" if between == ", or no" else "set", span),))]
    else:
        shown.append(last)
        return False
    shown.extend(taken)
    return True
