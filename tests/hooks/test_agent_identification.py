"""Identifying agents: several of one kind at once, nested, in the background, resumed."""

import json
import os
from pathlib import Path

import pytest

from tests.support.hook_session import Child, Stage, add_agent


def find_agent_id(child: Child) -> str | None:
    found = child.stage.ask("SELECT agent_id FROM hook_runs WHERE tool_use_id = ?", child.call_id)
    agent_id: str | None = found[0][0]
    return agent_id


def two(stage: Stage, agent: str = "writer") -> tuple[Child, Child]:
    return stage.call(agent, "Write one."), stage.call(agent, "Write two.")


def test_two_alike_are_told_apart_by_the_note_of_the_harness(stage: Stage) -> None:
    first, second = two(stage)
    second.start()  # the second begins first
    second.write("two.md")
    first.start()
    first.write("one.md")
    assert (find_agent_id(first), find_agent_id(second)) == (first.agent_id, second.agent_id)
    assert second.stop(second.report("two.md")) == {}
    assert first.stop(second.report("two.md"))["decision"] == "block"  # of the other
    assert first.stop(first.report("one.md")) == {}
    assert second.hand_over(second.report("two.md"))["status"] == "completed"
    assert first.hand_over(first.report("one.md"))["status"] == "completed"


def test_two_alike_are_told_apart_by_their_first_prompt(stage: Stage) -> None:
    first, second = two(stage)
    for child in (second, first):
        child.keep_transcript()
        child.use("Read", file_path=str(stage.root / "old.md"))
    assert (find_agent_id(first), find_agent_id(second)) == (first.agent_id, second.agent_id)


def test_two_alike_of_which_nothing_is_known_are_not_confused(stage: Stage, root: Path) -> None:
    first, second = two(stage)
    for child in (second, first):
        child.write(f"{child.call_id}.md")
        assert child.stop(child.report(f"{child.call_id}.md")) == {}
    assert (find_agent_id(first), find_agent_id(second)) == (None, None)
    assert len(stage.rows()) == 2  # nor is anybody made up
    assert [row.state for row in stage.rows()] == ["running", "running"]
    # The caller's side knows the call: there each is judged, by what can be proved then.
    for child in (first, second):
        result = child.hand_over(child.report(f"{child.call_id}.md"))
        assert (result["status"], child.row.status) == ("partial", "partial")
        assert result["remit"]["verdict"] == "unproven"  # whose tool it was is not known
    assert (root / f"{first.call_id}.md").exists()


def test_of_whoever_could_be_either_the_stricter_is_held(stage: Stage, root: Path) -> None:
    add_agent(root, "careful", more="permissions:\n  deny:\n    - bash: [rm]\n")
    stage.call("careful")
    careful = stage.call("careful")
    said = careful.use("Bash", command="rm -r x")["hookSpecificOutput"]
    assert said["permissionDecision"] == "deny"
    assert find_agent_id(careful) is None


def test_an_agent_from_before_is_not_taken_for_the_one_that_waits(stage: Stage) -> None:
    """The hooks are new; the note of an agent names a call that nobody has seen."""
    waiting = stage.call("writer")
    stranger = Child(stage, "writer", "toolu_before", "a-before", "Go.", None, {})
    stranger.keep_note()
    stranger.use("Read", file_path=str(stage.root / "old.md"))
    assert find_agent_id(waiting) is None
    assert stranger.stop("Done.") == {}
    assert waiting.row.state == "running"
    waiting.start()
    waiting.write("one.md")
    assert find_agent_id(waiting) == waiting.agent_id


def test_a_first_prompt_without_the_session_is_not_that_of_a_held_agent(stage: Stage) -> None:
    waiting = stage.call("writer")
    stranger = Child(stage, "writer", "toolu_before", "a-before", "Go.", None, {})
    stranger.told = "Go."
    stranger.keep_transcript()
    stranger.use("Read", file_path=str(stage.root / "old.md"))
    assert find_agent_id(waiting) is None


def test_the_only_one_that_waits_needs_no_sign(stage: Stage) -> None:
    waiting = stage.call("writer")
    waiting.use("Read", file_path=str(stage.root / "old.md"))
    assert find_agent_id(waiting) == waiting.agent_id


def test_a_note_that_is_a_pipe_or_garbage_says_nothing(stage: Stage) -> None:
    first, second = two(stage)
    for child, text in ((first, None), (second, "[" * 100_000)):
        child.keep_transcript()
        note = child.transcript.with_suffix(".meta.json")
        os.mkfifo(note) if text is None else note.write_text(text)
        child.use("Read", file_path=str(stage.root / "old.md"))
    assert (find_agent_id(first), find_agent_id(second)) == (first.agent_id, second.agent_id)


