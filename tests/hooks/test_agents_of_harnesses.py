"""Agents that a harness has started, on the command line: list, wait, cancel, logs, resume."""

import json
import threading
import time
from pathlib import Path

import pytest

from remit.ledger.hook_runs import GRACE_MS
from remit.runs.run_control import FINISH_S
from tests.support.commands import STEERING, Inside, load
from tests.support.hook_session import Child, Stage

HARNESSES = ("claude", "codex", "opencode")


@pytest.fixture
def stage(root: Path) -> Stage:
    return Stage(root, quick=True)


@pytest.fixture
def child(stage: Stage, remit: Inside) -> Child:
    del remit  # it is there first
    child = stage.call("planner")
    child.start()
    return child


@pytest.fixture
def remit(root: Path, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Inside:
    monkeypatch.chdir(root)
    for name in (*STEERING, "REMIT_TICKET", "REMIT_SESSION_ID"):
        monkeypatch.delenv(name, raising=False)
    # Whoever asks sits in another terminal, and is no program of the harness's.
    monkeypatch.setattr("remit.hooks.start_subagent.find_harness", lambda: "", raising=False)
    return Inside(root, capsysbinary)


def make_late(stage: Stage) -> None:
    """Let all of them be lost: longer past their deadline than any harness takes to tell."""
    past_ms = int(time.time() * 1000) - GRACE_MS - 1000
    stage.change("UPDATE runs SET deadline_ms = ?", past_ms)


# --- shown -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("harness", HARNESSES)
def test_who_works_in_a_harness_is_shown_as_at_work_there(root: Path, remit: Inside, harness: str) -> None:
    stage = Stage(root, harness, quick=True)
    stage.call("planner")
    (row,) = load(remit("ps", "--json"))["items"]
    assert (row["state"], row["supervised"], row["harness"], row["supervisor_pid"]) == ("running", True, harness, None)
    shown = remit("ps").text
    assert shown.splitlines()[1].endswith(f"  {harness}")
    for text in (shown, remit("ps", "--tree").text, remit("status").text, remit("show").text, remit("doctor").text):
        assert "abandoned" not in text
        assert "nobody" not in text
        assert "remit wait" not in text


def test_it_was_heard_of_when_it_last_used_a_tool(child: Child, remit: Inside) -> None:
    assert load(remit("ps", "--json"))["items"][0]["activity_ms"] is None
    child.write("plan.md")
    (row,) = load(remit("ps", "--json"))["items"]
    assert time.time() * 1000 - row["activity_ms"] < 60_000
    assert row["activity"] == "Write plan.md"
    assert "Write plan.md" in remit("ps", "--tree").text


def test_one_of_which_nothing_is_heard_long_after_its_deadline_is_lost(child: Child, remit: Inside) -> None:
    make_late(child.stage)
    (row,) = load(remit("ps", "--json"))["items"]
    assert (row["state"], row["supervised"], row["harness"]) == ("abandoned", False, None)
    assert f"to close it, run: remit wait {child.session_id}" in remit("ps").text
    assert "claude hasn't reported the end of planner" in remit("doctor").text
    assert remit("wait", child.session_id).code == 1
    assert (child.row.state, child.row.stop_reason) == ("finished", "orphaned")


def test_one_that_is_late_is_ended_where_it_runs(child: Child, remit: Inside) -> None:
    child.stage.change("UPDATE runs SET deadline_ms = ?", int(time.time() * 1000) - 60_000)
    told = remit("doctor").text
    assert "past its deadline" in told
    assert "end it in claude, where it runs" in told


# --- waited for, cancelled -------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_waiting_for_one_ends_when_its_harness_has_it_back(child: Child, remit: Inside) -> None:
    child.write("plan.md")
    report = child.report("plan.md")
    child.stage.quick = False  # a hook minds its time by signals, which threads have not

    def end() -> None:
        child.stop(report)
        child.respond(report)

    timer = threading.Timer(0.5, end)
    begun_s = time.monotonic()
    timer.start()
    ended = remit("wait", child.session_id, "--json", "--timeout", "20s")
    assert time.monotonic() - begun_s >= 0.5
    timer.join()
    assert (ended.code, load(ended)["status"]) == (0, "completed")


def test_waiting_for_one_takes_no_longer_than_is_said(child: Child, remit: Inside) -> None:
    ended = remit("wait", child.session_id, "--timeout", "0.2s")
    assert ended.code == 1
    assert "isn't finished" in ended.text
    assert child.row.state == "running"


def test_cancelling_one_says_at_once_that_only_its_harness_can_end_it(child: Child, remit: Inside) -> None:
    below = child.stage.call("writer", by=child)
    below.start()
    begun_s = time.monotonic()
    ended = remit("cancel", child.session_id)
    assert time.monotonic() - begun_s < FINISH_S / 2
    assert ended.code == 1
    assert f"{child.session_id} runs in claude, and Remit can't end it there" in ended.text
    assert "its tools are denied from now on" in ended.text
    for each in (child, below):
        assert each.use("Read", file_path="old.md")["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert child.row.state == "running"
    assert child.stop("Stopped.") == {}
    assert child.hand_over("Stopped.")["remit"]["stop_reason"] == "cancelled"
    assert remit("cancel", child.session_id).code == 0  # it is over


def test_a_program_is_told_so_too(child: Child, remit: Inside) -> None:
    ended = remit("cancel", child.session_id, "--json")
    assert ended.code == 1
    told = load(ended)
    assert (told["session_id"], told["finished"], told["harness"]) == (child.session_id, False, "claude")
    assert "Remit can't end it there" in told["message"]


def test_one_that_is_lost_is_cancelled_and_over(child: Child, remit: Inside) -> None:
    make_late(child.stage)
    assert remit("cancel", child.session_id).code == 0
    assert child.row.state == "finished"


# --- read, asked again -----------------------------------------------------------------------------------------------


def test_the_log_of_one_has_its_tools_and_answers_in_their_order(child: Child, remit: Inside) -> None:
    child.write("plan.md")
    assert child.stop("I wrote it.")["decision"] == "block"
    child.use("Bash", failed=True, command="false")
    report = child.report("plan.md")
    assert child.stop(report) == {}
    ended = remit("logs", child.session_id)
    assert ended.err == b""
    assert "was ended" not in ended.text
    lines = [json.loads(line) for line in remit("logs", child.session_id, "--json").text.splitlines()]
    assert [(line["attempt"], line["kind"]) for line in lines] == [
        (1, "activity"), (1, "final"), (1, "trouble"), (2, "activity"), (2, "final"),
    ]  # fmt: skip
    assert [line["text"] for line in lines if line["kind"] == "activity"] == ["Write plan.md", "Bash (failed)"]
    assert lines[1]["text"] == "I wrote it."
    assert "RET" in lines[2]["text"]
    assert lines[4]["text"] == report
    last = [json.loads(line) for line in remit("logs", child.session_id, "-n", "2", "--json").text.splitlines()]
    assert last == lines[-2:]
    assert remit("logs", child.session_id, "-n", "2", "--raw").code == 2
    assert remit("logs", child.session_id, "-n", "0").complaint.startswith("'0' is")
    assert remit("logs", child.session_id, "--raw", "--attempt", "1").out == b"I wrote it.\n"
    assert remit("logs", child.session_id, "--err").out == b""


def test_the_log_of_one_that_is_at_work_has_what_it_did_so_far(child: Child, remit: Inside) -> None:
    child.write("plan.md")
    assert remit("logs", child.session_id).text == "· Write plan.md\n"


@pytest.mark.parametrize("command", ["resume", "retry"])
@pytest.mark.parametrize("is_over", [False, True])
def test_asking_again_is_for_its_harness(child: Child, remit: Inside, command: str, *, is_over: bool) -> None:
    if is_over:
        child.stop(child.report(status="partial"))
        child.respond(child.report(status="partial"))
        assert child.row.state == "finished"
    ended = remit(command, child.session_id)
    assert ended.code == 2
    assert f"claude and can be {'resumed' if command == 'resume' else 'retried'} only there" in ended.complaint
    assert "remit run planner PROMPT" in ended.complaint
    assert not any(word in ended.complaint for word in ("remit retry", "remit resume", "remit wait"))


# --- may it ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tool", "subject"),
    [
        ("bash", "remit run x y"),
        ("bash", "claude -p hello"),
        ("bash", "remit ps"),
        ("bash", "ls"),
        ("bash", "echo x > remit.toml"),
        ("write", "plan.md"),
        ("write", ".git/config"),
        ("read", "old.md"),
    ],
)
def test_what_it_may_is_what_the_hook_says(child: Child, remit: Inside, tool: str, subject: str) -> None:
    given = {"command": subject} if tool == "bash" else {"file_path": subject, "content": "x"}
    name = tool.capitalize()
    answer = child.stage.send(child.event("PreToolUse", tool_name=name, tool_input=given, tool_use_id="toolu_x"))
    said = answer.get("hookSpecificOutput", {})
    told = load(remit("agent", "can", "planner", tool, subject, "--json"))
    assert told["decision"] == said.get("permissionDecision", "allow")
    assert told["reason"] == said.get("permissionDecisionReason", "").removeprefix("Remit: ")


def test_an_agent_may_not_start_others_by_a_command(remit: Inside) -> None:
    ended = remit("agent", "can", "planner", "bash", "remit run x y")
    assert ended.code == 1
    assert "Remit can't identify the agent" in ended.text


def test_it_says_that_the_words_of_a_command_say_nothing_about_its_files(remit: Inside) -> None:
    told = load(remit("agent", "can", "planner", "bash", "echo x > remit.toml", "--json"))
    assert told["decision"] == "allow"
    assert "files aren't read from its words" in told["note"]
    assert told["note"] in remit("agent", "can", "planner", "bash", "ls").text
    assert not load(remit("agent", "can", "planner", "bash", "remit run x", "--json"))["note"]


def test_an_agent_may_compare_the_tasks_and_not_change_them(remit: Inside) -> None:
    assert load(remit("agent", "can", "planner", "bash", "remit task sync --check", "--json"))["decision"] == "allow"
    assert load(remit("agent", "can", "planner", "bash", "remit task sync --repair", "--json"))["decision"] == "deny"


@pytest.mark.parametrize("agent", ["planner", "nobody"])
def test_whether_it_may_is_only_looked_up(root: Path, remit: Inside, agent: str) -> None:
    """Also in a folder that can't be written to."""
    before = sorted(root.iterdir())
    assert not (root / ".remit").exists()
    ended = remit("agent", "can", agent, "bash", "ls")
    assert ended.code == (0 if agent == "planner" else 2)
    assert sorted(root.iterdir()) == before


# --- what was written ------------------------------------------------------------------------------------------------


def test_what_one_wrote_that_is_only_looked_on_is_told_to_its_files(stage: Stage, root: Path) -> None:
    looked_on = stage.call("Explore")
    looked_on.start()
    looked_on.write("note.md", "---\ntitle: A\n---\n# A\n")
    assert "activity" not in (root / "note.md").read_text()  # not while it works
    looked_on.stop("Done.")
    looked_on.respond("Done.")
    assert looked_on.row.state == "finished"
    assert looked_on.row.session_id in (root / "note.md").read_text()
    assert stage.ask("SELECT written FROM activity") == [(1,)]


PATCH = "*** Begin Patch\n*** Add File: {}\n+x\n*** End Patch\n"


@pytest.mark.parametrize("is_written", [False, True])
def test_a_write_of_codex_counts_once_it_has_happened(root: Path, remit: Inside, *, is_written: bool) -> None:
    stage = Stage(root, "codex", quick=True)
    child = stage.call("planner")
    child.start()
    call = {"tool_name": "apply_patch", "tool_input": {"input": PATCH.format("new.md")}, "tool_use_id": "c1"}
    assert stage.send(child.event("PreToolUse", **call)) == {}
    assert stage.ask("SELECT path FROM activity") == []
    if is_written:
        (root / "new.md").write_text("x\n")
    assert stage.send(child.event("PostToolUse", **call, tool_response="")) == {}
    assert stage.ask("SELECT path FROM activity") == ([("new.md",)] if is_written else [])
    shown = "apply_patch new.md" if is_written else "apply_patch"
    assert remit("logs", child.row.session_id).text == f"· {shown}\n"  # once


def test_a_patch_of_codex_that_writes_several_files_has_a_line_for_each(root: Path) -> None:
    stage = Stage(root, "codex", quick=True)
    child = stage.call("planner")
    child.start()
    patch = PATCH.format("a.md") + PATCH.format("b.md")
    call = {"tool_name": "apply_patch", "tool_input": {"input": patch}, "tool_use_id": "c1"}
    for _ in range(2):
        assert stage.send(child.event("PreToolUse", **call)) == {}
        (root / "a.md").write_text("x\n")
        (root / "b.md").write_text("x\n")
        assert stage.send(child.event("PostToolUse", **call, tool_response="")) == {}
    assert stage.ask("SELECT path FROM tool_uses ORDER BY number") == [("a.md",), ("b.md",)] * 2
