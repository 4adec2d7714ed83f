"""Patterns: what a permission's path pattern or bash pattern covers.

Owns the comparison of patterns with each other. Whether a real call may happen is not decided here: this tells a
linter which rules contradict or cover each other.

How patterns are read: in a path `*` stays within one folder and `**` crosses them; a bash pattern is the beginning of
a command, by words, in which `*` stands for anything. A chain (`a && b`, `a; b`) is taken apart and each command
judged by itself, as the harnesses do it, so a chain is no way round.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from remit.globs import EVERYTHING, expand_braces, is_pattern, match_segments, match_tokens, matches_stars, tokenize

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MAX_CHARS = 300
"""A longer pattern is only equal to itself: nobody writes one, and comparing it takes time."""


# --- paths -----------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def covers(wide: str, narrow: str) -> bool:
    """Whether every path that one pattern matches is matched by the other, as far as their texts show it."""
    wide, narrow = _plain(wide), _plain(narrow)
    if wide == narrow:
        return True
    if wide.startswith("!") or narrow.startswith("!") or len(wide) > MAX_CHARS or len(narrow) > MAX_CHARS:
        return False
    if wide in EVERYTHING or narrow in EVERYTHING:
        return wide in EVERYTHING
    choices = [_split(each) for each in expand_braces(wide)]
    return all(_is_absorbed(_split(each), choices) for each in expand_braces(narrow))


def _is_absorbed(narrow: list[str], choices: list[list[str]]) -> bool:
    return ".." not in narrow and any(_absorbs(wide, narrow) for wide in choices)


def matches_path(pattern: str, path: str) -> bool:
    """Whether a pattern matches one path; a path with a star in it is none."""
    return not is_pattern(path) and covers(pattern, path)


def covered_by_any(narrow: str, wide: Iterable[str]) -> bool:
    """Whether one of several patterns covers a pattern."""
    return any(covers(each, narrow) for each in wide)


def _plain(pattern: str) -> str:
    return pattern.strip().removeprefix("./")


def _split(pattern: str) -> list[str]:
    """The folders of a pattern; `a/**` means whatever is in `a`, as `a/**/*` does."""
    parts = pattern.split("/")
    parts = [part for index, part in enumerate(parts) if part != "**" or parts[index - 1 : index] != ["**"]]
    return [*parts, "*"] if parts[-1] == "**" else parts


def _absorbs(wide: Sequence[str], narrow: Sequence[str]) -> bool:
    """Match one pattern against the text of the other, whose own stars only a star can stand for."""
    return len(narrow) in match_segments(wide, narrow, _absorbs_part)


def _absorbs_part(wide: str, narrow: str) -> bool:
    """The same within one folder's name."""
    if wide == narrow:
        return True
    if not is_pattern(wide) or "{" in wide or "**" in narrow:
        return False
    return wide == "*" or match_tokens(tokenize(wide), tokenize(narrow), _absorbs_sign)


def _absorbs_sign(wide: str, narrow: str) -> bool:
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
"""How commands begin that run any other program."""


@lru_cache(maxsize=4096)
def normalize_command(pattern: str) -> str:
    """A bash pattern without what only says that more may follow: `git push:*` and `git push *` are `git push`."""
    pattern = " ".join(pattern.split())
    for ending in (":*", " *"):
        pattern = pattern.removesuffix(ending)
    return pattern


def allows_everything(pattern: str) -> bool:
    """Whether a bash pattern matches every command."""
    return not normalize_command(pattern).strip("*")


def matches_command(pattern: str, command: str) -> bool:
    """Whether a bash pattern matches a command: as its beginning, by words, or with stars."""
    pattern = normalize_command(pattern)
    return not pattern or any(matches_stars(each, command) for each in (pattern, f"{pattern} *"))


@lru_cache(maxsize=4096)
def covers_command(wide: str, narrow: str) -> bool:
    """Whether every command that one bash pattern matches is matched by the other, as far as their texts show it."""
    if len(wide) > MAX_CHARS or len(narrow) > MAX_CHARS:
        return wide == narrow
    wide, narrow = normalize_command(wide), normalize_command(narrow)
    if allows_everything(narrow):
        return allows_everything(wide)
    return wide == narrow or matches_command(wide, narrow)


def matches_whole(pattern: str, command: str) -> bool:
    """Whether a pattern matches a whole command as opencode reads it: `*` is anything, ` *` at the end nothing too."""
    if len(pattern) > MAX_CHARS or len(command) > 2 * MAX_CHARS:
        return pattern in (command, "*")
    ends = (pattern, pattern[:-2]) if pattern.endswith(" *") else (pattern,)
    return any(match_tokens(each, command, _absorbs_sign) for each in ends)