def test_one_that_is_bound_stays_so(stage: Stage) -> None:
    """A second agent that shows the note of another is not that one."""
    first = stage.call("writer")
    first.start()
    first.write("one.md")
    thief = Child(stage, "writer", first.call_id, "a-thief", "Go.", None, {})
    thief.keep_note()
    thief.use("Read", file_path=str(stage.root / "old.md"))
    assert find_agent_id(first) == first.agent_id


def test_agents_below_one_another_keep_their_own(stage: Stage) -> None:
    planner = stage.call("planner")
    planner.start()
    reviewer = stage.call("reviewer", by=planner)
    reviewer.start()
    reviewer.write("review.md")
    assert planner.stop(planner.report())["decision"] == "block"  # whoever it called is not back
    assert reviewer.stop(reviewer.report("review.md")) == {}
    assert reviewer.hand_over(reviewer.report("review.md"))["status"] == "completed"
    planner.write("plan.md")
    assert planner.stop(planner.report("plan.md")) == {}
    result = planner.hand_over(planner.report("plan.md"))
    assert result["status"] == "completed"
    assert "unclaimed" not in result  # what was accepted of the other need not be named again
    uses = stage.ask("SELECT session_id, path FROM tool_uses WHERE path IS NOT NULL ORDER BY number")
    assert uses == [(reviewer.session_id, "review.md"), (planner.session_id, "plan.md")]


def test_in_the_background_the_stop_settles(stage: Stage) -> None:
    child = stage.call("writer", run_in_background=True)
    assert child.respond(None, isAsync=True, status="async_launched", content=None) == {}
    assert (child.row.state, child.row.awaited) == ("running", False)
    child.start()
    child.write("one.md")
    assert child.stop("Nothing.")["decision"] == "block"
    assert child.stop(child.report("one.md")) == {}
    assert (child.row.state, child.row.status) == ("finished", "completed")


def test_one_in_the_background_whose_model_fails_is_over(stage: Stage) -> None:
    """Nothing else tells of its end, and its caller could not say that all is done."""
    planner = stage.call("planner")
    planner.start()
    child = stage.call("writer", by=planner, run_in_background=True)
    child.respond(None, isAsync=True)
    child.start()
    child.write("one.md")
    failed = {"error": "unknown", "last_assistant_message": "API Error: 400 bad"}
    assert stage.send(child.event("StopFailure", **failed)) == {}
    assert (child.row.state, child.row.stop_reason) == ("finished", "crashed")
    assert child.row.status != "completed"
    planner.write("plan.md")
    assert planner.stop(planner.report("plan.md")) == {}


def test_what_goes_to_the_background_by_itself_is_settled_by_the_stop(stage: Stage) -> None:
    """A harness may let the caller go on although it did not ask for that."""
    child = stage.call("writer")
    child.respond(None, isAsync=True, status="async_launched")
    child.start()
    assert child.stop(child.report(status="partial")) == {}
    assert (child.row.state, child.row.status) == ("finished", "partial")


def test_a_call_that_tells_of_no_answer_yet_is_not_an_answer(stage: Stage) -> None:
    """A harness may have other ways to let its caller go on than those that are known."""
    child = stage.call("writer")
    event = child.make_call("PostToolUse", tool_response={"status": "teammate_spawned", "agentId": child.agent_id})
    told = stage.send(event)["hookSpecificOutput"]["additionalContext"]
    assert "hasn't checked the return of writer" in told
    assert child.row.state == "running"
    child.start()
    assert child.stop(child.report(status="partial")) == {}
    assert (child.row.state, child.row.status) == ("finished", "partial")


@pytest.fixture
def codex(root: Path, quick: bool) -> Stage:  # noqa: FBT001 - a fixture
    return Stage(root, "codex", quick=quick)


def test_codex_tells_the_first_prompt(codex: Stage) -> None:
    first, second = two(codex)
    for child in (second, first):
        assert child.respond_text(json.dumps({"agent_id": child.agent_id, "nickname": "Bohr"})) == {}
    for child in (first, second):
        child.start()
    assert (find_agent_id(first), find_agent_id(second)) == (first.agent_id, second.agent_id)


def test_codex_tells_the_first_prompt_before_the_call_is_over(codex: Stage) -> None:
    first, second = two(codex)
    second.start()
    assert find_agent_id(second) == second.agent_id
    first.start()
    patch = "*** Begin Patch\n*** Add File: one.md\n+# New\n*** End Patch"
    first.use("apply_patch", input=patch)
    assert first.stop("Nothing.")["decision"] == "block"
    assert first.stop(first.report("one.md")) == {}
    assert (first.row.state, first.row.status) == ("finished", "completed")
    assert second.row.state == "running"


