"""Large trees: projects with a large .venv, large files, and a machine without git."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import time
from typing import TYPE_CHECKING

import pytest

from remit.evidence.artifact_grades import hash_file
from remit.runs.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from remit.result import Result

PIECE = b"x" * (2 * 1024 * 1024)
PIECES = 40


@pytest.fixture
def project(root: Path) -> Path:
    """A project with a source file, and a .venv that sorts before it and is larger than the limit."""
    (root / ".git").rmdir()
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    (root / ".gitignore").write_text(".venv/\n.remit/\n")
    (root / ".venv/lib").mkdir(parents=True)
    for number in range(PIECES):
        (root / f".venv/lib/{number}.bin").write_bytes(PIECE)
    (root / "src").mkdir()
    (root / "src/conf.py").write_text("RETRIES = 1\n" + "#" * 200_000)
    return root


def work(root: Path, path: str, act: Callable[[], object]) -> Result:
    """What comes of an agent without a tool record that does something and claims a file."""

    async def play() -> Result:
        async with Workspace.open(root) as ws:
            return await ws.delegate(None, "Do it.", function=make_agent(path, act), timeout_s=60, reasks=0)

    return asyncio.run(play())


def make_agent(path: str, act: Callable[[], object]) -> Callable[[str], str]:
    def agent(prompt: str) -> str:
        act()
        found = re.search(r"sess_\d+_[a-z0-9]{6}", prompt)
        assert found is not None
        identity = {"session_id": found[0], "agent_type": "python", "delegation_depth": 1, "duration_seconds": 1}
        return json.dumps({
            "status": "completed", "summary": "Changed the file. It is as asked.",
            "artifacts": [{"type": "implementation", "path": path, "summary": "The file."}],
            "metadata": {**identity, "delegation_path": ["orchestrator", "python"]},
        })  # fmt: skip

    return agent


@pytest.mark.parametrize("has_git", [True, False])
def test_an_honest_edit_beside_a_large_venv_is_completed_at_once(project: Path, *, has_git: bool) -> None:
    file = project / "src/conf.py"
    if not has_git:
        subprocess.run(["rm", "-r", ".git"], cwd=project, check=True)
    told = work(project, "src/conf.py", lambda: file.write_text(file.read_text().replace("1", "2", 1)))
    assert (told.status, told.verdict, told.artifacts[0].grade) == ("completed", "accepted", "changed")


@pytest.mark.thorough
@pytest.mark.parametrize("rules", [".gitignore", ".venv/.gitignore"])
def test_an_honest_edit_beside_a_really_large_venv_is_completed(project: Path, rules: str) -> None:
    """More than 300 MB in 2,000 files, ignored by the project, or by the file that makers of a .venv put into it."""
    for number in range(2000):
        file = project / f".venv/lib/package{number // 40}/{number}.py"
        file.parent.mkdir(exist_ok=True)
        file.touch()
        os.truncate(file, 100_000 + number * 60)
    size = sum(file.stat().st_size for file in (project / ".venv").rglob("*.*"))
    assert size > 300_000_000
    if rules != ".gitignore":
        (project / ".gitignore").write_text(".remit/\n")
        (project / rules).write_text("*\n")
    source = project / "src/conf.py"
    told = work(project, "src/conf.py", lambda: source.write_text(source.read_text().replace("1", "2", 1)))
    assert (told.status, told.verdict, told.artifacts[0].grade) == ("completed", "accepted", "changed")


def test_a_touch_beside_a_large_venv_is_still_fabricated(project: Path) -> None:
    told = work(project, "src/conf.py", lambda: os.utime(project / "src/conf.py"))
    assert (told.status, told.verdict) == ("failed", "fabricated")


def test_an_edit_of_a_large_file_is_completed(project: Path) -> None:
    file = project / "data.bin"
    file.write_bytes(b"x" * (70 << 20))

    def edit() -> None:
        with file.open("r+b") as data:
            data.write(b"y")

    told = work(project, "data.bin", edit)
    assert (told.status, told.verdict, told.artifacts[0].grade) == ("completed", "accepted", "changed")
    kept = sum(each.stat().st_size for each in (project / ".remit/evidence").rglob("*"))
    assert kept < 100_000


def test_an_edit_of_an_ignored_file_is_unproven(project: Path) -> None:
    file = project / ".venv/lib/1.bin"
    told = work(project, ".venv/lib/1.bin", lambda: file.write_bytes(PIECE[:-1] + b"y"))
    assert (told.status, told.verdict, told.artifacts[0].grade) == ("partial", "unproven", "unknown")
    assert (told.errors[0].code, told.diagnostics[0].code) == ("UNPROVEN", "EVD008")
    assert told.next_steps[0].startswith("Check .venv/lib/1.bin before you use it: remit show sess_")


def test_without_git_a_run_works_and_its_claims_are_unproven(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    told = work(project, "new.md", lambda: (project / "new.md").write_text("# New\n"))
    assert (told.status, told.verdict, told.diagnostics[0].code) == ("partial", "unproven", "EVD005")
    assert "can't start git" in told.diagnostics[0].message


class Stalls:
    """The longest time for which the event loop did nothing else, since it was last asked."""

    def __init__(self) -> None:
        self._worst_s = 0.0

    async def watch(self) -> None:
        """Measure, until it is cancelled."""
        last = time.monotonic()
        while True:
            await asyncio.sleep(0.005)
            now = time.monotonic()
            self._worst_s, last = max(self._worst_s, now - last), now

    def take(self) -> float:
        """The longest so far; the next measurement starts here."""
        worst, self._worst_s = self._worst_s, 0.0
        return worst


def test_the_event_loop_runs_while_claimed_files_are_hashed(root: Path) -> None:
    """Compared with how long the same file takes to hash at that moment, on however busy a machine."""
    file = root / "big.bin"
    stalls = Stalls()
    took_s: list[float] = []

    def act() -> None:
        file.write_bytes(os.urandom(240 << 20))
        os.sync()  # or the next commit of the ledger waits for the disk
        began = time.monotonic()
        assert hash_file(str(file))[0]
        took_s.append(time.monotonic() - began)
        stalls.take()

    async def play() -> tuple[Result, float]:
        watching = asyncio.ensure_future(stalls.watch())
        async with Workspace.open(root) as ws:
            told = await ws.delegate(None, "Do it.", function=make_agent("big.bin", act), timeout_s=60, reasks=0)
            stalled_s = stalls.take()
        watching.cancel()
        return told, stalled_s

    told, stalled_s = asyncio.run(play())
    assert (told.status, told.artifacts[0].size_bytes) == ("completed", 240 << 20)
    assert stalled_s <= max(0.1, took_s[0] / 3), (took_s, stalled_s)
