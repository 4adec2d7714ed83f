"""What it costs to know what an agent really did: an agent of one second, with evidence and without.

Run as a part of `bench/delegate.py`. The project is a repository of 300 files and 3 MB. With evidence its tree is
looked at and hashed before the agent begins, and looked at again and compared when it has ended. Both are measured in
turn, round after round; what one takes longer is told as a share of the agent's second.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from pathlib import Path

from bench.delegate_parts import Row, make_repository, print_rows, write_agent
from remit.app.delegating.workspace import Workspace

FILES, FILE_BYTES, ROUNDS = 300, 10_000, 12
MOST_PERCENT = 10.0


def write_project(root: Path) -> None:
    """A project with folders of ten files, in git."""
    for number in range(FILES):
        folder = root / "src" / f"part{number // 10:02d}"
        folder.mkdir(parents=True, exist_ok=True)
        line = f"value_{number} = {number}\n"
        (folder / f"module{number % 10}.py").write_text(line * (FILE_BYTES // len(line)))
    make_repository(root)


async def measure(root: Path) -> list[Row]:
    """An agent of a second that writes a file, with evidence and without."""
    command = write_agent(root, seconds=1, writes="report.md")
    taken: dict[bool, list[float]] = {False: [], True: []}
    async with Workspace.open(root) as ws:
        for _ in range(ROUNDS + 1):
            for evidence, times in taken.items():
                (root / "report.md").unlink(missing_ok=True)
                began = time.perf_counter()
                envelope = await ws.delegate("noop", "Report.", command=command, evidence=evidence, settles=False)
                times.append(time.perf_counter() - began)
                assert envelope.status == "completed", envelope
                assert not evidence or envelope.artifacts[0].grade == "changed", envelope
    differences = [with_it - without for without, with_it in zip(taken[False][1:], taken[True][1:], strict=True)]
    spread = f"rounds from {min(differences) * 100:.1f} to {max(differences) * 100:.1f}"
    return [
        Row("an agent of one second, without evidence", statistics.median(taken[False][1:]) * 1e3, "ms"),
        Row("  with evidence", statistics.median(taken[True][1:]) * 1e3, "ms"),
        Row("  evidence as a share of the agent's second", statistics.median(differences) * 100, "%", MOST_PERCENT,
            remark=spread),
    ]  # fmt: skip


def main() -> int:
    """Print what was measured; 1 when the goal is missed."""
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        write_project(Path(folder))
        return print_rows(asyncio.run(measure(Path(folder))))


if __name__ == "__main__":
    sys.exit(main())
