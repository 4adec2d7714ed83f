"""Hooks that are killed at any moment: the command line blocks, and the next hook finishes the run, once."""

import json
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from remit.runs.tasks.workspace_tasks import Tasks
from tests.support.git_command import git
from tests.support.hook_session import PROGRAM, Refused, Stage, add_agent
from tests.support.hook_tasks import begin, get_marker, list_commits
from tests.support.sample_sizes import choose

pytestmark = pytest.mark.slow

DELAYS = [0.03, 0.08, 0.12, 0.16, 0.2, 0.25, 0.3, 0.4, 0.6][: choose(5, 9)]


def kill(stage: Stage, event: dict[str, Any], delay_s: float) -> bool:
    """Start a hook and kill it after a while; whether it was still at work."""
    with subprocess.Popen(
        PROGRAM, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=stage.env,
        cwd=stage.root,
    ) as process:  # fmt: skip
        assert process.stdin is not None
        process.stdin.write(json.dumps(event).encode())
        process.stdin.close()
        time.sleep(delay_s)
        was_alive = process.poll() is None
        process.kill()
    return was_alive


@pytest.fixture
def stage(root: Path) -> Stage:
    add_agent(root, "scout", kind="research")
    Tasks(str(root)).add("Cache the uploads")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "task")
    return Stage(root)


@pytest.mark.thorough
def test_a_settling_that_is_killed_again_and_again_is_done_once(stage: Stage, root: Path) -> None:
    child = begin(stage)
    child.write("specs/report.md", "# Report\nIt is slow.\n")
    answer = child.report("specs/report.md")
    child.stop(answer)
    response = {"agentId": child.agent_id, "content": [{"type": "text", "text": answer}], "totalToolUseCount": 1}
    event = child.make_call("PostToolUse", tool_response=response)
    assert sum(kill(stage, event, delay_s) for delay_s in DELAYS) > 1  # some were at work
    result = child.hand_over(answer)
    assert (result["status"], result["remit"]["verdict"]) == ("completed", "accepted")
    assert (child.row.state, child.row.status) == ("finished", "completed")
    assert get_marker(root) == "RESEARCHED"
    assert len(list_commits(root)) == 3
    assert git(root, "status", "--porcelain").strip() == ""
    assert stage.kinds(child.session_id).count("finished") == 1


def test_a_check_that_is_killed_is_made_by_the_next(stage: Stage) -> None:
    child = begin(stage)
    child.write("specs/report.md", "# Report\nIt is slow.\n")
    event = child.event(
        "SubagentStop", last_assistant_message=child.report("specs/report.md"), stop_hook_active=False,
        agent_transcript_path=str(child.transcript),
    )  # fmt: skip
    assert sum(kill(stage, event, delay_s) for delay_s in DELAYS[:5]) > 0
    assert child.stop(child.report("specs/report.md")) == {}
    assert child.hand_over(child.report("specs/report.md"))["status"] == "completed"


def test_an_admission_that_is_killed_leaves_nobody_for_good(stage: Stage, root: Path) -> None:
    """The command line has refused the call; what was entered is over when its caller stops."""
    (root / "remit.toml").write_text("[limits]\nper_agent = 1\n")
    for number, delay_s in enumerate(DELAYS):
        call = {"tool_name": "Agent", "tool_input": {"subagent_type": "scout", "prompt": "Go."}}
        kill(stage, stage.event("PreToolUse", **call, tool_use_id=f"toolu_k{number}"), delay_s)
    stage.send(stage.event("Stop", last_assistant_message="Hi.", stop_hook_active=False))
    assert all(row.state == "finished" and row.status != "completed" for row in stage.rows())
    try:
        child = stage.call("scout")
    except Refused as refusal:
        pytest.fail(str(refusal))
    assert child.row.state == "running"
