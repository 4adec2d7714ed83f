"""A workspace with a manifest, for the tests of this folder."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.manifest_workspace import ManifestWorkspace


@pytest.fixture
def place(tmp_path: Path) -> Iterator[ManifestWorkspace]:
    """An empty workspace."""
    place = ManifestWorkspace(tmp_path)
    yield place
    place.close()
