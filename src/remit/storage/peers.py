"""Find the process at the other end of a loopback connection, from the kernel's tables in `/proc`.

The connecting process can't forge this. Without `/proc` nothing is known.
"""

from __future__ import annotations

import os
import socket
import sys
from contextlib import suppress
from typing import NamedTuple

_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
_MAX_TABLE_BYTES = 16 * 1024 * 1024
_MAX_ENVIRON_BYTES = 1024 * 1024
_MAX_STATUS_BYTES = 64 * 1024
_MAPPED = b"\0" * 10 + b"\xff\xff"
"""The prefix of an IPv4 address that is written as an IPv6 address."""
_NO_INODE = "0"
"""The inode number of a socket that no process has open."""
_TRIES = 3
_USER, _INODE = 7, 9
"""The columns of a row with the user who created a socket, and with its inode."""


class ConnectionEnd(NamedTuple):
    """One end of a connection."""

    host: str
    port: int


class Peers(NamedTuple):
    """The processes at the other end of a connection."""

    pids: tuple[int, ...] = ()
    is_gone: bool = False
    """True if no process has it open anymore. A client that waits for a response isn't gone, unless it hides."""
    is_hidden: bool = False
    """True if a process that isn't visible has it open: it hides its files, or is passing the connection to another
    process, during which no process has it open."""
    hiding: tuple[int, ...] = ()
    """Then: the candidates, which belong to the user who made the connection and hide their files."""
    is_foreign: bool = False
    """Then: True if it is another user, whose processes are visible only to root."""


class _Socket(NamedTuple):
    inode: str
    user: str


def find_peers(own: ConnectionEnd, other: ConnectionEnd) -> Peers:
    """Return the processes at the other end of a connection; none if they can't be found."""
    maker = ""
    for _ in range(_TRIES):  # a process may pass it to another one meanwhile
        sockets = _load_sockets()
        found = _find_socket(sockets, other, own)
        if not sockets or (found is None and not _is_here(other.host)):
            return Peers()
        if found is None or found.inode == _NO_INODE or _find_socket(sockets, own, other) is None:
            return Peers(is_gone=True)
        pids = tuple(pid for pid in _list_pids() if _holds(pid, f"socket:[{found.inode}]"))
        if pids:
            return Peers(pids)
        maker = found.user
    hiding = tuple(pid for pid in _list_pids() if _hides(pid, maker))
    return Peers(is_hidden=True, hiding=hiding, is_foreign=maker != str(os.geteuid()))


def find_maker(own: ConnectionEnd, other: ConnectionEnd) -> int | None:
    """Return the user who made the other end of a connection on this machine; None if unknown."""
    found = _find_socket(_load_sockets(), other, own)
    return None if found is None else int(found.user)


def _is_here(host: str) -> bool:
    """Return whether an address belongs to this machine, which is the case if a socket can be bound to it."""
    if not _spell(ConnectionEnd(host, 0)):  # a host name would need a lookup
        return False
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((host, 0))
    except (OSError, ValueError):
        return False
    return True


def _find_socket(
    sockets: dict[tuple[str, str], _Socket], local: ConnectionEnd, remote: ConnectionEnd
) -> _Socket | None:
    pairs = ((ours, theirs) for ours in _spell(local) for theirs in _spell(remote))
    return next((sockets[pair] for pair in pairs if pair in sockets), None)


def _load_sockets() -> dict[tuple[str, str], _Socket]:
    """Return the sockets of this machine by their two ends."""
    rows = (row for table in _TABLES for row in _load_rows(table))
    return {(row[1], row[2]): _Socket(row[_INODE], row[_USER]) for row in rows if len(row) > _INODE}


def _load_rows(table: str) -> list[list[str]]:
    try:
        with open(table, "rb") as file:
            return [line.split() for line in file.read(_MAX_TABLE_BYTES).decode("ascii", "replace").split("\n")[1:]]
    except OSError:
        return []


def _spell(end: ConnectionEnd) -> list[str]:
    """Return the spellings of an end in the system's tables, for both IPv4 and IPv6."""
    for family in (socket.AF_INET, socket.AF_INET6):
        with suppress(OSError, ValueError):
            packed = socket.inet_pton(family, end.host.partition("%")[0])
            mapped = _MAPPED + packed if family == socket.AF_INET else packed
            plain = [mapped.removeprefix(_MAPPED)] if mapped.startswith(_MAPPED) else []
            return [_render(each, end.port) for each in (mapped, *plain)]
    return []


def _render(packed: bytes, port: int) -> str:
    """Return an address as the tables spell it: groups of four bytes in native byte order."""
    numbers = (int.from_bytes(packed[at : at + 4], sys.byteorder) for at in range(0, len(packed), 4))
    return f"{''.join(f'{number:08X}' for number in numbers)}:{port:04X}"


def _list_pids() -> list[int]:
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdecimal()]
    except OSError:
        return []


def _holds(pid: int, link: str) -> bool:
    try:
        for name in os.listdir(f"/proc/{pid}/fd"):
            with suppress(OSError):  # it has been closed
                if os.readlink(f"/proc/{pid}/fd/{name}") == link:
                    return True
    except OSError:  # it has ended, or belongs to another user
        pass
    return False


def _hides(pid: int, user: str) -> bool:
    """Return whether a process belongs to a user and doesn't let Remit list its files."""
    try:
        os.listdir(f"/proc/{pid}/fd")
    except PermissionError:
        return user in _load_users(pid)
    except OSError:  # it has ended
        return False
    return False


def _load_users(pid: int) -> list[str]:
    """Return the user ids of a process: real, effective, saved, and file system."""
    try:
        with open(f"/proc/{pid}/status", "rb") as file:
            lines = file.read(_MAX_STATUS_BYTES).decode("ascii", "replace").split("\n")
    except OSError:
        return []
    return next((line.split()[1:] for line in lines if line.startswith("Uid:")), [])


def load_environ(pid: int) -> dict[str, str]:
    """Return the environment that a process was started with; empty if it can't be read."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            parts = file.read(_MAX_ENVIRON_BYTES).split(b"\0")
    except OSError:
        return {}
    pairs = (os.fsdecode(part).partition("=") for part in parts if part)
    return {name: value for name, _, value in pairs}
