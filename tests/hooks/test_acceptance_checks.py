"""Acceptance checks at the end of a subagent: what the agent gets back, and what its caller's model receives."""

from __future__ import annotations

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from remit.ledger.events import add_event
from remit.ledger.home import Home
from remit.runs.workspace_trust import TrustRequest, get_executing, grant_trust
from remit.storage.settings import load_settings
from tests.support.hook_session import STANDARD, Child, Stage, add_agent, make_workspace

if TYPE_CHECKING:
    from pathlib import Path

FLAG = """run = "cat plan.md >&2; grep -q good plan.md"
protect = []
"""
"""A check that passes if the plan is good, and prints the plan."""


class Project:
    """A workspace whose agent `maker` has acceptance checks."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        patch.setenv("XDG_CONFIG_HOME", str(folder / "config"))
        self.root = make_workspace(folder / "project")
        add_agent(self.root, "maker", more="checks: [tests]\n")

    def set_up(self, settings: str = f"[checks.tests]\n{FLAG}", *, trusted: bool = True, **more: Any) -> Stage:  # noqa: ANN401 - of the stage
        """Write the settings, and begin a session."""
        (self.root / "remit.toml").write_text(settings)
        if trusted:
            root = str(self.root)
            grant_trust(TrustRequest(root, get_executing(load_settings(root), root=root)))
        return Stage(self.root, quick=True, **more)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    return Project(tmp_path, monkeypatch)


def begin(stage: Stage, plan: str, agent: str = "maker", **more: Any) -> Child:  # noqa: ANN401 - of the call
    """Start an agent that writes its plan."""
    child = stage.call(agent, **more)
    child.start()
    child.write("plan.md", plan)
    return child


def list_answers(result: dict[str, Any]) -> dict[str, str]:
    """The answers of the checks in a result."""
    return {each["name"]: each["answer"] for each in result["remit"]["verified_by"] if each["kind"] == "check"}


def find_reason(result: dict[str, Any]) -> str:
    """Why the check was not run, by the caller's result, which is `partial` for that reason alone."""
    (check,) = [each for each in result["remit"]["verified_by"] if each["kind"] == "check"]
    assert (result["status"], result["remit"]["verdict"]) == ("partial", "accepted")
    assert [error["code"] for error in result["errors"]] == ["CHECK_NOT_RUN"]
    assert check["answer"] == "not run"
    reason: str = check["reason"]
    return reason


@pytest.mark.parametrize("harness", ["claude", "codex", "opencode"])
def test_honest_work_is_completed_and_the_caller_reads_what_verified_it(project: Project, harness: str) -> None:
    child = begin(project.set_up(harness=harness), "good\n")
    assert child.stop(child.report("plan.md")) == {}
    result = child.hand_over(child.report("plan.md"))
    assert result["status"] == "completed"
    assert list_answers(result) == {"tests": "passed"}


def test_a_failed_check_goes_back_with_its_output_and_a_correction_is_accepted(project: Project) -> None:
    child = begin(project.set_up(), "bad\n")
    said = child.stop(child.report("plan.md"))
    assert said["decision"] == "block"
    assert "grep -q good plan.md" in said["reason"]
    assert "    bad" in said["reason"]
    assert child.session_id in said["reason"]
    assert child.row.state == "running"
    child.write("plan.md", "good\n")
    assert child.stop(child.report("plan.md")) == {}
    result = child.hand_over(child.report("plan.md"))
    assert (result["status"], result["remit"]["attempts"]) == ("completed", 2)
    assert child.stage.kinds(child.session_id).count("sent_back") == 1


def test_a_liar_is_sent_back_twice_and_is_then_partial(project: Project) -> None:
    child = begin(project.set_up(), "bad\n")
    for _ in range(2):
        assert child.stop(child.report("plan.md"))["decision"] == "block"
    assert child.stop(child.report("plan.md")) == {}
    assert child.row.status == "partial"
    answer = child.respond(child.report("plan.md"))["hookSpecificOutput"]
    result = json.loads(answer["updatedToolOutput"]["content"][0]["text"])
    assert (result["status"], result["remit"]["verdict"]) == ("partial", "accepted")
    assert [error["code"] for error in result["errors"]] == ["CHECK_FAILED"]
    assert "call the agent again" in result["errors"][0]["recommendation"]
    assert list_answers(result) == {"tests": "failed"}
    assert "is partial, not completed: acceptance checks failed: tests: exit code 1" in answer["additionalContext"]


