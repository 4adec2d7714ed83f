"""Paths: whether a file that a call names is covered by a pattern.

Owns the comparison of real paths with patterns. Relative patterns are below the root; `~` and full ones are where they
say. `*` stays in one folder, `**` crosses them, and `a/**` is the folder `a` with all that is in it. Each path is
looked at twice, as it is named and as it is after every link: to be denied one is enough, to be allowed takes both.
"""

from __future__ import annotations

import posixpath
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from remit.policy.terms import Ground

EVERYTHING = frozenset({"*", "**", "**/*", "**/**", "./**", "./**/*", "/**", "/**/*"})
MAX_PATTERN = 300
MAX_PATH = 4096
MAX_CHOICES = 40
YES, FOLDED, NO = 2, 1, 0
"""Covered; covered where the file system does not tell small letters from capital ones; not covered."""


def name_all(path: str, ground: Ground, *, cwd: str | None = None) -> tuple[str, ...]:
    """A path's full names: as it was given, without its dots, and where it leads."""
    full = posixpath.join(cwd or ground.cwd, expand_home(path, ground.home))
    full = _leave_proc(full, cwd or ground.cwd)
    names = {posixpath.normpath(full): None}
    with suppress(OSError, ValueError):  # a NUL, half a character, a loop of links: it stays what it is called
        names[ground.resolve(full)] = None
    return tuple(name.replace("//", "/", 1) if name.startswith("//") else name for name in names)


def expand_home(path: str, home: str) -> str:
    """`~` and `~/x` in the home folder."""
    return home + path[1:] if path == "~" or path.startswith("~/") else path


def _leave_proc(full: str, cwd: str) -> str:
    """`/proc/PID/root/x` is `/x`, and `/proc/PID/cwd/x` is below the folder where the call is made."""
    for _ in range(8):
        parts = posixpath.normpath(full).replace("//", "/", 1).split("/")
        at = 3
        if len(parts) > at + 2 and parts[3] == "task":
            at = 5
        if len(parts) <= at or parts[1] != "proc" or parts[at] not in ("root", "cwd"):
            break
        above = "/" if parts[at] == "root" else cwd
        full = posixpath.join(above, *parts[at + 1 :])
    return full


def is_below(path: str, root: str) -> bool:
    """Whether a path lies in a folder, by their names."""
    return path == root or path.startswith(f"{root.rstrip('/')}/")


def covers(pattern: str, names: Iterable[str], ground: Ground) -> int:
    """Whether a pattern that denies covers one of a path's names."""
    if pattern.strip() in EVERYTHING:
        return YES
    found = NO
    for choice in _place(pattern, ground.root, ground.home, ground.resolve):
        for name in names:
            parts = name.strip("/").split("/")
            if _matches(choice, parts, wide=True):
                return YES
            if not found and _matches([part.lower() for part in choice], [part.lower() for part in parts], wide=True):
                found = FOLDED
    return found


def covers_all(patterns: Iterable[str], names: Iterable[str], ground: Ground) -> bool:
    """Whether patterns that allow cover every name of a path between them."""
    patterns = list(patterns)
    if any(pattern.strip() in EVERYTHING for pattern in patterns):
        return True
    places = [_place(pattern, ground.root, ground.home, ground.resolve) for pattern in patterns]
    choices = [choice for place in places for choice in place]
    return all(any(_matches(choice, name.strip("/").split("/")) for choice in choices) for name in names)


def reaches_below(pattern: str, names: Iterable[str], ground: Ground) -> bool:
    """Whether a pattern names, without a star, a place somewhere below a folder: what is done to one is done to it."""
    for choice in _place(pattern, ground.root, ground.home, ground.resolve):
        plain = next((at for at, part in enumerate(choice) if is_magic(part)), len(choice))
        for name in names:
            parts = [part for part in name.strip("/").split("/") if part]
            if len(parts) < plain + (plain < len(choice)) and choice[: len(parts)] == parts:
                return True
    return False


