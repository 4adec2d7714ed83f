"""The backend of this machine keeps to the port."""

from __future__ import annotations

import pytest

from remit.runs.workspace import Workspace
from remit.testing.backends import BackendSuite


@pytest.mark.slow
class TestLocal(BackendSuite):
    """Ledger and shims."""

    def open(self, root: str) -> Workspace:
        """A workspace as it is opened by everybody."""
        return Workspace.open(root)
