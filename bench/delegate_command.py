"""A delegation to a program that does nothing, beside the start of a bare Python.

Run as a part of `bench/delegate.py`. What is measured has its durable row, shim, containment, kept output, sealed
result and verdict, and neither snapshot nor settlement. The floor is `python -I -c pass`. Both are measured in turn,
round after round, and the ratio of a round counts. `remit run`, the whole process with everything, is only told.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.delegate_parts import Row, make_repository, print_rows, write_agent
from remit.app.delegating.workspace import Workspace

ROUNDS, STARTS = 60, 15
GOAL = 4.0


async def measure(root: Path) -> list[Row]:
    """Delegate and pay the floor, in turn."""
    command = write_agent(root)
    bare: list[float] = []
    taken: list[float] = []
    async with Workspace.open(root) as ws:
        for _ in range(ROUNDS + 1):
            bare.append(start_python())
            began = time.perf_counter()
            envelope = await ws.delegate("noop", "Do nothing.", command=command, evidence=False, settles=False)
            taken.append(time.perf_counter() - began)
            assert envelope.status == "completed", envelope
    bare, taken = bare[1:], taken[1:]  # the first loads modules
    ratios = [one / floor for one, floor in zip(taken, bare, strict=True)]
    spread = f"rounds from {min(ratios):.1f} to {max(ratios):.1f}"
    return [
        Row("python -I -c pass", statistics.median(bare) * 1e3, "ms"),
        Row("a delegation to a program that does nothing", statistics.median(taken) * 1e3, "ms"),
        Row("  as a multiple of the bare process", statistics.median(ratios), "x", GOAL, remark=spread),
    ]


def measure_starts(root: Path) -> list[Row]:
    """The same from the command line, with evidence and settlement, as a whole process."""
    command = write_agent(root)
    bare, taken = [], []
    # Where nothing compiled may be kept, each start would compile what has changed since `make setup`.
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    for _ in range(STARTS + 1):
        bare.append(start_python())
        words = ["run", "noop", "Do nothing.", "--command", command, "--json"]
        began = time.perf_counter()
        done = subprocess.run(  # noqa: S603 - ours
            [sys.executable, "-m", "remit", *words], cwd=root, env=environ, capture_output=True, check=False
        )
        taken.append(time.perf_counter() - began)
        assert done.returncode == 0, done
    ratios = [one / floor for one, floor in zip(taken[1:], bare[1:], strict=True)]
    return [
        Row("remit run, the whole process", statistics.median(taken[1:]) * 1e3, "ms"),
        Row("  as a multiple of the bare process", statistics.median(ratios), "x"),
    ]


def start_python() -> float:
    """How long a Python takes that does nothing."""
    began = time.perf_counter()
    subprocess.run([sys.executable, "-I", "-c", "pass"], check=True)
    return time.perf_counter() - began


def main() -> int:
    """Print what was measured; 1 when the goal is missed."""
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        root = Path(folder)
        make_repository(root)
        return print_rows([*asyncio.run(measure(root)), *measure_starts(root)])


if __name__ == "__main__":
    sys.exit(main())
