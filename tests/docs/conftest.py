"""What pages may ask for: curl, time, a PostgreSQL, and Claude Code with a model that plays scripts."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tests.support.docs.claude import stage_claude
from tests.support.postgres import Missing, shared

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def with_postgres(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[dict[str, str]]:
    """The address of an empty database, on the server that all tests of this run share."""
    folder = tmp_path_factory.getbasetemp()
    place = (folder if worker_id == "master" else folder.parent) / "postgres.json"
    try:
        with shared(place) as server, server.database() as address:
            yield {"DATABASE": address}
    except Missing as error:
        pytest.skip(f"NO POSTGRESQL, pages that need one are not tested: {error}")


@pytest.fixture
def with_curl() -> dict[str, str]:
    """The program with which pages ask servers."""
    if shutil.which("curl") is None:
        pytest.skip("NO CURL, pages that need it are not tested")
    return {}


@pytest.fixture
def with_time() -> dict[str, str]:
    """Nothing but what a daily run has not."""
    return {}


@pytest.fixture
def with_claude(tmp_path: Path) -> Iterator[dict[str, str]]:
    """An environment in which `claude` is the real one, and its model plays what the page tells."""
    with stage_claude(tmp_path) as environ:
        if environ is None:
            pytest.skip("NO CLAUDE CODE, pages that need it are not tested: make agents installs it")
        yield environ
