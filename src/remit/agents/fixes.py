"""Fixes: what findings propose, applied to a text.

Owns the order: no two edits touch the same place in one round. What a fix brings to light is for the next round.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort_right
from itertools import pairwise
from typing import TYPE_CHECKING

from remit.light_namedtuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from remit.model import Diagnostic, TextEdit

MAX_ROUNDS = 12
"""So often is a text looked at again: fixes that bring each other to light would go on for ever."""


class FixedText(NamedTuple):
    """A text after its fixes, and which findings they put right."""

    text: str
    applied: tuple[Diagnostic, ...]


def apply_fixes(findings: Iterable[Diagnostic], text: str, *, unsafe: bool) -> FixedText:
    """Apply every fix that no earlier one overlaps: all edits of a fix, or none."""
    taken: list[TextEdit] = []
    applied: list[Diagnostic] = []
    for finding in findings:
        fix = finding.fix
        if fix is None or (fix.applicability == "unsafe" and not unsafe):
            continue
        if not _fits(fix.edits, text) or any(_touches(edit, taken) for edit in fix.edits):
            continue
        for edit in fix.edits:
            insort_right(taken, edit, key=_span)
        applied.append(finding)
    pieces, at = [], 0
    for edit in sorted(taken, key=_order):
        pieces += [text[at : edit.start], edit.content]
        at = edit.end
    return FixedText("".join([*pieces, text[at:]]), tuple(applied))


def _span(edit: TextEdit) -> tuple[int, int]:
    return edit.start, edit.end


def _order(edit: TextEdit) -> tuple[int, int, int, bool]:
    """By place; of lines that are added at one place the deepest first, and an item before a key, as YAML nests."""
    line = edit.content.lstrip("\r\n")
    indent = len(line) - len(line.lstrip(" ")) if line != edit.content else 0
    return edit.start, edit.end, -indent, not line.lstrip(" ").startswith("- ")


def _fits(edits: Sequence[TextEdit], text: str) -> bool:
    """Whether the edits of one fix lie in the text, and none in another."""
    ordered = sorted(map(_span, edits))
    inside = bool(ordered) and ordered[0][0] >= 0 and all(start <= end <= len(text) for start, end in ordered)
    return inside and all(one[1] <= other[0] for one, other in pairwise(ordered))


def _touches(edit: TextEdit, taken: Sequence[TextEdit]) -> bool:
    """Whether an edit touches one of those that are taken, which are in order, so that only its neighbours can.

    Two insertions at one place stand one after the other.
    """
    low, high = bisect_left(taken, _span(edit), key=_span), bisect_right(taken, _span(edit), key=_span)
    if low < high and edit.start != edit.end:
        return True
    return (low > 0 and taken[low - 1].end >= edit.start) or (high < len(taken) and taken[high].start <= edit.end)
