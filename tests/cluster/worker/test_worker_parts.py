"""Parts of a worker that need no database: the choice of a queue, the worker's folder, and retries."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from remit.cluster.retry import retry_forever
from remit.cluster.transfer import name_branch
from remit.cluster.worker.queues import choose_queue, list_queues
from remit.cluster.worker.worker_folder import WorkerFolder, WorkerFolderFacts, find_folder
from remit.errors import ClusterError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[WorkerFolder]:
    made = WorkerFolder(str(tmp_path / "state"), "box")
    yield made
    made.close()


def test_a_session_goes_where_somebody_takes_it() -> None:
    assert choose_queue("scout", 2, [(), ("lead",)]) == "remit.2"
    assert choose_queue("scout", 2, [(), ("lead", "scout")]) == "remit.scout.2"
    assert choose_queue("scout", 1, []) == "remit.1"
    assert list_queues(()) == ["remit.1", "remit.2", "remit.3"]
    assert list_queues(("scout",)) == ["remit.scout.1", "remit.scout.2", "remit.scout.3"]
    for agents in ((), ("scout",), ("lead", "scout")):
        assert choose_queue("scout", 3, [agents]) in list_queues(agents)


def test_whoever_comes_after_has_a_branch_of_its_own() -> None:
    assert [name_branch("sess_1_abc", fence) for fence in (1, 2, 3)] == [
        "remit/sess_1_abc", "remit/sess_1_abc.2", "remit/sess_1_abc.3",
    ]  # fmt: skip


def test_what_was_begun_is_known_after_a_crash(folder: WorkerFolder, tmp_path: Path) -> None:
    facts = WorkerFolderFacts("sess_1_abc", 2, 1, str(tmp_path / "tree"), 1234)
    assert folder.load("sess_1_abc") is None
    folder.record(facts)
    assert folder.load("sess_1_abc") == facts
    assert folder.list_sessions() == ["sess_1_abc"]
    (tmp_path / "state/sessions/sess_1_abc/facts.json").write_text("{")
    assert folder.load("sess_1_abc") is None, "half of it is nothing"
    folder.drop("sess_1_abc")
    folder.drop("sess_1_abc")
    assert folder.list_sessions() == []


def test_what_could_not_be_removed_is_swept_up(folder: WorkerFolder, tmp_path: Path) -> None:
    left = tmp_path / "state/sessions/.sess_1_abc.0f0f0f"
    left.mkdir()
    assert folder.list_sessions() == []
    folder.sweep()
    assert not left.exists()


@pytest.mark.parametrize("name", ["", "../up", "a/b", ".hidden"])
def test_a_session_of_that_name_would_be_elsewhere(folder: WorkerFolder, name: str) -> None:
    with pytest.raises(InputError, match="isn't a session id"):
        folder.find_tree(name)


def test_where_a_worker_keeps_what_it_has(tmp_path: Path) -> None:
    assert find_folder("box", {"XDG_STATE_HOME": str(tmp_path)}) == f"{tmp_path}/remit/workers/box"
    assert find_folder("box", {"XDG_STATE_HOME": "relative"}).endswith("/.local/state/remit/workers/box")


def test_a_database_that_is_away_is_asked_again_and_one_that_refuses_is_not() -> None:
    asked = []

    async def ask() -> str:
        asked.append(1)
        if len(asked) < 3:
            raise ClusterError("away")
        return "here"

    async def refuse() -> str:
        asked.append(1)
        error = ClusterError("never")
        error.recoverable = False
        raise error

    assert asyncio.run(retry_forever(ask)) == "here"
    assert len(asked) == 3
    with pytest.raises(ClusterError, match="never"):
        asyncio.run(retry_forever(refuse))
    assert len(asked) == 4
