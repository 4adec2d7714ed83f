"""A workspace with a manifest, for the tests of this folder."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.manifest_workspace import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """An empty workspace."""
    desk = Desk(tmp_path)
    yield desk
    desk.close()
