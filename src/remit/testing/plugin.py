"""The pytest plugin: fixtures for a workspace, scripted agents and models, and runs.

    pytest_plugins = ["remit.testing.plugin"]   # in conftest.py

    def test_mine(remit_workspace, scripted_agent, delegate):
        result = delegate(None, "Write a report.", command=scripted_agent().obeys().command)
        assert result.status == "completed"

Name the plugin in conftest.py. It isn't an entry point, because pytest would then import it in every project of the
environment.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol, Unpack

import pytest

from remit.git import process as git
from remit.runs.workspace import Workspace
from remit.storage import files
from remit.testing.agent import ScriptedAgent
from remit.testing.model import ScriptedModel

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from remit.result import Result
    from remit.runs.request import RequestOptions
    from remit.testing.script import ScriptedTurn


class MakeAgent(Protocol):
    """Creates scripted agents with unique names."""

    def __call__(self, name: str = ..., *, format: str = ...) -> ScriptedAgent:
        """A new one."""
        ...


class MakeModel(Protocol):
    """Starts scripted models; they end with the test."""

    def __call__(self, scripts: Mapping[str, Iterable[ScriptedTurn]]) -> ScriptedModel:
        """A new one, which listens already."""
        ...


class Delegate(Protocol):
    """Runs an agent in the test's workspace, and waits."""

    def __call__(self, agent: str | None, prompt: str, **options: Unpack[RequestOptions]) -> Result:
        """Return the result; the options are those of `Workspace.delegate`."""
        ...


@pytest.fixture
def remit_workspace(tmp_path: Path) -> Path:
    """A fresh workspace: a folder with git and one commit, and no settings."""
    root = tmp_path / "workspace"
    files.write_text(str(root / "README.md"), "# A project\n", make_folders=True)
    who = (("config", "user.name", "test"), ("config", "user.email", "test@example.invalid"))
    steps = (("init", "-q", "-b", "main"), *who, ("add", "."), ("commit", "-q", "-m", "begin"))
    for step in steps:
        answer = git.run(str(root), *step, alone=True)
        if answer.code:
            pytest.fail(f"git {step[0]}: {answer.reason}")
    return root


@pytest.fixture
def scripted_agent(tmp_path: Path) -> MakeAgent:
    """A function that creates scripted agents; their programs and logs are outside the workspace."""

    def make(name: str = "agent", *, format: str = "standard") -> ScriptedAgent:
        return ScriptedAgent(tmp_path / "agents", name, format=format)

    return make


@pytest.fixture
def scripted_model() -> Iterator[MakeModel]:
    """A function that starts scripted models on loopback."""
    started: list[ScriptedModel] = []

    def start(scripts: Mapping[str, Iterable[ScriptedTurn]]) -> ScriptedModel:
        started.append(ScriptedModel(scripts).__enter__())
        return started[-1]

    yield start
    for model in started:
        model.__exit__(None, None, None)


@pytest.fixture
def delegate(remit_workspace: Path) -> Delegate:
    """A synchronous function that runs one agent in the workspace."""

    def run(agent: str | None, prompt: str, **options: Unpack[RequestOptions]) -> Result:
        async def walk() -> Result:
            async with Workspace.open(remit_workspace) as ws:
                return await ws.delegate(agent, prompt, **options)

        return asyncio.run(walk())

    return run
