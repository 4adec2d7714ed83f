"""Patterns: what a permission's path pattern or bash pattern covers.

Owns the comparison of patterns with each other. Whether a real call may happen is not decided here: this tells a
linter which rules contradict each other, cover each other, or can be got round by another spelling.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

EVERYTHING = frozenset({"*", "**", "**/*", "**/**", "./**", "./**/*", "/**"})


def covers(wide: str, narrow: str) -> bool:
    """Whether every path that one pattern matches is matched by the other, as far as their texts show it."""
    wide, narrow = _plain(wide), _plain(narrow)
    if wide == narrow or wide in EVERYTHING:
        return True
    for ending in ("/**/*", "/**"):
        if wide.endswith(ending) and not _is_magic(wide[: -len(ending)]):
            return narrow.startswith(wide[: -len(ending)] + "/")
    if wide.startswith("**/") and not _is_magic(wide[3:].lstrip("*")):
        tail = wide[3:]  # `**/*.md` covers whatever ends in .md, `**/x.md` every x.md
        if tail.startswith("*"):
            return narrow.endswith(tail.lstrip("*"))
        return narrow == tail or narrow.endswith(f"/{tail}")
    if wide.endswith("/*") and not _is_magic(wide[:-2]):
        rest = narrow[len(wide) - 1 :] if narrow.startswith(wide[:-1]) else "/"
        return "/" not in rest and "**" not in rest
    return False


def covered_by_any(narrow: str, wide: Iterable[str]) -> bool:
    """Whether one of several patterns covers a pattern."""
    return any(covers(each, narrow) for each in wide)


def _plain(pattern: str) -> str:
    return pattern.strip().removeprefix("./")


def _is_magic(text: str) -> bool:
    return any(char in text for char in "*?[{")


# --- bash ------------------------------------------------------------------------------------------------------------

_RUNS_ANYTHING = {
    "bash": "bash -c '{}'", "sh": "sh -c '{}'", "zsh": "zsh -c '{}'", "env": "env {}", "xargs": "echo | xargs {}",
    "find": "find . -maxdepth 0 -exec {} ;", "python": "python -c 'import os; os.system(\"{}\")'",
    "python3": "python3 -c 'import os; os.system(\"{}\")'", "perl": "perl -e 'system(\"{}\")'",
    "node": "node -e 'require(\"child_process\").execSync(\"{}\")'", "make": "make --eval='x:;{}' x",
    "git": "git -c alias.x='!{}' x", "awk": "awk 'BEGIN{{system(\"{}\")}}'", "nohup": "nohup {}", "time": "time {}",
    "timeout": "timeout 9 {}", "ssh": "ssh localhost {}", "watch": "watch {}", "eval": "eval {}", "exec": "exec {}",
    "command": "command {}", "sudo": "sudo {}", "npx": "npx -c '{}'", "npm": "npm exec -c '{}'",
    "sed": "sed -n '1e {}' FILE", "vim": "vim -c '!{}'",
}  # fmt: skip
"""Programs that run what they are given, and how."""


def matches_command(pattern: str, command: str) -> bool:
    """Whether a bash pattern matches a command: as a prefix by words, or with stars."""
    pattern = pattern.strip()
    for ending in (":*", " *"):
        pattern = pattern.removesuffix(ending)
    if pattern in ("*", "**", ""):
        return True
    if "*" in pattern:
        parts = [re.escape(part) for part in pattern.split("*")[:20]]
        return re.match(r"[^\n]{0,400}?".join(parts) + r"(?:\s|\Z)", command) is not None
    return command == pattern or command.startswith(f"{pattern} ")


def find_way_round(denied: str, *, deny: Iterable[str], allow: Iterable[str] | None) -> str | None:
    """Another spelling of a denied command that no rule stops; None where each is stopped.

    With an `allow` list only what it matches can be run at all; without one, whatever is not denied can.
    """
    deny, allow = list(deny), None if allow is None else list(allow)
    for spelling in _respell(denied, allow):
        if any(matches_command(pattern, spelling) for pattern in deny):
            continue
        if allow is None or any(matches_command(pattern, spelling) for pattern in allow):
            return spelling
    return None


def _respell(denied: str, allow: list[str] | None) -> Iterator[str]:
    """Other ways to write a command: its flags apart, in another order or in full, its path in full, through others."""
    words = denied.strip().removesuffix(":*").removesuffix(" *").split()
    if not words or any(char in denied for char in "|&;<>$`"):
        return
    yield from _respell_flags(words)
    plain = " ".join(words)
    if "/" not in words[0]:
        yield f"/usr/bin/{plain}"
        yield f"\\{plain}"
        yield f"command {plain}"
    programs = ["env", "bash"] if allow is None else [pattern.split()[0] for pattern in allow if pattern.split()]
    for program in programs:
        way = _RUNS_ANYTHING.get(program.partition(":")[0])
        if way and program != words[0]:
            yield way.format(plain)


_LONG_FLAGS = {
    ("rm", "r"): "--recursive", ("rm", "f"): "--force", ("rm", "R"): "--recursive", ("git", "f"): "--force",
    ("chmod", "R"): "--recursive", ("chown", "R"): "--recursive", ("cp", "r"): "--recursive",
}  # fmt: skip


def _respell_flags(words: list[str]) -> Iterator[str]:
    for index, word in enumerate(words):
        if not index or not word.startswith("-") or word.startswith("--") or not word[1:].isalpha():
            continue
        head, tail, flags = words[:index], words[index + 1 :], word[1:]
        if len(flags) > 1:
            yield " ".join([*head, *(f"-{flag}" for flag in flags), *tail])
            yield " ".join([*head, f"-{flags[::-1]}", *tail])
        long = [_LONG_FLAGS.get((words[0], flag)) for flag in flags]
        if all(long):
            yield " ".join([*head, *(each for each in long if each), *tail])
