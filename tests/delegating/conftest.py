"""Where delegations are tested: a workspace, and an agent that does what a test tells it."""

from pathlib import Path

import pytest

from remit.testing.agent import ScriptedAgent


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace, and whoever runs the tests is nobody's agent."""
    for name in ("REMIT_TICKET", "REMIT_SESSION_ID", "REMIT_ROOT"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / ".git").mkdir()
    return tmp_path


@pytest.fixture
def agent(tmp_path_factory: pytest.TempPathFactory) -> ScriptedAgent:
    """A program whose log is outside the workspace."""
    return ScriptedAgent(tmp_path_factory.mktemp("agents"))
