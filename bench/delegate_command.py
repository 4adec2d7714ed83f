"""A delegation to a program that does nothing, beside the start of a bare Python.

Run as `python bench/all.py delegate_command`. What is measured has its durable row, shim, containment, kept output,
stored result and verdict, and neither snapshot nor settlement. The floor is `python -I -c pass`. Both are measured in
turn, round after round, and the ratio of a round counts. `remit run`, the whole process with everything, is only told.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from bench.clock import BARE, clock, clock_python, compile_source, make_environ
from bench.delegate_parts import make_repository, write_agent
from bench.rows import choose, finish, make_row
from remit.runs.workspace import Workspace

if TYPE_CHECKING:
    from bench.rows import Row

ROUNDS, STARTS = choose(20, 80), choose(6, 25)
GOAL = 4.0


async def measure(root: Path) -> Row:
    """Delegate and pay the floor, in turn."""
    command = write_agent(root)
    bare: list[float] = []
    taken: list[float] = []
    async with Workspace.open(root) as ws:
        for _ in range(ROUNDS + 1):
            bare.append(clock_python())
            began = time.perf_counter()
            result = await ws.delegate("noop", "Do nothing.", command=command, evidence=False, finishes=False)
            taken.append((time.perf_counter() - began) * 1e3)
            assert result.status == "completed", result
    return _make_row("a delegation to a program that does nothing", taken, bare, goals={BARE: GOAL})


def measure_starts(root: Path) -> Row:
    """The same from the command line, with evidence and settlement, as a whole process."""
    words = [sys.executable, "-m", "remit", "run", "noop", "Do nothing.", "--command", write_agent(root), "--json"]
    bare, taken = [], []
    for _ in range(STARTS + 1):
        bare.append(clock_python())
        milliseconds, done = clock(
            lambda: subprocess.run(words, cwd=root, env=make_environ(), capture_output=True, check=False)  # noqa: S603 - ours
        )
        taken.append(milliseconds)
        assert done.returncode == 0, done
    return _make_row("`remit run` with evidence and settlement, the whole process", taken, bare, goals={})


def _make_row(what: str, taken: list[float], bare: list[float], *, goals: dict[str, float]) -> Row:
    # The first loads modules.
    return make_row("run", what, "ms", taken[1:], floors={BARE: bare[1:]}, goals=goals)


def main() -> int:
    """Print what was measured; 1 when the goal is missed."""
    compile_source()
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        root = Path(folder)
        make_repository(root)
        return finish([asyncio.run(measure(root)), measure_starts(root)])


if __name__ == "__main__":
    sys.exit(main())
