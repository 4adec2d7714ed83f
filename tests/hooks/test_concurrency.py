"""Many hooks at once, each in its own process, as harnesses start them; and several harnesses in one workspace."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.support.hook_session import Child, Refused, Stage


def call(stage: Stage, number: int) -> Child | str:
    """Ask for an agent as one of several calls at once."""
    own = Stage(stage.root)
    own.calls = number
    try:
        return own.call("writer", f"Write part {number}.")
    except Refused as refusal:
        return str(refusal)


@pytest.mark.slow
@pytest.mark.thorough
def test_of_many_calls_at_once_no_more_are_let_in_than_may(root: Path) -> None:
    (root / "remit.toml").write_text("[limits]\nrunning = 3\n")
    stage = Stage(root)
    stage.send(stage.event("SessionStart", source="startup"))
    with ThreadPoolExecutor(8) as pool:
        asked = list(pool.map(lambda number: call(stage, number), range(8)))
    entered = [each for each in asked if isinstance(each, Child)]
    assert len(entered) == len(stage.rows()) == 3
    assert len({each.session_id for each in entered}) == 3
    assert all("limit for running" in each for each in asked if isinstance(each, str))


@pytest.mark.slow
def test_the_first_calls_of_a_workspace_all_come_through(root: Path) -> None:
    """They make the ledger together."""
    stage = Stage(root)
    with ThreadPoolExecutor(6) as pool:
        asked = list(pool.map(lambda number: call(stage, number), range(6)))
    assert [each for each in asked if isinstance(each, str)] == []
    assert len(stage.rows()) == 6


@pytest.mark.slow
def test_agents_at_work_at_once_are_each_judged_by_their_own(root: Path) -> None:
    stage = Stage(root)
    children = [stage.call("writer", f"Write part {number}.") for number in range(4)]

    def work(child: Child) -> dict[str, Any]:
        name = f"{child.call_id}.md"
        child.start()
        child.write(name)
        assert child.stop("Done.")["decision"] == "block"
        assert child.stop(child.report(name)) == {}
        return child.hand_over(child.report(name))

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(work, children))
    assert [each["status"] for each in results] == ["completed"] * 4
    assert [each["metadata"]["session_id"] for each in results] == [child.session_id for child in children]
    assert {row.status for row in stage.rows()} == {"completed"}


def test_sessions_of_several_harnesses_do_not_meet(root: Path, quick: bool) -> None:  # noqa: FBT001 - a fixture
    """The same ids in different sessions are different agents."""
    stages = [Stage(root, name, session=f"of-{name}", quick=quick) for name in ("claude", "codex", "opencode")]
    children = [stage.call("writer") for stage in stages]
    for child in children:
        child.start()
    assert len({child.session_id for child in children}) == 3
    stages[0].send(stages[0].event("SessionEnd", reason="other"))
    assert [child.row.state for child in children] == ["finished", "running", "running"]
    assert [row.runner for row in stages[0].rows()] == ["claude", "codex", "opencode"]


def test_opencode_from_its_first_word_to_its_last(root: Path, quick: bool) -> None:  # noqa: FBT001 - a fixture
    stage = Stage(root, "opencode", quick=quick)
    child = stage.call("planner")
    child.start()
    given = {"filePath": "plan.md", "content": "# New\n"}
    assert stage.send(child.event("PreToolUse", tool_name="write", tool_input=given, tool_use_id="c")) == {}
    (root / "plan.md").write_text("# New\n")
    response = {"title": "x", "output": ""}
    event = child.event("PostToolUse", tool_name="write", tool_input=given, tool_use_id="c", tool_response=response)
    assert stage.send(event) == {}
    assert child.stop("Done.")["decision"] == "block"
    assert child.stop(child.report("plan.md")) == {}
    result = child.hand_over(child.report("plan.md"))
    assert (result["status"], result["remit"]["grades"][0]["grade"]) == ("completed", "attributed")


def test_codex_whose_child_broke_is_closed_with_its_session(root: Path, quick: bool) -> None:  # noqa: FBT001 - a fixture
    """Nothing but the call that waits tells of it."""
    stage = Stage(root, "codex", quick=quick)
    child = stage.call("planner")
    child.respond_text(json.dumps({"agent_id": child.agent_id, "nickname": "Bohr"}))
    child.start()
    told = json.dumps({"status": {child.agent_id: {"errored": "bad"}}})
    waits = {"tool_name": "multi_agent_v1wait_agent", "tool_input": {"targets": [child.agent_id]}, "tool_use_id": "w"}
    assert stage.send(stage.event("PreToolUse", **waits)) == {}
    assert stage.send(stage.event("PostToolUse", **waits, tool_response=told)) == {}
    payload = stage.event("SessionEnd", reason="other")
    for key in ("turn_id", "model", "permission_mode"):
        payload.pop(key)
    assert stage.send(payload) == {}
    assert (child.row.state, child.row.stop_reason) == ("finished", "orphaned")
    assert child.row.status != "completed"
