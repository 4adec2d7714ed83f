"""Remit's evidence against `git status`: a snapshot of a tree, and what became of the tree since.

Run as `PYTHONPATH=src python bench/workspace_evidence.py`. Makes a repository of 20,000 files, a tenth of them ignored
by git, and measures in turn, round after round: git status, the snapshot before a delegation, and the whole comparison
after it (the stored snapshot is read, the tree looked at again, both are compared and what changed is hashed). Prints a
table and one line per goal; ends with 1 when a goal is missed. The machine is shared, so the ratio of a round counts,
not its milliseconds.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from remit.workspace.evidence.comparison import compare
from remit.workspace.evidence.snapshot import take_snapshot
from remit.workspace.evidence.stored import parse_snapshot, render_snapshot

if TYPE_CHECKING:
    from collections.abc import Callable

    from remit.workspace.evidence.comparison import Comparison

_FILES: Final = 20_000
_PER_FOLDER: Final = 20
_CHANGED: Final = 20
_GOAL: Final = 3.0
_BASE: Final = "git status"

Result = TypeVar("Result")


class Row(NamedTuple):
    """One thing that was measured: its milliseconds, and how they compare with git status of the same round."""

    name: str
    median_ms: float
    ratio: float
    lowest: float
    highest: float
    goal: float | None


def write_tree(root: Path, count: int) -> None:
    """Make the files and commit them, but for every tenth folder, which is ignored."""
    for number in range(count):
        place = number // _PER_FOLDER
        kind = "build" if place % 10 == 9 else "src"
        folder = root / kind / f"part{place // 40:02d}" / f"module{place % 40:02d}"
        if number % _PER_FOLDER == 0:
            folder.mkdir(parents=True)
        (folder / f"file_{number % _PER_FOLDER:02d}.py").write_text(f"number = {number}\n" * 40, encoding="utf-8")
    (root / ".gitignore").write_text("build/\n", encoding="utf-8")
    # Else git tidies up in the background, and takes the time of others.
    settings = ["-c", "user.name=bench", "-c", "user.email=bench@localhost", "-c", "gc.auto=0"]
    for command in (["init", "-q"], ["add", "-A"], [*settings, "commit", "-q", "-m", "all files"], ["status"]):
        subprocess.run(["git", *command], cwd=root, check=True, stdout=subprocess.DEVNULL)  # noqa: S603, S607


def change_files(root: Path, number: int) -> None:
    """What an agent leaves behind: some files longer than they were."""
    for file in sorted((root / "src" / "part00").rglob("*.py"))[:_CHANGED]:
        file.write_text("changed\n" * (50 + number), encoding="utf-8")


def measure(count: int = _FILES, rounds: int = 9) -> list[Row]:
    """Rows for git status, the snapshot, and the comparison when nothing changed and when something did."""
    start_watching()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        write_tree(root, count)
        time.sleep(0.1)  # a snapshot of files that are just being written waits for the clock
        times: dict[str, list[float]] = {}
        for number in range(rounds + 1):
            for name, seconds in _run_round(root, number).items():
                if number:  # the first round only warms the disk
                    times.setdefault(name, []).append(seconds)
    return [_summarize(name, own, times[_BASE]) for name, own in times.items()]


def _run_round(root: Path, number: int) -> dict[str, float]:
    stored = render_snapshot(take_snapshot(root))

    def compare_whole() -> Comparison:
        return compare(parse_snapshot(stored), take_snapshot(root))

    seconds = {
        _BASE: _time(lambda: run_git_status(root))[0],
        "snapshot": _time(lambda: take_snapshot(root))[0],
    }
    seconds["comparison, nothing changed"], same = _time(compare_whole)
    assert not any(same), same
    assert count_reads(compare_whole) == 0, "an unchanged file was read"
    change_files(root, number)
    time.sleep(0.1)
    seconds[f"comparison, {_CHANGED} files changed"], changed = _time(compare_whole)
    assert len(changed.changed) == _CHANGED, changed
    assert count_reads(compare_whole) == _CHANGED, "not only the changed files were read"
    return seconds


def run_git_status(root: Path) -> None:
    """What everybody knows the price of."""
    subprocess.run(["git", "status", "--porcelain"], cwd=root, check=True, stdout=subprocess.DEVNULL)  # noqa: S607


def _time(work: Callable[[], Result]) -> tuple[float, Result]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


_reads: list[str] | None = None


def _watch(event: str, args: tuple[object, ...]) -> None:
    if event == "open" and _reads is not None and isinstance(args[2], int) and not args[2] & os.O_DIRECTORY:
        _reads.append(str(args[0]))


@cache
def start_watching() -> None:
    """Be told of every file that is opened, once for the whole run."""
    sys.addaudithook(_watch)


def count_reads(work: Callable[[], object]) -> int:
    """How many files are opened meanwhile, folders aside."""
    global _reads  # noqa: PLW0603 - a hook cannot be taken out again, only told to look away
    _reads = []
    work()
    found, _reads = len(_reads), None
    return found


def _summarize(name: str, own: list[float], base: list[float]) -> Row:
    ratios = [seconds / other for seconds, other in zip(own, base, strict=True)]
    goal = None if name == _BASE else _GOAL
    return Row(name, statistics.median(own) * 1000, statistics.median(ratios), min(ratios), max(ratios), goal)


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description="Measure snapshots and comparisons against git status.")
    parser.add_argument("--files", type=int, default=_FILES)
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    rows = measure(options.files, options.rounds)
    print(f"\n| {options.files} files | ms, median | x {_BASE} (lowest, highest round) |\n|---|---|---|")
    for row in rows:
        print(f"| {row.name} | {row.median_ms:.1f} | {row.ratio:.2f} ({row.lowest:.2f}, {row.highest:.2f}) |")
    print()
    goals = [row for row in rows if row.goal is not None]
    for row in goals:
        told = "kept  " if row.ratio <= (row.goal or 0) else "MISSED"
        print(f"{told}  {row.name}: {row.ratio:.2f}x, goal {row.goal:g}x")
    return 0 if all(row.ratio <= (row.goal or 0) for row in goals) else 1


if __name__ == "__main__":
    sys.exit(main())
