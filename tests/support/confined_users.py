"""Who starts confined commands in these tests: the user of the tests, and a user without privileges."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from remit.confine.profile import Profile
from tests.support.paths import SOURCE

if TYPE_CHECKING:
    from collections.abc import Sequence

LAUNCHER = SOURCE / "remit" / "confine" / "launcher.py"
USER = 1234
"""A user id that no account needs to have."""
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""Programs that every user can run; a version manager's wrappers in front of them would cost more than the tests."""


class Caller(NamedTuple):
    """A user with a folder of its own, which has a copy of the launcher."""

    name: str
    prefix: tuple[str, ...]
    python: str
    folder: Path

    def own(self, path: Path) -> None:
        """Give a path with everything in it to this user."""
        if self.prefix:
            subprocess.run(["chown", "-R", f"{USER}:{USER}", path], check=True)

    def make_folder(self, name: str = "work") -> Path:
        """Return a new folder of this user."""
        folder = self.folder / name
        folder.mkdir()
        self.own(folder)
        return folder

    def make_words(self, profile: Profile | bytes, command: Sequence[str]) -> list[str]:
        """Return the words that run a command under a profile as this user."""
        place = self.folder / "profile"
        place.write_bytes(profile if isinstance(profile, bytes) else profile.render())
        launcher = str(self.folder / "launcher.py")
        return [*self.prefix, self.python, "-I", "-S", launcher, str(place), "--", *command]

    def run(
        self, profile: Profile | bytes, script: str, *, cwd: Path | None = None, env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a script of the shell under a profile."""
        words = self.make_words(profile, ["bash", "-c", script])
        return subprocess.run(
            words,
            cwd=cwd,
            env=env or {"PATH": PATH},
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
            timeout=120,
        )

    def run_bare(self, script: str, *, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        """Run a script of the shell as this user without limits."""
        return subprocess.run(
            [*self.prefix, "bash", "-c", script],
            cwd=cwd,
            env={"PATH": PATH},
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
            timeout=120,
        )


def make_caller(name: str) -> Caller:
    """Return the user of the tests, or one without privileges; skip if there is no way to become that one."""
    prefix, python = ((), sys.executable) if name == "own" else _find_other_user()
    if not python:
        pytest.skip("there is no user without privileges that could run the launcher")
    folder = Path(tempfile.mkdtemp(prefix="remit-confine-")).resolve()
    folder.chmod(0o755)
    caller = Caller(name, prefix, python, folder)
    shutil.copy(LAUNCHER, folder / "launcher.py")
    caller.own(folder)
    reason = _refused.get(name)
    if reason is None:
        ran = caller.run(Profile(), "true")
        reason = _refused[name] = ran.stderr if ran.returncode else ""
    if "namespace" in reason:
        shutil.rmtree(folder)
        pytest.skip(reason.strip())
    assert not reason
    return caller


_refused: dict[str, str] = {}
"""Why the kernel of this machine confines nothing for a user, if it doesn't."""


def _find_other_user() -> tuple[tuple[str, ...], str]:
    """Return the words that make a command one of a user without privileges, and an interpreter for that user."""
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        return (), ""
    return _make_prefix(USER), find_python(USER)


def _make_prefix(user: int) -> tuple[str, ...]:
    return "setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"


@cache
def find_python(user: int) -> str:
    """Return an interpreter that a user can run: others can't use one in root's home. "" if there is none."""
    if user == os.geteuid():
        return sys.executable
    for python in (os.path.realpath(sys.executable), "/usr/bin/python3"):
        words = [*_make_prefix(user), "sh", "-c", f"exec {python} -I -S -c pass"]
        if subprocess.run(words, capture_output=True, check=False).returncode == 0:
            return python
    return ""


# Runs a command under a filter that lets one system call fail with an error, as a kernel without it would.
FAIL = """
import ctypes, os, struct, sys
number, error, argument, value = map(int, sys.argv[1:5])
code = [(0x20, 0, 0, 0), (0x15, 0, 3, number)]
code += [(0x20, 0, 0, 16 + 8 * argument), (0x15, 0, 1, value)] if argument >= 0 else [(0, 0, 0, 0), (0, 0, 0, 0)]
code += [(6, 0, 0, 0x50000 | error), (6, 0, 0, 0x7FFF0000)]
data = b"".join(struct.pack("HBBI", *each) for each in code)
program = ctypes.create_string_buffer(data)
c = ctypes.CDLL(None)
assert c.prctl(38, 1, 0, 0, 0) == 0
assert c.prctl(22, 2, struct.pack("HxxxxxxQ", len(code), ctypes.addressof(program))) == 0
os.execv(sys.argv[5], sys.argv[5:])
"""
