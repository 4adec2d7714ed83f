"""What the tests of conformance stand on."""

from pathlib import Path

import pytest

from tests.conformance.stage import Project
from tests.doors.conftest import Inside, inside

__all__ = ["inside"]


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
