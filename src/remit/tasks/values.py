"""Tasks as values, and the markers of their status (S2)."""

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
"""The first number that has too many digits for TODO.md."""
NO_WRAP = range(0)
_MAX_PRIORITY = 400

_SPACES = str.maketrans("_-", "  ")


class Linked(NamedTuple):
    """A link of a task to a plan, a report or a summary, with the path as a file has it."""

    kind: str
    path: str


class Task(NamedTuple):
    """A task as one of the two files describes it."""

    number: int
    title: str
    marker: str | None
    """In the spelling of S2; None if the file gives none."""
    word: str
    """The marker as the file spells it."""
    place: TextSpan
    """The position of its number."""
    marker_place: TextSpan | None = None
    closed: bool = False
    """It is in completed_projects, so it doesn't have to be in TODO.md."""
    bare: bool = False
    """A heading in TODO.md without any field below it, so perhaps not a task."""
    titled: bool = False
    """It has a title, not only a project name."""
    priority: str = ""
    """In lower case; "" if the file gives none for this task."""
    priority_place: TextSpan | None = None
    links: tuple[Linked, ...] = ()
    """Its plan, reports and summaries; the last of each kind is the current one."""


class Counter(NamedTuple):
    """The number of the next task, as a file gives it."""

    number: int
    place: TextSpan


class ParseProblem(NamedTuple):
    """A part of a file that can't be read as a task."""

    message: str
    hint: str
    place: TextSpan | None


def read_priority(value: object) -> str:
    """Return a priority in lower case; "" if it isn't a string."""
    return value[:_MAX_PRIORITY].strip().lower() if isinstance(value, str) else ""


def read_marker(word: str) -> str:
    """Return a marker in the spelling of S2: upper case, one space between words. Accepts `_` and `-` for spaces."""
    return " ".join(word.translate(_SPACES).upper().split())


def spell_marker(marker: str, words: Iterable[str]) -> str:
    """Return a marker in the style of other words: the case of the first, the separator of the first that has one."""
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
