"""Recovery of a state.json that isn't valid JSON: load its last valid version from git.

Nothing is guessed from the broken text: if git has no valid version, that is an error and the files stay as they are.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from remit.errors import StateError
from remit.ledger.journal import MAX_BYTES
from remit.storage.safe_path import find_inside
from remit.storage.spec_root import STATE, TODO
from remit.tasks.repair import Restored
from remit.tasks.state import NUMBER_KEY, parse_state
from remit.tasks.todo import parse_todo
from remit.tasks.transaction import decode

if TYPE_CHECKING:
    from remit.tasks.values import ParseProblem

_NUMBER = re.compile(rf'"{NUMBER_KEY}"[ \t\r\n]*+:[ \t\r\n]*+"?([0-9]{{1,9}})(?![0-9])')


class RestoredState(NamedTuple):
    """A valid state.json, sentences about its origin, and facts for the repair."""

    text: str
    done: tuple[str, ...]
    restored: Restored | None = None


def load_last_version(root: str, folder: str, text: str, broken: ParseProblem, *, has_todo: bool) -> RestoredState:
    """Return the last committed version of a broken state.json that is valid. Raise `StateError` if there is none."""
    from remit.git.file_history import load_file_at, walk_versions  # noqa: PLC0415 - only for a broken file

    place = "" if broken.place is None else f" (line {broken.place.line}, column {broken.place.column})"
    state, todo = (find_inside(root, path) or path for path in (f"{folder}/{STATE}", f"{folder}/{TODO}"))
    for version in walk_versions(root, state, max_bytes=MAX_BYTES):
        earlier = decode(version.data)
        if parse_state(earlier).broken is None:
            beside = load_file_at(root, version.commit, todo, max_bytes=MAX_BYTES)
            listed = parse_todo("" if beside is None else decode(beside.data)).tasks
            markers = {task.number: task.marker for task in reversed(listed)}
            source = f"commit {version.commit[:12]} of {version.day}"
            done = f"{broken.message}{place}: restored it from {source}"
            return RestoredState(earlier, (done,), Restored(find_named(text), markers))
    hint = "correct it by hand, or restore it from a backup"
    if has_todo:
        hint += "; to create it again from TODO.md alone, move it away and run: remit task sync --repair"
    raise StateError(f"{broken.message}{place}, and git has no version that is valid JSON", hint=hint)


def find_named(text: str) -> dict[int, tuple[int, int]]:
    """Return the task numbers that a broken state.json names, with the first span of each."""
    return {int(found[1]): found.span(1) for found in reversed([*_NUMBER.finditer(text)])}
