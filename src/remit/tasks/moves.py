"""Moves: which marker may follow which (S3), and where a return takes a task.

Owns the table of legal moves. Pure: markers come in, a refusal or a marker goes out.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from remit.spelling import did_you_mean
from remit.tasks.values import MARKERS, read_marker

if TYPE_CHECKING:
    from remit.model import DialectName

OWN_COMMAND = {
    "RESEARCHING": "research",
    "PLANNING": "plan",
    "REVISING": "revise",
    "IMPLEMENTING": "implement",
    "IN PROGRESS": "focus",
}
"""The working markers, and the command of each: it may enter again what it has entered before."""

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
"""S3, with what it adds in words: a new version, and IN PROGRESS from every working marker."""

_MEANT = {
    **dict.fromkeys(("DONE", "FINISHED", "COMPLETE", "CLOSED"), "COMPLETED"),
    **dict.fromkeys(("TODO", "TO DO", "OPEN", "NEW", "PENDING"), "NOT STARTED"),
}
"""What other lists of tasks call a marker, and its letters do not tell."""

_DONE = {
    "RESEARCHING": "RESEARCHED",
    "PLANNING": "PLANNED",
    "REVISING": "REVISED",
    "IMPLEMENTING": "COMPLETED",
    "IN PROGRESS": "COMPLETED",
}


class Refusal(NamedTuple):
    """Why a task may not move: one sentence, and what to do instead."""

    message: str
    hint: str


def list_moves(current: str) -> tuple[str, ...]:
    """The markers that may follow a marker; those set aside (EXPANDED, ON HOLD) come last."""
    marker = read_marker(current.strip("[] \t"))
    aside = _ASIDE if marker in _OPEN else ()
    return _TABLE.get(marker, ()) + tuple(each for each in aside if each != marker)


def check_move(current: str | None, wanted: str, *, reason: str = "", command: str | None = None) -> Refusal | None:
    """Say why a task with one marker may not get another; None where it may.

    Markers are taken in any case, with space, underscore or hyphen, with or without brackets. `command` is what asks
    for the move: a working marker may be entered again by its own command.
    """
    source, target = read_marker((current or "").strip("[] \t")), read_marker(wanted.strip("[] \t"))
    if target not in MARKERS:
        return Refusal(f"'{wanted[:60]}' is not a marker", as_sentence(suggest_marker(target)))
    if source not in MARKERS:
        word = f"the status '{(current or '')[:60]}', which is not a marker" if source else "no status"
        hint = "Give it a marker in state.json and in TODO.md by hand, then run: remit task sync --check."
        return Refusal(f"the task has {word}", hint)
    if source == target:
        return _check_resume(source, command)
    if target not in list_moves(source):
        return Refusal(f"a task that is {source} cannot become {target}", _list_allowed(source))
    if target in NEED_REASON and not reason.strip():
        return Refusal(f"{target} needs a reason", "Say why in one sentence, with: --reason TEXT.")
    return None


@lru_cache(maxsize=128)  # one that a file has often is looked for once
def suggest_marker(word: str) -> str:
    """Name the marker that a word was probably meant for, as the tail of a sentence, or all of them."""
    meant = _MEANT.get(read_marker(word))
    return did_you_mean(word, MARKERS) if meant is None else f"did you mean '{meant}'?"


def _check_resume(marker: str, command: str | None) -> Refusal | None:
    own = OWN_COMMAND.get(marker)
    if own is not None and command == own:
        return None
    hint = f"Only the command {own} enters it again. {_list_allowed(marker)}" if own else _list_allowed(marker)
    return Refusal(f"the task is {marker} already", hint)


def _list_allowed(marker: str) -> str:
    moves = list_moves(marker)
    return f"From {marker} it can become: {', '.join(moves)}." if moves else f"{marker} is the end of a task."


def as_sentence(text: str) -> str:
    """The tail of a sentence as one of its own."""
    return text[:1].upper() + text[1:] + ("" if text.endswith("?") else ".")


def follow_status(marker: str, status: str, format: DialectName = "standard", *, kind: str = "") -> str | None:
    """The marker that a return moves a task to; None where the task stays as it is.

    `status` is the return's (completed, partial, failed, blocked) or timeout. `kind` is the agent's: a review moves no
    task, and what is merely IN PROGRESS is completed only by an implementation, or in the format of the manifest,
    whose tasks know no other way (C9).
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
