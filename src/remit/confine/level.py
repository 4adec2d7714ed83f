"""The level: what this machine's kernel can enforce, found by running the launcher.

A machine that enforces everything keeps it until the next boot, and one file in the user's cache says so. Lower levels
aren't cached: a confined command may be able to write to the cache, and must not be able to lower the level. If the
file claims too much, the launcher refuses to run commands.
"""

from __future__ import annotations

import os
import subprocess
import tempfile

from remit.confine.command import make_command
from remit.confine.launcher import can_judge
from remit.confine.profile import Profile
from remit.light_namedtuple import NamedTuple

TYPE_CHECKING = False  # typing itself would cost 6 ms
if TYPE_CHECKING:
    from collections.abc import Mapping

FULL, FILES, NONE = "full", "files", "none"
ALWAYS_OPEN = (
    "a protected file that doesn't exist yet can be created",
    "a hard link or a second mount from before reaches a protected file by another name",
    "a protected file loses its protection if a process outside replaces it while the command runs",
    "Unix sockets with a path can be reached unless they are hidden: Docker, D-Bus, ssh-agent",
    "named pipes of the same user can be read and written unless they are hidden",
    "UDP stays open if the network is limited to ports, and connections can be accepted",
    "System V shared memory, semaphores and message queues of the same user can be used",
    "descriptors that the caller passes for writing stay writable",
    "a command that owns its cgroup can end other processes in it",
    "priority and processors of the same user's processes can be changed, and files that can be read can be locked",
    "all files that the user can read can be read unless they are hidden",
)
"""What no level stops."""
_WITHOUT_SCOPES = (
    "signals reach all processes of the same user",
    "abstract Unix sockets of other processes can be reached",
)
_WITHOUT_PORTS = ("TCP connections can't be limited to ports",)
_WITHOUT_NETWORK = ("the network can't be switched off",)
_WITHOUT_FILES = (
    "all files that the user can write can be written",
    "processes of the same user can be read and changed",
    "all networks can be reached",
)
_WITHOUT_JUDGE = ("programs that rules deny can be started by a spelling that the policy doesn't recognize",)
_WITH_JUDGE = (
    "a process that changes the words of a program while it starts it gets past the rules for programs",
    "builtins of shells and modules of interpreters aren't programs that rules could deny",
)
_FORM = "2"
"""The form of the cache file, and of the launcher's abilities it speaks about."""
_SECONDS = 20.0
_TRY = '(: >"$1/protected") 2>/dev/null && exit 3; : >"$1/other" || exit 4'
"""Succeeds if a protected file can't be written and another one can."""
_TRY_JUDGE = "env true 2>/dev/null && exit 3; env false; [ $? = 1 ] || exit 4"
"""Succeeds if `true` can't be started and another program can."""


class Level(NamedTuple):
    """What a machine can enforce."""

    name: str
    """`full`, `files` (no signals, abstract sockets or ports) or `none`."""
    has_files: bool
    has_scopes: bool
    has_ports: bool
    has_no_network: bool
    """Whether all sockets but Unix sockets can be refused."""
    reasons: tuple[str, ...] = ()
    """Why something is missing, in the launcher's words."""
    has_judge: bool = False
    """Whether denied programs can be refused whenever one is started. It isn't a part of the full level."""

    def list_open(self) -> list[str]:
        """Return what this level doesn't stop."""
        if not self.has_files:
            return [*_WITHOUT_FILES, *_WITHOUT_SCOPES, *_WITHOUT_JUDGE]
        missing = [] if self.has_scopes else [*_WITHOUT_SCOPES]
        missing += [] if self.has_ports else [*_WITHOUT_PORTS]
        missing += [] if self.has_no_network else [*_WITHOUT_NETWORK]
        missing += _WITH_JUDGE if self.has_judge else _WITHOUT_JUDGE
        return [*missing, *ALWAYS_OPEN]


def find_level(environ: Mapping[str, str] | None = None) -> Level:
    """Return this machine's level, from the cache if a probe has found the full one since the last boot."""
    place = _find_cache(os.environ if environ is None else environ)
    key = _make_key()
    if key and place and _read(place) == key:
        full = Level(FULL, True, True, True, True)  # noqa: FBT003 - a record of flags
        return full._replace(has_judge=can_judge())
    level = probe_level()
    if level.name == FULL and level.has_judge == can_judge() and key and place:
        _write(place, key)
    return level


def probe_level() -> Level:
    """Return this machine's level by trying each ability in a process of its own."""
    with tempfile.TemporaryDirectory(prefix="remit-level-") as given:
        folder = os.path.realpath(given)
        os.close(os.open(f"{folder}/protected", os.O_CREAT | os.O_WRONLY, 0o600))
        files = Profile(write=(folder,), protect=(f"{folder}/protected",), keeps_inside=False)
        reasons = {"files": _try(folder, files)}
        if not reasons["files"]:
            reasons["scopes"] = _try(folder, files._replace(keeps_inside=True))
            reasons["ports"] = _try(folder, files._replace(network="ports", ports=(443,)))
            reasons["network"] = _try(folder, files._replace(network="none"))
            reasons["judge"] = _try(folder, files._replace(deny=("true",)), _TRY_JUDGE)
    has = {name: reasons.get(name) == "" for name in ("files", "scopes", "ports", "network", "judge")}
    return Level(
        name=FULL if all(has[name] for name in has if name != "judge") else FILES if has["files"] else NONE,
        has_files=has["files"],
        has_scopes=has["scopes"],
        has_ports=has["ports"],
        has_no_network=has["network"],
        reasons=tuple(dict.fromkeys(filter(None, reasons.values()))),
        has_judge=has["judge"],
    )


def _try(folder: str, profile: Profile, script: str = _TRY) -> str:
    """Return why a profile can't be enforced here; "" if it can."""
    place = f"{folder}/profile"
    _write(place, profile.render())
    command = make_command(place, ["/bin/sh", "-c", script, "sh", folder])
    try:
        done = subprocess.run(command, capture_output=True, timeout=_SECONDS, check=False, cwd=folder)  # noqa: S603 - the launcher
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"the launcher can't be started: {error}"
    if done.returncode == 0:
        return ""
    said = done.stderr.decode(errors="replace").strip().removeprefix("remit: the command was not run: ")
    return said or f"the kernel doesn't enforce the profile (status {done.returncode})"


def _make_key() -> bytes:
    """Return what a cached level depends on; empty if the kernel has no boot id."""
    boot = _read("/proc/sys/kernel/random/boot_id").strip()
    return b" ".join((_FORM.encode(), boot, str(os.geteuid()).encode(), FULL.encode())) if boot else b""


def _find_cache(environ: Mapping[str, str]) -> str:
    """Return the path of the cache file; "" if there is no place for one."""
    folder = environ.get("XDG_CACHE_HOME", "")
    if not folder.startswith("/"):
        home = environ.get("HOME", "")
        folder = f"{home}/.cache" if home.startswith("/") else ""
    return f"{folder}/remit/confine-level" if folder else ""


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(4096)
    except OSError:
        return b""


def _write(path: str, data: bytes) -> None:
    """Write a file as a whole; without a place for it nothing is cached."""
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        handle, fresh = tempfile.mkstemp(dir=os.path.dirname(path))
        with open(handle, "wb") as file:
            file.write(data)
        os.replace(fresh, path)
    except OSError:
        return
