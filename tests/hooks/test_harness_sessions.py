"""Sessions that belong to an agent as a whole, and sessions of a user."""

from pathlib import Path
from typing import Any

import pytest

from remit.runs.admission.tickets import mint
from tests.support.hook_session import Stage, add_agent


class Main:
    """A session that was begun as an agent's."""

    def __init__(self, stage: Stage, agent: str = "planner") -> None:
        self.stage = stage
        self.agent = agent

    def send(self, kind: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON value
        """An event of it."""
        return self.stage.send(self.stage.event(kind, agent_type=self.agent, **more))

    def begin(self, source: str = "startup") -> dict[str, Any]:
        """It begins."""
        return self.send("SessionStart", source=source)

    def stop(self, message: str, *, again: bool = False) -> dict[str, Any]:
        """It says its last word."""
        return self.send("Stop", last_assistant_message=message, stop_hook_active=again)

    def write(self, name: str) -> None:
        """It writes a file."""
        call = {"tool_name": "Write", "tool_input": {"file_path": str(self.stage.root / name), "content": "# New\n"}}
        assert self.send("PreToolUse", **call, tool_use_id="t") == {}
        (self.stage.root / name).write_text("# New\n")
        assert self.send("PostToolUse", **call, tool_use_id="t", tool_response={}) == {}

    def report(self, *paths: str) -> str:
        """A return as the contract wants it."""
        row = self.stage.rows()[-1]
        artifacts = ",".join(f'{{"type":"report","path":"{path}","summary":"What was found."}}' for path in paths)
        return (
            f'{{"status":"completed","summary":"Looked at it. Wrote it down.","artifacts":[{artifacts}],"metadata":'
            f'{{"session_id":"{row.session_id}","agent_type":"{self.agent}","delegation_depth":{row.depth},'
            f'"delegation_path":["orchestrator","{self.agent}"],"duration_seconds":1}},"errors":[]}}'
        )


@pytest.fixture
def main(stage: Stage) -> Main:
    return Main(stage)


def test_a_session_that_is_an_agents_is_held_to_its_return(main: Main, stage: Stage) -> None:
    told = main.begin()["hookSpecificOutput"]["additionalContext"]
    (row,) = stage.rows()
    assert row.session_id in told
    assert (row.agent, row.depth, row.state) == ("planner", 1, "running")
    main.write("plan.md")
    assert main.stop("Done.")["decision"] == "block"
    assert main.stop(main.report("plan.md"), again=True) == {}
    (row,) = stage.rows()
    assert (row.state, row.status, row.verdict) == ("finished", "completed", "accepted")
    main.send("SessionEnd", reason="other")
    assert stage.rows() == [row]


def test_it_is_let_go_as_rejected_in_the_end(main: Main, stage: Stage) -> None:
    main.begin()
    assert [bool(main.stop("Done.", again=number > 0)) for number in range(3)] == [True, True, False]
    assert (stage.rows()[0].state, stage.rows()[0].status) == ("finished", "failed")


def test_what_it_says_after_its_return_is_another_matter(main: Main, stage: Stage) -> None:
    main.begin()
    main.write("plan.md")
    main.stop(main.report("plan.md"))
    assert main.stop("You are welcome.") == {}
    assert stage.rows()[0].status == "completed"
    main.write("more.md")  # nor are its tools taken away


def test_one_that_is_taken_up_again_owes_another_return(main: Main, stage: Stage) -> None:
    main.begin()
    main.write("plan.md")
    main.stop(main.report("plan.md"))
    main.send("SessionEnd", reason="other")
    told = main.begin("resume")["hookSpecificOutput"]["additionalContext"]
    assert stage.rows()[1].session_id in told
    assert main.stop("Done.")["decision"] == "block"
    main.begin("compact")
    assert [row.state for row in stage.rows()] == ["finished", "running"]


def test_it_starts_others_as_itself(main: Main, stage: Stage) -> None:
    main.begin()
    call = stage.event("PreToolUse", agent_type="planner", tool_name="Agent", tool_use_id="toolu_1")
    answer = stage.send({**call, "tool_input": {"subagent_type": "reviewer", "prompt": "Go."}})
    assert "depth 2 of 3" in answer["hookSpecificOutput"]["updatedInput"]["prompt"]
    answer = stage.send({**call, "tool_input": {"subagent_type": "tester", "prompt": "Go."}})
    assert answer["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_its_limits_hold(stage: Stage, root: Path) -> None:
    add_agent(root, "careful", more="permissions:\n  deny:\n    - bash: [rm]\n")
    main = Main(stage, "careful")
    main.begin()
    said = main.send("PreToolUse", tool_name="Bash", tool_input={"command": "rm -r x"}, tool_use_id="t")
    assert said["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_an_agent_without_a_file_owes_nothing(stage: Stage) -> None:
    main = Main(stage, "somebody")
    assert main.begin() == {}
    assert main.stop("Hello.") == {}
    assert [row for row in stage.rows() if row.state != "finished"] == []


# --- a person --------------------------------------------------------------------------------------------------------


def test_a_person_who_talks_to_an_agent_in_a_terminal_is_never_blocked(main: Main, stage: Stage, root: Path) -> None:
    stage.env["CLAUDE_CODE_ENTRYPOINT"] = "cli"
    assert main.begin() == {}
    main.write("remit.toml")  # it is theirs
    (root / "remit.toml").write_text("")
    for _ in range(3):
        assert main.stop("How can I help?") == {}
    assert stage.rows() == []


def test_a_person_who_takes_up_an_agents_session_in_a_terminal_is_not_blocked(main: Main, stage: Stage) -> None:
    main.begin()
    stage.env["CLAUDE_CODE_ENTRYPOINT"] = "cli"
    assert main.stop("How can I help?") == {}


def test_a_persons_own_session_is_told_in_one_line_what_is_open(stage: Stage) -> None:
    assert stage.send(stage.event("SessionStart", source="startup")) == {}
    child = Stage(stage.root, session="another", quick=stage.quick).call("planner")
    told = stage.send(stage.event("SessionStart", source="startup"))["hookSpecificOutput"]["additionalContext"]
    assert told == f"Remit: 1 run is open: planner ({child.session_id}); `remit ps` shows them."


def test_what_remit_has_started_is_judged_by_the_broker_alone(main: Main, stage: Stage) -> None:
    stage.env["REMIT_TICKET"] = "remit1_" + "x" * 43
    assert "decision" not in main.begin()
    assert main.stop("Done.") == {}
    assert stage.rows() == []


# --- calls that never came back --------------------------------------------------------------------------------------


def test_a_call_that_never_came_back_is_over_when_its_caller_stops(stage: Stage) -> None:
    """Somebody else has refused it, or a person has broken it off: no event tells that."""
    lost, behind = stage.call("writer"), stage.call("tester", run_in_background=True)
    assert stage.send(stage.event("Stop", last_assistant_message="Hi.", stop_hook_active=False)) == {}
    assert (lost.row.state, lost.row.stop_reason) == ("finished", "orphaned")
    assert lost.row.status != "completed"
    assert behind.row.state == "running"


def test_an_agent_whose_call_never_came_back_is_not_kept_from_its_return(stage: Stage) -> None:
    planner = stage.call("planner")
    planner.start()
    lost = stage.call("writer", by=planner)
    planner.write("plan.md")
    assert planner.stop(planner.report("plan.md")) == {}
    assert (lost.row.state, lost.row.stop_reason) == ("finished", "orphaned")
    assert planner.hand_over(planner.report("plan.md"))["status"] == "completed"


def test_a_person_who_talks_to_an_agent_in_a_terminal_may_start_others(stage: Stage) -> None:
    """Who the person lets it call is theirs to say, so it is as if they called."""
    stage.env["CLAUDE_CODE_ENTRYPOINT"] = "cli"
    call = stage.event("PreToolUse", agent_type="planner", tool_name="Agent", tool_use_id="toolu_1")
    answer = stage.send({**call, "tool_input": {"subagent_type": "writer", "prompt": "Go."}})
    assert "<remit-delegation>" in answer["hookSpecificOutput"]["updatedInput"]["prompt"]
    (row,) = stage.rows()
    assert (row.agent, row.parent_id, row.depth) == ("writer", None, 1)
    assert stage.send(stage.event("Stop", agent_type="planner", last_assistant_message="Hi.")) == {}
    assert [row.state for row in stage.rows()] == ["finished"]  # its call never came back


def test_an_agent_that_remit_has_started_as_a_whole_session_calls_by_its_ticket(stage: Stage) -> None:
    ticket = mint(bytes(range(32)))
    above = stage.call("planner")
    stage.change("UPDATE runs SET ticket = ?, owner = 'supervisor'", ticket.hash)
    stage.change("DELETE FROM hook_runs")
    call = stage.event("PreToolUse", agent_type="planner", tool_name="Agent", tool_use_id="toolu_9")
    given = {"subagent_type": "writer", "prompt": "Go."}
    answer = stage.send({**call, "tool_input": given}, {"REMIT_TICKET": ticket.token})
    assert "depth 2 of 3" in answer["hookSpecificOutput"]["updatedInput"]["prompt"]
    assert stage.rows()[-1].parent_id == above.session_id
