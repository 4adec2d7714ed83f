"""A return that an agent hands in, by command or in a file: it counts, and one that contradicts it is ambiguous."""

from __future__ import annotations

import asyncio
import os
import shlex
import sys
from typing import TYPE_CHECKING

import pytest

from remit.errors import UsageError
from remit.runs.agent_lookup import find_agent
from remit.runs.submit_return import submit_own
from remit.runs.workspace import Workspace
from tests.support.return_samples import line, standard

if TYPE_CHECKING:
    from pathlib import Path

    from remit.result import Result

AGENT = """
import json, os, subprocess, sys
from pathlib import Path

prompt = sys.stdin.read()
Path("told.txt").write_text(prompt)
path, status, said, way = sys.argv[1:]
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

answer = ""
if way in ("command", "both"):
    submit = [sys.executable, "-m", "remit", "return", "submit"]
    done = subprocess.run(submit, input=make(status, path), capture_output=True, encoding="utf-8", check=False)
    answer = f"{done.returncode} {done.stdout} {done.stderr}"
if way in ("file", "both"):
    Path(os.environ["REMIT_RETURN_FILE"]).write_text(make("partial" if way == "both" else status, path))
if way == "scrap":
    Path(os.environ["REMIT_RETURN_FILE"]).write_text('{"status": "completed", "summary": [[[')
Path("answer.txt").write_text(answer)
print({"nothing": "", "prose": "All is done.", "same": make(status, path)}.get(said, make("failed", "")))
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("REMIT_TICKET", "REMIT_SESSION_ID", "REMIT_ROOT"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def run(
    root: Path, folder: Path, *words: str, way: str = "command", agent: str | None = None
) -> tuple[Result, str]:  # fmt: skip
    program = folder / "agent.py"
    program.write_text(AGENT)

    async def play() -> Result:
        async with Workspace.open(root, environ={**os.environ}) as ws:
            command = shlex.join([sys.executable, str(program), *words, way])
            return await ws.delegate(agent, "go", command=command, timeout_s=60, reasks=0)

    return asyncio.run(play()), (root / "answer.txt").read_text()


@pytest.mark.parametrize("said", ["nothing", "prose", "same"])
def test_a_return_that_was_handed_in_counts(
    root: Path, tmp_path_factory: pytest.TempPathFactory, said: str
) -> None:  # fmt: skip
    result, answer = run(root, tmp_path_factory.mktemp("agent"), "report.md", "completed", said)
    assert answer.startswith("0 "), answer
    assert "submitted: accepted · completed" in answer
    assert (result.status, result.verdict) == ("completed", "accepted"), result.diagnostics
    assert [artifact.path for artifact in result.artifacts] == ["report.md"]
    assert "remit return submit" in (root / "told.txt").read_text()


@pytest.mark.parametrize("said", ["nothing", "prose"])
def test_a_return_in_the_file_of_the_run_counts(
    root: Path, tmp_path_factory: pytest.TempPathFactory, said: str
) -> None:  # fmt: skip
    result, _ = run(root, tmp_path_factory.mktemp("agent"), "report.md", "completed", said, way="file")
    assert (result.status, result.verdict) == ("completed", "accepted"), result.diagnostics
    assert [artifact.path for artifact in result.artifacts] == ["report.md"]
    notes = [each.message for each in result.diagnostics if each.code == "RET013"]
    assert notes == (["text follows the return: 'All is done.'"] if said == "prose" else [])


@pytest.mark.parametrize(("way", "said"), [("command", "failed"), ("file", "failed"), ("both", "prose")])
def test_another_return_beside_it_is_ambiguous(
    root: Path, tmp_path_factory: pytest.TempPathFactory, way: str, said: str
) -> None:  # fmt: skip
    result, _ = run(root, tmp_path_factory.mktemp("agent"), "report.md", "completed", said, way=way)
    assert (result.status, result.verdict) == ("failed", "ambiguous")


@pytest.mark.parametrize(("said", "verdict"), [("same", "accepted"), ("prose", "malformed")])
def test_a_file_that_cannot_be_read_is_no_return(
    root: Path, tmp_path_factory: pytest.TempPathFactory, said: str, verdict: str
) -> None:  # fmt: skip
    result, _ = run(root, tmp_path_factory.mktemp("agent"), "report.md", "completed", said, way="scrap")
    assert result.verdict == verdict, result.diagnostics


def test_a_return_that_does_not_hold_is_answered_and_not_kept(
    root: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:  # fmt: skip
    result, answer = run(root, tmp_path_factory.mktemp("agent"), "never.md", "completed", "prose")
    assert answer.startswith("1 "), answer
    assert "RET051" in answer
    assert (result.status, result.verdict) == ("failed", "missing")


def test_nobody_else_hands_a_return_in(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    with pytest.raises(UsageError, match="only an agent inside a run"):
        submit_own(Workspace(str(root), environ={}), line(standard()))


@pytest.mark.parametrize(
    ("head", "body", "has_format"),
    [("", "Do the work.", False),
     ("return: hyper\n", "Do the work.", True),
     ("", "<return_format>\n<structure>A JSON object.</structure>\n</return_format>", True),
     ("", 'End with:\n```json\n{"status": "done"}\n```', True),
     ("", "Put it between <!-- AGENT_OUTPUT_START --> and <!-- AGENT_OUTPUT_END -->.", True)],
)  # fmt: skip
def test_who_has_a_return_format_of_its_own(root: Path, head: str, body: str, *, has_format: bool) -> None:
    file = root / ".opencode" / "agent" / "subagents" / "scribe.md"
    file.parent.mkdir(parents=True)
    file.write_text(f'---\nname: scribe\ndescription: "Writes."\nagent_type: utility\n{head}---\n{body}\n')
    found = find_agent(str(root), "scribe", prefer=None).agent
    assert found is not None
    assert found.has_format is has_format


def test_only_who_has_no_format_of_its_own_is_offered_it(
    root: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:  # fmt: skip
    file = root / ".opencode" / "agent" / "subagents" / "scribe.md"
    file.parent.mkdir(parents=True)
    head = '---\nname: scribe\ndescription: "Writes."\nagent_type: utility\n'
    for more, offered in (("", True), ("return: standard\n", False), ("return: manifest\n", False)):
        file.write_text(f"{head}{more}---\nDo the work.\n")
        run(root, tmp_path_factory.mktemp("agent"), "report.md", "completed", "prose", way="none", agent="scribe")
        assert ("remit return submit" in (root / "told.txt").read_text()) is offered, more
