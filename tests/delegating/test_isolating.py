"""A worktree for each: git works aside, and neither the ledger nor anybody else waits for it."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

import pytest

from remit.app.delegating.asking import Request
from remit.app.delegating.workspace import Workspace
from remit.errors import RefusedError
from remit.workspace.git import worktrees
from remit.workspace.git.worktrees import add_worktree, list_worktrees
from tests.doors.cli.test_lint import git

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a commit, and whoever runs the tests is nobody's agent."""
    for name in ("REMIT_TICKET", "REMIT_SESSION_ID", "REMIT_ROOT"):
        monkeypatch.delenv(name, raising=False)
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "-c", "user.name=x", "-c", "user.email=x@x", "commit", "-q", "--allow-empty", "-m", "Begin")
    return tmp_path


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
    requests = [Request("-", f"Do {name}.", command="pwd", isolate=True, settles=False, reasks=0) for name in "ab"]

    async def run() -> None:
        async with Workspace.open(root) as ws:
            watched.ws = ws
            assert ws.home.ledger is not None  # opened by the thread that it belongs to
            envelopes = await ws.delegate_all(requests, batch=batch)
            sessions = {each.session_id for each in envelopes}
            assert set(list_worktrees(str(root))) == sessions
            if batch:
                again = await ws.delegate_all(requests, batch=batch)
                assert {each.session_id for each in again} == sessions

    asyncio.run(run())
    assert watched.aside == [True, True]
    assert watched.held == [False, False]


@pytest.mark.parametrize("batch", ["", "all of it"])
def test_what_is_refused_leaves_no_worktree(root: Path, batch: str) -> None:
    request = Request("-", "Do it.", command="true", isolate=True)

    async def run() -> None:
        async with Workspace.open(root, environ={"REMIT_TICKET": "remit1_made_up"}) as ws:
            if batch:
                (told,) = await ws.delegate_all([request], batch=batch)
                assert told.ending == "refused"
            else:
                for ask in (ws.start, ws.run):
                    with pytest.raises(RefusedError):
                        await ask(request)
                with pytest.raises(RefusedError):
                    ws.prepare(request)

    asyncio.run(run())
    assert list_worktrees(str(root)) == ()
