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
    """The file system of a folder."""

    point: str
    kind: str

    @property
    def is_network(self) -> bool:
        """True if the files are on another machine: locks and shared memory don't work across machines."""
        return self.kind in _NETWORK

    @property
    def is_fleeting(self) -> bool:
        """True if its content is lost when the machine stops."""
        return self.kind in _FLEETING


class FoundProgram(NamedTuple):
    """A program in PATH."""

    file: str
    is_foreign: bool
    """True if it is in the workspace, where anyone may have put it."""


class ProgramOutput(NamedTuple):
    """The exit code of a program, None after a timeout, and the start of its output."""

    code: int | None
    text: str


def find_mount(folder: str, *, table: str = _MOUNTS) -> Mount | None:
    """Return the file system of a folder; None if the system has no mount table."""
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
        if len(words) < 5:  # noqa: PLR2004 - the fifth is the mount point
            continue
        place = _unescape(words[4])
        # A later mount at the same point hides the earlier one.
        if f"{here}/".startswith(f"{place.rstrip('/')}/") and len(place) >= len(point):
            point, kind = place, os.fsdecode(rest.split(b" ")[0])
    return Mount(point, kind) if point else None


def _unescape(name: bytes) -> str:
    """Return a mount point without the octal escapes for spaces and the like."""
    first, *rest = name.split(b"\\")
    parts = [first]
    for part in rest:
        code = part[:3]
        parts.append(bytes([int(code, 8) & 255]) + part[3:] if len(code) == 3 and code.isdigit() else b"\\" + part)  # noqa: PLR2004 - digits
    return os.fsdecode(b"".join(parts))


class FreeSpace(NamedTuple):
    """The free space of a file system."""

    free_bytes: int
    free_files: int | None
    """None if the file system doesn't count them."""


def measure_free_space(folder: str) -> FreeSpace:
    """Return how much can still be written below a folder."""
    found = os.statvfs(folder)
    return FreeSpace(found.f_bavail * found.f_frsize, found.f_favail if found.f_files else None)


def find_program(name: str, *, root: str) -> FoundProgram | None:
    """Return a program in PATH by its name. Relative folders are skipped: they could be in the workspace."""
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
    """Run a program outside of the workspace, with a time limit; return its exit code and the start of its output."""
    try:
        ran = run_bounded(command, cwd="/", seconds=seconds, cap=_MAX_ANSWER_BYTES)
    except OSError as error:
        return ProgramOutput(127, (error.strerror or str(error)).lower())
    return ProgramOutput(ran.code, "" if ran.code is None else (ran.out + ran.err).decode("utf-8", "replace"))


def is_alive(pid: int) -> bool:
    """Return whether there is a process with this pid."""
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # another user's
        return True
    return True


def check_sockets() -> None:
    """Raise `RunnerError` if a sandbox forbids sockets: waiting for a child process could block forever."""
    from socket import socketpair  # noqa: PLC0415 - only if something is started

    one, other = socketpair()
    with one, other:
        try:
            one.send(b"\0")
        except PermissionError as error:
            hint = (
                "start the run outside of it; for Codex, set "
                f'args = ["{codex.SANDBOX_OPTION}={codex.FULL_ACCESS}"] under [runners.codex] in remit.toml'
            )
            raise RunnerError("the sandbox around this process doesn't allow starting agents", hint=hint) from error
