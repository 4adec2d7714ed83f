"""Find the conflict markers of git in a text, and split it into both sides.

Used for TODO.md, state.json and errors.json. Only a complete conflict counts; a single marker is an ordinary line.
Linear in the text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MARK = re.compile(r"^(?:<{7}|\|{7}|={7}|>{7})(?:[ \t][^\n]*+)?+\r?$", re.MULTILINE)
"""A line that git inserts between the sides of a conflict."""
_NEXT = {"both": {"<": "ours"}, "ours": {"|": "base", "=": "theirs"}, "base": {"=": "theirs"}, "theirs": {">": "both"}}


class Conflict(NamedTuple):
    """The offsets of a conflict and its two sides in a text; the marker lines belong to neither side."""

    start: int
    end: int
    ours: tuple[int, int]
    theirs: tuple[int, int]


def walk_conflicts(text: str, *, examples: Sequence[tuple[int, int]] = ()) -> Iterator[Conflict]:
    """Yield each complete conflict, except those inside one of the `examples`, which are sorted."""
    now, marks = "both", []
    for mark in MARK.finditer(text):
        then = _NEXT[now].get(mark[0][0])
        if then is None:
            continue
        marks.append(mark)
        now = then
        if now == "both":
            if not _is_example(marks, examples):
                middle = marks[-2]
                ours, theirs = (marks[0].end() + 1, marks[1].start()), (middle.end() + 1, marks[-1].start())
                yield Conflict(marks[0].start(), min(marks[-1].end() + 1, len(text)), ours, theirs)
            marks = []


def _is_example(marks: list[re.Match[str]], examples: Sequence[tuple[int, int]]) -> bool:
    first, last = (bisect_right(examples, mark.start(), key=lambda span: span[0]) for mark in (marks[0], marks[-1]))
    return first == last > 0 and marks[-1].start() < examples[first - 1][1]


def split_sides(text: str, *, examples: Sequence[tuple[int, int]] = ()) -> tuple[str, str] | None:
    """Return the text as each side has it; None if it has no conflict."""
    sides: tuple[list[str], list[str]] = ([], [])
    at = 0
    for conflict in walk_conflicts(text, examples=examples):
        for side, (start, end) in zip(sides, (conflict.ours, conflict.theirs), strict=True):
            side.extend((text[at : conflict.start], text[start:end]))
        at = conflict.end
    return ("".join((*sides[0], text[at:])), "".join((*sides[1], text[at:]))) if at else None
