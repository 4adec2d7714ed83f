"""One server for a module's tests, with a few delegations to look at."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.http_server import Served, add_rows, run_server

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server that runs."""
    root = tmp_path_factory.mktemp("served")
    (root / "remit.toml").touch()
    add_rows(root, 3)
    with run_server(root) as found:
        yield found
