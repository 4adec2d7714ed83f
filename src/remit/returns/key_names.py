"""Spelling: keys that are another key to everybody who reads them, and none to a parser.

Owns what two spellings of one key have in common: `STATUS`, `status ` and a `status` with a letter of another alphabet
are the same word to the author.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_MAX_CHARS = 40
"""No name is longer than that."""
_MAX_READ = 400
_LOOK_ALIKES = str.maketrans(
    "\u0430\u0251\u03b1\u0435\u03b5\u043e\u03bf\u0585\u0440\u03c1\u0441\u03f2\u0445\u0443\u0455\ua731\u0456\u03b9"
    "\u0131\u0442\u03c4\u03c5\u057d\u028b\u0433\u043a\u03ba\u0501\u04cf\u0192\u043c\u057c\u0578\u04bb",
    "aaaeeoooppccxyssiiittuuurkkdlfmnnh",
)
"""Letters of other alphabets that look like ours."""


def normalize_key(key: str) -> str:
    """A key as it is read: small letters, digits and underscores, without blanks and what nobody sees."""
    key = "".join(char for char in key[:_MAX_READ] if char.isalnum() or char == "_")
    if len(key) > _MAX_CHARS or key.isascii():
        return key.lower()
    from unicodedata import normalize  # noqa: PLC0415 - hardly any key needs it

    bare = "".join(char for char in normalize("NFKD", key) if char.isalnum() or char == "_")
    return bare.casefold().translate(_LOOK_ALIKES)


def find_odd_keys(holder: Mapping[str, object], names: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Keys that are one of these names in another spelling, and that name."""
    for key in holder:
        if key not in names and (name := normalize_key(key)) in names:
            yield key, name


ESCAPED = "\\u00"
"""Where a text does not have this, no letter of ours is written by its number."""


def match_escaped_name(name: str) -> str:
    """A pattern for a name of which any letter may be written by its number, as JSON allows; also in a text in JSON."""
    return "".join(rf"(?:{re.escape(letter)}|\\{{1,8}}(?i:u{ord(letter):04x}))" for letter in name)