@lru_cache(maxsize=512)
def _place(pattern: str, root: str, home: str, resolve: object) -> tuple[list[str], ...]:
    """A pattern as the folders of full paths: below the root as it is called, and as it is after links."""
    pattern = pattern.strip()
    if not pattern or len(pattern) > MAX_PATTERN or pattern.startswith("!"):
        return ()
    pattern = expand_home(pattern, home)
    folder = pattern.endswith("/")
    bases = [""] if pattern.startswith("/") else [root]
    if bases == [root] and callable(resolve):
        bases.append(resolve(root))
    elif callable(resolve) and home and pattern.startswith(home):
        bases.append(resolve(home))
    found = []
    for number, base in enumerate(bases):
        inner = pattern[len(home) :] if number and bases[0] == "" else pattern
        for choice in _expand(inner.strip("/")):
            parts = [part for part in f"{base}/{choice}".split("/") if part not in ("", ".")]
            parts = [part for at, part in enumerate(parts) if part != "**" or parts[at - 1 : at] != ["**"]]
            parts = parts[:-1] if parts[-2:] == ["**", "*"] else parts
            parts = [*parts, "**"] if folder and parts[-1:] != ["**"] else parts
            if parts not in found and ".." not in parts:
                found.append(parts)
    return tuple(found)


def _expand(pattern: str) -> list[str]:
    """`*.{js,ts}` as `*.js` and `*.ts`; braces in braces stay what they are."""
    texts = [pattern]
    for _ in range(3):
        _, opened, tail = texts[0].partition("{")
        inner, closed, _ = tail.partition("}")
        if not opened or not closed or "{" in inner:
            break
        texts = [text.replace(f"{{{inner}}}", choice, 1) for text in texts for choice in inner.split(",")][:MAX_CHOICES]
    return texts


def is_magic(text: str) -> bool:
    """Whether a text has any sign in it that stands for others."""
    return any(char in text for char in "*?[")


def _matches(pattern: list[str], parts: list[str], *, wide: bool = False) -> bool:
    """Match folder by folder: a set of places that can have been reached, so nothing is tried twice."""
    reached = {0}
    for at, part in enumerate(pattern):
        if part == "**" and at == len(pattern) - 1:
            return True
        if part == "**":
            reached = set(range(min(reached), len(parts) + 1))
        else:
            reached = {here + 1 for here in reached if here < len(parts) and matches_name(part, parts[here])}
        if not reached:
            return False
    # What is denied is denied with all that is in it.
    return len(parts) in reached or (wide and bool(pattern) and not is_magic(pattern[-1]))


def matches_name(pattern: str, name: str) -> bool:
    """The same within one name, with one step back to the last star: never more than the product of both lengths."""
    if not is_magic(pattern):
        return pattern == name
    if len(name) > MAX_PATH:
        return False
    signs = _read_signs(pattern)
    here = there = 0
    star, resume = -1, 0
    while there < len(name):
        sign = signs[here] if here < len(signs) else ""
        if sign == "*":
            star, resume = here, there
            here += 1
        elif sign and _stands_for(sign, name[there]):
            here, there = here + 1, there + 1
        elif star >= 0:
            resume += 1
            here, there = star + 1, resume
        else:
            return False
    return all(sign == "*" for sign in signs[here:])


@lru_cache(maxsize=512)
def _read_signs(pattern: str) -> tuple[str, ...]:
    signs, at = [], 0
    while at < len(pattern):
        closing = pattern.find("]", at + 2) if pattern[at] == "[" else -1
        end = closing + 1 if closing >= 0 else at + 1
        signs.append("*" if pattern[at:end] == "**" else pattern[at:end])
        at = end
    return tuple(signs)


def _stands_for(sign: str, char: str) -> bool:
    if sign in ("?", char):
        return True
    if len(sign) < 3 or sign[0] != "[":  # noqa: PLR2004 - brackets and something in them
        return False
    inner = sign[1:-1]
    negated = inner[:1] in ("!", "^")
    inner = inner[1:] if negated else inner
    found, at = False, 0
    while at < len(inner):
        if inner[at + 1 : at + 2] == "-" and at + 2 < len(inner):
            found = found or inner[at] <= char <= inner[at + 2]
            at += 3
        else:
            found = found or inner[at] == char
            at += 1
    return found != negated
