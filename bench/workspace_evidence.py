"""Remit's evidence against `git status`: a look at a tree, the first one and later ones.

Run as `python bench/all.py workspace_evidence`. Makes a repository of 20,000 files, and measures in turn, round after
round: git status, the first look (nothing is remembered yet), a later look before a run, the look after it, and that
look together with the comparison. Then the same with an ignored folder of 300 MB in 20,000 files. The machine is
shared, so the ratio of a round counts, not its milliseconds. Asserts that a look keeps at most 5 % of the tree's size
on disk.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bench.clock import clock
from bench.rows import choose, finish, make_row
from remit.evidence.take_tree import scan_again, take_tree
from remit.evidence.tree_comparison import compare
from remit.ledger.home import Home

if TYPE_CHECKING:
    from bench.rows import Row

_FILES: Final = 20_000
_ROUNDS: Final = choose(3, 25)
_PER_FOLDER: Final = 20
_CHANGED: Final = 20
_BULK_BYTES: Final = 300 << 20
_MOST_KEPT: Final = 0.05
_BASE: Final = "git status"
_FIRST, _LATER, _AFTER = "the first look", "a later look", f"the look after {_CHANGED} changes"
_COMPARED: Final = f"{_AFTER}, compared"
_GOALS: Final = {_FIRST: {_BASE: 2.0}, _LATER: {_BASE: 1.5}, _AFTER: {_BASE: 1.5}, _COMPARED: {}}


def write_tree(root: Path) -> None:
    """Make the files and commit them."""
    for number in range(_FILES):
        place = number // _PER_FOLDER
        folder = root / "src" / f"part{place // 40:02d}" / f"module{place % 40:02d}"
        if number % _PER_FOLDER == 0:
            folder.mkdir(parents=True)
        (folder / f"file_{number % _PER_FOLDER:02d}.py").write_text(f"number = {number}\n" * 160, encoding="utf-8")
    (root / ".gitignore").write_text(".venv/\n", encoding="utf-8")
    # Else git tidies up in the background, and takes the time of others.
    settings = ["-c", "user.name=bench", "-c", "user.email=bench@localhost", "-c", "gc.auto=0"]
    for command in (["init", "-q"], ["add", "-A"], [*settings, "commit", "-q", "-m", "all files"]):
        subprocess.run(["git", *command], cwd=root, check=True, stdout=subprocess.DEVNULL)  # noqa: S603, S607
    time.sleep(1.1)
    run_git_status(root)


def add_bulk(root: Path) -> None:
    """Add a folder that git ignores, as large as an ordinary `.venv`."""
    data = os.urandom(_BULK_BYTES // _FILES)
    for number in range(_FILES):
        folder = root / ".venv" / "lib" / f"package{number // 100:03d}"
        if number % 100 == 0:
            folder.mkdir(parents=True)
        (folder / f"{number}.bin").write_bytes(data)


def change_files(root: Path, number: int) -> None:
    """What an agent leaves behind: some files longer than they were."""
    for file in sorted((root / "src" / "part00").rglob("*.py"))[:_CHANGED]:
        file.write_text("changed\n" * (50 + number), encoding="utf-8")


def measure() -> list[Row]:
    """Looks beside git status, without and with ignored bulk."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        write_tree(root)
        for suffix in ("", ", 300 MB ignored beside them"):
            if suffix:
                add_bulk(root)
            taken: dict[str, list[float]] = {}
            for number in range(_ROUNDS + 1):
                for name, milliseconds in _run_round(root, number).items():
                    if number:  # the first round only warms the disk
                        taken.setdefault(name, []).append(milliseconds)
            base = taken.pop(_BASE)
            rows += [
                make_row(
                    "evidence", f"{name}, {_FILES:,} files{suffix}", "ms", own, peers={_BASE: base},
                    goals=_GOALS[name],
                )
                for name, own in taken.items()
            ]  # fmt: skip
    return rows


def _run_round(root: Path, number: int) -> dict[str, float]:
    home = Home(str(root))
    taken = {_BASE: clock(lambda: run_git_status(root))[0]}
    shutil.rmtree(root / ".remit", ignore_errors=True)
    taken[_FIRST], _ = clock(lambda: take_tree(home, str(root)))
    kept = sum(file.stat().st_size for file in (root / ".remit").rglob("*"))
    size = sum(file.stat().st_size for file in (root / "src").rglob("*.py"))
    assert kept <= _MOST_KEPT * size, (kept, size)
    taken[_LATER], before = clock(lambda: take_tree(home, str(root)))
    change_files(root, number)
    taken[_AFTER], after = clock(lambda: scan_again(before))
    milliseconds, changed = clock(lambda: compare(before, after))
    taken[_COMPARED] = taken[_AFTER] + milliseconds
    assert len(changed.changed) == _CHANGED, changed
    subprocess.run(["git", "checkout", "-q", "."], cwd=root, check=True)  # noqa: S607
    time.sleep(1.1)
    run_git_status(root)
    return taken


def run_git_status(root: Path) -> None:
    """What everybody knows the price of."""
    subprocess.run(["git", "status", "--porcelain"], cwd=root, check=True, stdout=subprocess.DEVNULL)  # noqa: S607


if __name__ == "__main__":
    sys.exit(finish(measure()))
