"""A task as a value, the markers of its status (S2), and the legal status changes (S3). No side effects."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from remit.spelling import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from remit.model import FormatName, TextSpan

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


OWN_COMMAND = {
    "RESEARCHING": "research",
    "PLANNING": "plan",
    "REVISING": "revise",
    "IMPLEMENTING": "implement",
    "IN PROGRESS": "focus",
}
"""The markers of a task in progress, with the command that sets each; that command may set it again."""

NEED_REASON = ("BLOCKED", "ABANDONED")
ENDS = ("COMPLETED", "ABANDONED")
_ASIDE = ("EXPANDED", "ON HOLD")
_OPEN = tuple(marker for marker in MARKERS if marker not in ENDS)

_TABLE: dict[str, tuple[str, ...]] = {
    "NOT STARTED": ("RESEARCHING", "PLANNING", "IMPLEMENTING", "IN PROGRESS", "BLOCKED"),
    "RESEARCHING": ("RESEARCHED", "IN PROGRESS", "BLOCKED", "ABANDONED"),
    "RESEARCHED": ("RESEARCHING", "PLANNING", "IMPLEMENTING"),
    "PLANNING": ("PLANNED", "IN PROGRESS", "BLOCKED", "ABANDONED"),
    "PLANNED": ("PLANNING", "REVISING", "IMPLEMENTING"),
    "REVISING": ("REVISED", "IN PROGRESS", "BLOCKED"),
    "REVISED": ("IMPLEMENTING",),
    "IMPLEMENTING": ("COMPLETED", "PARTIAL", "IN PROGRESS", "BLOCKED", "ABANDONED"),
    "PARTIAL": ("IMPLEMENTING", "ABANDONED"),
    "IN PROGRESS": ("COMPLETED", "BLOCKED", "ABANDONED"),
    "BLOCKED": ("RESEARCHING", "PLANNING", "IMPLEMENTING", "IN PROGRESS", "ABANDONED"),
    "ABANDONED": ("NOT STARTED",),
    "COMPLETED": (),
    "EXPANDED": tuple(marker for marker in _OPEN if marker not in _ASIDE),
    "ON HOLD": tuple(marker for marker in _OPEN if marker not in _ASIDE),
}
"""The table of S3, with its rules in prose: a new version, and IN PROGRESS from every marker of work in progress."""

_MEANT = {
    **dict.fromkeys(("DONE", "FINISHED", "COMPLETE", "CLOSED"), "COMPLETED"),
    **dict.fromkeys(("TODO", "TO DO", "OPEN", "NEW", "PENDING"), "NOT STARTED"),
}
"""Words of other task lists for a marker, which a comparison of letters wouldn't find."""

_DONE = {
    "RESEARCHING": "RESEARCHED",
    "PLANNING": "PLANNED",
    "REVISING": "REVISED",
    "IMPLEMENTING": "COMPLETED",
    "IN PROGRESS": "COMPLETED",
}


class Refusal(NamedTuple):
    """Why a status change is illegal, in one sentence, and a hint."""

    message: str
    hint: str


def list_moves(current: str) -> tuple[str, ...]:
    """Return the markers that may follow a marker; EXPANDED and ON HOLD come last."""
    marker = read_marker(current.strip("[] \t"))
    aside = _ASIDE if marker in _OPEN else ()
    return _TABLE.get(marker, ()) + tuple(each for each in aside if each != marker)


def check_move(current: str | None, wanted: str, *, reason: str = "", command: str | None = None) -> Refusal | None:
    """Return why a task with one marker may not get another; None if it may.

    Markers may be in any case, with spaces, underscores or hyphens, with or without brackets. `command` is the command
    that changes the status: it may set its own marker again.
    """
    source, target = read_marker((current or "").strip("[] \t")), read_marker(wanted.strip("[] \t"))
    if target not in MARKERS:
        return Refusal(f"'{wanted[:60]}' isn't a marker", as_sentence(suggest_marker(target)))
    if source not in MARKERS:
        word = f"the status '{(current or '')[:60]}', which isn't a marker" if source else "no status"
        hint = "Give it a marker in state.json and in TODO.md by hand, then run: remit task sync --check."
        return Refusal(f"the task has {word}", hint)
    if source == target:
        return _check_resume(source, command)
    if target not in list_moves(source):
        return Refusal(f"a task that is {source} can't become {target}", _list_allowed(source))
    if target in NEED_REASON and not reason.strip():
        return Refusal(f"{target} needs a reason", "Give it in one sentence with: --reason TEXT.")
    return None


@lru_cache(maxsize=128)  # a file may repeat one wrong word many times
def suggest_marker(word: str) -> str:
    """Return a suggestion for a word that isn't a marker: the most similar marker, or all of them."""
    meant = _MEANT.get(read_marker(word))
    return did_you_mean(word, MARKERS) if meant is None else f"did you mean '{meant}'?"


def _check_resume(marker: str, command: str | None) -> Refusal | None:
    own = OWN_COMMAND.get(marker)
    if own is not None and command == own:
        return None
    hint = f"Only the command {own} can set it again. {_list_allowed(marker)}" if own else _list_allowed(marker)
    return Refusal(f"the task is already {marker}", hint)


def _list_allowed(marker: str) -> str:
    moves = list_moves(marker)
    return f"From {marker} it can become: {', '.join(moves)}." if moves else f"A {marker} task can't change."


def as_sentence(text: str) -> str:
    """Return the end of a sentence as a sentence."""
    return text[:1].upper() + text[1:] + ("" if text.endswith("?") else ".")


def follow_status(marker: str, status: str, format: FormatName = "standard", *, kind: str = "") -> str | None:
    """Return the marker that a task gets from a return; None if it doesn't change.

    `status` is the return's (completed, partial, failed, blocked) or timeout. `kind` is the agent's: a review changes
    no task, and only an implementation completes a task that is IN PROGRESS. The manifest format also does, because
    its tasks have no other markers (C9).
    """
    source = read_marker(marker.strip("[] \t"))
    if kind == "review" or source not in OWN_COMMAND:
        return None
    if status == "blocked":
        return "BLOCKED"
    if status == "completed" or (status == "partial" and format == "manifest"):
        whole = format == "manifest" or kind == "implementation" or source != "IN PROGRESS"
        return _DONE[source] if whole else None
    if status in ("partial", "failed", "timeout"):
        return "PARTIAL" if source == "IMPLEMENTING" else None
    return None
