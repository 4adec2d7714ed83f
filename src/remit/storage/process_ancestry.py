"""The ancestors of a process, identified by pid and start time because pids are reused.

Without `/proc` nothing is known. Imports almost nothing: hooks use it.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_BETWEEN = frozenset({
    "sh", "bash", "dash", "zsh", "fish", "ksh", "mksh", "ash", "busybox", "env", "timeout", "nice", "uv", "uvx",
    "remit",
})  # fmt: skip
"""The programs with which a harness starts its hooks."""
_MAX_ANCESTORS = 1 << 10


def find_harness() -> str:
    """Return the mark of the harness: the nearest ancestor that isn't a shell or launcher; empty if unknown."""
    return next((mark for mark, name in _list_above(os.getpid()) if name not in _BETWEEN), "")


def list_above(mark: str = "") -> list[str]:
    """Return the marks of all ancestors of a process, nearest first. Default: this process."""
    pid = mark.partition(".")[0]
    return [each for each, _ in _list_above(int(pid) if pid.isdecimal() else os.getpid())]


def find_mark(pid: int) -> str:
    """Return the mark of a process; empty if it has ended."""
    found = _read(pid)
    return "" if found is None else f"{pid}.{found[1]}"


def _list_above(pid: int) -> Iterator[tuple[str, str]]:
    found = _read(pid)
    for _ in range(_MAX_ANCESTORS):
        if found is None or found[2] <= 0:
            return
        pid = found[2]
        found = _read(pid)
        if found is not None:
            yield f"{pid}.{found[1]}", found[0]


def _read(pid: int) -> tuple[str, str, int] | None:
    """Return the name, start time and parent of a process; None if it has ended."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            before, _, after = file.read(1024).rpartition(b")")
        facts = after.split()
        return os.fsdecode(before.partition(b"(")[2]), facts[19].decode("ascii"), int(facts[1])
    except (OSError, ValueError, IndexError):
        return None
