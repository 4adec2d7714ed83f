"""A shell command under the launcher against the same command bare, and beside bubblewrap with the same mounts.

Run as `python bench/all.py confine`. A confined agent pays for the launcher at each of its commands, so what counts is
the processor's time of `bash -c true` confined, minus that of the same call bare in the same round. The profile is that
of a workspace with twenty protected places. As root the kernel makes a mount namespace only, and otherwise a user
namespace, too; both are measured if the benchmark runs as root.
"""

from __future__ import annotations

import compileall
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bench.clock import BARE, SOURCE
from bench.rows import choose, finish, make_row

sys.path.insert(0, str(SOURCE))

from remit.confine.command import make_command
from remit.confine.profile import Profile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.rows import Row

_ROUNDS: Final = choose(20, 100)
_GOAL_MS: Final = 15.0
_USER: Final = 1234
_PLACES: Final = 20
_BWRAP: Final = "bubblewrap with the same mounts"
_PYTHON: Final = f"{BARE} without its site"


def take(words: Sequence[str], prefix: Sequence[str], folder: Path) -> float:
    """Run a command; the milliseconds of processor that it and its children took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([*prefix, *words], check=True, cwd=folder, env={"PATH": os.defpath}, capture_output=True)  # noqa: S603 - ours
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e3


def make_workspace(folder: Path) -> list[str]:
    """Make a workspace with protected places; their paths."""
    places = [folder / "conf" / f"place{number}" for number in range(_PLACES)]
    for place in places:
        place.mkdir(parents=True)
    return [str(place) for place in places]


def measure(name: str, prefix: Sequence[str], python: str, folder: Path) -> Row:
    """What a user pays for each command."""
    root = folder / name
    places = make_workspace(root)
    launcher = folder / "launcher" / "launcher.py"
    if not launcher.exists():  # a copy that every user can read, compiled as an installed one is
        launcher.parent.mkdir()
        shutil.copy(SOURCE / "remit" / "confine" / "launcher.py", launcher)
        assert compileall.compile_file(launcher, quiet=1)
    profile = folder / f"{name}.profile"
    profile.write_bytes(Profile(write=(str(root),), protect=tuple(places)).render())
    shell = ["bash", "-c", "true"]
    confined = [word.replace(str(SOURCE / "remit" / "confine"), str(launcher.parent))
                for word in make_command(str(profile), shell, python=python)]  # fmt: skip
    binds = [word for place in places for word in ("--ro-bind", place, place)]
    peer = ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--bind", str(root), str(root), *binds, *shell]
    empty = [python, "-I", "-S", "-c", "pass"]
    if prefix:
        subprocess.run(["chown", "-R", str(_USER), root], check=True)  # noqa: S603, S607 - a system's program
    has_peer = shutil.which("bwrap") is not None
    taken: list[tuple[float, float, float, float]] = []
    for number in range(_ROUNDS + 2):
        bare = take(shell, prefix, root)
        own, least = take(confined, prefix, root) - bare, take(empty, prefix, root) - bare
        row = own, least, take(peer, prefix, root) - bare if has_peer else 0.0, bare
        taken += [row] if number > 1 else []  # the first rounds only warm the disk
    note = f"The same call bare takes {sorted(each[3] for each in taken)[len(taken) // 2]:.1f} ms."
    return make_row(
        "confine", f"a shell command confined, minus bare, {name}", "ms of processor", [each[0] for each in taken],
        peers={_BWRAP: [each[2] for each in taken]} if has_peer else {},
        floors={_PYTHON: [each[1] for each in taken]}, goal=_GOAL_MS, note=note,
    )  # fmt: skip


def main() -> int:
    """Print what was measured; 1 when a goal is missed."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as given:
        folder = Path(given).resolve()
        folder.chmod(0o755)
        rows = [measure("as root" if os.geteuid() == 0 else "without privileges", (), sys.executable, folder)]
        python = _find_python()
        if os.geteuid() == 0 and python:
            rows.append(measure("without privileges", _PREFIX, python, folder))
        return finish(rows)


_PREFIX: Final = ("setpriv", f"--reuid={_USER}", f"--regid={_USER}", "--clear-groups")


def _find_python() -> str:
    """An interpreter that a user without privileges can run; empty if there is none."""
    for python in (os.path.realpath(sys.executable), "/usr/bin/python3"):
        done = subprocess.run([*_PREFIX, python, "-I", "-S", "-c", "pass"], capture_output=True, check=False)  # noqa: S603
        if done.returncode == 0:
            return python
    return ""


if __name__ == "__main__":
    sys.exit(main())
