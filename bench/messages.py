"""Every labelled final message of the bench, seeded and always the same.

`cases()` gives the everyday ones; `LARGE()` the large and hostile ones, built one at a time. Only the standard
library is needed, so tests may import this module too.
"""

from __future__ import annotations

from functools import cache

from bench.corpus import (
    found_among,
    found_content,
    found_damaged,
    found_places,
    found_slips,
    found_wrapped,
    refused_content,
    refused_text,
    refused_tricks,
    words_around,
)
from bench.corpus.case import EITHER, Case, Either, Payload, same
from bench.corpus.draw import build
from bench.corpus.large import LARGE_NAMES, large_case, large_cases

__all__ = ["EITHER", "LARGE", "LARGE_NAMES", "Case", "Either", "Payload", "cases", "find_case", "large_case", "same"]

_PARTS = (
    found_places,
    found_among,
    found_damaged,
    found_slips,
    found_wrapped,
    found_content,
    refused_text,
    refused_content,
    refused_tricks,
    words_around,
)

LARGE = large_cases


@cache
def cases() -> tuple[Case, ...]:
    """All everyday messages, those with a return first."""
    return tuple(
        case for part in _PARTS for category, builder in part.CATEGORIES.items() for case in build(category, builder)
    )


def find_case(name: str) -> Case:
    """The message of that name, large ones included."""
    category, _, rest = name.partition("/")
    if category == "large":
        return large_case(rest)
    for case in cases():
        if case.name == name:
            return case
    raise KeyError(name)
