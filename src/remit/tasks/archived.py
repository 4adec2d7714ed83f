"""The numbers of archived tasks (archive/state.json), and the next free task number.

The lists of the archive have different names in each workspace, so every list counts.
"""

from __future__ import annotations

from itertools import chain, count
from typing import TYPE_CHECKING

from remit.tasks.state import NUMBER_KEY, load_json, read_number, read_title
from remit.tasks.values import NO_WRAP, TOO_HIGH

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from remit.tasks.state import State
    from remit.tasks.todo import Todo

NO_TASKS: Mapping[int, str] = {}


def parse_archive(text: str | None) -> Mapping[int, str]:
    """Return the names of the archived tasks by number; none if the archive is missing or can't be parsed."""
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
    """Return the numbers that a new task may not get. If the numbering wraps around, archived numbers are free."""
    taken = {task.number for task in state.tasks} if state is not None else set()
    if todo is not None:
        taken |= {task.number for task in todo.tasks if not task.bare or task.number in taken}
    return taken if state is not None and state.wraps else taken | archive.keys()


def find_next_number(counters: Iterable[int], taken: set[int], *, wraps: range = NO_WRAP) -> int:
    """Return the number of the next task."""
    return next(walk_free_numbers(counters, taken, wraps=wraps))


def walk_free_numbers(counters: Iterable[int], taken: set[int], *, wraps: range = NO_WRAP) -> Iterator[int]:
    """Yield the numbers of the next tasks: from the highest counter, or above all used numbers if that is higher.

    Numbers with too many digits for TODO.md are ignored. If the numbering wraps around, a higher number isn't a later
    one: the first counter counts (that of state.json), and after the last number come the lowest free ones.
    """
    given = [each for each in counters if each < TOO_HIGH]
    above = max((each for each in taken if each < TOO_HIGH), default=0) + 1
    if not wraps:
        return count(max([*given, *((above,) if taken or not given else ())]))
    start = given[0] if given else above
    start = start if start in wraps else wraps.start
    rest = range(max(above, wraps.stop), TOO_HIGH)  # used if every number of the range is taken
    numbers = chain(range(start, wraps.stop), range(wraps.start, start), rest)
    return (number for number in numbers if number not in taken)
