"""D1 inside harnesses: the hook answers for a utility agent without a file; one with a file is started."""

import json
from pathlib import Path
from typing import Any

import pytest

from remit.runs.workspace import Workspace
from remit.tasks.store import TaskStore
from tests.support.git_command import git
from tests.support.hook_session import Refused, Stage, add_agent

HARNESSES = ("claude", "codex", "opencode")


def add_task(root: Path) -> None:
    workspace = Workspace(str(root), environ={})
    TaskStore(workspace.home, "specs").add("Cache the uploads")
    workspace.home.close()


def call(stage: Stage, agent: str, prompt: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - as of the stage
    """Call a utility agent by the harness's own tool; the return that the refusal carries."""
    with pytest.raises(Refused) as caught:
        stage.call(agent, prompt, **more)
    lead, _, result = str(caught.value).partition("\n")
    assert lead.startswith(f"Remit: {agent} is built into Remit, so no subagent was started")
    read: dict[str, Any] = json.loads(result)
    return read


@pytest.mark.conforms("001-36", "002-38")
@pytest.mark.parametrize("harness", HARNESSES)
def test_the_hook_answers_for_a_utility_agent(root: Path, harness: str) -> None:
    """D1: in each harness the caller's model gets the return, and the work is done once."""
    add_task(root)
    stage = Stage(root, harness, quick=True)
    given = json.dumps({"operation": "update_status", "task_number": 1, "new_status": "planning"})
    moved = call(stage, "status-sync-manager", given)
    assert (moved["status"], moved["files_updated"]) == ("completed", ["specs/TODO.md", "specs/state.json"])
    assert "already" in call(stage, "status-sync-manager", given)["summary"]
    named = "scope_files: specs/TODO.md, specs/state.json\nmessage: task 1: plan"
    commit = call(stage, "git-workflow-manager", named)["commit_hash"]
    assert commit == call(stage, "git-workflow-manager", named)["commit_hash"]
    assert git(root, "log", "--format=%H %s").splitlines()[0] == f"{commit} task 1: plan"
    assert call(stage, "atomic-task-numberer", "The next number.")["task_number"] == 2
    assert (
        call(stage, "git-workflow-manager", "Commit it all.")["errors"][0]["message"] == "missing inputs: scope_files"
    )
    assert {row.runner for row in stage.rows()} == {"built-in"}
    assert {row.state for row in stage.rows()} == {"finished"}


def test_an_agent_calls_one_with_its_place_in_the_chain(root: Path) -> None:
    """D1: the caller comes from the harness's event, and whom it may call from its file."""
    add_task(root)
    add_agent(root, "maker", "atomic-task-numberer")
    stage = Stage(root, quick=True)
    child = stage.call("maker")
    assert "You may delegate to atomic-task-numberer." in child.told
    assert "the refusal contains its return" in child.told
    child.start()
    result = call(stage, "atomic-task-numberer", "Next.", by=child)
    row = stage.row(result["remit"]["session_id"])
    assert (row.parent_id, row.depth) == (child.session_id, 2)
    assert row.path[-2:] == ("maker", "atomic-task-numberer")
    with pytest.raises(Refused, match="'maker' may not call 'git-workflow-manager'"):
        stage.call("git-workflow-manager", "scope_files: a", by=child)


def test_a_call_that_two_hooks_report_is_answered_once(root: Path) -> None:
    """A plugin and the settings may both have Remit's hooks: one number is allocated."""
    add_task(root)
    stage = Stage(root, quick=True)
    first = call(stage, "atomic-task-numberer", "Next.")
    stage.calls -= 1
    assert call(stage, "atomic-task-numberer", "Next.")["metadata"]["session_id"] == first["metadata"]["session_id"]
    assert len(stage.rows()) == 1


@pytest.mark.parametrize("harness", HARNESSES)
def test_an_own_file_is_started_like_any_agent(root: Path, harness: str) -> None:
    """D1: a project's own file wins."""
    add_agent(root, "status-sync-manager")
    stage = Stage(root, harness, quick=True)
    child = stage.call("status-sync-manager", "Move task 1 to planned.")
    assert child.told.startswith("Move task 1 to planned.")
    assert (child.row.agent, child.row.runner) == ("status-sync-manager", harness)


def test_an_encrypted_prompt_is_refused_with_what_to_do_instead(root: Path) -> None:
    """D1: Codex can encrypt prompts; a number needs none."""
    add_task(root)
    stage = Stage(root, "codex", quick=True)

    def spawn(agent: str) -> str:
        given = {"agent_type": agent, "message": "gAAAA", "task_name": "sync"}
        event = stage.event("PreToolUse", tool_name="collaborationspawn_agent", tool_input=given, tool_use_id=agent)
        said = stage.send(event)["hookSpecificOutput"]
        assert said["permissionDecision"] == "deny"
        return str(said["permissionDecisionReason"])

    assert "run `remit task set-status NUMBER STATUS` in the shell instead" in spawn("status-sync-manager")
    assert '"task_number": 2' in spawn("atomic-task-numberer")
