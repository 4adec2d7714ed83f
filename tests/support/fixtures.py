"""Fixtures that the tests of several packages use."""

import subprocess
from pathlib import Path

import pytest

from remit.testing.agent import ScriptedAgent
from tests.support.commands import STEERING, Inside, Remit
from tests.support.conformance_project import Project
from tests.support.git_checkout import ENVIRONMENT, Checkout, make_checkout


@pytest.fixture
def remit(tmp_path: Path) -> Remit:
    """Remit as a process."""
    return Remit(tmp_path)


@pytest.fixture
def inside(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Inside:
    """Remit in this process."""
    monkeypatch.chdir(tmp_path)
    for name in STEERING:
        monkeypatch.delenv(name, raising=False)
    return Inside(tmp_path, capsysbinary)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A workspace, and no session of somebody else's around it."""
    for name in ("REMIT_TICKET", "REMIT_SESSION_ID"):
        monkeypatch.delenv(name, raising=False)
    subprocess.run(["git", "init", "-q", "-b", "main"], cwd=tmp_path, check=True)


@pytest.fixture
def agent(tmp_path_factory: pytest.TempPathFactory) -> ScriptedAgent:
    """A program whose log is outside the workspace."""
    return ScriptedAgent(tmp_path_factory.mktemp("agents"))


@pytest.fixture
def project(
    inside: Inside,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> Project:
    """A repository, and no session around the tests."""
    for name in ("REMIT_TICKET", "REMIT_SESSION_ID", "HYPER_WORKSPACE_ROOT"):
        monkeypatch.delenv(name, raising=False)
    return Project(tmp_path, inside, tmp_path_factory.mktemp("programs"))


@pytest.fixture
def plain_git_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment without the git settings of the user who runs the tests."""
    for key, value in ENVIRONMENT.items():
        monkeypatch.setenv(key, value)


@pytest.fixture
def checkout(tmp_path: Path, plain_git_environment: None) -> Checkout:  # noqa: ARG001 - it sets variables
    """A repository with one commit."""
    return make_checkout(tmp_path / "project")
