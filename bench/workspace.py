"""The workspace against what it is made of: SQLite, fsync, git, and bare loops.

Run as `python bench/workspace.py [manifest] [tasks] [evidence]`; all of them when none is named. Each part prints its
table and compares ratios of one run with its goals; this ends with 1 when one of them is missed. The parts run one
after the other, each in a process of its own, so that none leaves the next a full heap.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

_HERE = Path(__file__).resolve().parent
PARTS = ("manifest", "tasks", "evidence")


def main(names: list[str]) -> int:
    """Run the parts that are named; 1 when a goal is missed, 2 when a name is not known."""
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        print(f"there is no part {', '.join(unknown)}; there are {', '.join(PARTS)}", file=sys.stderr)
        return 2
    missed = 0
    environment = os.environ | {"PYTHONPATH": str(_HERE.parent / "src")}
    for name in names or PARTS:
        print(f"\n== {name}", flush=True)
        command = [sys.executable, str(_HERE / f"workspace_{name}.py")]
        missed |= subprocess.run(command, env=environment, check=False).returncode != 0  # noqa: S603 - a script of ours
    return int(missed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
