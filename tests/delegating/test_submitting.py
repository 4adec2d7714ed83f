"""A return that an agent hands in with a command: it counts, and a final message that contradicts it is ambiguous."""

from __future__ import annotations

import asyncio
import os
import shlex
import sys
from typing import TYPE_CHECKING

import pytest

from remit.app.delegating.own_return import submit_own
from remit.app.delegating.workspace import Workspace
from remit.errors import UsageError
from tests.contract.samples import line, standard

if TYPE_CHECKING:
    from pathlib import Path

    from remit.delegate.reporting.envelope import Envelope

AGENT = """
import json, os, subprocess, sys
from pathlib import Path

prompt = sys.stdin.read()
Path("told.txt").write_text(prompt)
path, status, said = sys.argv[1:]
Path("report.md").write_text("# Report")

def make(status, path):
    metadata = {
        "session_id": os.environ["REMIT_SESSION_ID"], "agent_type": "command", "delegation_depth": 1,
        "delegation_path": ["orchestrator", "command"], "duration_seconds": 1,
    }
    error = {"type": "execution", "message": "It broke.", "recoverable": True, "recommendation": "Go on."}
    return json.dumps({
        "status": status, "summary": "Looked at it. Wrote it down.", "metadata": metadata,
        "artifacts": [{"type": "report", "path": path, "summary": "It."}] if status == "completed" else [],
        "errors": [] if status == "completed" else [error],
    })

submit = [sys.executable, "-m", "remit", "return", "submit"]
done = subprocess.run(submit, input=make(status, path), capture_output=True, encoding="utf-8", check=False)
Path("answer.txt").write_text(f"{done.returncode} {done.stdout} {done.stderr}")
print({"nothing": "", "prose": "All is done.", "same": make(status, path)}.get(said, make("failed", "")))
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("REMIT_TICKET", "REMIT_SESSION_ID", "REMIT_ROOT"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def run(root: Path, folder: Path, *words: str) -> tuple[Envelope, str]:
    program = folder / "agent.py"
    program.write_text(AGENT)

    async def play() -> Envelope:
        async with Workspace.open(root, environ={**os.environ}) as ws:
            command = shlex.join([sys.executable, str(program), *words])
            return await ws.delegate(None, "go", command=command, timeout_s=60, reasks=0)

    return asyncio.run(play()), (root / "answer.txt").read_text()


@pytest.mark.parametrize("said", ["nothing", "prose", "same"])
def test_a_return_that_was_handed_in_counts(
    root: Path, tmp_path_factory: pytest.TempPathFactory, said: str
) -> None:  # fmt: skip
    envelope, answer = run(root, tmp_path_factory.mktemp("agent"), "report.md", "completed", said)
    assert answer.startswith("0 "), answer
    assert "handed in: accepted · completed" in answer
    assert (envelope.status, envelope.outcome) == ("completed", "accepted"), envelope.findings
    assert [artifact.path for artifact in envelope.artifacts] == ["report.md"]
    assert "remit return submit" in (root / "told.txt").read_text()


def test_another_return_in_the_final_message_is_ambiguous(
    root: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:  # fmt: skip
    envelope, answer = run(root, tmp_path_factory.mktemp("agent"), "report.md", "completed", "failed")
    assert answer.startswith("0 "), answer
    assert (envelope.status, envelope.outcome) == ("failed", "ambiguous")


def test_a_return_that_does_not_hold_is_answered_and_not_kept(
    root: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:  # fmt: skip
    envelope, answer = run(root, tmp_path_factory.mktemp("agent"), "never.md", "completed", "prose")
    assert answer.startswith("1 "), answer
    assert "RET051" in answer
    assert (envelope.status, envelope.outcome) == ("failed", "missing")


def test_nobody_else_hands_a_return_in(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    with pytest.raises(UsageError, match="no ticket"):
        submit_own(Workspace(str(root), environ={}), line(standard()))
