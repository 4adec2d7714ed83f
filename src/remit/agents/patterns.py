"""Compares the path patterns and bash patterns of permissions, so that lint finds contradictions and redundancy.

`policy` decides whether a tool call is allowed; this package doesn't. In a path, `*` matches within a folder and `**`
across folders. A bash pattern is a prefix of a command, by words, in which `*` matches anything. Each command of a
chain (`a && b`, `a; b`) is checked separately, as in the harnesses.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from remit.globs import EVERYTHING, expand_braces, is_pattern, match_segments, match_tokens, matches_stars, tokenize

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_CHARS = 300
"""Maximum length of a pattern for comparisons. Longer ones only equal themselves."""


# --- paths -----------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def covers(wide: str, narrow: str) -> bool:
    """Whether a pattern matches all paths that the other one matches, as far as their texts show it."""
    wide, narrow = _normalize_path(wide), _normalize_path(narrow)
    if wide == narrow:
        return True
    if wide.startswith("!") or narrow.startswith("!") or len(wide) > MAX_CHARS or len(narrow) > MAX_CHARS:
        return False
    if wide in EVERYTHING or narrow in EVERYTHING:
        return wide in EVERYTHING
    choices = [_split(each) for each in expand_braces(wide)]
    for parts in map(_split, expand_braces(narrow)):
        if ".." in parts or not any(len(parts) in match_segments(each, parts, _part_covers) for each in choices):
            return False
    return True


def matches_path(pattern: str, path: str) -> bool:
    """Whether a pattern matches a path, which must not contain stars."""
    return not is_pattern(path) and covers(pattern, path)


def covered_by_any(narrow: str, wide: Iterable[str]) -> bool:
    """Whether one of several patterns covers a pattern."""
    return any(covers(each, narrow) for each in wide)


def _normalize_path(pattern: str) -> str:
    return pattern.strip().removeprefix("./")


def _split(pattern: str) -> list[str]:
    """Split a pattern into folders. `a/**` means the same as `a/**/*`."""
    parts = pattern.split("/")
    parts = [part for index, part in enumerate(parts) if part != "**" or parts[index - 1 : index] != ["**"]]
    return [*parts, "*"] if parts[-1] == "**" else parts


def _part_covers(wide: str, narrow: str) -> bool:
    """Match a part of a pattern against a part of another pattern, whose stars only a star matches."""
    if wide == narrow:
        return True
    if not is_pattern(wide) or "{" in wide or "**" in narrow:
        return False
    return wide == "*" or match_tokens(tokenize(wide), tokenize(narrow), _char_covers)


def _char_covers(wide: str, narrow: str) -> bool:
    return wide == narrow or (wide == "?" and narrow != "*")


# --- bash ------------------------------------------------------------------------------------------------------------

RUNNERS = (
    "bash -c", "sh -c", "dash -c", "zsh -c", "fish -c", "ksh -c", "pwsh -c", "busybox sh", "eval", "exec",
    "command", "env", "nohup", "nice", "ionice", "time", "timeout", "setsid", "stdbuf", "sudo", "doas", "su -c",
    "watch", "script -c", "flock", "xargs", "parallel", "find -exec", "fd -x", "git -c", "make", "tar --to-command",
    "tar xf", "tar -xf", "awk", "gawk", "sed -n", "python -c", "python3 -c", "perl -e", "ruby -e", "php -r",
    "lua -e", "node -e", "bun -e", "tsx -e", "ts-node -e", "deno eval", "vim -c", "vi -c", "nvim -c", "ed",
    "tmux new", "screen", "strace", "gdb", "unshare", "cmake -E", "ssh -o", "scp -o", "rsync -e", "zip -TT",
    "sqlite3", "go run", "cargo run", "docker run", "podman run", "npx", "npm exec", "pnpm exec", "uv run",
    "poetry run", "bundle exec", "lake env",
)  # fmt: skip
"""Beginnings of commands that run any other program."""


@lru_cache(maxsize=4096)
def normalize_command(pattern: str) -> str:
    """Return a bash pattern without a final wildcard: `git push:*` and `git push *` become `git push`."""
    pattern = " ".join(pattern.split())
    for ending in (":*", " *"):
        pattern = pattern.removesuffix(ending)
    return pattern


def allows_everything(pattern: str) -> bool:
    """Whether a bash pattern matches all commands."""
    return not normalize_command(pattern).strip("*")


def matches_command(pattern: str, command: str) -> bool:
    """Whether a bash pattern matches a command: as a prefix by words, or with stars."""
    pattern = normalize_command(pattern)
    return not pattern or any(matches_stars(each, command) for each in (pattern, f"{pattern} *"))


@lru_cache(maxsize=4096)
def covers_command(wide: str, narrow: str) -> bool:
    """Whether a bash pattern matches all commands that the other one matches, as far as their texts show it."""
    if len(wide) > MAX_CHARS or len(narrow) > MAX_CHARS:
        return wide == narrow
    wide, narrow = normalize_command(wide), normalize_command(narrow)
    if allows_everything(narrow):
        return allows_everything(wide)
    return wide == narrow or matches_command(wide, narrow)


def matches_whole(pattern: str, command: str) -> bool:
    """Whether a pattern of opencode matches a whole command: `*` matches anything, and a final ` *` also nothing."""
    if len(pattern) > MAX_CHARS or len(command) > 2 * MAX_CHARS:
        return pattern in (command, "*")
    ends = (pattern, pattern[:-2]) if pattern.endswith(" *") else (pattern,)
    return any(match_tokens(each, command, _char_covers) for each in ends)
