"""Tasks that subagents of a harness work on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.ledger.home import Home
from remit.tasks.store import TaskStore
from tests.support.git_command import git

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.hook_session import Child, Stage


def get_marker(root: Path) -> str | None:
    home = Home(str(root))
    try:
        return TaskStore(home, "specs").get(1).marker
    finally:
        home.close()


def list_commits(root: Path) -> list[str]:
    return git(root, "log", "--format=%s").splitlines()


def begin(stage: Stage) -> Child:
    child = stage.call("scout", "Look into it.\ntask_number: 1\n")
    child.start()
    return child
