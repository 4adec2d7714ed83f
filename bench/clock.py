"""What benchmarks time with: a clock, the start of a bare Python, and the surroundings of an installed package."""

from __future__ import annotations

import compileall
import math
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SOURCE: Final = Path(__file__).resolve().parents[1] / "src"
BARE: Final = "bare Python"
"""The floor of everything that is a process of its own."""

Result = TypeVar("Result")


def clock(work: Callable[[], Result]) -> tuple[float, Result]:
    """The milliseconds of one call, and what it gave."""
    began = time.perf_counter()
    result = work()
    return (time.perf_counter() - began) * 1e3, result


def clock_python() -> float:
    """The milliseconds of a Python that does nothing, from start to end."""
    return clock(lambda: subprocess.run([sys.executable, "-I", "-c", "pass"], check=True))[0]


def find_share(values: Sequence[float], share: float) -> float:
    """The value that such a share of all does not exceed."""
    return sorted(values)[max(math.ceil(share * len(values)), 1) - 1]


def compile_source() -> None:
    """Make the bytecode that an installed package has: nobody pays for that on every start."""
    assert compileall.compile_dir(SOURCE, quiet=1)


def make_environ() -> dict[str, str]:
    """The environment of a program of Remit's, which may keep what it compiles."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPATH": f"{SOURCE}{os.pathsep}{SOURCE.parent}"}
