"""The users that the tests of confinement run commands as."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tests.support.confined_users import Caller, make_caller

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(params=["own", "unprivileged"])
def caller(request: pytest.FixtureRequest) -> Iterator[Caller]:
    """The user of the tests, which may be root, and one without privileges."""
    made = make_caller(request.param)
    yield made
    shutil.rmtree(made.folder)
