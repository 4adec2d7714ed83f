"""Tasks over MCP with real servers and agents: ids of an outside tracker, and finish steps that fail."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.cleo_tasks import FAULTS, JUNK, Cleo, check_fault, make_cleo, make_project
from tests.support.mcp_peer import Peer
from tests.support.program_runs import list_rows

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow


@pytest.fixture
def cleo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cleo:
    return make_cleo(tmp_path, monkeypatch)


def test_an_agent_works_on_a_task_of_an_outside_tracker(cleo: Cleo) -> None:
    """004-23: `delegate` and `task_show` take `T1234`, as `remit run --task` and `remit task show` do."""
    with Peer(cleo.root) as peer:
        told = peer.call("delegate", agent="cleo-subagent", prompt="Find out.", runner="scripted", task="T1234")
        assert told["finished"] is True
        assert told["result"]["remit"]["status"] == "completed", told
        shown = peer.call("task_show", task="T1234")
        (snapshot,) = peer.call("status", session_id=told["session_id"])["items"]
        assert peer.strays == []
    assert snapshot["task_id"] == "T1234"
    assert shown["task"] == "T1234"
    assert [each[0] for each in cleo.calls] == ["show", "focus", "show", "complete", "research", "show"]
    entry = cleo.calls[4][3]
    assert cleo.calls[4] == ["research", "link", "T1234", entry]
    task = json.loads(shown["section"])
    assert (task["id"], task["status"], task["linkedResearch"]) == ("T1234", "done", [entry])


def test_a_detached_run_knows_its_outside_task(cleo: Cleo) -> None:
    with Peer(cleo.root) as peer:
        told = peer.call(
            "delegate", agent="cleo-subagent", prompt="Find out.", runner="scripted", task="T1234", detach=True
        )
        assert told["run"]["task_id"] == "T1234"
        ended = peer.call("result", session_id=told["session_id"], wait_seconds=60)
    assert ended["result"]["remit"]["status"] == "completed"
    assert ["complete", "T1234"] in cleo.calls


def test_an_id_that_is_none_is_one_clear_error(cleo: Cleo) -> None:
    with Peer(cleo.root) as peer:
        for junk in JUNK:
            asked: tuple[tuple[str, dict[str, Any]], ...] = (
                ("delegate", {"prompt": "Find out.", "runner": "scripted", "task": junk}),
                ("task_show", {"task": junk}),
                ("task_move", {"number": junk, "marker": "IN PROGRESS"}),
            )
            for tool, arguments in asked:
                error = peer.fail(tool, **arguments)
                assert error["code"] == "USAGE", (tool, junk, error)
                assert error["hint"], (tool, junk)
        assert cleo.calls == []
        unknown = peer.fail("delegate", prompt="Find out.", runner="scripted", task="T9999")
        assert (unknown["code"], "there is no task T9999" in unknown["message"]) == ("TOOL_UNAVAILABLE", True)
        number = peer.fail("task_show", task=1234)
        assert "there is no task 1234" in number["message"]
        for task in ("T1234", 1234):
            moved = peer.fail("task_move", number=task, marker="IN PROGRESS")
            assert moved["message"] == "the tasks of this workspace are in `cleo`"
        assert b"Traceback" not in peer.errors
    assert list_rows(cleo.root) == []
    assert not (cleo.root / "pwned").exists()


@pytest.mark.parametrize("code", FAULTS)
def test_a_finish_step_that_fails_costs_no_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    """D13: the result comes back with the agent's verified status; failed_steps has the code."""
    root = make_project(tmp_path, monkeypatch, code)
    with Peer(root) as peer:
        assert peer.call("task_show", task="1")["marker"] == peer.call("task_show", task=1)["marker"] == "NOT STARTED"
        foreign = peer.fail("delegate", prompt="Write.", runner="scripted", task="T1234")
        assert (foreign["code"], foreign["message"]) == ("USAGE", "'T1234' isn't the number of a task")
        told = peer.call("delegate", prompt="Write a report.", runner="scripted", task=1)
        again = peer.call("result", session_id=told["session_id"])
    check_fault(root, code)
    assert told["finished"] is True
    for result in (told["result"], again["result"]):
        assert (result["status"], result["remit"]["status"]) == ("completed", "completed"), result
        assert [each["code"] for each in result["remit"]["failed_steps"]] == [code]
