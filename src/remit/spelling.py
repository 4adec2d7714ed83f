"""Did-you-mean suggestions: find the known name that is most similar to a misspelled one.

Used for commands, settings, agents, codes, keys, values, tags and returns. Ignores case, hyphens, underscores, spaces.
"""

from __future__ import annotations

from functools import lru_cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

LIKELY, SURE = 0.6, 0.8
"""Minimum similarity from 0 to 1: to suggest a name in a hint, and to report or fix a misspelled one."""
_MIN_SURE, _MAX_SURE = 3, 40
"""In letters. Shorter words resemble anything, and longer ones are sentences."""
_MAX_COMPARED = 20
_MAX_LONGER, _MAX_OTHER_LETTERS = 2, 3
"""Maximum difference in length, and in letters that only one of the two words has."""


def normalize_name(word: str) -> str:
    """Return a word in lowercase, without hyphens, underscores and spaces."""
    return word.lower().replace("-", "").replace("_", "").replace(" ", "")


def find_similar(word: str, known: Iterable[str], *, least: float = LIKELY) -> str | None:
    """Return the most similar known name, or None if none is similar enough."""
    low, names = normalize_name(word), {normalize_name(name): name for name in known}
    if low in names:
        return names[low]
    if least >= SURE and not _MIN_SURE <= len(low) <= _MAX_SURE:
        return None
    from difflib import SequenceMatcher, get_close_matches  # noqa: PLC0415 - 8 ms, needed only once something is wrong
    from os.path import commonprefix  # noqa: PLC0415 - with it

    def closeness(name: str) -> tuple[int, int, float]:
        """The fewest wrong letters; then the longest common beginning."""
        alike = len(commonprefix((name, low)))  # noqa: RUF071 - letters
        return -_count_typos(name, low), alike, SequenceMatcher(None, name, low).ratio()

    close = get_close_matches(low, names, n=_MAX_COMPARED, cutoff=least)
    return names[max(sorted(close), key=closeness)] if close else None


@lru_cache(maxsize=512)
def is_misspelled(word: str, name: str) -> bool:
    """Return whether a word is a misspelling of a name. Length and letters rule out most words without a comparison."""
    if word == name or abs(len(word) - len(name)) > _MAX_LONGER:
        return False
    is_close = len(set(word.lower()) ^ set(name)) <= _MAX_OTHER_LETTERS
    return is_close and find_similar(word, (name,), least=SURE) is not None


def _count_typos(one: str, other: str) -> int:
    """The Levenshtein distance: letters inserted, deleted or replaced."""
    row = list(range(len(other) + 1))
    for above, letter in enumerate(one, 1):
        before, row[0] = row[0], above
        for place, wanted in enumerate(other, 1):
            before, row[place] = row[place], min(row[place] + 1, row[place - 1] + 1, before + (letter != wanted))
    return row[-1]


def did_you_mean(word: str, known: list[str] | tuple[str, ...]) -> str:
    """Return a hint: the most similar known name, or the list of all."""
    meant = find_similar(word, known)
    return f"available: {', '.join(known)}" if meant is None else f"did you mean '{meant}'?"