def test_a_second_hook_of_the_same_event_gives_the_same_message(project: Project) -> None:
    child = begin(project.set_up(), "bad\n")
    said = child.stop(child.report("plan.md"))
    child.stops = 0
    assert child.stop(child.report("plan.md")) == said
    assert child.stage.kinds(child.session_id).count("sent_back") == 1


def test_whole_answers_are_not_passed_on_if_a_check_failed(project: Project) -> None:
    child = begin(project.set_up(f"[hooks]\nblocks = 0\nresult = false\n[checks.tests]\n{FLAG}"), "bad\n")
    assert child.stop(child.report("plan.md")) == {}
    assert child.hand_over(child.report("plan.md"))["status"] == "partial"


def test_a_caller_that_gets_the_answer_itself_is_given_the_verdict(project: Project) -> None:
    stage = project.set_up(f"[hooks]\nblocks = 0\n[checks.tests]\n{FLAG}")
    child = stage.call("maker", run_in_background=True)
    stage.send(child.make_call("PostToolUse", tool_response={"isAsync": True, "agentId": child.agent_id}))
    child.start()
    child.write("plan.md", "bad\n")
    assert child.stop(child.report("plan.md")) == {}
    blocked = stage.send(stage.event("Stop", stop_hook_active=False))
    assert "is partial, not completed: acceptance checks failed" in blocked["reason"]


@pytest.mark.parametrize("tool", ["SubagentHandback", "StructuredOutput"])
def test_a_tool_that_returns_is_denied_while_a_check_fails(project: Project, tool: str) -> None:
    child = begin(project.set_up(), "bad\n")

    def send(kind: str) -> dict[str, Any]:
        text = child.report("plan.md")
        given = {"message": text} if tool == "SubagentHandback" else json.loads(text)
        more = {"tool_response": {"success": True}} if kind == "PostToolUse" else {}
        return child.stage.send(child.event(kind, tool_name=tool, tool_input=given, tool_use_id="t7", **more))

    denied = send("PreToolUse")["hookSpecificOutput"]
    assert denied["permissionDecision"] == "deny"
    assert "grep -q good plan.md" in denied["permissionDecisionReason"]
    child.write("plan.md", "good\n")
    assert send("PreToolUse") == send("PostToolUse") == {}
    result = child.hand_over(child.report("plan.md"))
    assert (result["status"], list_answers(result)) == ("completed", {"tests": "passed"})


# --- not run ---------------------------------------------------------------------------------------------------------


def test_commands_that_the_user_does_not_trust_are_not_run(project: Project) -> None:
    child = begin(project.set_up('[checks.tests]\nrun = "touch ran; true"\n', trusted=False), "good\n")
    assert child.stop(child.report("plan.md")) == {}  # nobody is sent back for it
    assert "remit config trust" in find_reason(child.hand_over(child.report("plan.md")))
    assert not (project.root / "ran").exists()


def test_a_check_that_the_settings_do_not_have_is_not_run(project: Project) -> None:
    child = begin(project.set_up('[checks.test]\nrun = "true"\n'), "good\n")
    assert child.stop(child.report("plan.md")) == {}
    reason = find_reason(child.hand_over(child.report("plan.md")))
    assert "the agent maker names the check 'tests', which isn't in remit.toml (did you mean 'test'?)" in reason


def test_a_check_that_takes_longer_than_the_harness_waits_is_not_run(project: Project) -> None:
    child = begin(project.set_up('[checks.tests]\nrun = "sleep 60"\n'), "good\n")
    began = time.monotonic()
    payload = child.event("SubagentStop", last_assistant_message=child.report("plan.md"), stop_hook_active=False)
    assert child.stage.send(payload, check_seconds=1) == {}
    assert time.monotonic() - began < 30
    assert "it didn't finish within" in find_reason(child.hand_over(child.report("plan.md")))


