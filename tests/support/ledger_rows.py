"""A workspace to look at: agents that really run, and rows by the thousand where only their number matters."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from remit.ledger.home import Home
from remit.runs.workspace import Workspace
from tests.support.git_command import git

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from remit.result import Result

FIRST_MS = 1_700_000_000_000
VARIABLES = ("REMIT_TICKET", "REMIT_SESSION_ID", "REMIT_ROOT")


def make_repository(root: Path, **files: str) -> Path:
    """A repository with some files in its first commit."""
    git(root, "init", "-q")
    (root / ".gitignore").write_text(".remit/\n")
    for name, text in files.items():
        (root / name).write_text(text)
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "one")
    return root


def run(root: Path, script: str, prompt: str = "Look at the cache.", **options: Any) -> Result:  # noqa: ANN401 - options
    """What came of an agent that is a shell script."""

    async def play() -> Result:
        async with Workspace.open(root, environ={**os.environ}) as ws:
            command = f"sh -c {shlex.quote(script)}"
            return await ws.delegate(None, prompt, **{"command": command, "timeout_s": 60, **options})

    return asyncio.run(play())


def run_agent(root: Path, agent: str, script: str) -> str:
    """The session of an agent that has a file, and is a shell script all the same."""

    async def play() -> str:
        async with Workspace.open(root, environ={**os.environ}) as ws:
            command = f"sh -c {shlex.quote(script)}"
            result = await ws.delegate(agent, "Go.", runner="command", command=command, timeout_s=60, reasks=0)
            return result.session_id

    return asyncio.run(play())


def answer(*paths: str, summary: str = "The work was looked at. The report says all of it.", end: str = "}") -> str:
    """A script that prints a return which claims files."""
    text = json.dumps(
        {
            "status": "completed",
            "summary": summary,
            "artifacts": [{"type": "report", "path": path, "summary": "The report."} for path in paths],
            "metadata": {
                "session_id": "SESSION",
                "agent_type": "command",
                "delegation_depth": 1,
                "delegation_path": ["orchestrator", "command"],
                "duration_seconds": 1,
            },
            "errors": [],
            "next_steps": ["Read it"],
        },
        indent=1,
    )
    printed = f"```json\n{text[:-1]}{end}\n```\n"
    return f'printf %s {shlex.quote(printed)} | sed "s/SESSION/$REMIT_SESSION_ID/"'


@contextmanager
def opened(root: Path) -> Iterator[Home]:
    home = Home(str(root))
    try:
        yield home
    finally:
        home.close()


class Kept(NamedTuple):
    """A row that is put into the ledger as it is."""

    number: int
    parent: int | None = None
    root: int | None = None
    state: str = "finished"
    agent: str = "researcher"
    verdict: str | None = "accepted"
    status: str | None = "completed"
    stop_reason: str | None = "exited"
    task_number: int | None = None
    work: str = "Look at the cache."
    created_ms: int | None = None
    attempts: tuple[str | None, ...] = ()
    """The outcome of each."""
    owner: str | None = None
    summary: str = ""
    details: str = ""
    """All of them, where it is more than the work."""


def dump(value: object) -> str:
    """As the ledger has it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def name(number: int) -> str:
    return f"sess_1700{number:06d}_aaaaaa"


def insert(home: Home, *rows: Kept) -> None:
    """Put rows into the ledger: quicker than to play them, and as many as are wanted."""
    columns = (
        "session_id, parent_id, root_id, agent, depth, path, task_number, state, created_ms, started_ms, ended_ms, "
        "stop_reason, verdict, status, details, owner, runner, tokens, cost_usd"
    )
    with home.ledger.transaction() as db:
        for row in rows:
            is_over = row.state == "finished"
            created = FIRST_MS + row.number * 1000 if row.created_ms is None else row.created_ms
            values = (
                name(row.number), None if row.parent is None else name(row.parent),
                name(row.number if row.root is None else row.root), row.agent, 1 if row.parent is None else 2,
                '["orchestrator"]', row.task_number, row.state, created, created + 10,
                created + 110 if is_over else None, row.stop_reason if is_over else None, row.verdict if is_over else None,
                row.status if is_over else None, row.details or dump({"work": row.work, "timeout_s": 60}), row.owner,
                "command", 100, 0.5,
            )  # fmt: skip
            marks = ", ".join("?" * len(values))
            db.execute(f"INSERT INTO runs ({columns}) VALUES ({marks})", values)  # noqa: S608 - fixed names
            for at, verdict in enumerate(row.attempts, 1):
                statement = (
                    "INSERT INTO attempts (session_id, number, started_ms, ended_ms, verdict) VALUES (?, ?, 1, 2, ?)"
                )
                db.execute(statement, (name(row.number), at, verdict))
            if row.summary:
                report = json.dumps({"result": {"summary": row.summary}}, ensure_ascii=False).encode()
                db.execute("INSERT INTO texts VALUES (?, 'report', ?, 1)", (name(row.number), report))
