"""A worktree for each: git works aside, and neither the ledger nor anybody else waits for it."""

from __future__ import annotations

import asyncio
import shlex
import threading
from typing import TYPE_CHECKING

import pytest

from remit.errors import RefusedError
from remit.git import worktrees
from remit.git.worktrees import add_worktree, list_worktrees
from remit.runs.request import Request
from remit.runs.workspace import Workspace
from tests.support.git_command import git

if TYPE_CHECKING:
    from pathlib import Path

    from remit.result import Result
    from remit.testing.agent import ScriptedAgent


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a commit, and whoever runs the tests is nobody's agent."""
    for name in ("REMIT_TICKET", "REMIT_SESSION_ID", "REMIT_ROOT"):
        monkeypatch.delenv(name, raising=False)
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "config", "user.name", "x")
    git(tmp_path, "config", "user.email", "x@x")
    (tmp_path / ".gitignore").write_text("ignored/\n.remit/\n")
    git(tmp_path, "add", ".gitignore")
    git(tmp_path, "commit", "-q", "-m", "Begin")
    return tmp_path


def run(root: Path, command: str, *, evidence: bool = True) -> Result:
    """Have a command work in a worktree of its own."""

    async def delegate() -> Result:
        async with Workspace.open(root) as ws:
            request = Request(None, "Write it.", command=command, worktree=True, reasks=0, evidence=evidence)
            return await ws.run(request)

    return asyncio.run(delegate())


def list_branch(root: Path, told: Result) -> list[str]:
    """The files on the branch of a delegation, without those that were there before; nothing where there is none."""
    if not git(root, "branch", "--list", f"remit/{told.session_id}"):
        return []
    return git(root, "diff", "--name-only", "main", f"remit/{told.session_id}").split()


class Git:
    """Git as it is, and who called it when."""

    def __init__(self) -> None:
        self.ws: Workspace | None = None
        self.aside: list[bool] = []
        self.held: list[bool] = []

    def add(self, root: str, name: str) -> str:
        """Add a worktree."""
        assert self.ws is not None
        self.aside.append(threading.current_thread() is not threading.main_thread())
        self.held.append(self.ws.home.ledger.db.in_transaction)
        return add_worktree(root, name)


@pytest.mark.parametrize("batch", ["", "all of it"])
def test_git_holds_up_neither_the_ledger_nor_anybody_else(
    root: Path, monkeypatch: pytest.MonkeyPatch, batch: str
) -> None:
    watched = Git()
    monkeypatch.setattr(worktrees, "add_worktree", watched.add)
    requests = [Request(None, f"Do {name}.", command="pwd", worktree=True, finishes=False, reasks=0) for name in "ab"]

    async def run() -> None:
        async with Workspace.open(root) as ws:
            watched.ws = ws
            assert ws.home.ledger is not None  # opened by the thread that it belongs to
            results = await ws.delegate_all(requests, batch=batch)
            sessions = {each.session_id for each in results}
            assert set(list_worktrees(str(root))) == sessions
            if batch:
                again = await ws.delegate_all(requests, batch=batch)
                assert {each.session_id for each in again} == sessions

    asyncio.run(run())
    assert watched.aside == [True, True]
    assert watched.held == [False, False]


@pytest.mark.parametrize("batch", ["", "all of it"])
def test_what_is_refused_leaves_no_worktree(root: Path, batch: str) -> None:
    request = Request(None, "Do it.", command="true", worktree=True)

    async def run() -> None:
        async with Workspace.open(root, environ={"REMIT_TICKET": "remit1_made_up"}) as ws:
            if batch:
                (told,) = await ws.delegate_all([request], batch=batch)
                assert told.stop_reason == "rejected"
            else:
                for ask in (ws.start, ws.run):
                    with pytest.raises(RefusedError):
                        await ask(request)
                with pytest.raises(RefusedError):
                    ws.prepare(request)

    asyncio.run(run())
    assert list_worktrees(str(root)) == ()


@pytest.mark.parametrize("files", [("ok.md", "ignored/n.txt"), ("ignored/n.txt",)])
def test_a_claimed_file_that_git_ignores_is_told(root: Path, agent: ScriptedAgent, files: tuple[str, ...]) -> None:
    told = run(root, agent.obeys(dict.fromkeys(files, "The real work.\n")).command)
    assert told.status == "completed"
    assert [(each.code, each.severity) for each in told.diagnostics] == [("GIT006", "warning")]
    assert "'ignored/n.txt'" in told.diagnostics[0].message
    worktree = root / ".remit/worktrees" / told.session_id
    assert str(worktree) in "".join((*told.notes, *(each.message for each in told.failed_steps)))
    assert list_branch(root, told) == [name for name in files if name == "ok.md"]
    assert (worktree / "ignored/n.txt").exists()


