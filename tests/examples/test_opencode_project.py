"""A project of `.opencode` agents: its researcher obeys its own file to the letter, and the file stays as it is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from remit import check
from tests.support.hook_session import Stage
from tests.support.opencode_project import REPORT, SPECS

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.conformance_project import Project

OBEY = """
def call(agent, **inputs):
    done = remit("run", agent, json.dumps(dict(inputs, session_id=session)), "--json")
    value = json.loads(done.stdout)
    if value["status"] != "completed":
        answer(status="failed", errors=value["errors"])
        sys.exit()
    return value

moved = call("status-sync-manager", operation="update_status", task_number=13, new_status="researching")
assert {os.path.basename(path) for path in moved["files_updated"]} == {"TODO.md", "state.json"}, moved
assert "[RESEARCHING]" in open(".opencode/specs/TODO.md").read()
report = {"type": "report", "path": write(artifact), "summary": "How to round."}
call("status-sync-manager", operation="update_status", task_number=13, new_status="researched",
     validated_artifacts=[report], findings_count=4)
files = [artifact, ".opencode/specs/TODO.md", ".opencode/specs/state.json"]
call("git-workflow-manager", scope_files=files, message="task 13: research")
answer(artifact, metadata={"findings_count": 4})
"""
"""What `.opencode/agent/subagents/researcher.md` says, step by step."""


@pytest.fixture
def kitchen(place: Callable[[str], Project]) -> Project:
    return place("opencode-project")


def get_task(kitchen: Project, number: int = 13) -> dict[str, Any]:
    return kitchen.get_task(number, SPECS)


def test_the_project_lints_clean(kitchen: Project) -> None:
    """D11: files of the standard at the standard's own paths."""
    ended = kitchen("lint")
    assert ended.code == 0, ended.text


def test_the_drifted_state_is_shown_and_repaired(kitchen: Project) -> None:
    assert kitchen("task", "sync").code == 1
    assert kitchen("task", "sync", "--repair").code == 0
    assert kitchen("task", "sync").code == 0
    assert (get_task(kitchen)["status"], kitchen.load(f"{SPECS}/state.json")["next_project_number"]) == (
        "not_started",
        14,
    )


def test_the_utility_agents_answer_the_user(kitchen: Project) -> None:
    """D1: without a file of the project and without a model."""
    kitchen("task", "sync", "--repair")
    number = kitchen.json("run", "atomic-task-numberer", "Give me the next number.")
    assert number["status"] == "completed"
    assert "14" in json.dumps(number)
    inputs = "operation: update_status\ntask_number: 13\nnew_status: researching\n"
    assert kitchen.json("run", "status-sync-manager", inputs)["status"] == "completed"
    assert get_task(kitchen)["status"] == "researching"
    refused = kitchen("run", "status-sync-manager", "Please move it along.", "--json")
    assert (refused.code, json.loads(refused.out)["status"]) == (1, "failed")


def test_a_researcher_that_obeys_its_file_is_accepted(kitchen: Project) -> None:
    """D1 D8 D9 D15: the status moves twice, one commit is made, and the links are there; no other file changes.

    Its permissions confine it, so it calls the utility agents from inside of the confinement.
    """
    kitchen("task", "sync", "--repair")
    kitchen.git("commit", "-qam", "repair")
    program = kitchen.program(OBEY)
    result = kitchen.work("research", "13", program)
    assert result["status"] == "completed", result
    assert check(json.dumps(result), session_id=result["metadata"]["session_id"], root=kitchen.root).accepted
    assert [each["path"] for each in result["artifacts"]] == [REPORT]
    assert result["metadata"]["findings_count"] == get_task(kitchen)["findings_count"] == 4
    assert get_task(kitchen)["status"] == "researched"
    assert f"]({REPORT.removeprefix(SPECS + '/')})" in (kitchen.root / SPECS / "TODO.md").read_text()
    assert kitchen.git("log", "--format=%s").splitlines() == ["task 13: research", "repair", "begin"]
    assert kitchen.git("status", "--porcelain") == ""
    changed = kitchen.git("diff", "--name-only", "HEAD~1").split()
    assert all(path.startswith(f"{SPECS}/") for path in changed), changed


def test_the_harness_starts_the_researcher(kitchen: Project) -> None:
    """D1 D4 by hook events: the status moves, the report is linked and committed once, the caller gets a valid return."""
    kitchen("task", "sync", "--repair")
    kitchen.git("commit", "-qam", "repair")
    assert kitchen("hooks", "install", "opencode").code == 0
    stage = Stage(kitchen.root, "opencode", quick=True)
    child = stage.call("researcher", "Research the task.\n\ntask_number: 13\nresearch_topic: rounding\n")
    child.start()
    assert get_task(kitchen)["status"] == "researching"
    (kitchen.root / REPORT).parent.mkdir(parents=True)
    child.write(REPORT)
    answer = child.report(REPORT)
    assert child.stop(answer) == {}
    text = child.respond(answer)["hookSpecificOutput"]["updatedToolOutput"]["content"][0]["text"]
    assert check(text, session_id=child.row.session_id, root=kitchen.root).accepted, text
    assert get_task(kitchen)["status"] == "researched"
    assert REPORT in kitchen.git("show", "--name-only", "--format=")
    assert len(kitchen.git("log", "--format=%s").splitlines()) == 3
