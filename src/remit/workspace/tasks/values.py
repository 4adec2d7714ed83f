"""A task as a file tells of it, and the markers that it can carry (S2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from remit.model import Place

MARKERS = (
    "NOT STARTED", "IN PROGRESS", "BLOCKED", "ABANDONED", "COMPLETED", "RESEARCHING", "RESEARCHED", "PLANNING",
    "PLANNED", "REVISING", "REVISED", "IMPLEMENTING", "PARTIAL", "EXPANDED", "ON HOLD",
)  # fmt: skip
MAX_NUMBER_DIGITS = 9

_SPACES = str.maketrans("_-", "  ")


class Task(NamedTuple):
    """One task in one of the files."""

    number: int
    title: str
    marker: str | None
    """As S2 spells it, whatever the file does; None where the file gives none."""
    word: str
    """The marker as the file has it."""
    place: Place
    """Where its number stands."""
    marker_place: Place | None = None
    closed: bool = False
    """Kept among the completed ones: it need not be in TODO.md any more."""
    bare: bool = False
    """A heading of TODO.md without a field below it, which may be no task at all."""


class Counter(NamedTuple):
    """The number that the next task gets, as a file gives it."""

    number: int
    place: Place


class Flaw(NamedTuple):
    """Something in a file that is no task, where one was expected."""

    message: str
    hint: str
    place: Place | None


def read_marker(word: str) -> str:
    """A marker as S2 spells it: capitals, one space between words; case, `_` and `-` do not matter."""
    return " ".join(word.translate(_SPACES).upper().split())