def test_a_message_to_one_that_is_over_is_a_delegation_of_its_own(stage: Stage) -> None:
    child = stage.call("writer")
    child.start()
    child.write("one.md")
    child.stop(child.report("one.md"))
    child.hand_over(child.report("one.md"))
    first = child.row
    said = child.start()["hookSpecificOutput"]  # the same id begins again
    again = next(row for row in stage.rows() if row.session_id != first.session_id)
    assert again.session_id in said["additionalContext"]
    assert (again.agent, again.depth, again.parent_id, again.state) == ("writer", 1, None, "running")
    child.stops = 0
    assert child.stop("Nothing.")["decision"] == "block"
    report = child.report(status="partial").replace(first.session_id, again.session_id)
    assert child.stop(report) == {}
    assert [(row.state, row.status) for row in stage.rows()] == [("finished", "completed"), ("finished", "partial")]


def test_codex_takes_one_up_again_by_its_prompt(codex: Stage) -> None:
    child = codex.call("writer")
    child.start()
    assert child.stop(child.report(status="partial")) == {}
    first = child.row
    assert first.state == "finished"
    codex.send(child.event("UserPromptSubmit", prompt="Please go on."))
    assert child.stop("It is all done now.")["decision"] == "block"
    assert [row.state for row in codex.rows()] == ["finished", "running"]


def test_whoever_is_over_and_was_not_let_in_again_gets_no_tools(stage: Stage, root: Path) -> None:
    planner = stage.call("planner")
    planner.start()
    writer = stage.call("writer", by=planner)
    for child in (writer, planner):
        if child is writer:
            writer.start()
        child.stop(child.report(status="partial"))
        child.hand_over(child.report(status="partial"))
    assert "systemMessage" in writer.start()  # a start cannot be refused
    said = writer.use("Read", file_path=str(root / "old.md"))["hookSpecificOutput"]
    assert said["permissionDecision"] == "deny"
    assert [row.state for row in stage.rows()] == ["finished", "finished"]


# --- agents whose call nobody has seen -------------------------------------------------------------------------------


def make_stranger(stage: Stage, agent: str = "writer", number: int = 1) -> Child:
    """An agent that was started otherwise than by a call: by a skill, a script of the harness, or before the hooks."""
    stranger = Child(stage, agent, f"toolu_unseen{number}", f"a-unseen{number}", "Go.", None, {})
    stranger.keep_note()
    return stranger


def test_an_agent_that_no_call_has_started_is_told_its_contract_and_held(stage: Stage) -> None:
    stranger = make_stranger(stage)
    told = stage.send(stranger.event("SubagentStart"))["hookSpecificOutput"]["additionalContext"]
    (row,) = stage.rows()
    assert row.session_id in told
    assert (row.agent, row.depth, row.state) == ("writer", 1, "running")
    stranger.write("one.md")
    assert stranger.stop("Done.")["decision"] == "block"
    assert stranger.stop("Done.")["decision"] == "block"
    assert stranger.stop("Done.") == {}
    assert (stage.rows()[0].state, stage.rows()[0].status) == ("finished", "failed")


def test_one_that_is_seen_first_when_it_stops_is_held_too(stage: Stage, root: Path) -> None:
    (root / "one.md").write_text("# Whoever wrote it\n")
    stranger = make_stranger(stage)
    said = stranger.stop("Done.")
    assert said["decision"] == "block"
    (row,) = stage.rows()
    assert row.session_id in said["reason"]
    report = {
        "status": "completed", "summary": "Looked at it. Wrote it down.", "errors": [],
        "artifacts": [{"type": "report", "path": "one.md", "summary": "What was found."}],
        "metadata": {"session_id": row.session_id, "agent_type": "writer", "delegation_depth": 1,
                     "delegation_path": ["orchestrator", "writer"], "duration_seconds": 1},
    }  # fmt: skip
    assert stranger.stop(json.dumps(report))["decision"] == "block"  # the file was there before it was seen
    assert stranger.stop(json.dumps(report)) == {}
    assert stage.rows()[0].verdict == "fabricated"


def test_what_is_only_looked_on_goes_on_unseen(stage: Stage) -> None:
    stranger = make_stranger(stage, "Explore")
    assert stage.send(stranger.event("SubagentStart")) == {}
    assert stranger.stop("Whatever.") == {}
    assert [(row.state, row.status) for row in stage.rows()] == [("finished", None)]


def test_a_stranger_starts_others_as_one_that_is_at_work(stage: Stage) -> None:
    stranger = make_stranger(stage, "planner")
    stage.send(stranger.event("SubagentStart"))
    assert stage.call("writer", by=stranger).row.depth == 2
