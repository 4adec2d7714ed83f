"""Runs that end without a stop event (cancelled, late, a lost harness), and how the command line shows them."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import Remit, load
from tests.support.hook_session import Child, Stage
from tests.support.paths import SOURCE


@pytest.fixture
def remit(root: Path) -> Remit:
    return Remit(root)


def say(answer: dict[str, Any]) -> tuple[str, str]:
    said = answer["hookSpecificOutput"]
    return said["permissionDecision"], said["permissionDecisionReason"]


# --- cancelled, late -------------------------------------------------------------------------------------------------


def cancel(child: Child) -> None:
    child.stage.change(
        "INSERT INTO events (at_ms, session_id, kind, details) VALUES (1, ?, 'cancel', '{}')", child.session_id
    )


def test_who_is_cancelled_gets_no_tools_and_is_not_completed(child: Child, root: Path) -> None:
    child.write("plan.md")
    cancel(child)
    word, reason = say(child.use("Read", file_path=str(root / "old.md")))
    assert word == "deny"
    assert "cancelled" in reason
    assert child.stop(child.report("plan.md")) == {}  # it is not sent back any more
    result = child.hand_over(child.report("plan.md"))
    assert (child.row.stop_reason, child.row.state) == ("cancelled", "finished")
    assert result["status"] == child.row.status != "completed"


def test_who_is_cancelled_and_of_whom_only_the_caller_hears_is_not_completed(child: Child) -> None:
    child.write("plan.md")
    cancel(child)
    result = child.hand_over(child.report("plan.md"))
    assert (child.row.stop_reason, child.row.state) == ("cancelled", "finished")
    assert result["status"] != "completed"


@pytest.mark.slow
def test_remit_cancel_ends_it(child: Child, remit: Remit, root: Path) -> None:
    child.stage.change("UPDATE hook_runs SET process = ''")  # this process is no terminal beside the harness
    remit("cancel", child.session_id)
    assert "cancel" in child.stage.kinds(child.session_id)
    assert say(child.use("Read", file_path=str(root / "old.md")))[0] == "deny"
    assert child.stop("Stopped.") == {}
    assert child.hand_over("Stopped.")["remit"]["stop_reason"] == "cancelled"
    assert load(remit("ps", "--all", "--json"))["items"][0]["status"] != "completed"


def test_who_is_late_gets_no_tools_and_may_hand_back(child: Child, root: Path) -> None:
    child.write("plan.md")
    child.stage.change("UPDATE hook_runs SET deadline_ms = 1000")
    child.stage.change("UPDATE runs SET deadline_ms = 1000")
    word, reason = say(child.use("Read", file_path=str(root / "old.md")))
    assert word == "deny"
    assert "your time is up" in reason
    assert child.stop(child.report("plan.md", status="partial")) == {}
    assert child.hand_over(child.report("plan.md", status="partial"))["status"] == "partial"


# --- the harness ends, or begins -------------------------------------------------------------------------------------


def test_with_the_session_everybody_in_it_ends(stage: Stage, child: Child) -> None:
    other = Stage(stage.root, session="another", quick=stage.quick)
    elsewhere = other.call("writer")
    looked_on = stage.call("Explore")
    assert stage.send(stage.event("SessionEnd", reason="other")) == {}
    assert (child.row.state, child.row.stop_reason) == ("finished", "orphaned")
    assert child.row.status != "completed"
    assert (looked_on.row.state, looked_on.row.stop_reason) == ("finished", "orphaned")
    assert elsewhere.row.state == "running"


def test_a_harness_that_begins_again_has_lost_everybody(stage: Stage, child: Child) -> None:
    told = stage.send(stage.event("SessionStart", source="compact"))
    assert child.session_id in told["hookSpecificOutput"]["additionalContext"]
    assert child.row.state == "running"
    assert stage.send(stage.event("SessionStart", source="resume")) == {}
    assert (child.row.state, child.row.stop_reason) == ("finished", "orphaned")


def test_what_was_judged_is_settled_by_the_end_of_the_session(stage: Stage, child: Child) -> None:
    child.write("plan.md")
    child.stop(child.report("plan.md"))
    assert child.row.state == "finishing"
    stage.send(stage.event("SessionEnd", reason="other"))
    assert (child.row.state, child.row.status) == ("finished", "completed")


def test_another_session_ends_nobody_but_those_of_whom_nothing_is_heard(stage: Stage, child: Child) -> None:
    other = Stage(stage.root, session="another", quick=stage.quick)
    other.send(other.event("SessionStart", source="startup"))
    assert child.row.state == "running"
    child.stage.change("UPDATE runs SET deadline_ms = 1000")
    assert other.send(other.event("SessionStart", source="startup")) == {}
    assert (child.row.state, child.row.stop_reason) == ("finished", "orphaned")


def test_an_answer_after_the_end_changes_nothing_for_the_better(stage: Stage, child: Child) -> None:
    child.write("plan.md")
    stage.send(stage.event("SessionEnd", reason="other"))
    ended = child.row
    assert child.stop(child.report("plan.md")) == {}
    result = child.hand_over(child.report("plan.md"))
    assert result["status"] == child.row.status == ended.status != "completed"


# --- a supervisor in the same workspace -------------------------------------------------------------------------------

OPEN = """
import asyncio, sys
from remit.runs.workspace import Workspace