def test_an_ignored_file_that_nobody_claims_is_no_news(root: Path, agent: ScriptedAgent) -> None:
    told = run(root, agent.writes("ignored/cache", "x").obeys({"ok.md": "Done.\n"}).command)
    assert (told.status, told.diagnostics, told.failed_steps) == ("completed", (), ())
    assert list_branch(root, told) == ["ok.md"]


@pytest.mark.parametrize("how", ["", "git checkout -q -b mine && "])
def test_what_an_agent_commits_itself_gets_a_branch(root: Path, agent: ScriptedAgent, how: str) -> None:
    command = f"{agent.obeys({'ok.md': 'Done.'}).command} && {how}git add -A && git commit -qm own"
    told = run(root, f"sh -c {shlex.quote(command)}")
    assert (told.status, told.diagnostics, told.failed_steps) == ("completed", (), ())
    assert told.notes == (f"worktree: to merge the work: git merge remit/{told.session_id}",)
    assert list_branch(root, told) == ["ok.md"]
    assert git(root, "log", "--format=%s", f"main..remit/{told.session_id}") == "own\n"


def test_what_an_agent_commits_in_part_is_committed_to_the_end(root: Path, agent: ScriptedAgent) -> None:
    command = f"{agent.obeys({'a.md': 'One.', 'b.md': 'Two.'}).command} && git add a.md && git commit -qm own"
    told = run(root, f"sh -c {shlex.quote(command)}")
    assert list_branch(root, told) == ["a.md", "b.md"]


def test_what_an_agent_commits_has_a_branch_where_the_rest_is_refused(root: Path, agent: ScriptedAgent) -> None:
    begin = "git add a.md && git commit -qm own && git rev-parse HEAD > $(git rev-parse --git-dir)/MERGE_HEAD"
    command = f"{agent.obeys({'a.md': 'One.', 'b.md': 'Two.'}).command} && {begin}"
    told = run(root, f"sh -c {shlex.quote(command)}")
    assert list_branch(root, told) == ["a.md"]
    (step,) = told.failed_steps
    assert f"git merge remit/{told.session_id} merges the commits of the agent" in step.message
    assert [each.code for each in told.diagnostics] == ["GIT003"]


def test_who_changes_nothing_gets_no_branch(root: Path, agent: ScriptedAgent) -> None:
    told = run(root, agent.returns().command)
    assert (told.status, told.notes, told.failed_steps) == ("completed", (), ())
    assert git(root, "branch", "--list", "remit/*") == ""


def test_a_branch_of_that_name_that_lacks_the_work_is_told(root: Path, agent: ScriptedAgent) -> None:
    command = f"{agent.obeys({'ok.md': 'Done.'}).command} && git branch remit/$REMIT_SESSION_ID"
    told = run(root, f"sh -c {shlex.quote(command)}")
    (step,) = told.failed_steps
    assert f"git can't create the branch remit/{told.session_id}" in step.message
    assert told.notes == ()


def test_without_gits_file_nothing_is_committed_to_the_repository_around(root: Path, agent: ScriptedAgent) -> None:
    (root / ".gitignore").write_text("")
    git(root, "commit", "-qam", "Nothing is ignored")
    told = run(root, f"sh -c {shlex.quote(agent.obeys({'ok.md': 'Done.'}).command + ' && rm .git')}")
    (step,) = told.failed_steps
    assert "which isn't a worktree any more" in step.message
    assert git(root, "log", "--format=%s").split("\n")[0] == "Nothing is ignored"


@pytest.mark.parametrize("evidence", [True, False])
def test_all_that_was_made_is_on_the_branch(root: Path, agent: ScriptedAgent, *, evidence: bool) -> None:
    for number in range(250):  # more than is remembered of what nobody claimed
        agent.writes(f"src/{number}.py", "pass\n")
    told = run(root, agent.obeys({"ok.md": "Done."}).command, evidence=evidence)
    assert (told.status, told.verdict) == (("completed", "accepted") if evidence else ("partial", "unproven"))
    assert told.failed_steps == ()
    assert len(list_branch(root, told)) == 251
