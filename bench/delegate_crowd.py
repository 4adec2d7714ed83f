"""Two hundred agents at once: what the supervisor needs for them, and how fast one, or all, are gone.

Run as `python bench/all.py delegate_crowd`. The agents sleep; some of those that are ended have a child in a session of
its own that ignores every polite signal. When something is gone is asked of the kernel: every process of the attempt,
by the lock on its folder, which is free when nothing of it is alive. This process is the supervisor, and nothing else.
"""

from __future__ import annotations

import asyncio
import os
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from bench.rows import choose, finish, make_row
from remit.attempts.folders import find_folder, is_alive
from remit.ledger.runs import load_run
from remit.runs.request import Request
from remit.runs.workspace import Workspace

if TYPE_CHECKING:
    from bench.rows import Row

AGENTS, ROUNDS, HELD_SECONDS = 200, choose(4, 15), choose(2.0, 5.0)
MOST_MB, MOST_SECONDS = 300.0, 0.3
_STUBBORN = 'trap "" TERM INT HUP\nsetsid sh -c \'trap "" TERM INT HUP; sleep 600\' &\nsleep 600\n'


class Crowd:
    """A workspace with a crowd of agents in it."""

    def __init__(self, ws: Workspace, root: Path) -> None:
        self.ws, self.root = ws, root
        self.stubborn = f"/bin/sh {root / 'stubborn.sh'}"

    async def start(self, command: str, *, timeout_s: float = 600) -> str:
        """Start an agent; its session."""
        request = Request("sleeper", "Sleep.", command=command, evidence=False, finishes=False, timeout_s=timeout_s)
        return (await self.ws.start(request)).row.session_id

    async def wait_until_begun(self, names: list[str]) -> None:
        """Wait until agents run."""
        for name in names:
            while not os.path.exists(f"{self.find_folder(name)}/pids.json"):  # noqa: ASYNC110, ASYNC240, PTH110 - a benchmark
                await asyncio.sleep(0.01)

    def find_folder(self, name: str) -> str:
        """Where an agent's attempt has its things."""
        return find_folder(self.ws.home, name, 1)

    async def time_cancel(self, names: list[str]) -> float:
        """How long it takes from the wish to end agents until nothing of them is alive."""
        began = time.perf_counter()
        await asyncio.gather(*(self.ws.cancel(name) for name in names))
        await self.wait_until_gone(names)
        return time.perf_counter() - began

    async def wait_until_gone(self, names: list[str]) -> None:
        """Wait until nothing of agents is alive: the shim, which wrote their results, is the last of them."""
        for name in names:
            while is_alive(self.find_folder(name)):  # noqa: ASYNC110 - as above
                await asyncio.sleep(0.001)

    async def time_deadline(self) -> float:
        """How long after its deadline a stubborn agent is gone, with its result written down."""
        name = await self.start(self.stubborn, timeout_s=1)
        result = await self.ws.wait(name)
        await self.wait_until_gone([name])
        ended = time.time()
        assert result.stop_reason == "timeout", result
        row = load_run(self.ws.home.ledger, name)
        assert row is not None
        assert row.deadline_ms is not None
        return ended - row.deadline_ms / 1000


async def measure(root: Path) -> list[Row]:
    """Hold a crowd, end single agents of it, then all."""
    (root / "remit.toml").write_text(f"[limits]\nrunning = {AGENTS + 10}\n")
    (root / "stubborn.sh").write_text(_STUBBORN)
    async with Workspace.open(root) as ws:
        try:
            return await hold(Crowd(ws, root))
        finally:  # agents outlive a supervisor that fails
            await asyncio.gather(*(ws.cancel(row.session_id) for row in ws.list()))


async def hold(crowd: Crowd) -> list[Row]:
    """Start the crowd, look at it while it sleeps, and end it."""
    began = time.perf_counter()
    names = list(await asyncio.gather(*(crowd.start("/bin/sleep 600") for _ in range(AGENTS))))
    await crowd.wait_until_begun(names)
    started = time.perf_counter() - began
    busy = time.process_time()
    await asyncio.sleep(HELD_SECONDS)
    busy = (time.process_time() - busy) / HELD_SECONDS
    memory, others = read_memory(), read_others(crowd.root)
    cancels, deadlines = [], []
    for _ in range(ROUNDS):
        one = await crowd.start(crowd.stubborn)
        await crowd.wait_until_begun([one])
        await asyncio.sleep(0.2)
        cancels.append(await crowd.time_cancel([one]))
        deadlines.append(await crowd.time_deadline())
    everyone = await crowd.time_cancel(names)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    return [
        make_row("crowd", f"{AGENTS} agents started, until all are at work", "s", [started]),
        make_row("crowd", "the supervisor's memory with them: resident", "MB", [memory], goal=MOST_MB),
        make_row("crowd", "the supervisor's memory with them: at its peak", "MB", [peak], goal=MOST_MB),
        make_row("crowd", "the supervisor's share of a core while they sleep", "%", [busy * 100]),
        make_row("crowd", "shim and keeper of one agent, their share of memory", "MB", [others / AGENTS]),
        make_row("crowd", "an agent cancelled, until nothing of it is alive", "s", cancels, goal=MOST_SECONDS),
        make_row(
            "crowd", "an agent past its deadline, until nothing of it is alive", "s", deadlines, goal=MOST_SECONDS
        ),
        make_row("crowd", f"all {AGENTS} cancelled, until nothing of them is alive", "s", [everyone]),
    ]


def read_memory() -> float:
    """The resident memory of this process in MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def read_others(root: Path) -> float:
    """What the shims and keepers of a workspace need, each page shared out among those who use it, in MB."""
    total = 0
    for place in Path("/proc").iterdir():
        try:
            words = (place / "cmdline").read_bytes() if place.name.isdigit() else b""
            if b"import shim" in words and os.fsencode(root) in words:
                lines = (place / "smaps_rollup").read_text().splitlines()
                total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
        except OSError:  # it has just ended
            continue
    return total * 1024 / 1e6


def main() -> int:
    """Print what was measured; 1 when a goal is missed."""
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        (Path(folder) / ".git").mkdir()
        return finish(asyncio.run(measure(Path(folder))))


if __name__ == "__main__":
    sys.exit(main())
