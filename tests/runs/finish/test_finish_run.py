"""Settling after an agent that tampered: nothing is committed elsewhere, and what was not done is told."""

import asyncio
import json
from pathlib import Path

import pytest

from remit.result import Result
from remit.runs.instructions import TaskFacts
from remit.runs.request import Request
from remit.runs.tasks.workspace_tasks import Tasks
from remit.runs.workspace import Workspace
from remit.testing import ScriptedAgent
from tests.support.git_command import git


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    for each in (folder, tmp_path / "other"):
        each.mkdir()
        git(each, "init", "-q")
        git(each, "config", "user.name", "T")
        git(each, "config", "user.email", "t@localhost")
        git(each, "commit", "-q", "--allow-empty", "-m", "begin")
    return folder


def delegate(root: Path, prelude: str, task: TaskFacts | None = None) -> Result:
    """Have an agent do something by a shell first, and then what it was asked for."""
    agent = ScriptedAgent(root.parent / "agents").obeys({"report.md": "# Report\n"})
    command = f"sh -c '{prelude}; exec {agent.command}'"

    async def play() -> Result:
        async with Workspace.open(root) as ws:
            return await ws.run(Request(None, "go", command=command, commits=True, task=task))

    return asyncio.run(play())


def test_nothing_is_committed_to_a_repository_that_was_put_there(root: Path) -> None:
    other = root.parent / "other"
    result = delegate(root, f"mv .git .git-old; echo gitdir: {other}/.git > .git")
    assert (root / ".git").is_file()  # it was exchanged
    assert [each.step for each in result.failed_steps] == ["git"]
    assert git(other, "log", "--format=%s") == "begin\n"


def test_work_is_committed_where_nobody_tampered(root: Path) -> None:
    result = delegate(root, "true")
    assert result.failed_steps == ()
    assert git(root, "show", "--name-only", "--format=") == "report.md\n"


def test_tasks_that_are_gone_are_told(root: Path) -> None:
    Tasks(str(root)).add("Write a report")
    result = delegate(root, "rm -r specs", TaskFacts(1, "Write a report"))
    assert not (root / "specs" / "state.json").exists()
    assert "task" in [each.step for each in result.failed_steps]


def test_completed_work_with_a_failed_commit_is_kept(root: Path) -> None:
    """D6: the agent reports that its commit failed; the work counts, Remit commits it, and the error is logged."""
    error = {"type": "git_failure", "message": "The index was locked", "recoverable": True, "recommendation": "Commit."}
    artifact = {"type": "report", "path": "report.md", "summary": "The report"}
    metadata = {"session_id": "${session}", "duration_seconds": 1}
    answer = {"status": "completed", "summary": "Wrote the report. It names two risks.", "artifacts": [artifact],
              "metadata": metadata, "errors": [error]}  # fmt: skip
    agent = ScriptedAgent(root.parent / "agents").writes("report.md", "# Report\n").says(json.dumps(answer))

    async def play() -> str:
        async with Workspace.open(root) as ws:
            return (await ws.run(Request(None, "go", command=agent.command, commits=True))).status

    assert asyncio.run(play()) == "completed"
    assert len(agent.did("wrote")) == 1, "it wasn't sent back"
    assert "report.md" in git(root, "show", "--name-only", "--format=").split()
    logged = json.loads((root / "specs" / "errors.json").read_text())["errors"]
    assert [(each["type"], each["code"]) for each in logged] == [("git_failure", "GIT_COMMIT_FAILED")]
