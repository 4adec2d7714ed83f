"""Mentions: protected places that a text names, whatever it is a text for.

Owns the ways in which a place is named: as it is, in pieces, by all of its parts, or in code by a pattern with stars.
"""

from __future__ import annotations

import posixpath
from functools import lru_cache
from typing import TYPE_CHECKING

from remit.harnesses import claude, codex, opencode
from remit.lazy import lazy
from remit.policy import paths

if TYPE_CHECKING:
    from remit.policy.bash.acts import Hint
    from remit.policy.terms import Ground


def find_named(text: str, ground: Ground) -> str:
    """The protected place that a text names; "" where it names none."""
    for pattern, start, end in _list_ends(tuple(ground.protected)):
        at = text.find(start)
        while at >= 0:
            before, behind = text[at - 1 : at], text[at + len(start) :]
            begins = not before.isalnum() and before not in ("_", "-")
            goes_on = behind[:1].isalnum() or behind[:1] in ("_", "-", ".")
            ends = end in behind.partition("\n")[0] if end or pattern.endswith("*") else not goes_on
            if begins and ends:
                return pattern
            at = text.find(start, at + 1)
    return next((f"{folder}/**" for folder in FOLDERS if folder in text and _FOLDER.search(text)), "")


def find_in_code(hint: Hint, ground: Ground) -> str:
    """The same in code: by its name, in pieces, or by a pattern with stars."""
    starred = [each for each in _STARRED.findall(hint.text)[:MAX_STARRED] if hint.is_code]
    full = [posixpath.normpath(posixpath.join(ground.cwd, each)) for each in starred]
    met = (each for each in ground.protected if any(paths.meets(each, name, ground) for name in full))
    return find_named(hint.text, ground) or find_pieces(hint.text, ground) or next(met, "")


MAX_STARRED = 20
_STARRED = lazy(r"[\"'<\s]([\w./*-]{0,200}\*[\w./-]{1,200})[\"'>\]\s]")


def find_pieces(text: str, ground: Ground) -> str:
    """The same for one that is put together of pieces, by what is left without signs."""
    plain = "".join(char for char in text if char.isalnum())
    for pattern in (each for each in ground.protected if not each.removeprefix("**/").startswith(".git/")):
        bare = "".join(char for char in pattern.partition("*")[0] or pattern if char.isalnum())
        if len(bare) >= LONG_ENOUGH and bare in plain:
            return pattern
    return ""


def find_tokens(text: str, ground: Ground) -> str:
    """The same for one whose parts are all there, wherever they stand, in small letters or in capital ones."""
    tokens = set(_split_tokens(text))
    for pattern in ground.protected:
        parts = _split_tokens(pattern)
        if len(parts) > 1 and tokens.issuperset(parts) and tokens.intersection(parts, _TELLING):
            return pattern
    return ""


def _split_tokens(text: str) -> list[str]:
    return "".join(char if char.isalnum() else " " for char in text.lower()).split()


_TELLING = frozenset({"remit", "claude", "codex", "opencode", "mcp"})
LONG_ENOUGH = 7
"""So many letters of a protected name, one after the other, are no chance."""
FOLDERS = (claude.FOLDER, codex.FOLDER, opencode.FOLDER, ".remit")
_FOLDER = lazy(rf"(?:^|[\s'\"/=,(\[])(?:{'|'.join(FOLDERS).replace('.', '[.]')})/?(?:$|[\s'\",;)\]|&])")
"""A folder of settings as such: what is done to it is done to all that is in it."""


@lru_cache(maxsize=8)
def _list_ends(patterns: tuple[str, ...]) -> tuple[tuple[str, str, str], ...]:
    """Patterns, and the parts that a text must have in it to name what each means: its beginning and its end."""
    found = []
    for pattern in patterns:
        plain = pattern.removeprefix("**/").removeprefix("~/")
        start, star, rest = plain.partition("*")
        if start.strip("./"):
            found.append((pattern, start, rest.rpartition("*")[2].lstrip("/") if star else ""))
    return tuple(found)
