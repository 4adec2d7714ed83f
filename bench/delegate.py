"""Delegation against what it is made of, and against others that run functions durably.

Run as `python bench/delegate.py [command] [functions] [crowd] [evidence]`; all of them when none is named. Each part
prints its table and compares what it measured in one run with its goals; this ends with 1 when one of them is missed.
The parts run one after the other, each in a process of its own, so that none leaves the next a full heap.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

_HERE = Path(__file__).resolve().parent
PARTS = ("command", "functions", "crowd", "evidence")


def main(names: list[str]) -> int:
    """Run the parts that are named; 1 when a goal is missed, 2 when a name is not known."""
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        print(f"there is no part {', '.join(unknown)}; there are {', '.join(PARTS)}", file=sys.stderr)
        return 2
    missed = 0
    environment = os.environ | {"PYTHONPATH": f"{_HERE.parent / 'src'}{os.pathsep}{_HERE.parent}"}
    for name in names or PARTS:
        print(f"\n== {name} (load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores)", flush=True)
        command = [sys.executable, "-m", f"bench.delegate_{name}"]
        missed |= subprocess.run(command, env=environment, check=False).returncode != 0  # noqa: S603 - a script of ours
    return int(missed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
