"""Callers for tests: a workspace whose runs are executed by the machines of a cluster."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from remit.cluster.database import session_rows
from remit.cluster.database.store import Database
from remit.runs.workspace import Workspace
from tests.support.worker_machines import make_environ

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


KEY = "ab" * 32


class Caller:
    """A repository with files in it, on a machine of its own."""

    def __init__(self, folder: Path, url: str, *, settings: str = "") -> None:
        self.url = url
        self.root = folder / "workspace"
        self.root.mkdir(parents=True)
        self.environ = {**os.environ, **make_environ(folder, url, KEY)}
        self.environ.pop("REMIT_ROOT", None)
        (self.root / "README.md").write_text("# A project\n")
        (self.root / ".gitignore").write_text("*.log\n")
        if settings:
            (self.root / "remit.toml").write_text(settings)
        for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "begin"]):
            identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
            subprocess.run(["git", *identity, *words], cwd=self.root, check=True)

    def play(self, scene: Callable[[Workspace], Awaitable[Any]]) -> Any:  # noqa: ANN401 - whatever the scene gives
        """Run a scene with the workspace open."""

        async def whole() -> Any:  # noqa: ANN401 - the same
            async with Workspace(str(self.root), environ=self.environ) as ws:
                return await scene(ws)

        return asyncio.run(whole())

    def ask(self, question: Callable[[Database], Awaitable[Any]]) -> Any:  # noqa: ANN401 - whatever the answer is
        """Ask the cluster's database something."""

        async def whole() -> Any:  # noqa: ANN401 - the same
            db = Database(self.url)
            try:
                return await question(db)
            finally:
                await db.close()

        return asyncio.run(whole())

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        """Start `remit` with a command line, on the caller's machine."""
        return subprocess.Popen([sys.executable, "-m", "remit", *words], cwd=self.root, env=self.environ)

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run `remit` with a command line to its end."""
        command = [sys.executable, "-m", "remit", *words]
        return subprocess.run(command, cwd=self.root, env=self.environ, capture_output=True, text=True, check=False)

    def load_row(self, session_id: str) -> session_rows.SessionRow:
        """What the cluster knows of a session."""
        row = self.ask(lambda db: session_rows.load_row(db, session_id))
        assert row is not None
        return row  # type: ignore[no-any-return]


async def until(is_so: Callable[[], Any]) -> None:
    last = time.monotonic() + 30
    while not is_so():
        assert time.monotonic() < last
        await asyncio.sleep(0.02)
