"""Stars: how a pattern with stars is held against what it may stand for.

Owns the two walks that every pattern here is compared by: along the folders of a path, in which `**` crosses them, and
along the signs of one name. What a single sign or name stands for is told by the caller: the policy holds patterns
against names, the linter against other patterns. Neither walk tries anything twice, so no pattern makes them slow.
"""

from __future__ import annotations

from functools import lru_cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def cross_folders(pattern: Sequence[str], parts: Sequence[str], fits: Callable[[str, str], bool]) -> set[int]:
    """How many of a path's parts a pattern can stand for: a set of places, empty where it does not fit at all."""
    reached = {0}
    for part in pattern:
        if part == "**":
            reached = set(range(min(reached), len(parts) + 1))
        else:
            reached = {at + 1 for at in reached if at < len(parts) and fits(part, parts[at])}
        if not reached:
            break
    return reached


def fits_signs(signs: Sequence[str], text: Sequence[str], stands_for: Callable[[str, str], bool]) -> bool:
    """Whether signs stand for a whole text; the walk goes back to the last star only, so lengths multiply at most."""
    here = there = 0
    star, resume = -1, 0
    while there < len(text):
        sign = signs[here] if here < len(signs) else ""
        if sign == "*":
            star, resume = here, there
            here += 1
        elif sign and stands_for(sign, text[there]):
            here, there = here + 1, there + 1
        elif star >= 0:
            resume += 1
            here, there = star + 1, resume
        else:
            return False
    return all(sign == "*" for sign in signs[here:])


@lru_cache(maxsize=1024)
def read_signs(pattern: str) -> tuple[str, ...]:
    """Characters, stars, and classes (`[a-z]`) as one sign each."""
    signs, at = [], 0
    while at < len(pattern):
        closing = pattern.find("]", at + 2) if pattern[at] == "[" else -1
        end = closing + 1 if closing >= 0 else at + 1
        signs.append(pattern[at:end])
        at = end
    return tuple(signs)
