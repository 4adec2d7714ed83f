"""Remit's evidence against `git status`: a snapshot of a tree, and what became of the tree since.

Run as `python bench/all.py workspace_evidence`. Makes a repository of 20,000 files, a tenth of them ignored by git, and
measures in turn, round after round: git status, the snapshot before a delegation, and the whole comparison after it
(the stored snapshot is read, the tree looked at again, both are compared and what changed is hashed). The machine is
shared, so the ratio of a round counts, not its milliseconds.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bench.clock import clock
from bench.rows import choose, finish, make_row
from remit.workspace.evidence.comparison import compare
from remit.workspace.evidence.snapshot import take_snapshot
from remit.workspace.evidence.stored import parse_snapshot, render_snapshot

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.rows import Row
    from remit.workspace.evidence.comparison import Comparison

_FILES: Final = 20_000
_ROUNDS: Final = choose(3, 9)
_PER_FOLDER: Final = 20
_CHANGED: Final = 20
_GOAL: Final = 3.0
_BASE: Final = "git status"


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


def measure() -> list[Row]:
    """The snapshot, and the comparison when nothing changed and when something did, each beside git status."""
    start_watching()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        write_tree(root, _FILES)
        time.sleep(0.1)  # a snapshot of files that are just being written waits for the clock
        taken: dict[str, list[float]] = {}
        for number in range(_ROUNDS + 1):
            for name, milliseconds in _run_round(root, number).items():
                if number:  # the first round only warms the disk
                    taken.setdefault(name, []).append(milliseconds)
    base = taken.pop(_BASE)
    return [
        make_row("evidence", f"{name} of {_FILES:,} files", "ms", own, peers={_BASE: base}, goals={_BASE: _GOAL})
        for name, own in taken.items()
    ]


def _run_round(root: Path, number: int) -> dict[str, float]:
    stored = render_snapshot(take_snapshot(root))

    def compare_whole() -> Comparison:
        return compare(parse_snapshot(stored), take_snapshot(root))

    taken = {
        _BASE: clock(lambda: run_git_status(root))[0],
        "a snapshot": clock(lambda: take_snapshot(root))[0],
    }
    taken["nothing changed: comparison"], same = clock(compare_whole)
    assert not any(same), same
    assert count_reads(compare_whole) == 0, "an unchanged file was read"
    change_files(root, number)
    time.sleep(0.1)
    taken[f"{_CHANGED} changed: comparison"], changed = clock(compare_whole)
    assert len(changed.changed) == _CHANGED, changed
    assert count_reads(compare_whole) == _CHANGED, "not only the changed files were read"
    return taken


def run_git_status(root: Path) -> None:
    """What everybody knows the price of."""
    subprocess.run(["git", "status", "--porcelain"], cwd=root, check=True, stdout=subprocess.DEVNULL)  # noqa: S607


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


if __name__ == "__main__":
    sys.exit(finish(measure()))
