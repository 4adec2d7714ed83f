"""Returns of agents: accepted, repaired, sent back with diagnostics, and finally delivered with their verdict."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from remit.errors import RefusedError
from remit.runs.submit_return import submit_own
from remit.runs.workspace import Workspace
from tests.support.hook_session import Child, Stage, also_by_program


def hand_over(child: Child, answer: str | None) -> dict[str, Any]:
    """What the caller gets, which is what the ledger says."""
    result = child.hand_over(answer)
    row = child.row
    assert row.state == "finished"
    assert (result["status"], result["remit"]["verdict"]) == (row.status, row.verdict)
    return result


@also_by_program
def test_what_holds_is_accepted(child: Child) -> None:
    child.write("plan.md")
    assert child.stop(child.report("plan.md")) == {}
    assert child.row.state == "finishing"  # the caller's side settles it
    result = hand_over(child, child.report("plan.md"))
    assert (result["status"], result["remit"]["verdict"], result["remit"]["stop_reason"]) == (
        "completed",
        "accepted",
        "exited",
    )
    assert result["remit"]["grades"][0]["grade"] == "attributed"
    assert child.row.tokens == 1200


def test_what_is_meant_well_is_repaired(child: Child) -> None:
    child.write("plan.md")
    answer = f"Here it is:\n```json\n{child.report('plan.md')[:-1]},}}\n```\nThank you!"
    assert child.stop(answer) == {}
    assert hand_over(child, answer)["remit"]["verdict"] == "repaired"


@also_by_program
def test_what_does_not_hold_is_sent_back_and_then_let_through_as_rejected(child: Child) -> None:
    for _ in range(2):
        said = child.stop("It is all done, trust me.")
        assert said["decision"] == "block"
        assert "RET001" in said["reason"]
        assert child.session_id in said["reason"]
        assert (child.row.state, child.row.status) == ("running", None)
    assert child.stop("It is all done, trust me.") == {}
    result = hand_over(child, "It is all done, trust me.")
    assert (result["status"], result["remit"]["verdict"]) == ("failed", "missing")
    assert result["remit"]["attempts"] == 3
    assert child.stage.kinds(child.session_id).count("sent_back") == 2


def test_a_summary_that_is_too_long_is_sent_back_once_and_then_shortened(child: Child) -> None:
    child.write("plan.md")
    answer = child.report("plan.md", summary="Many words were written. " * 30)
    assert "RET030" in child.stop(answer)["reason"]
    assert child.stop(answer) == {}
    result = hand_over(child, answer)
    assert (result["status"], result["remit"]["verdict"], result["remit"]["attempts"]) == ("completed", "repaired", 2)
    assert result["summary"].startswith("Many words were written. Many")


def test_an_absolute_path_inside_the_root_is_named_from_the_root(child: Child, root: Path) -> None:
    child.write("plan.md")
    answer = child.report(f"{root}/plan.md")
    assert child.stop(answer) == {}
    result = hand_over(child, answer)
    assert (result["status"], result["remit"]["verdict"]) == ("completed", "repaired")
    assert result["artifacts"][0]["path"] == "plan.md"


@pytest.mark.parametrize("blocks", [0, 1, 4])
def test_how_often_is_set(stage: Stage, root: Path, blocks: int) -> None:
    (root / "remit.toml").write_text(f"[hooks]\nblocks = {blocks}\n")
    child = stage.call("planner")
    child.start()
    assert [bool(child.stop("No.")) for _ in range(blocks + 1)] == [True] * blocks + [False]
    assert hand_over(child, "No.")["status"] == "failed"


@also_by_program
def test_one_that_was_sent_back_is_corrected(child: Child) -> None:
    child.write("plan.md")
    assert child.stop("Done.")["decision"] == "block"
    assert child.stop(child.report("plan.md")) == {}
    result = hand_over(child, child.report("plan.md"))
    assert (result["status"], result["remit"]["attempts"]) == ("completed", 2)


def lie(child: Child, answer: str) -> dict[str, Any]:
    """Have somebody lie until it is let through."""
    last: dict[str, Any] = {}
    for number in range(3):
        last = child.stop(answer)
        assert bool(last) == (number < 2), last
    return hand_over(child, answer)


def test_a_file_that_did_not_change_is_a_lie(child: Child) -> None:
    child.use("Read", file_path=str(child.stage.root / "old.md"))
    result = lie(child, child.report("old.md"))
    assert (result["status"], result["remit"]["verdict"]) == ("failed", "fabricated")
    assert {finding["code"] for finding in result["remit"]["diagnostics"]} >= {"EVD001", "EVD002"}


def test_a_file_that_is_not_there_is_a_lie(child: Child) -> None:
    assert lie(child, child.report("nothing.md"))["remit"]["verdict"] == "fabricated"


def test_a_lie_that_is_only_withdrawn_stays_one(child: Child) -> None:
    child.use("Bash", command="ls")
    assert "RET051" in child.stop(child.report("plan.md", "report.md"))["reason"]
    assert "EVD006" in child.stop(child.report())["reason"]
    assert child.stop(child.report()) == {}
    result = hand_over(child, child.report())
    assert (result["status"], result["remit"]["verdict"], result["remit"]["attempts"]) == ("failed", "fabricated", 3)


@pytest.mark.parametrize(("status", "paths"), [("completed", ["plan.md"]), ("completed", ["a.md"]), ("partial", [])])
def test_whoever_then_writes_it_or_says_less_is_heard(child: Child, status: str, paths: list[str]) -> None:
    assert child.stop(child.report("plan.md"))
    for path in paths:
        child.write(path)
    assert child.stop(child.report(*paths, status=status)) == {}
    assert hand_over(child, child.report(*paths, status=status))["status"] == status


def test_a_lie_does_not_hide_behind_many_truths(child: Child) -> None:
    child.use("Bash", command="make all")
    made = [f"made-{number}.md" for number in range(60)]
    for name in made:
        (child.stage.root / name).write_text("# New\n")
    assert "plan.md doesn't exist" in child.stop(child.report(*made, "plan.md"))["reason"]
    assert "'plan.md' was claimed before" in child.stop(child.report(*made[:55]))["reason"]


def test_a_file_that_somebody_else_wrote_is_a_lie(child: Child, root: Path) -> None:
    """No tool was used, so whoever wrote it was another."""
    (root / "plan.md").write_text("# Mine\n")
    child.keep_transcript({"type": "assistant", "message": {"content": [{"type": "text", "text": "Hm."}]}})
    said = child.stop(child.report("plan.md"))
    assert "EVD002" in said["reason"]
    child.stop("x")
    child.stop(child.report("plan.md"))
    result = child.hand_over(child.report("plan.md"), totalToolUseCount=0)
    assert (result["status"], result["remit"]["verdict"]) == ("failed", "fabricated")


def test_a_tool_that_was_refused_or_failed_wrote_nothing(child: Child, root: Path) -> None:
    (root / "plan.md").write_text("# Mine\n")
    child.use("Write", failed=True, file_path=str(root / "plan.md"), content="# Mine\n")
    assert lie(child, child.report("plan.md"))["remit"]["verdict"] == "fabricated"


def test_a_file_outside_the_workspace_is_not_taken(child: Child, root: Path) -> None:
    (root.parent / "out.md").write_text("# Out\n")
    for path in ("../out.md", str(root.parent / "out.md")):
        assert child.stop(child.report(path))["decision"] == "block"
    assert child.stop(child.report("../out.md")) == {}
    assert hand_over(child, child.report("../out.md"))["status"] == "failed"


def test_a_link_that_leads_outside_is_not_taken(child: Child, root: Path) -> None:
    (root.parent / "out.md").write_text("# Out\n")
    (root / "plan.md").symlink_to(root.parent / "out.md")
    child.use("Bash", command="true")
    assert lie(child, child.report("plan.md"))["status"] == "failed"


@pytest.mark.parametrize("session", ["sess_1794805361_qbq98k", "", "other"])
def test_the_return_of_another_session_is_not_taken(child: Child, session: str) -> None:
    child.write("plan.md")
    answer = child.report("plan.md").replace(child.session_id, session)
    assert lie(child, answer)["status"] == "failed"


def test_a_return_that_was_given_before_is_not_taken_again(stage: Stage, child: Child) -> None:
    child.write("plan.md")
    answer = child.report("plan.md")
    child.stop(answer)
    hand_over(child, answer)
    again = stage.call("planner")
    again.start()
    again.write("plan.md", "# Newer\n")
    assert again.stop(answer)["decision"] == "block"


def test_whoever_waits_for_nobody_but_says_completed_is_sent_back(stage: Stage, child: Child) -> None:
    below = stage.call("writer", by=child, run_in_background=True)
    below.respond(None, isAsync=True)
    below.start()
    child.write("plan.md")
    said = child.stop(child.report("plan.md"))
    assert "EVD004" in said["reason"]
    assert below.stop(below.report(status="partial")) == {}
    assert child.stop(child.report("plan.md")) == {}
    assert hand_over(child, child.report("plan.md"))["status"] == "completed"


@pytest.mark.parametrize("message", [None, "", "  \n", 7, ["x"], {"a": 1}], ids=repr)
def test_no_answer_is_no_return(child: Child, message: Any) -> None:  # noqa: ANN401 - what a harness could send
    assert child.stop(message)["decision"] == "block"
    assert child.stop(message)["decision"] == "block"
    assert child.stop(message) == {}
    assert hand_over(child, None)["status"] == "failed"


# --- endings without a stop ------------------------------------------------------------------------------------------


def test_a_model_that_failed_is_no_return(child: Child) -> None:
    """No stop is told of; only the caller's side hears of it."""
    child.stage.send(child.event("StopFailure", error="unknown", last_assistant_message="API Error: 400 bad"))
    result = hand_over(child, "API Error: 400 bad")
    assert (result["status"], result["remit"]["verdict"]) == ("failed", "missing")


