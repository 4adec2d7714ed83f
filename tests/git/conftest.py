"""Every test of git runs without the settings of the user who runs the tests."""

from pathlib import Path

import pytest

from tests.support.git_bundles import Trip, send
from tests.support.git_checkout import Checkout


@pytest.fixture(autouse=True)
def _plain_environment(plain_git_environment: None) -> None:
    pass


@pytest.fixture
def trip(checkout: Checkout, tmp_path: Path) -> Trip:
    """The repository, and a clone of it on a worker's machine."""
    return send(str(checkout.root), tmp_path / "worker")
