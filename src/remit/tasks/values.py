"""A task as a file tells of it, and the markers that it can carry (S2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from remit.model import TextSpan

MARKERS = (
    "NOT STARTED", "IN PROGRESS", "BLOCKED", "ABANDONED", "COMPLETED", "RESEARCHING", "RESEARCHED", "PLANNING",
    "PLANNED", "REVISING", "REVISED", "IMPLEMENTING", "PARTIAL", "EXPANDED", "ON HOLD",
)  # fmt: skip
MAX_NUMBER_DIGITS = 9
TOO_HIGH = 10**MAX_NUMBER_DIGITS
"""The first number that TODO.md cannot hold."""
NO_WRAP = range(0)
_MAX_PRIORITY = 400

_SPACES = str.maketrans("_-", "  ")


class Linked(NamedTuple):
    """A link of a task to a plan, a report or a summary, with the path as a file has it."""

    kind: str
    path: str


class Task(NamedTuple):
    """One task in one of the files."""

    number: int
    title: str
    marker: str | None
    """As S2 spells it, whatever the file does; None where the file gives none."""
    word: str
    """The marker as the file has it."""
    place: TextSpan
    """Where its number stands."""
    marker_place: TextSpan | None = None
    closed: bool = False
    """Kept among the completed ones: it need not be in TODO.md any more."""
    bare: bool = False
    """A heading of TODO.md without a field below it, which may be no task at all."""
    titled: bool = False
    """Its title is one, and not only the name of its project."""
    priority: str = ""
    """In small letters; empty where the file gives none of its own."""
    priority_place: TextSpan | None = None
    links: tuple[Linked, ...] = ()
    """To its plan, reports and summaries, the current one of each kind last."""


class Counter(NamedTuple):
    """The number that the next task gets, as a file gives it."""

    number: int
    place: TextSpan


class ParseProblem(NamedTuple):
    """Something in a file that is no task, where one was expected."""

    message: str
    hint: str
    place: TextSpan | None


def read_priority(value: object) -> str:
    """A priority in small letters; what is no text is none."""
    return value[:_MAX_PRIORITY].strip().lower() if isinstance(value, str) else ""


def read_marker(word: str) -> str:
    """A marker as S2 spells it: capitals, one space between words; case, `_` and `-` do not matter."""
    return " ".join(word.translate(_SPACES).upper().split())


def spell_marker(marker: str, words: Iterable[str]) -> str:
    """A marker spelt as other words: case as in the first of them, `_`, `-` or space as in the first that has one."""
    case, between = None, ""
    for word in words:
        letters = word.strip()
        case = case or _read_case(letters)
        between = between or next((mark for mark in "_- " if mark in letters), "")
        if case and between:
            break
    return (case or str.upper)(marker).replace(" ", between or " ")


def _read_case(word: str) -> Callable[[str], str] | None:
    if word.islower():
        return str.lower
    if word.isupper():
        return str.upper
    return str.title if word.istitle() else str.capitalize if word[:1].isupper() else None
