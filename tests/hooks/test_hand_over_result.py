"""A caller that gets an answer as it is, because nobody can replace it there, hears that it does not hold."""

from tests.support.hook_lies import lie
from tests.support.hook_session import Stage


def test_the_caller_hears_with_its_next_tool_and_only_once(stage: Stage) -> None:
    session_id = lie(stage)
    used = stage.event("PostToolUse", tool_name="Read", tool_input={"file_path": "x"}, tool_use_id="t9")
    told = stage.send(used)["hookSpecificOutput"]
    assert told["hookEventName"] == "PostToolUse"
    assert f"writer ({session_id}) was not accepted: failed" in told["additionalContext"]
    assert stage.send(used) == {}


def test_or_with_the_next_prompt(stage: Stage) -> None:
    session_id = lie(stage)
    told = stage.send(stage.event("UserPromptSubmit", prompt="go on"))
    assert session_id in told["hookSpecificOutput"]["additionalContext"]


def test_the_caller_hears_what_could_not_be_verified(stage: Stage) -> None:
    children = [stage.call(name, run_in_background=True) for name in ("writer", "tester")]
    for child in children:
        child.start()
    (stage.root / "new.md").write_text("# New\n")
    assert children[0].use("Bash", command="make") == {}
    assert children[0].stop(children[0].report("new.md")) == {}
    assert (children[0].row.status, children[0].row.verdict) == ("partial", "unproven")
    told = stage.send(stage.event("PostToolUse", tool_name="Read", tool_input={}, tool_use_id="t9"))
    said = told["hookSpecificOutput"]["additionalContext"]
    assert f"writer ({children[0].session_id}) is partial, unproven: 'new.md' changed while another run" in said
    assert "Check new.md before you use it" in said
    assert "not accepted" not in said


def test_of_what_holds_nothing_is_said(stage: Stage) -> None:
    child = stage.call("writer", run_in_background=True)
    child.start()
    child.write("new.md")
    assert child.stop(child.report("new.md")) == {}
    assert child.row.status == "completed"
    assert stage.send(stage.event("PostToolUse", tool_name="Read", tool_input={}, tool_use_id="t9")) == {}
