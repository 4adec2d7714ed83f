"""The owner of a process: which running agent it belongs to, by namespaces, ancestors and shims."""

from __future__ import annotations

import json
import os
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from remit.attempts.folders import NO_AGENT, is_alive, list_living, read_shim_folder, read_small
from remit.light_namedtuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.ledger.home import Home

_PIDS_SECONDS, _ASK_SECONDS = 0.5, 0.005
_PS_SECONDS, _MAX_PS_BYTES = 20.0, 4 * 1024 * 1024
_FIRST_NAMESPACE, _FIRST_USERS = 0xEFFFFFFC, 0xEFFFFFFD
"""The inode numbers of the initial PID namespace and the initial user namespace of Linux."""


class Enclosing(NamedTuple):
    """The living agents to which a process may belong."""

    sessions: tuple[str, ...] = ()
    """Empty for a process of the user; several if Remit can't tell which of them it is."""


def find_enclosing(home: Home, pid: int | None = None) -> str | None:
    """Return the session of the living agent to which a process belongs; None for a process of the user.

    Default: this process, which counts as an agent's if in doubt; see `find_all_enclosing`.
    """
    return next(iter(find_all_enclosing(home, pid).sessions), None)


def find_all_enclosing(home: Home, pid: int | None = None) -> Enclosing:
    """Return the living agents to which a process may belong; none for a process of the user. Default: this process.

    A process belongs to an agent if it is in the agent's PID namespace, or descends from a shim of any workspace. This
    process also counts as an agent's if its namespace is neither the machine's nor one in which a living agent was
    started: an agent may have created it to hide. Another process is visible with all its ancestors, through every
    namespace; and browsers have namespaces of their own.
    """
    living = list_living(home)
    own = _find_namespace("self" if pid is None else str(pid))
    known = [(attempt, load_pids(attempt.folder)) for attempt in living]
    for attempt, pids in known:  # the kernel's answer comes before a command line, which can be forged
        if pids is not None and pids.contained == "namespace" and pids.inner == own:
            return Enclosing((attempt.session_id,))
    ancestors = tuple(_list_ancestors()) if pid is None else (pid, *_list_ancestors(pid))
    above = next(filter(None, map(_read_shim, ancestors)), None)
    if above is not None:
        return Enclosing((above,))
    outside = set()
    for attempt, pids in known:
        if pids is None:
            if is_alive(attempt.folder):
                return Enclosing((attempt.session_id,))
            continue
        outside.add(pids.outer)
        if pids.outer == own and {pids.shim, pids.keeper} & {*ancestors}:
            return Enclosing((attempt.session_id,))
    is_hidden = own == 0 and sys.platform.startswith("linux")
    is_known = pid is not None or not outside or (own in {*outside, 0, _FIRST_NAMESPACE} and not is_hidden)
    return Enclosing(() if is_known else tuple(attempt.session_id for attempt in living))


def find_doubt() -> str:
    """Return why Remit can't tell whether this process belongs to an agent of any workspace; empty if it can.

    In the machine's own PID namespace every ancestor is visible. In another one, such as a container's, the ancestors
    of its first process aren't: an agent that lives in none of the namespaces below it may be among them.
    """
    if not sys.platform.startswith("linux"):
        return ""
    own = _find_namespace("self")
    if own == 0:
        return "there is no /proc to read it from"
    if own == _FIRST_NAMESPACE:
        return ""
    living, known = _list_announced(), {own}
    for _ in living:  # each round finds those one level deeper
        known |= {inner for outer, inner in living if outer in known}
    if all(outer in known for outer, _ in living):
        return ""
    return "it is in a PID namespace of its own while an agent runs outside of that"


def _list_announced() -> list[tuple[int, int]]:
    """Return the outer and inner namespace of each living agent of this user.

    In a user namespace the user's id on the machine is unknown, so all agents count.
    """
    with open("/proc/net/unix", "rb") as file:
        names = [line.rpartition(b" @remit-agent/")[2].split(b"/") for line in file if b" @remit-agent/" in line]
    is_first = os.stat("/proc/self/ns/user").st_ino == _FIRST_USERS
    found = []
    for name in names:
        with suppress(ValueError):
            user, outer, inner = map(int, name[:3])
            found += [(outer, inner)] if not is_first or user == os.getuid() else []
    return found


def _read_shim(pid: int) -> str | None:
    """Return the session of a shim or the keeper that it forked; None for any other process."""
    folder = read_shim_folder(pid)
    session_id = folder.split("/")[-2] if folder.count("/") > 1 else ""
    return session_id if session_id and not session_id.startswith(NO_AGENT) else None


class Pids(NamedTuple):
    """The processes of an attempt, and the namespaces of its shim and of its agent."""

    contained: str
    shim: int
    keeper: int
    outer: int
    inner: int


def load_pids(folder: str) -> Pids | None:
    """Return the processes of an attempt; None if it has ended. Waits for an attempt that has just been started."""
    last = time.monotonic() + _PIDS_SECONDS
    while True:
        with suppress(ValueError, TypeError, KeyError):
            facts: Any = json.loads(read_small(f"{folder}/pids.json"))
            if all(type(facts[name]) is int for name in Pids._fields[1:]):
                return Pids(**facts)
        if time.monotonic() > last or not is_alive(folder):
            return None
        time.sleep(_ASK_SECONDS)


def _find_namespace(pid: str) -> int:
    try:
        return os.stat(f"/proc/{pid}/ns/pid").st_ino
    except OSError:
        return 0


def _list_ancestors(below: int | None = None) -> Iterator[int]:
    """Yield the ancestors of a process, nearest first. Default: this process."""
    parents = _list_parents()
    pid = os.getppid() if below is None else parents.get(below, 0) if parents else _find_parent(below)
    for _ in range(len(parents) + 1 if parents else 1 << 16):
        if pid <= 0:
            return
        yield pid
        pid = parents.get(pid, 0) if parents else _find_parent(pid)


def _find_parent(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return int(file.read(1024).rpartition(b")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return 0


def _list_parents() -> dict[int, int]:
    """Return the parent of each process, on systems without `/proc`."""
    if os.path.exists("/proc/self/stat"):
        return {}
    from remit.storage.subprocesses import run_bounded  # noqa: PLC0415 - only on these systems

    listing = run_bounded(["ps", "-A", "-o", "pid=,ppid="], cwd="/", seconds=_PS_SECONDS, cap=_MAX_PS_BYTES)
    pairs = [line.split() for line in listing.out.splitlines()]
    return {int(pid): int(parent) for pid, parent in pairs}
