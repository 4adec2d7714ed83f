"""The caller gets the verified result in place of an answer, beside a notification, or with its next event."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.hook_session import also_by_program
from tests.support.lying_subagent import lie

if TYPE_CHECKING:
    from tests.support.hook_session import Child, Stage


def notify(child: Child | str, answer: str | None = "Done.", tokens: int | None = 4321) -> str:
    """The prompt that the harness makes of the end of a task."""
    task = child if isinstance(child, str) else child.agent_id
    result = "" if answer is None else f"<result>{answer}</result>\n"
    used = "" if tokens is None else f"<usage><subagent_tokens>{tokens}</subagent_tokens></usage>\n"
    head = f"<task-id>{task}</task-id>\n<status>completed</status>\n"
    return f"<task-notification>\n{head}{result}{used}</task-notification>"


def submit(stage: Stage, prompt: str) -> str:
    """What the session is given beside a prompt."""
    answer = stage.send(stage.event("UserPromptSubmit", prompt=prompt))
    return str(answer.get("hookSpecificOutput", {}).get("additionalContext", ""))


def launch(stage: Stage, **more: Any) -> Child:  # noqa: ANN401 - any JSON value
    child = stage.call("writer", run_in_background=True, **more)
    child.respond(None, isAsync=True, status="async_launched")
    child.start()
    return child


def end(child: Child, *paths: str) -> str:
    """Let an agent return until it is let stop; its last message."""
    message = child.report(*paths)
    while child.stop(message):
        pass
    return message


def read_result(told: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(told.splitlines()[1])
    return found


def test_a_rejected_return_comes_with_its_verdict_whatever_was_given_before(stage: Stage) -> None:
    child = launch(stage)
    message = end(child, "never.md")
    used = stage.event("PostToolUse", tool_name="Read", tool_input={"file_path": "x"}, tool_use_id="t9")
    assert "was not accepted" in stage.send(used)["hookSpecificOutput"]["additionalContext"]
    told = submit(stage, notify(child, message))
    assert told.startswith(f"Remit: the return of writer ({child.session_id}) was not accepted: failed, fabricated.")
    assert read_result(told)["status"] == "failed"
    assert child.row.tokens == 4321
    assert stage.send(stage.event("Stop", stop_hook_active=False)) == {}  # it has been given


def test_an_accepted_one_comes_with_its_result(stage: Stage) -> None:
    child = launch(stage)
    child.write("new.md")
    message = child.report("new.md")
    assert child.stop(message) == {}
    told = submit(stage, notify(child, message))
    assert told.startswith(f"Remit checked the return of writer ({child.session_id}): completed, accepted.")
    result = read_result(told)
    assert (result["status"], result["remit"]["usage"]["tokens"]) == ("completed", 4321)
    assert "attempts" not in result["remit"]  # there was one


def test_one_that_nobody_saw_stop_is_judged_by_the_notification(stage: Stage) -> None:
    child = launch(stage)
    told = submit(stage, notify(child, child.report("never.md")))
    assert "was not accepted: failed, fabricated" in told
    other = launch(stage)
    assert "wasn't checked" in submit(stage, notify(other, None))


def test_an_agent_that_is_not_known_is_named_as_such_and_a_command_is_not(stage: Stage) -> None:
    assert "doesn't know the agent" in submit(stage, notify("a9999999999999999"))
    assert submit(stage, notify("bzozw3opb", "exit code 0", tokens=None)) == ""
    assert submit(stage, "What does <b>task-notification</b> mean?") == ""


def test_what_cannot_be_checked_is_not_passed_on_in_silence(stage: Stage) -> None:
    child = launch(stage)
    for file in (stage.root / ".remit").glob("ledger.db*"):
        file.unlink()
    (stage.root / ".remit" / "ledger.db").write_bytes(b"no database" * 1000)
    told = stage.send(stage.event("UserPromptSubmit", prompt=notify(child)))
    assert "couldn't check the answer in this notification" in told["hookSpecificOutput"]["additionalContext"]


def test_the_session_is_given_the_verdict_on_an_agent_whose_caller_is_over(stage: Stage) -> None:
    planner = stage.call("planner")
    planner.start()
    child = launch(stage, by=planner)
    planner.write("plan.md")
    assert planner.stop(planner.report("plan.md", status="partial")) == {}
    planner.respond(planner.report("plan.md", status="partial"))
    message = end(child, "never.md")
    assert f"({child.session_id}) was not accepted" in submit(stage, notify(child, message))


@pytest.mark.parametrize("is_told", [True, False])
def test_nobody_stops_before_the_verdict_was_given(stage: Stage, *, is_told: bool) -> None:
    session_id = lie(stage)
    if is_told:
        assert session_id in submit(stage, "go on")
    blocked = stage.send(stage.event("Stop", stop_hook_active=False))
    assert (session_id in blocked.get("reason", "")) is not is_told
    assert stage.send(stage.event("Stop", stop_hook_active=True)) == {}  # once is enough


def test_nor_does_an_agent(stage: Stage) -> None:
    planner = stage.call("planner")
    planner.start()
    child = launch(stage, by=planner)
    end(child, "never.md")
    blocked = planner.stop(planner.report(status="partial"))
    assert f"({child.session_id}) was not accepted" in blocked["reason"]
    assert stage.send(stage.event("Stop", stop_hook_active=False)) == {}  # it is its caller's


# Returns by a tool


def hand_back(child: Child, kind: str, tool: str, **given: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON value
    more = {"tool_response": {"success": True}} if kind == "PostToolUse" else {}
    return child.stage.send(child.event(kind, tool_name=tool, tool_input=given, tool_use_id="t7", **more))


@pytest.mark.parametrize("tool", ["SubagentHandback", "StructuredOutput"])
@also_by_program
def test_a_return_by_a_tool_is_denied_twice_and_then_let_through_as_rejected(stage: Stage, tool: str) -> None:
    child = launch(stage)
    text = child.report("never.md")
    given = {"message": text} if tool == "SubagentHandback" else read_block(text)
    for _ in range(2):
        denied = hand_back(child, "PreToolUse", tool, **given)["hookSpecificOutput"]
        assert denied["permissionDecision"] == "deny"
        assert "never.md doesn't exist" in denied["permissionDecisionReason"]
        assert f"with {tool} again" in denied["permissionDecisionReason"]
    assert hand_back(child, "PreToolUse", tool, **given) == {}
    assert hand_back(child, "PostToolUse", tool, **given) == {}
    assert child.stop("") == {}
    assert (child.row.state, child.row.status, child.row.verdict) == ("finished", "failed", "fabricated")
    message = f'<agent-message from="{child.agent_id}">\n[Subagent hand-back] …\n  {text}\n</agent-message>'
    assert f"({child.session_id}) was not accepted" in submit(stage, message)


@pytest.mark.parametrize("tool", ["SubagentHandback", "StructuredOutput"])
def test_an_honest_return_by_a_tool_is_accepted_at_once(stage: Stage, tool: str) -> None:
    child = launch(stage)
    child.write("new.md")
    text = child.report("new.md")
    given = {"message": text} if tool == "SubagentHandback" else read_block(text)
    assert hand_back(child, "PreToolUse", tool, **given) == {}
    assert hand_back(child, "PostToolUse", tool, **given) == {}
    assert child.stop("") == {}
    assert (child.row.state, child.row.status, child.row.verdict) == ("finished", "completed", "accepted")


def read_block(text: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text[text.index("{") : text.rindex("}") + 1])
    return found


# --- an answer that can't be replaced --------------------------------------------------------------------------------


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
