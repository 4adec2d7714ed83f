"""Prose: how many sentences a text has.

Owns the counting, for every room that asks for a number of sentences: those of a return's summary, of an agent's role.
"""

from __future__ import annotations

import re

from remit.lazy_regex import lazy

MAX_CHARS = 4000
"""Nobody asks for more sentences than fit in here."""

_SENTENCE_END = lazy(r"[.!?…](?=[\s\"')\]]|\Z)")
_ABBREVIATION = lazy(r"\b(?:e\.g|i\.e|etc|vs|cf|approx|dr|mr|ms)\.\Z", re.IGNORECASE)
_NUMBER = lazy(r"\bno\. ?\d", re.IGNORECASE)


def count_sentences(text: str) -> int:
    """How many sentences a text has, or its first part if it is long; common abbreviations do not end one."""
    text = text[:MAX_CHARS]
    ends = [
        end
        for end in (found.end() for found in _SENTENCE_END.finditer(text))
        if not _ABBREVIATION.search(text, max(0, end - 12), end) and not _NUMBER.match(text, max(0, end - 3))
    ]
    rest = text[ends[-1] :] if ends else text
    return len(ends) + bool(rest.strip(" \t\r\n\"')]"))


def as_tail(sentence: str) -> str:
    """A sentence as the tail of another. A first word in capitals is a name, and stays as it is."""
    plain = sentence.rstrip(".")
    return plain if plain[:2].isupper() else f"{plain[:1].lower()}{plain[1:]}"


_LIST_MARK = lazy(r"^[ \t]{0,60}(?:[-*+•]|\d{1,3}[.)])[ \t]{1,20}(?P<item>[^\n]{1,2000})", re.MULTILINE)


def count_statements(text: str) -> int:
    """How many sentences a text with lists in it has: an item counts as one, its number ends none."""
    return count_sentences(_LIST_MARK.sub(_end_item, text[:MAX_CHARS]))


def _end_item(found: re.Match[str]) -> str:
    item = found["item"].rstrip()
    return item if item.endswith((".", "!", "?", "…", ":", ";")) else f"{item}."
