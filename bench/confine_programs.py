"""What the judge of programs costs: each program that a confined command starts, and each command.

Run as `python bench/all.py confine_programs`. The same confined command runs with ten rules and without, in turn. It
starts `true` again and again and measures each start from before the call to the end of the process; the difference of
the two medians is what a start pays. A command pays once for the process that judges: its processor's time counts,
although it isn't a child of the command.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bench.clock import SOURCE
from bench.rows import choose, finish, make_row

sys.path.insert(0, str(SOURCE))

from remit.confine.command import make_command
from remit.confine.level import probe_level
from remit.confine.profile import Profile

if TYPE_CHECKING:
    from collections.abc import Sequence

_ROUNDS: Final = choose(8, 40)
_STARTS: Final = choose(60, 200)
_START_GOAL_MS, _COMMAND_GOAL_MS = 1.0, 10.0
_RULES: Final = (
    "rm -rf *", "sudo *", "git push *", "curl *", "wget *", "npm publish *", "docker *", "chmod 777 *", "shutdown",
    "kubectl delete *",
)  # fmt: skip
_MEASURE: Final = """
import os, sys, time
taken = []
for _ in range(int(sys.argv[1])):
    began = time.perf_counter_ns()
    os.waitpid(os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ), 0)
    taken.append(time.perf_counter_ns() - began)
print(sorted(taken)[len(taken) // 2] / 1e6)
"""
_ADOPT: Final = 36
"""PR_SET_CHILD_SUBREAPER: the process that judges becomes a child of this one when its own parent has ended."""


def measure_start(profile: str, words: Sequence[str]) -> float:
    """The median of the milliseconds that a confined command takes to start a program and wait for it."""
    command = make_command(profile, [sys.executable, "-I", "-S", "-c", _MEASURE, str(_STARTS), *words])
    done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - ours
    return float(done.stdout)


def measure_command(profile: str) -> float:
    """The milliseconds of processor that a confined command takes, with the process that judges."""
    wait_for_all()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(make_command(profile, ["bash", "-c", "true"]), check=True, capture_output=True)  # noqa: S603 - ours
    wait_for_all()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e3


def wait_for_all() -> None:
    """Wait for the end of every process that judges, which follows that of its command."""
    with contextlib.suppress(ChildProcessError):
        while True:
            os.wait()


def main() -> int:
    """Print what was measured; 1 when a goal is missed."""
    level = probe_level()
    assert level.has_judge, f"this machine can't judge programs: {level.reasons}"
    assert ctypes.CDLL(None).prctl(_ADOPT, 1, 0, 0, 0) == 0
    program, git = os.path.realpath("/bin/true"), os.path.realpath(shutil.which("git") or "/usr/bin/git")
    starts: dict[str, list[float]] = {"true": [], "git": []}
    commands, bare = [], []
    with tempfile.TemporaryDirectory(dir="/var/tmp") as given:
        free, judged = (f"{given}/{name}" for name in ("free", "judged"))
        Path(free).write_bytes(Profile(write=(given,)).render())
        Path(judged).write_bytes(Profile(write=(given,), deny=_RULES).render())
        for number in range(_ROUNDS + 1):
            pairs = {
                name: (measure_start(judged, words), measure_start(free, words))
                for name, words in (("true", [program]), ("git", [git, "check-ref-format", "refs/heads/a"]))
            }
            with_judge, without = measure_command(judged), measure_command(free)
            if number:  # the first round only warms the disk
                for name, (one, other) in pairs.items():
                    starts[name].append(one - other)
                bare.append(pairs["true"][1])
                commands.append(with_judge - without)
    note = f"A start without rules takes {sorted(bare)[len(bare) // 2]:.2f} ms."
    return finish(
        [
            make_row("confine", "a program that no rule means is started, judged minus not", "ms", starts["true"],
                     goal=_START_GOAL_MS, note=note),
            make_row("confine", "a program is started that a rule may mean, judged minus not", "ms", starts["git"],
                     goal=_START_GOAL_MS),
            make_row("confine", "a shell command confined, with rules for programs minus without", "ms of processor",
                     commands, goal=_COMMAND_GOAL_MS),
        ]
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