def test_out_of_turns_is_no_return(child: Child) -> None:
    child.write("plan.md")
    result = hand_over(child, None)
    assert result["status"] != "completed"
    assert child.row.verdict not in ("accepted", "repaired")


def test_a_return_that_only_the_callers_side_sees_is_judged_there(child: Child) -> None:
    child.write("plan.md")
    assert hand_over(child, child.report("plan.md"))["status"] == "completed"


def test_a_call_that_fails_is_no_return(child: Child) -> None:
    event = child.make_call("PostToolUseFailure", error="Agent type 'planner' not found.", is_interrupt=False)
    assert child.stage.send(event) == {}
    row = child.row
    assert (row.state, row.stop_reason) == ("finished", "orphaned")
    assert row.status != "completed"


def test_a_liar_below_an_agent_gains_nothing_by_its_callers_tools(stage: Stage, child: Child, root: Path) -> None:
    """The transcript of the caller shows tools: it is not the one that counts."""
    below = stage.call("writer", by=child)
    child.keep_transcript({"type": "assistant", "message": {"content": [{"type": "tool_use", "name": "Agent"}]}})
    below.keep_transcript()
    (root / "found.md").write_text("# Somebody's\n")
    answer = below.report("found.md")
    event = below.make_call("PostToolUse", tool_response={
        "agentId": below.agent_id, "content": [{"type": "text", "text": answer}],
    })  # fmt: skip
    output = stage.send(event)["hookSpecificOutput"]["updatedToolOutput"]
    assert json.loads(output["content"][0]["text"])["remit"]["verdict"] == "fabricated"


