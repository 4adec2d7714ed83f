"""archive/state.json as the numbers that are taken in it.

Owns the reading of the archive, whose lists have other names in every workspace: whatever list there holds tasks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.workspace.tasks.state import NUMBER_KEY, load_json, read_number, read_title
from remit.workspace.tasks.values import MAX_NUMBER_DIGITS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from remit.workspace.tasks.state import State
    from remit.workspace.tasks.todo import Todo

NO_TASKS: Mapping[int, str] = {}
TOO_HIGH = 10**MAX_NUMBER_DIGITS


def parse_archive(text: str | None) -> Mapping[int, str]:
    """The archived tasks, name by number; none where the archive is not there or cannot be read."""
    try:
        value = load_json(text) if text else None
    except (ValueError, RecursionError):
        return NO_TASKS
    found: dict[int, str] = {}
    for each in value.values() if isinstance(value, dict) else (value,):
        for item in each if isinstance(each, list) else ():
            number = read_number(item.get(NUMBER_KEY)) if isinstance(item, dict) else None
            if number is not None:
                found.setdefault(number, read_title(item))
    return found


def list_taken(state: State | None, todo: Todo | None, archive: Mapping[int, str] = NO_TASKS) -> set[int]:
    """The numbers that a new task may not get. Where numbers start again, those of archived tasks are free."""
    taken = {task.number for task in state.tasks} if state is not None else set()
    if todo is not None:
        taken |= {task.number for task in todo.tasks if not task.bare or task.number in taken}
    return taken if state is not None and state.wraps else taken | archive.keys()


def highest_number(state: State | None, todo: Todo | None, archive: Mapping[int, str] = NO_TASKS) -> int:
    """The highest number that is taken; -1 where none is."""
    return max(list_taken(state, todo, archive), default=-1)


def find_next_number(counters: Iterable[int], taken: set[int], *, wraps: bool = False) -> int:
    """The number of the next task: the highest that a file gives, unless it is taken or below one that is.

    A number that TODO.md could not hold counts for nothing.
    """
    given = max((each for each in counters if each < TOO_HIGH), default=None)
    highest = max((each for each in taken if each < TOO_HIGH), default=0)
    if given is None:
        return highest + 1
    if not wraps:
        return max(given, highest + 1) if taken else given
    while given in taken:
        given += 1
    return given
