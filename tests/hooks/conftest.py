"""A real repository with agents, and a session of Claude Code in it.

Every test can run twice: with events answered in this process, and by the program as harnesses start it, which is
slower. Only `make test-all` runs the second, except for tests that are marked with `also_by_program`.
"""

from pathlib import Path

import pytest

from tests.support.hook_session import Child, Stage, make_workspace


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_workspace(tmp_path / "project")


@pytest.fixture(params=["inside", pytest.param("program", marks=[pytest.mark.slow, pytest.mark.thorough])])
def quick(request: pytest.FixtureRequest) -> bool:
    return bool(request.param == "inside")


@pytest.fixture
def stage(root: Path, quick: bool) -> Stage:  # noqa: FBT001 - a fixture
    return Stage(root, quick=quick)


@pytest.fixture
def child(stage: Stage) -> Child:
    """A running agent."""
    child = stage.call("planner")
    child.start()
    return child