def test_an_event_without_time_for_checks_runs_none(project: Project) -> None:
    """An agent in the background whose end was not reported: the notification is judged, and its hook is short."""
    stage = project.set_up('[checks.tests]\nrun = "touch ran; true"\n')
    child = stage.call("maker", run_in_background=True)
    stage.send(child.make_call("PostToolUse", tool_response={"isAsync": True, "agentId": child.agent_id}))
    child.start()
    child.write("plan.md", "good\n")
    told = stage.send(stage.event("UserPromptSubmit", prompt=notify(child, child.report("plan.md"))))
    context = told["hookSpecificOutput"]["additionalContext"]
    assert "is partial, not completed: acceptance checks were not run: tests: the harness doesn't wait" in context
    assert not (project.root / "ran").exists()


def notify(child: Child, text: str) -> str:
    """The notification with the answer of an agent in the background."""
    return (
        f"<task-notification>\n<task-id>{child.agent_id}</task-id>\n<status>completed</status>\n"
        f"<summary>Agent x finished</summary>\n<result>{text}</result>\n</task-notification>"
    )


def test_another_agent_that_works_in_the_tree_keeps_checks_from_running(project: Project) -> None:
    stage = project.set_up()
    first, second = begin(stage, "good\n"), begin(stage, "good\n", "writer")
    assert first.stop(first.report("plan.md", artifacts=[])) == {}
    reason = find_reason(first.hand_over(first.report("plan.md", artifacts=[])))
    assert reason.startswith(f"writer ({second.session_id}) is changing the tree")


def test_of_two_agents_at_once_the_last_one_is_checked(project: Project) -> None:
    stage = project.set_up()
    children = [begin(stage, "good\n") for _ in range(2)]
    results = []
    for child in children:
        said = child.report(artifacts=[])
        assert child.stop(said) == {}
        results.append(child.hand_over(said))
    assert [each["status"] for each in results] == ["partial", "completed"]


def test_what_an_agent_changes_in_the_settings_does_not_change_its_own_checks(project: Project) -> None:
    child = begin(project.set_up(), "bad\n")
    (project.root / "remit.toml").write_text('[checks.tests]\nrun = "true"\n')
    (project.root / STANDARD / "maker.md").write_text((project.root / STANDARD / "planner.md").read_text())
    assert "grep -q good plan.md" in child.stop(child.report("plan.md"))["reason"]


def test_another_status_needs_no_check(project: Project) -> None:
    child = begin(project.set_up('[checks.tests]\nrun = "touch ran; false"\n'), "bad\n")
    said = child.report("plan.md", status="partial")
    assert child.stop(said) == {}
    assert "verified_by" not in child.hand_over(said)["remit"] or not (project.root / "ran").exists()


def test_a_table_of_settings_names_checks_of_an_agent_without_a_file(project: Project) -> None:
    settings = f'[hooks]\nenforce = "all"\n[agents.general-purpose]\nchecks = ["tests"]\n[checks.tests]\n{FLAG}'
    child = begin(project.set_up(settings), "bad\n", "general-purpose")
    assert "grep -q good plan.md" in child.stop(child.report("plan.md"))["reason"]


def test_an_agent_that_was_seen_late_is_checked_whatever_it_changed(project: Project) -> None:
    """Remit first sees it when it stops: the tree before it isn't known, so `when` excludes nothing."""
    stage = project.set_up(f'[checks.tests]\n{FLAG}when = "src/**"\n')
    child = Child(stage, "maker", "toolu_7", "a7", "Make the plan.", None, {})
    (project.root / "plan.md").write_text("bad\n")
    told = {"last_assistant_message": '{"status": "completed", "summary": "Done."}', "stop_hook_active": False}
    stage.send(child.event("SubagentStop", **told))
    (row,) = stage.rows()
    identity = {"session_id": row.session_id, "agent_type": "maker", "delegation_depth": row.depth,
                "delegation_path": list(row.path), "duration_seconds": 1}  # fmt: skip
    returned = {"status": "completed", "summary": "Looked at it. Wrote it down.", "artifacts": [], "errors": [],
                "metadata": identity}  # fmt: skip
    told = {"last_assistant_message": json.dumps(returned), "stop_hook_active": True}
    assert "grep -q good plan.md" in stage.send(child.event("SubagentStop", **told))["reason"]


