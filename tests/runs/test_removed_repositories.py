"""An agent that removes a git repository: its run ends with a result, and files elsewhere are judged."""

import asyncio
import sys
from pathlib import Path

import pytest

from remit.result import Result
from remit.runs.workspace import Workspace
from tests.support.evidence_projects import Project, git

_PROGRAM = """\
import json, os, subprocess
subprocess.run({script!r}, shell=True, check=True, stdout=2)
open("n.md", "w").write("new\\n")
metadata = {{"session_id": os.environ["REMIT_SESSION_ID"], "duration_seconds": 1, "agent_type": "command",
             "delegation_depth": 1, "delegation_path": ["orchestrator", "command"]}}
print(json.dumps({{"status": "completed", "summary": "Wrote the file. It has one line.", "errors": [],
                  "artifacts": [{{"type": "documentation", "path": path, "summary": "x"}} for path in {claims!r}],
                  "metadata": metadata}}))
"""


@pytest.fixture(autouse=True)
def _outside_of_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("REMIT_TICKET", "REMIT_SESSION_ID", "REMIT_ROOT"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A repository with another one and a submodule in it."""
    made = Project(tmp_path / "project", {"old.md": "old\n"})
    git(made.root, "submodule", "add", "-q", str(Project(tmp_path / "other", {"f.md": "old\n"}).root), "mod")
    git(made.root, "commit", "-q", "-m", "second")
    Project(made.root / "sub", {"f.md": "old\n"})
    return made


def play(project: Project, tmp_path: Path, script: str, *claims: str) -> Result:
    """Run an agent that does something to a repository, writes a file and claims some."""
    program = tmp_path / "agent.py"
    program.write_text(_PROGRAM.format(script=script, claims=claims))

    async def run() -> Result:
        async with Workspace.open(project.root) as ws:
            result = await ws.delegate(None, "go", command=f"{sys.executable} {program}", reasks=0)
            assert [row.state for row in ws.list(only_open=False)] == ["finished"]
            return result

    result = asyncio.run(run())
    assert (project.root / "n.md").exists()
    return result


@pytest.mark.parametrize(
    "script",
    [
        "rm -rf sub",
        "rm -rf sub/.git",
        "mv sub sub2",
        "git submodule deinit -f mod && git rm -qf mod && rm -rf .git/modules/mod",
    ],
)
def test_a_file_elsewhere_is_proved(project: Project, tmp_path: Path, script: str) -> None:
    result = play(project, tmp_path, script, "n.md")
    assert (result.status, result.verdict) == ("completed", "accepted")


def test_an_old_file_of_a_repository_that_is_gone_is_not_proved(project: Project, tmp_path: Path) -> None:
    result = play(project, tmp_path, "rm -rf sub/.git", "n.md", "sub/f.md")
    assert (result.status, result.verdict) == ("partial", "unproven")
    assert "git can't compare 'sub'" in result.diagnostics[0].message


def test_without_the_projects_repository_nothing_is_proved(tmp_path: Path) -> None:
    result = play(Project(tmp_path / "plain", {"old.md": "old\n"}), tmp_path, "rm -rf .git", "n.md")
    assert (result.status, result.verdict) == ("partial", "unproven")
    assert "git can't compare the project" in result.diagnostics[0].message
