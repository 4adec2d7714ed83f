"""What it costs to know what an agent really did: an agent of one second, with evidence and without.

Run as `python bench/all.py delegate_evidence`. The project is a repository of 300 files and 3 MB. With evidence its
tree is looked at and hashed before the agent begins, and looked at again and compared when it has ended. Both are
measured in turn, round after round; what one takes longer is told as a share of the agent's second.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from bench.delegate_parts import write_agent, write_project
from bench.rows import choose, finish, make_row
from remit.runs.workspace import Workspace

if TYPE_CHECKING:
    from bench.rows import Row

ROUNDS = choose(4, 15)
MOST_PERCENT = 10.0


async def measure(root: Path) -> list[Row]:
    """An agent of a second that writes a file, with evidence and without."""
    command = write_agent(root, seconds=1, writes="report.md")
    taken: dict[bool, list[float]] = {False: [], True: []}
    async with Workspace.open(root) as ws:
        for _ in range(ROUNDS + 1):
            for evidence, times in taken.items():
                (root / "report.md").unlink(missing_ok=True)
                began = time.perf_counter()
                result = await ws.delegate("noop", "Report.", command=command, evidence=evidence, finishes=False)
                times.append(time.perf_counter() - began)
                assert result.status == ("completed" if evidence else "partial"), result
                assert result.artifacts[0].grade == ("changed" if evidence else "unknown"), result
    without, with_it = ([each * 1e3 for each in times[1:]] for times in taken.values())  # the first loads modules
    shares = [(one - other) / 10 for one, other in zip(with_it, without, strict=True)]
    return [
        make_row("evidence", "an agent of one second, with evidence", "ms", with_it, floors={"without": without}),
        make_row("evidence", "evidence, as a share of the agent's second", "%", shares, goal=MOST_PERCENT),
    ]


def main() -> int:
    """Print what was measured; 1 when the goal is missed."""
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        write_project(Path(folder))
        return finish(asyncio.run(measure(Path(folder))))


if __name__ == "__main__":
    sys.exit(main())
