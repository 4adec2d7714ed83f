"""Where people look on: a repository, and whoever runs the tests is nobody's agent."""

from pathlib import Path

import pytest

from tests.support.ledger_rows import VARIABLES, make_repository


@pytest.fixture(autouse=True)
def _person(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository that this process is in."""
    monkeypatch.chdir(tmp_path)
    return make_repository(tmp_path)