async def play():
    async with Workspace.open(sys.argv[1]) as ws:
        for task in ws.supervisor.recover_soon():
            await task

asyncio.run(play())
"""


def recover(root: Path) -> None:
    """Let a supervisor look for what others have left."""
    env = {**os.environ, "PYTHONPATH": str(SOURCE)}
    subprocess.run([sys.executable, "-c", OPEN, str(root)], check=True, env=env, timeout=60)


@pytest.mark.slow
def test_a_broker_never_drives_a_refereed_agent(stage: Stage, child: Child, remit: Remit, root: Path) -> None:
    looked_on = stage.call("Explore")
    recover(root)
    assert (child.row.state, looked_on.row.state) == ("running", "running")
    child.write("plan.md")
    child.stop(child.report("plan.md"))
    assert remit("wait", child.session_id).code == 0  # what is judged, it settles
    assert (child.row.state, child.row.status, looked_on.row.state) == ("finished", "completed", "running")
    stage.change("UPDATE runs SET deadline_ms = 1000 WHERE state = 'running'")
    remit("wait", looked_on.row.session_id)  # what is long past its time, it ends
    assert (looked_on.row.state, looked_on.row.stop_reason) == ("finished", "orphaned")
    assert stage.ask("SELECT count(*) FROM attempts WHERE session_id = ?", looked_on.row.session_id) == [(0,)]


# --- what the command line shows -------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_command_line_shows_them(stage: Stage, child: Child, remit: Remit) -> None:
    below = stage.call("writer", by=child)
    below.start()
    below.write("one.md")
    running = load(remit("ps", "--json"))["items"]
    assert {each["session_id"] for each in running} == {child.session_id, below.session_id}
    assert remit("ps", "--tree").text.index("planner") < remit("ps", "--tree").text.index("writer")
    assert remit("wait", below.session_id, "--timeout", "1").code != 0  # it is at work
    below.stop(below.report("one.md"))
    below.hand_over(below.report("one.md"))
    ended = remit("wait", below.session_id)
    assert ended.code == 0, ended
    shown = load(remit("show", below.session_id, "--json"))["run"]
    assert (shown["status"], shown["session_id"]) == ("completed", below.session_id)
    assert "Looked at it." in remit("show", below.session_id, "--full").text
    assert remit("logs", below.session_id).code == 0
    doctor = remit("doctor")
    assert b"Traceback" not in doctor.err
    assert below.session_id.encode() not in doctor.out
    assert remit("gc").code == 0
    assert load(remit("show", below.session_id, "--json"))["run"]["status"] == "completed"


@pytest.mark.slow
def test_one_that_was_only_looked_on_is_shown_as_what_it_is(stage: Stage, remit: Remit) -> None:
    looked_on = stage.call("Explore")
    looked_on.start()
    looked_on.stop("Whatever.")
    looked_on.respond("Whatever.")
    session_id = looked_on.row.session_id
    for command in (["wait", session_id], ["show", session_id], ["show", session_id, "--json"], ["logs", session_id]):
        ended = remit(*command)
        assert b"Traceback" not in ended.err
        assert b"isn't finished" not in ended.out + ended.err, (command, ended)
        assert b"completed" not in ended.out, (command, ended)
