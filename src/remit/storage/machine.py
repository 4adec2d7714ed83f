"""Facts about the machine: file systems, free space, programs in PATH, and whether sockets work.

Programs inside the workspace are never started.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from remit.errors import RunnerError
from remit.harnesses import codex
from remit.storage.subprocesses import run_bounded

_MOUNTS = "/proc/self/mountinfo"
_MAX_MOUNTS_BYTES = 4 * 1024 * 1024
_MAX_ANSWER_BYTES = 4096
_NETWORK = frozenset({
    "nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "glusterfs", "lustre", "gfs2", "ocfs2", "beegfs",
    "fuse.sshfs", "fuse.rclone", "fuse.s3fs", "fuse.glusterfs", "fuse.gcsfuse", "fuse.juicefs", "ncpfs", "coda",
})  # fmt: skip
_FLEETING = frozenset({"tmpfs", "ramfs"})


class Mount(NamedTuple):
    """The file system that a folder lies on."""

    point: str
    kind: str

    @property
    def is_network(self) -> bool:
        """Whether another machine keeps the files: locks and shared memory do not reach that far."""
        return self.kind in _NETWORK

    @property
    def is_fleeting(self) -> bool:
        """Whether everything on it is gone when the machine stops."""
        return self.kind in _FLEETING


class FoundProgram(NamedTuple):
    """A program on the path."""

    file: str
    is_foreign: bool
    """Whether it lies in the workspace, where anybody may have put it."""


class ProgramOutput(NamedTuple):
    """What a program answered: how it ended, None if it took too long, and the beginning of its two outputs."""

    code: int | None
    text: str


def find_mount(folder: str, *, table: str = _MOUNTS) -> Mount | None:
    """The file system of a folder; None where the machine has no table of them."""
    here = os.path.realpath(folder)
    point, kind = "", ""
    try:
        with open(table, "rb") as file:
            lines = file.read(_MAX_MOUNTS_BYTES).splitlines()
    except OSError:
        return None
    for line in lines:
        facts, _, rest = line.partition(b" - ")
        words = facts.split(b" ")
        if len(words) < 5:  # noqa: PLR2004 - the fifth is where it is mounted
            continue
        place = _unescape(words[4])
        # Of two at one place the later hides the other.
        if f"{here}/".startswith(f"{place.rstrip('/')}/") and len(place) >= len(point):
            point, kind = place, os.fsdecode(rest.split(b" ")[0])
    return Mount(point, kind) if point else None


def _unescape(name: bytes) -> str:
    """A mount point without the octal escapes for spaces and the like."""
    first, *rest = name.split(b"\\")
    parts = [first]
    for part in rest:
        code = part[:3]
        parts.append(bytes([int(code, 8) & 255]) + part[3:] if len(code) == 3 and code.isdigit() else b"\\" + part)  # noqa: PLR2004 - digits
    return os.fsdecode(b"".join(parts))


class FreeSpace(NamedTuple):
    """What is free on a file system."""

    free_bytes: int
    free_files: int | None
    """None where the file system does not count them."""


def measure_free_space(folder: str) -> FreeSpace:
    """How much can still be written below a folder."""
    found = os.statvfs(folder)
    return FreeSpace(found.f_bavail * found.f_frsize, found.f_favail if found.f_files else None)


def find_program(name: str, *, root: str) -> FoundProgram | None:
    """A program by its name, as the path has it. A place that is relative would be one in the workspace."""
    inside = f"{os.path.realpath(root).rstrip('/')}/"
    foreign = None
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        file = os.path.join(folder, name)
        if not (os.path.isabs(folder) and os.path.isfile(file) and os.access(file, os.X_OK)):
            continue
        if not os.path.realpath(file).startswith(inside) and not f"{os.path.realpath(folder)}/".startswith(inside):
            return FoundProgram(file, is_foreign=False)
        foreign = foreign or FoundProgram(file, is_foreign=True)
    return foreign


def run_program(command: list[str], *, seconds: float) -> ProgramOutput:
    """Run a program for what it prints first, away from the workspace, and end it when its time is over."""
    try:
        ran = run_bounded(command, cwd="/", seconds=seconds, cap=_MAX_ANSWER_BYTES)
    except OSError as error:
        return ProgramOutput(127, (error.strerror or str(error)).lower())
    return ProgramOutput(ran.code, "" if ran.code is None else (ran.out + ran.err).decode("utf-8", "replace"))


def is_alive(pid: int) -> bool:
    """Whether there is a process of this number."""
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # somebody else's
        return True
    return True


def check_sockets() -> None:
    """Refuse where a sandbox denies a process to send anything, even to itself: it could wait for nobody, for ever."""
    from socket import socketpair  # noqa: PLC0415 - only where something is started

    one, other = socketpair()
    with one, other:
        try:
            one.send(b"\0")
        except PermissionError as error:
            hint = (
                "hand work on from outside of it; for Codex, that is "
                f'args = ["{codex.SANDBOX_OPTION}={codex.FULL_ACCESS}"] under [runners.codex] in remit.toml'
            )
            raise RunnerError("the sandbox around this process lets nobody be started from it", hint=hint) from error
