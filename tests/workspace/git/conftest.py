"""A repository for each test, and an environment without the settings of whoever runs the tests."""

from pathlib import Path

import pytest

from tests.workspace.git.checkout import ENVIRONMENT, Checkout, make_checkout
from tests.workspace.git.travel import Trip, send


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for key, value in ENVIRONMENT.items():
        monkeypatch.setenv(key, value)


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """A repository with one commit."""
    return make_checkout(tmp_path / "project")


@pytest.fixture
def trip(checkout: Checkout, tmp_path: Path) -> Trip:
    """The repository, and a clone of it on a worker's machine."""
    return send(str(checkout.root), tmp_path / "worker")
