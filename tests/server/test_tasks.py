"""Tasks over HTTP with a real server and agents: ids of an outside tracker, and finish steps that fail."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

from tests.support.cleo_tasks import FAULTS, JUNK, Cleo, check_fault, make_cleo, make_project
from tests.support.http_server import Served, run_server
from tests.support.program_runs import list_rows
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow


@pytest.fixture
def cleo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cleo:
    return make_cleo(tmp_path, monkeypatch)


def delegate(served: Served, **body: Any) -> tuple[dict[str, Any], dict[str, Any]]:  # noqa: ANN401 - any JSON value
    """Start a run and wait for its end: what was answered at its start, and all that is known of it."""
    begun = served.post("/runs", {"prompt": "Write a report.", "runner": "scripted"} | body)
    assert begun.status == 201, begun.body
    path = f"/runs/{begun.value['session_id']}"
    wait_until(lambda: served.get(path).value["run"]["state"] == "finished", "its end")
    node: dict[str, Any] = served.get(path).value
    return begun.value, node


def test_an_agent_works_on_a_task_of_an_outside_tracker(cleo: Cleo) -> None:
    """004-23: bodies, filters and paths take `T1234`, as `remit run --task` and `remit task show` do."""
    with run_server(cleo.root) as served:
        begun, node = delegate(served, agent="cleo-subagent", task="T1234")
        shown = served.get("/tasks/T1234").value
        found = served.get("/runs?task=T1234").value
        others = [served.get(f"/runs?task={other}").value["items"] for other in ("T1200", "1234")]
        retried = served.post(f"/runs/{begun['session_id']}/retry", {})
        wait_until(
            lambda: served.get(f"/runs/{retried.value['session_id']}").value["run"]["state"] == "finished",
            "the end of the other run",
        )
        assert served.get("/runs?task=T1234").value["total"] == 2
    assert node["result"]["remit"]["status"] == "completed", node
    assert begun["task_id"] == node["run"]["task_id"] == found["items"][0]["task_id"] == "T1234"
    assert [each["session_id"] for each in found["items"]] == [begun["session_id"]]
    assert others == [[], []]
    assert [each[0] for each in cleo.calls[:6]] == ["show", "focus", "show", "complete", "research", "show"]
    task = json.loads(shown["section"])
    assert (task["id"], task["status"], task["linkedResearch"]) == ("T1234", "done", [cleo.calls[4][3]])
    assert (shown["task"], [each["session_id"] for each in shown["latest_runs"]]) == ("T1234", [begun["session_id"]])


def test_an_id_that_is_none_is_one_clear_error(cleo: Cleo, capfd: pytest.CaptureFixture[str]) -> None:
    with run_server(cleo.root) as served:
        for junk in JUNK:
            body = {"prompt": "Find out.", "runner": "scripted", "task": junk}
            asked = [served.post("/runs", body)]
            if isinstance(junk, str | int) and junk not in ("", True):
                word = quote(str(junk), safe="")
                asked.append(served.get(f"/runs?task={word}"))
                asked.append(served.get(f"/tasks/{word}"))
                asked.append(served.post(f"/tasks/{word}/move", {"marker": "IN PROGRESS"}))
            for reply in asked:
                assert (reply.problem["status"], reply.problem["code"]) == (400, "USAGE"), (junk, reply.body)
                assert reply.problem["hint"], junk
        lines = served.post("/runs", {"prompt": "Find out.", "runner": "scripted", "task": "T12\n"}).problem
        assert (lines["status"], lines["code"]) == (400, "USAGE")
        assert cleo.calls == []
        unknown = served.get("/tasks/T9999").problem
        assert (unknown["status"], unknown["code"]) == (409, "TOOL_UNAVAILABLE")
        assert "there is no task T9999" in unknown["detail"]
        for task in ("T1234", "1234"):
            moved = served.post(f"/tasks/{task}/move", {"marker": "IN PROGRESS"}).problem
            assert (moved["status"], moved["detail"]) == (400, "the tasks of this workspace are in `cleo`")
    assert "Traceback" not in capfd.readouterr().err
    assert list_rows(cleo.root) == []
    assert not (cleo.root / "pwned").exists()


@pytest.mark.parametrize("code", FAULTS)
def test_a_finish_step_that_fails_costs_no_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    """D13: the result is there with the agent's verified status; failed_steps has the code."""
    root = make_project(tmp_path, monkeypatch, code)
    with run_server(root) as served:
        assert [served.get(f"/tasks/{each}").value["marker"] for each in ("1", "%231")] == ["NOT STARTED"] * 2
        foreign = served.post("/runs", {"prompt": "Write.", "runner": "scripted", "task": "T1234"}).problem
        assert (foreign["code"], foreign["detail"]) == ("USAGE", "'T1234' isn't the number of a task")
        assert served.get("/runs?task=T1234").problem["status"] == 400
        assert served.get("/tasks/T1234").problem["status"] == 404
        begun, node = delegate(served, task=1)
        found = served.get("/runs?task=1").value["items"]
    check_fault(root, code)
    result = node["result"]
    assert (result["status"], result["remit"]["status"]) == ("completed", "completed"), result
    assert [each["code"] for each in result["remit"]["failed_steps"]] == [code]
    assert [(each["session_id"], each["task_number"]) for each in found] == [(begun["session_id"], 1)]