# --- what is said after it was accepted ------------------------------------------------------------------------------


def test_what_is_said_after_it_was_accepted_counts(child: Child) -> None:
    """Another hook has sent it back, and it says something else now: that is sent back, and then it is rejected."""
    child.write("plan.md")
    assert child.stop(child.report("plan.md")) == {}
    assert child.row.status == "completed"
    assert child.stop("Never mind, it is broken.")["decision"] == "block"
    assert (child.row.state, child.row.status) == ("finishing", "failed")
    assert child.stop(child.report("plan.md")) == {}
    assert child.row.status == "completed"
    assert hand_over(child, child.report("plan.md"))["status"] == "completed"


def test_what_the_caller_would_get_counts(child: Child) -> None:
    child.write("plan.md")
    assert child.stop(child.report("plan.md")) == {}
    result = hand_over(child, "Never mind, it is broken.")
    assert result["status"] == "failed"
    assert "overruled" in child.stage.kinds(child.session_id)


def test_what_is_done_after_it_was_accepted_counts(child: Child, root: Path) -> None:
    """It repeats the same words, and the file is gone meanwhile."""
    child.write("plan.md")
    assert child.stop(child.report("plan.md")) == {}
    child.use("Bash", command="true")
    (root / "plan.md").unlink()
    assert child.stop(child.report("plan.md"))["decision"] == "block"
    assert child.row.status != "completed"
    child.write("plan.md")
    assert child.stop(child.report("plan.md")) == {}
    child.use("Bash", command="true")
    (root / "plan.md").unlink()
    assert hand_over(child, child.report("plan.md"))["status"] == "failed"


