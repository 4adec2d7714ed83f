"""Shared by tests of tasks over MCP and HTTP: a CLEO project, and agents that break a finish step."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from typing import TYPE_CHECKING, NamedTuple

from remit.runs.tasks.workspace_tasks import Tasks
from remit.runs.workspace_trust import TrustRequest, get_executing, grant_trust
from remit.storage.settings import load_settings
from remit.testing.agent import ScriptedAgent
from tests.support.git_command import git
from tests.support.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

EXAMPLE = ROOT / "examples/cleo-project"
JUNK = ("T12; touch pwned", "T 12", "-T12", "--help", "$(id)", "x" * 201, "", 0, -1, 10**10, True, [1], 1.5)
"""No ids of tasks, neither by their characters nor by their types."""

STATE = "open('specs/state.json', 'w').write('{broken')"
LOCK = "open('.git/index.lock', 'w').close()"
FAULTS = {"STATUS_SYNC_FAILED": STATE, "GIT_COMMIT_FAILED": LOCK}
"""A piece of Python for each code: what an agent does so that the finish step with this code fails."""


class Cleo(NamedTuple):
    """A copy of the example project, whose `cleo` logs its calls."""

    root: Path
    agent: ScriptedAgent

    @property
    def calls(self) -> list[list[str]]:
        """The calls of `cleo`, in order."""
        log = self.root / ".cleo/calls.log"
        return [*map(json.loads, log.read_text().splitlines())] if log.exists() else []


def make_cleo(folder: Path, patch: pytest.MonkeyPatch) -> Cleo:
    """Copy the example project, trust it, and put its `cleo` on the path."""
    root = folder / "shop"
    shutil.copytree(EXAMPLE, root, ignore=shutil.ignore_patterns(".remit", "calls.log"))
    patch.setenv("PATH", f"{root / 'bin'}:{os.environ['PATH']}")
    agent = ScriptedAgent(folder / "agents").speaks("manifest")
    agent.returns("shelf.md", changes={"linked_tasks": ["T1234"]})
    _begin(root, patch, agent.command)
    return Cleo(root, agent)


def make_project(folder: Path, patch: pytest.MonkeyPatch, code: str) -> Path:
    """Make a repository with task 1 and the runner `scripted`, whose agent makes the finish step of a code fail."""
    root, agents = folder / "project", folder / "agents"
    root.mkdir()
    tasks = Tasks(str(root))
    tasks.add("Cache the uploads")
    tasks.home.close()
    command = shlex.split(ScriptedAgent(agents).obeys({"report.md": "# Report\n\nMade in ${session}.\n"}).command)
    program = agents / "spoil.py"
    program.write_text(f"import os\n{FAULTS[code]}\nos.execv({command[0]!r}, {command!r})\n", "utf-8")
    _begin(root, patch, shlex.join((sys.executable, "-I", "-S", str(program))))
    return root


def check_fault(root: Path, code: str) -> None:
    """Assert that the agent broke what it should, and that the finish step left it so."""
    if code == "STATUS_SYNC_FAILED":
        assert (root / "specs/state.json").read_text() == "{broken"
    else:
        assert (root / ".git/index.lock").exists()
        assert git(root, "log", "--format=%s").split() == ["begin"]


def _begin(root: Path, patch: pytest.MonkeyPatch, command: str) -> None:
    for name in ("REMIT_TICKET", "REMIT_SESSION_ID", "REMIT_ROOT"):
        patch.delenv(name, raising=False)
    patch.setenv("XDG_CONFIG_HOME", str(root.parent / "config"))  # where consent is kept
    (root / "remit.toml").write_text(f"[runners.scripted]\ncommand = {json.dumps(command)}\n")
    git(root, "init", "-q", "-b", "main")
    git(root, "config", "user.name", "T")
    git(root, "config", "user.email", "t@example.com")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "begin")
    grant_trust(TrustRequest(str(root), get_executing(load_settings(str(root)), root=str(root))))