def test_the_time_of_checks_is_not_the_agents(project: Project) -> None:
    child = begin(project.set_up(f"[checks.tests]\n{FLAG.replace('cat', 'sleep 2; cat', 1)}"), "bad\n")
    before = child.row.deadline_ms or 0
    assert child.stop(child.report("plan.md"))["decision"] == "block"
    assert (child.row.deadline_ms or 0) >= before + 2000
    query = "SELECT deadline_ms FROM hook_runs WHERE session_id = ?"
    assert child.stage.ask(query, child.session_id) == [(child.row.deadline_ms,)]


def test_another_environment_than_at_the_start_is_not_that_of_the_check(project: Project) -> None:
    """Variables that the harness sets for one hook don't count."""
    stage = project.set_up()
    for changed, status in ((("CLAUDE_EFFORT", "low"), "completed"), (("PYTEST_ADDOPTS", "--co"), "partial")):
        child = begin(stage, f"good {status}\n")
        payload = child.event("SubagentStop", last_assistant_message=child.report("plan.md"), stop_hook_active=False)
        assert stage.send(payload, {changed[0]: changed[1]}) == {}
        result = child.hand_over(child.report("plan.md"))
        assert result["status"] == status
    assert "the environment isn't the one" in find_reason(result)


def test_a_run_that_is_cancelled_during_a_check_is_cancelled(project: Project) -> None:
    child = begin(project.set_up('[checks.tests]\nrun = "touch .git/began; sleep 60"\n'), "good\n")

    def cancel() -> None:
        while not (project.root / ".git" / "began").exists():
            time.sleep(0.05)
        home = Home(str(project.root))
        with home.ledger.transaction() as db:
            add_event(db, "cancel", {}, session_id=child.session_id)
        home.close()

    thread = threading.Thread(target=cancel)
    thread.start()
    began = time.monotonic()
    assert child.stop(child.report("plan.md")) == {}
    thread.join()
    assert time.monotonic() - began < 30
    assert child.row.stop_reason == "cancelled"
    assert child.row.status != "completed"


def test_a_caller_that_is_an_agent_is_told_though_it_stopped_waiting_during_the_check(project: Project) -> None:
    """Claude Code moves an agent that takes long to the background."""
    add_agent(project.root, "lead", "maker")
    stage = project.set_up('[hooks]\nblocks = 0\n[checks.tests]\nrun = "touch .git/began; sleep 3; false"\n')
    lead = stage.call("lead")
    lead.start()
    child = begin(stage, "bad\n", by=lead)

    def launch() -> None:
        while not (project.root / ".git" / "began").exists():
            time.sleep(0.05)
        other = Stage(project.root)
        other.send(child.make_call("PostToolUse", tool_response={"isAsync": True, "agentId": child.agent_id}))

    thread = threading.Thread(target=launch)
    thread.start()
    assert child.stop(child.report("plan.md")) == {}
    thread.join()
    assert "is partial, not completed" in lead.stop(lead.report(status="partial"))["reason"]


def test_a_check_that_cannot_be_limited_like_the_agents_commands_is_not_run(project: Project) -> None:
    child = begin(project.set_up(f'[confine]\nmode = "require"\n[checks.tests]\n{FLAG}'), "good\n")
    assert child.stop(child.report("plan.md")) == {}
    reason = find_reason(child.hand_over(child.report("plan.md")))
    assert reason.startswith("the kernel can't limit it as it limits the agent's commands")


@pytest.mark.slow
def test_two_hooks_of_one_event_at_once_send_it_back_once(project: Project) -> None:
    """Remit's plugin and its settings, by the program: the checks run one after the other."""
    check = 'run = "mkdir .git/busy || exit 9; sleep 1; rmdir .git/busy; false"\nprotect = []\n'
    child = begin(project.set_up(f"[checks.tests]\n{check}"), "bad\n")
    event = child.event("SubagentStop", last_assistant_message=child.report("plan.md"), stop_hook_active=False)
    with ThreadPoolExecutor(2) as pool:
        said = list(pool.map(Stage(project.root).send, (event, event)))
    assert [each["decision"] for each in said] == ["block", "block"]
    assert not any("exit code 9" in each["reason"] for each in said)
    assert child.stage.kinds(child.session_id).count("sent_back") == 1
