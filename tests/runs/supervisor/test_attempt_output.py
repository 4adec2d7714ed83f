"""Attempts: what lies in an agent's folder does not decide what it has said, how often it runs or when it ends."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import subprocess
import sys
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from remit.attempts.folders import list_living, make_attempt
from remit.errors import BusyError
from remit.ledger.events import read_clock_ms
from remit.ledger.home import Home
from remit.ledger.runs import Run, add_run, begin_attempt, count_attempts, list_attempts
from remit.runners.command import CommandListener
from remit.runs import backend
from remit.runs.supervisor import watcher
from remit.runs.workspace import Workspace
from remit.testing.agent import ScriptedAgent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from remit.result import Result
    from remit.runners import RunOutput

OWN = '".remit/sessions/$REMIT_SESSION_ID'


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace, and whoever runs the tests is nobody's agent."""
    for name in ("REMIT_TICKET", "REMIT_SESSION_ID", "REMIT_ROOT"):
        monkeypatch.delenv(name, raising=False)
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    return tmp_path


async def until(holds: Callable[[], object]) -> None:
    last = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < last
        await asyncio.sleep(0.02)


def begin(ws: Workspace, script: str) -> asyncio.Future[Result]:
    return asyncio.ensure_future(ws.delegate(None, "go", command=f"sh -c {shlex.quote(script)}", timeout_s=60))


def leave_at_work(root: Path, script: str) -> str:
    """Start an agent and go away when it has begun: its session."""

    async def play() -> str:
        async with Workspace.open(root, environ={**os.environ}) as ws:
            begin(ws, script)
            await until((root / "began").exists)
            return ws.list()[0].session_id

    return asyncio.run(play())


def take_over(root: Path, session_id: str) -> Result:
    async def play() -> Result:
        async with Workspace.open(root, environ={**os.environ}) as ws:
            return await asyncio.wait_for(ws.wait(session_id), 20)

    return asyncio.run(play())


def render_return(session_id: str) -> str:
    """A return that nothing could be said against."""
    return json.dumps(
        {
            "status": "completed",
            "summary": "The work was looked at. The report says all of it.",
            "artifacts": [{"type": "report", "path": "report.md", "summary": "The report."}],
            "metadata": {
                "session_id": session_id,
                "agent_type": "command",
                "delegation_depth": 1,
                "delegation_path": ["orchestrator", "command"],
                "duration_seconds": 1,
            },
            "errors": [],
            "next_steps": ["Read it"],
        }
    )


@pytest.mark.parametrize("is_cut", [False, True])
def test_an_agent_is_not_judged_by_a_part_of_its_output(root: Path, *, is_cut: bool) -> None:
    """A return counts if all that was printed is stored, and not if the end of the file is lost."""
    script = "echo The report > report.md; until [ -e words ]; do sleep 0.01; done; cat words; touch told; "
    script += "until [ -e go ]; do sleep 0.01; done"

    async def play() -> Result:
        async with Workspace.open(root, environ={**os.environ}) as ws:
            work = begin(ws, script)
            await until((root / "report.md").exists)
            session_id = ws.list()[0].session_id
            claim = render_return(session_id) + "\n"
            (root / "new").write_text(claim + "That is all.\n")
            (root / "new").rename(root / "words")
            out = root / f".remit/sessions/{session_id}/1/out"
            await until(lambda: (root / "told").exists() and out.stat().st_size)
            if is_cut:
                os.truncate(out, len(claim))
            (root / "go").touch()
            return await work

    result = asyncio.run(play())
    if is_cut:
        assert (result.status, result.verdict) == ("failed", "missing")
        assert "a part of its stored output is missing" in result.errors[0].message
    else:
        assert (result.status, result.verdict) == ("completed", "accepted")


