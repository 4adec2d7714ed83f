"""What the tests of the hooks need: a real repository with agents, and a session of Claude Code in it.

Every test runs twice: with the events answered in this process, and by the program as harnesses start it, which takes
its time.
"""

from pathlib import Path

import pytest

from tests.support.hook_session import Child, Stage, make_workspace


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_workspace(tmp_path / "project")


@pytest.fixture(params=["inside", pytest.param("program", marks=pytest.mark.slow)])
def quick(request: pytest.FixtureRequest) -> bool:
    return bool(request.param == "inside")


@pytest.fixture
def stage(root: Path, quick: bool) -> Stage:  # noqa: FBT001 - a fixture
    return Stage(root, quick=quick)


@pytest.fixture
def child(stage: Stage) -> Child:
    """An agent at work."""
    child = stage.call("planner")
    child.start()
    return child
