"""Comparison of paths with the patterns of permissions.

Relative patterns are below the root; patterns with `~` or `/` are absolute. `*` matches within one folder, `**` across
folders, and `a/**` means the folder `a` and everything in it. Each path is compared as written and after all links are
resolved: a deny rule applies if either form matches, an allow rule only if both match.
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
    """Return whether a path, without dots, has too many folders to compare."""
    if path.count("/") + cwd.count("/") <= MAX_FOLDERS:
        return False
    return posixpath.normpath(posixpath.join(cwd, path)).count("/") > MAX_FOLDERS


def name_all(path: str, ground: PathContext) -> tuple[str, ...]:
    """Return the absolute forms of a path: as written, without dots, and with links resolved."""
    full = _leave_proc(posixpath.join(ground.cwd, expand_home(path, ground.home)), ground.cwd)
    names = {posixpath.normpath(full): None}
    try:  # noqa: SIM105 - `contextlib` costs more than the rest of this module
        names[ground.resolve(full)] = None
    except (OSError, ValueError):
        pass  # a NUL, a lone surrogate or a loop of links: only the written form counts
    return tuple(name.replace("//", "/", 1) if name.startswith("//") else name for name in names)


def expand_home(path: str, home: str) -> str:
    """Expand `~` and `~/x` to paths in the home folder."""
    return home + path[1:] if path == "~" or path.startswith("~/") else path


def _leave_proc(full: str, cwd: str) -> str:
    """Resolve `/proc/PID/root/x` to `/x`, and `/proc/PID/cwd/x` to a path below the call's working directory."""
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
    """Return whether a path is a folder itself or below it, by name."""
    return path == root or path.startswith(f"{root.rstrip('/')}/")


@lru_cache(maxsize=64)
def _split_path(name: str) -> tuple[list[str], list[str]]:
    """Return the folders of a path, and the same in lower case. Cached, because every pattern needs them."""
    plain = name.strip("/")
    return plain.split("/"), plain.lower().split("/")


def covers(pattern: str, names: Iterable[str], ground: PathContext) -> int:
    """Return whether a pattern that denies covers one of a path's names."""
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
    """Return whether patterns that allow cover every name of a path between them."""
    patterns = list(patterns)
    if any(pattern.strip() in EVERYTHING for pattern in patterns):
        return True
    places = [place(pattern, ground.root, ground.home, ground.resolve) for pattern in patterns]
    choices = [choice for place in places for choice in place]
    return all(any(_matches(choice, name.strip("/").split("/")) for choice in choices) for name in names)


@lru_cache(maxsize=512)
def place(pattern: str, root: str, home: str, resolve: object) -> tuple[list[str], ...]:
    """Return a pattern as the folders of absolute paths, below the root as written and with links resolved."""
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
    """Return each alternative of a placed pattern, and the same in lower case."""
    return tuple(
        (choice, [LiteralName(part.lower()) if type(part) is LiteralName else part.lower() for part in choice])
        for choice in place(pattern, root, home, resolve)
    )


def _matches(pattern: list[str], parts: list[str], *, wide: bool = False) -> bool:
    """Return whether a pattern's folders match those of a path."""
    # From the end, because most paths and patterns are below the root and differ in the last folders.
    if any(part not in parts for part in reversed(pattern) if part != "**" and not is_magic(part)):
        return False  # the usual case, decided without matching every folder
    if pattern[-1:] == ["**"]:
        return bool(match_segments(pattern[:-1], parts, matches_name))
    reached = match_segments(pattern, parts, matches_name)
    # A denied folder is denied with everything in it.
    return len(parts) in reached or (wide and bool(reached and pattern) and not is_magic(pattern[-1]))