def replace_by_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


SPOILS: list[Callable[[Path], object]] = [Path.unlink, replace_by_folder, lambda file: file.write_text("")]


@pytest.mark.parametrize("spoil", SPOILS, ids=["gone", "folder", "empty"])
@pytest.mark.parametrize("is_told", [True, False])
def test_a_file_that_is_gone_when_the_answer_is_handed_over_is_not_completed(
    child: Child, root: Path, spoil: Callable[[Path], object], *, is_told: bool
) -> None:
    """Somebody else takes it away after the agent was judged; the harness may tell the answer again or not."""
    child.write("plan.md")
    answer = child.report("plan.md")
    assert child.stop(answer) == {}
    assert child.row.status == "completed"
    spoil(root / "plan.md")
    result = hand_over(child, answer if is_told else None)
    assert result["status"] == "failed"
    assert result["remit"]["diagnostics"][0]["code"] in ("RET051", "RET053", "RET054")
    assert hand_over(child, answer)["status"] == "failed"


ENDS: dict[str, dict[str, Any]] = {
    "Stop": {"stop_hook_active": False},
    "SessionEnd": {"reason": "exit"},
    "SessionStart": {"source": "startup"},
}


@pytest.mark.parametrize("kind", ENDS)
@pytest.mark.parametrize("spoil", SPOILS, ids=["gone", "folder", "empty"])
def test_a_file_that_is_gone_when_the_session_ends_is_not_completed(
    child: Child, root: Path, spoil: Callable[[Path], object], kind: str
) -> None:
    """The call never came back, so nobody was handed the answer: it is settled by the end, and looked at before."""
    child.write("plan.md")
    assert child.stop(child.report("plan.md")) == {}
    assert (child.row.state, child.row.status) == ("finishing", "completed")
    spoil(root / "plan.md")
    child.stage.send(child.stage.event(kind, **ENDS[kind]))
    assert (child.row.state, child.row.status) == ("finished", "failed")
    assert "overruled" in child.stage.kinds(child.session_id)


@pytest.mark.parametrize("kind", ENDS)
def test_what_is_there_when_the_session_ends_stays_completed(child: Child, root: Path, kind: str) -> None:
    child.write("plan.md")
    assert child.stop(child.report("plan.md")) == {}
    (root / "plan.md").write_text("# Longer than it was\n")  # who changes it has not taken it away
    child.stage.send(child.stage.event(kind, **ENDS[kind]))
    assert (child.row.state, child.row.status) == ("finished", "completed")


def test_the_end_of_a_session_says_nothing_of_tools_that_nobody_told_of(child: Child, root: Path) -> None:
    """Who was believed because its harness knows of tools is not held to have used none."""
    (root / "plan.md").write_text("# Plan\n")
    child.keep_transcript({"type": "assistant", "message": {"content": [{"type": "tool_use", "name": "Write"}]}})
    assert child.stop(child.report("plan.md")) == {}
    (root / "plan.md").write_text("# Longer than it was\n")
    child.stage.send(child.stage.event("SessionEnd", reason="exit"))
    assert (child.row.state, child.row.status) == ("finished", "completed")


def test_a_file_that_is_gone_after_it_was_settled_takes_it_back(child: Child, root: Path) -> None:
    """The answer is handed over once more."""
    child.write("plan.md")
    answer = child.report("plan.md")
    assert child.stop(answer) == {}
    assert hand_over(child, answer)["status"] == "completed"
    (root / "plan.md").write_text("---\nstatus: read\n---\n")  # who changes it afterwards has not taken it away
    assert hand_over(child, answer)["status"] == "completed"
    (root / "plan.md").unlink()
    assert (hand_over(child, answer)["remit"]["verdict"], child.row.status) == ("fabricated", "failed")


def test_a_file_that_has_changed_when_the_answer_is_handed_over_is_told_as_it_is(child: Child, root: Path) -> None:
    child.write("plan.md")
    answer = child.report("plan.md")
    assert child.stop(answer) == {}
    (root / "plan.md").write_text("# Longer than it was\n")
    result = hand_over(child, answer)
    assert (result["status"], result["remit"]["grades"][0]["size_bytes"]) == ("completed", 21)