@pytest.mark.parametrize("size", [1000, 1_000_000])
def test_a_long_output_is_heard_aside(root: Path, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    """All that the process drives would wait meanwhile."""
    heard: list[tuple[bool, int]] = []
    finish = CommandListener.finish

    def spy(listener: CommandListener, *, errors: bytes, exit_code: int | None) -> RunOutput:
        told = finish(listener, errors=errors, exit_code=exit_code)
        heard.append((threading.current_thread() is threading.main_thread(), len(told.text or "")))
        return told

    monkeypatch.setattr(CommandListener, "finish", spy)

    async def play() -> None:
        async with Workspace.open(root, environ={**os.environ}) as ws:
            await begin(ws, f"head -c {size} /dev/zero | tr '\\0' x")

    asyncio.run(play())
    assert heard == [(size == 1000, size)]


@pytest.mark.parametrize("number", [2, 99_999_999])
def test_a_folder_that_an_agent_has_made_is_no_attempt(root: Path, number: int) -> None:
    script = f'mkdir {OWN}/{number}"; echo ran >> runs; touch began; until [ -e go ]; do sleep 0.01; done'
    session_id = leave_at_work(root, script)
    assert (root / f".remit/sessions/{session_id}/{number}").is_dir()
    (root / "go").touch()
    assert take_over(root, session_id).status == "failed"
    assert (root / "runs").read_text() == "ran\n"


def test_an_agent_that_removes_its_folder_does_not_run_twice(root: Path) -> None:
    session_id = leave_at_work(root, f'rm -r {OWN}"; echo ran >> runs; touch began; sleep 0.5')
    assert not (root / f".remit/sessions/{session_id}").exists()
    assert take_over(root, session_id).stop_reason == "orphaned"
    assert (root / "runs").read_text() == "ran\n"


def test_each_attempt_has_its_own_beginning(root: Path) -> None:
    """And is in the ledger from then on."""
    (root / "remit.toml").write_text('[runners.command]\nretry = "safe"\n[delegate]\nreasks = 1\n')

    async def play() -> None:
        async with Workspace.open(root, environ={**os.environ}) as ws:
            script = "touch began; sleep 0.2; echo no return"
            work = begin(ws, script)
            await until((root / "began").exists)
            session_id = ws.list()[0].session_id
            assert count_attempts(ws.home.ledger, session_id) == 1
            assert list_attempts(ws.home.ledger, session_id)[0].stop_reason is None
            await work
            first, second = list_attempts(ws.home.ledger, session_id)
            assert (first.stop_reason, second.stop_reason) == ("exited", "exited")
            assert first.ended_ms is not None
            assert first.started_ms + 200 <= first.ended_ms <= second.started_ms

    asyncio.run(play())


def test_a_question_that_was_about_to_be_asked_again_is_asked(root: Path) -> None:
    """Killed after the ledger had the second attempt, and before anything of it ran."""
    (root / "remit.toml").write_text('[runners.command]\nretry = "safe"\n[delegate]\nreasks = 1\n')
    script = 'cat > "asked.$(ls asked.* 2>/dev/null | wc -l)"; touch began; echo no return'
    session_id = leave_at_work(root, f"{script}; until [ -e go ]; do sleep 0.01; done")
    ws = Workspace(str(root), environ={})
    begin_attempt(ws.home.ledger, session_id, 2)
    make_attempt(ws.home, session_id, 2)
    ws.home.close()
    (root / "go").touch()
    take_over(root, session_id)
    first, second = (root / "asked.0").read_text(), (root / "asked.1").read_text()
    assert second.startswith(first.rstrip("\n"))
    assert len(second) > len(first) + 20
    assert not (root / "asked.2").exists()


LONG = """
import json, os
from pathlib import Path
report = Path("report.md").absolute()
report.write_text(f"# Report {os.getpid()}")
metadata = {
    "session_id": os.environ["REMIT_SESSION_ID"], "agent_type": "command", "delegation_depth": 1,
    "delegation_path": ["orchestrator", "command"], "duration_seconds": 1,
}
artifacts = [{"type": "report", "path": str(report), "summary": "It."}]
summary = "Many words were written. " * 30
print(json.dumps({"status": "completed", "summary": summary, "artifacts": artifacts, "metadata": metadata, "errors": []}))
"""


@pytest.mark.parametrize(("retry", "attempts"), [("safe", 2), ("never", 1)])
@pytest.mark.parametrize("worktree", [False, True])
def test_a_summary_that_is_too_long_never_fails_the_work(
    root: Path, tmp_path_factory: pytest.TempPathFactory, retry: str, attempts: int, *, worktree: bool
) -> None:
    """It is sent back once, if the agent can be asked again; then it is shortened. Paths are named from the root."""
    (root / "remit.toml").write_text(f'[runners.command]\nretry = "{retry}"\n[delegate]\nreasks = 3\n')
    git = ("git", "-C", str(root), "-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "Begin"], check=True)
    program = tmp_path_factory.mktemp("agent") / "long.py"
    program.write_text(LONG)

    async def play() -> Result:
        async with Workspace.open(root, environ={**os.environ}) as ws:
            command = shlex.join([sys.executable, str(program)])
            result = await ws.delegate(None, "go", command=command, timeout_s=60, worktree=worktree)
            tried = list_attempts(ws.home.ledger, result.session_id)
            assert [each.verdict for each in tried] == [*["invalid"] * (attempts - 1), "repaired"]
            return result

    result = asyncio.run(play())
    assert (result.status, result.verdict, result.attempts) == ("completed", "repaired", attempts)
    assert [artifact.path for artifact in result.artifacts] == ["report.md"]
    assert result.summary.startswith("Many words were written. Many")
    assert len(result.summary) <= 500


def play_twice(root: Path, agent: ScriptedAgent) -> Result:
    """What becomes of an agent that is asked once more."""
    (root / "remit.toml").write_text('[runners.command]\nretry = "safe"\n[delegate]\nreasks = 1\n')

    async def play() -> Result:
        async with Workspace.open(root, environ={**os.environ}) as ws:
            return await ws.delegate(None, "go", command=agent.command, timeout_s=60)

    return asyncio.run(play())


def test_a_claim_that_is_dropped_when_it_was_found_made_up_is_not_completed(
    root: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:  # fmt: skip
    agent = ScriptedAgent(tmp_path_factory.mktemp("agents")).lies("report.md", "plan.md").then().returns()
    told = play_twice(root, agent)
    assert (told.status, told.verdict, told.attempts) == ("failed", "fabricated", 2)
    assert "EVD006" in {finding.code for finding in told.diagnostics}


def test_a_claim_that_is_made_true_is_completed(root: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    agent = ScriptedAgent(tmp_path_factory.mktemp("agents")).lies("report.md").then().obeys()
    told = play_twice(root, agent)
    assert (told.status, told.verdict, told.attempts) == ("completed", "accepted", 2)


def test_a_machine_that_slept_past_the_deadline_reports_a_timeout(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The shim's clock stands still while a machine sleeps, so that the supervisor has to end its agent."""
    read, began = read_clock_ms, time.monotonic()
    monkeypatch.setattr(watcher, "read_clock_ms", lambda: read() + 3_600_000 * (time.monotonic() - began > 1.5))

    async def delegate() -> Result:
        async with Workspace.open(root) as ws:
            return await ws.delegate(None, "x", command="sh -c 'echo half > half.md; sleep 90'", timeout_s=600)

    result = asyncio.run(asyncio.wait_for(delegate(), 50))
    assert time.monotonic() - began < 60, "the agent ended by itself"
    assert (result.status, result.stop_reason, result.errors[0].code) == ("partial", "timeout", "TIMEOUT")
    assert [artifact.path for artifact in result.artifacts] == ["half.md"]


def test_a_cancel_that_can_end_nothing_says_so(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As with a process that waits for a disk: its lock stays, whatever signal it gets."""
    home, session_id = Home(str(root)), "sess_1_aaaaaa"
    add_run(home.ledger, Run(session_id, "worker", 1, ("orchestrator", "worker")))
    begin_attempt(home.ledger, session_id, 1)
    attempt = make_attempt(home, session_id, 1)
    (root / ".remit" / "living").mkdir()
    (root / ".remit" / "living" / f"{session_id}.1").touch()
    monkeypatch.setattr(backend, "CANCEL_S", 0.5)

    async def end() -> None:
        async with Workspace.open(root) as ws:
            await ws.cancel(session_id)

    with subprocess.Popen(["flock", attempt.folder, "sh", "-c", "echo; read x"], stdin=-1, stdout=-1) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"\n"
        assert [each.session_id for each in list_living(home)] == [session_id]
        with pytest.raises(BusyError, match=f"still alive after .* s: {session_id}"):
            asyncio.run(asyncio.wait_for(end(), 30))
        holder.communicate(b"\n")
    asyncio.run(asyncio.wait_for(end(), 30))


@pytest.fixture
def small_disk(root: Path) -> Iterator[Path]:
    """A workspace on a disk of 4 MB."""
    place = root / "small"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(place)]
    if os.geteuid() != 0 or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("only root can mount a disk that is full")
    (place / ".git").mkdir()
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


def fill(disk: Path) -> None:
    """Fill a disk; returns when not even a byte more can be written."""
    with (disk / "filler").open("ab", buffering=0) as file, suppress(OSError):
        while file.write(bytes(1 << 12)):
            pass
    assert os.statvfs(disk).f_bavail == 0


def test_an_answer_that_met_a_full_disk_is_whole_once_there_is_room(small_disk: Path, agent: ScriptedAgent) -> None:
    go = agent.program.removesuffix(".py") + ".go"
    agent.writes("report.md", "All is well.\n").waits_for(go).returns("report.md")

    async def delegate() -> Result:
        async with Workspace.open(small_disk) as ws:
            running = asyncio.ensure_future(
                ws.delegate(None, "go", command=agent.command, finishes=False, timeout_s=60)
            )
            await until((small_disk / "report.md").exists)
            await asyncio.sleep(0.3)
            fill(small_disk)
            with open(go, "w"):  # noqa: ASYNC230, PTH123 - on another disk
                pass
            await until(lambda: not agent.list_living())
            await asyncio.sleep(1)
            assert not running.done(), "the disk was not full"
            (small_disk / "filler").unlink()
            return await running

    result = asyncio.run(asyncio.wait_for(delegate(), 60))
    assert (result.status, result.verdict) == ("completed", "accepted"), result.errors
    assert [artifact.path for artifact in result.artifacts] == ["report.md"]
