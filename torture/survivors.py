"""Let agents leave processes behind in every way there is, end them in every way there is, and count who survives.

Run as `python torture/survivors.py`; `--help` lists the options. Each tree is one agent with children that have left
its session, its group or its signals; some are never there for long. It must have grown before it is ended, or it does
not count. Afterwards nothing of it may be alive.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run by path

from remit.attempts.folders import send_control
from remit.attempts.results import wait_result
from torture.tally import tell
from torture.trees import WAYS, Forest, plant, start

if TYPE_CHECKING:
    from remit.attempts.results import Contained

CONTAINED: tuple[Contained, ...] = ("namespace", "subreaper")
ENDS = ("exit", "deadline", "cancel", "shim killed", "keeper killed")
DEADLINE_SECONDS = 5.0
SOON_SECONDS = 0.3
"""What the kernel itself ends may take a moment after the lock is free."""


class Tree(NamedTuple):
    """What became of one tree."""

    number: int
    contained: str
    end: str
    grown: int
    """How many processes were alive before the end; 0 where it had not grown in time."""
    left: int
    seconds: float
    """From what ended it until nothing of it was alive."""


async def fell(number: int, folder: Path) -> Tree:
    """Let one tree grow, end it, and count."""
    chance = random.Random(number)
    contain = CONTAINED[number % len(CONTAINED)]
    end = ENDS[number // len(CONTAINED) % len(ENDS)]
    ways = chance.sample(sorted(WAYS), chance.randint(2, len(WAYS)))
    script, wanted = plant(ways, rabbit=chance.random() < 0.3, deaf=chance.random() < 0.7)
    forest = start(folder, script, contain=contain, seconds=DEADLINE_SECONDS if end == "deadline" else 120.0)
    last = time.monotonic() + DEADLINE_SECONDS - 0.2
    while (grown := forest.count_living()) < wanted and time.monotonic() < last:  # noqa: ASYNC110 - nobody tells
        await asyncio.sleep(0.05)
    began = hit(forest, end)
    result = await wait_result(forest.attempt.folder, started=forest.started)
    contained = result.contained if result else contain
    seconds = time.time() - began
    while forest.count_living() and time.time() - began < SOON_SECONDS:
        await asyncio.sleep(0.02)
        seconds = time.time() - began
    left = 0
    for _ in range(3):  # whoever is never there for long is not seen at each look
        await asyncio.sleep(0.02)
        left = max(left, forest.count_living())
    return Tree(number, contained, end, grown if grown >= wanted else 0, left, seconds)


def hit(forest: Forest, end: str) -> float:
    """Do what ends a tree; when that is."""
    if end == "deadline":
        return forest.deadline
    if end == "exit":
        forest.let_go()
    elif end == "cancel":
        assert send_control(forest.attempt.folder, "cancel")
    elif end == "shim killed":
        os.kill(forest.started.pid, signal.SIGKILL)
    else:
        pids = json.loads(Path(forest.attempt.folder, "pids.json").read_text("ascii"))
        os.kill(pids["keeper"], signal.SIGKILL)
    return time.time()


async def fell_all(trees: range, jobs: int, folder: Path) -> list[Tree]:
    """Trees by their numbers, some at once."""
    free = asyncio.Semaphore(jobs)

    async def one(number: int) -> Tree:
        async with free:
            return await fell(number, folder)

    return await asyncio.gather(*(one(number) for number in trees))


def render(trees: list[Tree]) -> str:
    """A line for each kind of end in each containment, and all of them together."""
    lines = [
        render_line(" ".join(f"{word:<13}" for word in key), [each for each in trees if each[1:3] == key])
        for key in sorted({(tree.contained, tree.end) for tree in trees})
    ]
    bad = [f"BAD tree {tree.number}: {tree.left} left of {tree.grown}" for tree in trees if tree.left or not tree.grown]
    bad += ["  again: python torture/survivors.py --trees 1 --first NUMBER"] * bool(bad)
    return "\n".join([*lines, *bad, render_line(f"{'all':<27}", trees)])


def render_line(name: str, trees: list[Tree]) -> str:
    """What was counted of some trees."""
    total = Counter[str]()
    for tree in trees:
        total.update(trees=1, grown=tree.grown, left=tree.left, stunted=not tree.grown)
    slowest = max(tree.seconds for tree in trees)
    middle = sorted(tree.seconds for tree in trees)[len(trees) // 2]
    return (
        f"{name} {total['trees']:>4} trees of {total['grown']:>6} processes, {total['left']:>2} survivors, "
        f"{total['stunted']} had not grown, ended in {middle:.2f} s, at most {slowest:.2f} s"
    )


def main() -> int:
    """Grow, end, count; 1 if anything survives or a tree was not there to be ended."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--trees", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, metavar="N", help="the number of the first one")
    parser.add_argument("--jobs", type=int, default=4, help="how many at once")
    parser.add_argument("--json", action="store_true", help="the trees as JSON")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="torture-"))
    try:
        trees = asyncio.run(fell_all(range(options.first, options.first + options.trees), options.jobs, folder))
    finally:
        shutil.rmtree(folder)
    bad = sum(bool(tree.left or not tree.grown) for tree in trees)
    tell(sum(bool(tree.grown) for tree in trees), bad, processes=sum(tree.grown for tree in trees))
    print(json.dumps([tree._asdict() for tree in trees]) if options.json else render(trees))
    return 1 if any(tree.left or not tree.grown for tree in trees) else 0


if __name__ == "__main__":
    sys.exit(main())