def test_what_is_said_after_all_was_settled_takes_it_back(stage: Stage) -> None:
    child = stage.call("writer", run_in_background=True)
    child.start()
    child.write("one.md")
    assert child.stop(child.report("one.md")) == {}
    assert (child.row.state, child.row.status) == ("finished", "completed")
    assert child.stop("Never mind, it is broken.") == {}
    assert (child.row.state, child.row.status, child.row.verdict) == ("finished", "failed", "missing")


def test_what_was_rejected_and_settled_is_not_made_good(stage: Stage) -> None:
    child = stage.call("writer", run_in_background=True)
    child.start()
    child.write("one.md")
    for _ in range(3):
        child.stop("No.")
    assert (child.row.state, child.row.status) == ("finished", "failed")
    assert child.stop(child.report("one.md")) == {}
    assert child.row.status == "failed"


@also_by_program
def test_every_event_twice_changes_nothing(child: Child) -> None:
    child.start()
    child.write("plan.md")
    answer = child.report("plan.md")
    assert child.stop(answer) == {}
    assert child.stop(answer) == {}
    first = hand_over(child, answer)
    again = hand_over(child, answer)
    assert first == again
    kinds = child.stage.kinds(child.session_id)
    assert [kinds.count(kind) for kind in ("admitted", "finishing", "finished", "overruled")] == [1, 1, 1, 0]


def test_a_long_answer_that_reaches_its_caller_as_it_is_is_asked_for_alone(stage: Stage) -> None:
    child = stage.call("writer", run_in_background=True)
    child.start()
    child.write("one.md")
    long = f"{'Words. ' * 2000}\n```json\n{child.report('one.md')}\n```\n"
    said = child.stop(long)
    assert "Send the return alone" in said["reason"]
    assert child.row.state == "running"
    assert child.stop(child.report("one.md")) == {}
    assert (child.row.state, child.row.status) == ("finished", "completed")


def test_without_results_the_caller_gets_what_was_said_but_never_a_lie(stage: Stage, root: Path) -> None:
    (root / "remit.toml").write_text("[hooks]\nresult = false\n")
    child = stage.call("planner")
    child.start()
    child.write("plan.md")
    child.stop(child.report("plan.md"))
    assert child.respond(child.report("plan.md")) == {}
    liar = stage.call("planner")
    liar.start()
    for _ in range(3):
        liar.stop("Done.")
    assert hand_over(liar, "Done.")["status"] == "failed"


def test_an_agent_that_only_wrote_elsewhere_cannot_claim_what_a_sibling_wrote(stage: Stage) -> None:
    left, right = stage.call("writer"), stage.call("tester")
    left.start(), right.start()
    right.write("new.md")
    left.write("own.md")
    answer = left.stop(left.report("new.md"))
    assert "another agent wrote it" in answer["reason"]
    assert right.stop(right.report("new.md")) == {}
    left.write("new.md", "# Mine\n")
    assert left.stop(left.report("new.md")) == {}


# --- a return that was handed in --------------------------------------------------------------------------------------


def submit(root: Path, message: str) -> bool:
    """Hand a return in as a command does that a subagent of the harness has started."""
    ws = Workspace(str(root), environ={})
    try:
        return submit_own(ws, message)[1]
    finally:
        ws.home.close()


def test_a_return_that_was_handed_in_counts(child: Child, root: Path) -> None:
    child.write("plan.md")
    assert submit(root, child.report("plan.md"))
    assert child.stop("All is done.") == {}
    result = hand_over(child, "All is done.")
    assert (result["status"], result["remit"]["verdict"]) == ("completed", "accepted")


def test_one_that_contradicts_the_last_message_is_ambiguous(child: Child, root: Path) -> None:
    child.write("plan.md")
    assert submit(root, child.report("plan.md"))
    assert "contradict each other" in child.stop(child.report(status="failed"))["reason"]
    assert child.stop(child.report("plan.md")) == {}
    assert hand_over(child, child.report("plan.md"))["status"] == "completed"


def test_of_several_agents_the_session_in_the_return_says_whose_it_is(stage: Stage, child: Child, root: Path) -> None:
    other = stage.call("writer")
    other.start()
    child.write("plan.md")
    assert submit(root, child.report("plan.md"))
    with pytest.raises(RefusedError, match="one of 2 agents"):
        submit(root, other.report().replace(other.session_id, "sess_1794805361_qbq98k"))
    assert child.stop("All is done.") == {}
    for _ in range(3):
        other.stop("All is done.")
    assert hand_over(other, "All is done.")["status"] == "failed"
