"""The backend of many machines does what every backend must do: the suite of the backend of one, with a real worker."""

from __future__ import annotations

import os
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from remit.runs.workspace import Workspace
from remit.storage.files import load_bytes
from remit.testing.backends import BackendSuite
from tests.support.sample_sizes import IS_WHOLE
from tests.support.worker_machines import KEY, Settings, machines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.support.postgres import Server

pytestmark = pytest.mark.slow
DAILY = (
    "test_one_that_is_submitted_twice_runs_once", "test_time_that_is_up_is_partial",
    "test_all_below_one_are_cancelled_with_it", "test_what_a_dead_process_left_is_brought_to_its_end_once",
)  # fmt: skip
"""What is tried on every day; none of it needs the cluster that does one at a time."""
NARROW, WIDE = "REMIT_SUITE_NARROW", "REMIT_SUITE_WIDE"
"""The databases whose workers do one at a time, and many: other processes of the suite find them so."""


@pytest.fixture(scope="module", autouse=True)
def workers(postgres: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A cluster of one machine for each number of agents at once."""
    folder, key = tmp_path_factory.mktemp("clusters"), os.urandom(32).hex()
    with pytest.MonkeyPatch.context() as patch, ExitStack() as stack:
        patch.setenv(KEY, key)
        for name, limit in ((WIDE, 32), (NARROW, 1)) if IS_WHOLE else ((WIDE, 32),):
            url = stack.enter_context(postgres.database())
            patch.setenv(name, url)
            settings = Settings(lease=5, more=f"[limits]\nrunning = {limit}")
            stack.enter_context(machines(folder / name, url, key=key, settings=settings, concurrency=limit))
        yield


class TestCluster(BackendSuite):
    """Every test of the suite."""

    def open(self, root: str) -> Workspace:
        """A workspace whose runs are executed by a worker, with as many slots as its limits allow."""
        is_narrow = b"running = 1\n" in load_bytes(f"{root}/remit.toml")
        return Workspace.open(root, environ=os.environ | {"REMIT_BACKEND": os.environ[NARROW if is_narrow else WIDE]})


def leave_to_the_whole(name: str) -> Callable[[TestCluster, Path], None]:
    """The same test, marked: the mark of a method would be the mark of every backend's."""

    @pytest.mark.thorough
    def test(self: TestCluster, tmp_path: Path) -> None:
        getattr(BackendSuite, name)(self, tmp_path)

    return test


for each in vars(BackendSuite):
    if each.startswith("test_") and each not in DAILY:
        setattr(TestCluster, each, leave_to_the_whole(each))
