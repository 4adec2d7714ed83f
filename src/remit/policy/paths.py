"""Paths: whether a file that a call names is covered by a pattern.

Owns the comparison of real paths with patterns. Relative patterns are below the root; `~` and full ones are where they
say. `*` stays in one folder, `**` crosses them, and `a/**` is the folder `a` with all that is in it. Each path is
looked at twice, as it is named and as it is after every link: to be denied one is enough, to be allowed takes both.
"""

from __future__ import annotations

import posixpath
from functools import lru_cache

from remit.globs import EVERYTHING, LiteralName, expand_braces, is_magic, match_segments, matches_name

TYPE_CHECKING = False  # typing itself would cost 6 ms
if TYPE_CHECKING:
    from collections.abc import Iterable

    from remit.policy.decision import PathContext

MAX_PATTERN = 300
MAX_PATH = 4096
MAX_FOLDERS = 64
"""A path with more folders is denied: each pattern is compared with each of them."""
YES, FOLDED, NO = 2, 1, 0
"""Covered; covered if the file system ignores case; not covered."""


def is_deep(path: str, cwd: str) -> bool:
    """Whether a path has more folders than anybody works in, its dots aside."""
    if path.count("/") + cwd.count("/") <= MAX_FOLDERS:
        return False
    return posixpath.normpath(posixpath.join(cwd, path)).count("/") > MAX_FOLDERS


def name_all(path: str, ground: PathContext) -> tuple[str, ...]:
    """A path's full names: as it was given, without its dots, and where it leads."""
    full = _leave_proc(posixpath.join(ground.cwd, expand_home(path, ground.home)), ground.cwd)
    names = {posixpath.normpath(full): None}
    try:  # noqa: SIM105 - `contextlib` costs more than the rest of this module
        names[ground.resolve(full)] = None
    except (OSError, ValueError):
        pass  # a NUL, half a character, a loop of links: it stays what it is called
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


@lru_cache(maxsize=64)
def _split_path(name: str) -> tuple[list[str], list[str]]:
    """The folders of a path, and the same in small letters: every pattern asks for them."""
    plain = name.strip("/")
    return plain.split("/"), plain.lower().split("/")


def covers(pattern: str, names: Iterable[str], ground: PathContext) -> int:
    """Whether a pattern that denies covers one of a path's names."""
    if pattern.strip() in EVERYTHING:
        return YES
    found = NO
    for choice, small_choice in _measure(pattern, ground.root, ground.home, ground.resolve):
        for name in names:
            parts, small = _split_path(name)
            if _matches(choice, parts, wide=True):
                return YES
            if not found and _matches(small_choice, small, wide=True):
                found = FOLDED
    return found


def covers_all(patterns: Iterable[str], names: Iterable[str], ground: PathContext) -> bool:
    """Whether patterns that allow cover every name of a path between them."""
    patterns = list(patterns)
    if any(pattern.strip() in EVERYTHING for pattern in patterns):
        return True
    places = [place(pattern, ground.root, ground.home, ground.resolve) for pattern in patterns]
    choices = [choice for place in places for choice in place]
    return all(any(_matches(choice, name.strip("/").split("/")) for choice in choices) for name in names)


@lru_cache(maxsize=512)
def place(pattern: str, root: str, home: str, resolve: object) -> tuple[list[str], ...]:
    """A pattern as the folders of full paths: below the root as it is called, and as it is after links."""
    pattern = pattern.strip()
    if not pattern or len(pattern) > MAX_PATTERN or pattern.startswith("!"):
        return ()
    folder = pattern.endswith("/")
    is_home = pattern == "~" or pattern.startswith("~/")
    base, inner = (home, pattern[1:]) if is_home else ("", pattern) if pattern.startswith("/") else (root, pattern)
    bases = [(base, inner)]
    if callable(resolve) and base:
        bases.append((resolve(base), inner))
    elif callable(resolve) and home and pattern.startswith(home):
        bases.append((resolve(home), pattern[len(home) :]))
    found = []
    for base, inner in bases:
        above = [LiteralName(part) for part in base.split("/") if part not in ("", ".")]
        for choice in expand_braces(inner.strip("/")):
            parts = [*above, *(part for part in choice.split("/") if part not in ("", "."))]
            parts = [part for at, part in enumerate(parts) if part != "**" or parts[at - 1 : at] != ["**"]]
            parts = parts[:-1] if parts[-2:] == ["**", "*"] else parts
            parts = [*parts, "**"] if folder and parts[-1:] != ["**"] else parts
            if parts not in found and ".." not in parts:
                found.append(parts)
    return tuple(found)


@lru_cache(maxsize=512)
def _measure(pattern: str, root: str, home: str, resolve: object) -> tuple[tuple[list[str], list[str]], ...]:
    """Each choice of a placed pattern, and the same in small letters."""
    return tuple(
        (choice, [LiteralName(part.lower()) if type(part) is LiteralName else part.lower() for part in choice])
        for choice in place(pattern, root, home, resolve)
    )


def _matches(pattern: list[str], parts: list[str], *, wide: bool = False) -> bool:
    """Whether a pattern's folders are those of a path."""
    # From the end: most paths are below the root, as most patterns are, and differ in the last folders.
    if any(part not in parts for part in reversed(pattern) if part != "**" and not is_magic(part)):
        return False  # nearly always, and known without a walk along all folders of the path
    if pattern[-1:] == ["**"]:
        return bool(match_segments(pattern[:-1], parts, matches_name))
    reached = match_segments(pattern, parts, matches_name)
    # What is denied is denied with all that is in it.
    return len(parts) in reached or (wide and bool(reached and pattern) and not is_magic(pattern[-1]))
