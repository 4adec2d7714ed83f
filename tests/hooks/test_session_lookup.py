"""A process that starts below a harness while it waits for an agent belongs to that agent, however it was started."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from remit.errors import RefusedError
from remit.ledger.home import Home
from remit.runs.admission.tickets import find_caller, find_within
from remit.storage.process_ancestry import find_harness, list_above
from tests.support.hook_session import PROGRAM, Stage

ASK = """
import sys
from remit.runs.admission.tickets import find_caller
from remit.errors import RefusedError
from remit.ledger.home import Home
try:
    found = find_caller(Home(sys.argv[1]), {}, now_ms=int(sys.argv[2]))
    print(found and found.session_id)
except RefusedError as error:
    print("refused", error)
"""
HARNESS = """
import subprocess, sys
sys.exit(subprocess.run(["sh", "-c", '"$@" || exit 2', "sh", *sys.argv[1:]]).returncode)
"""


@pytest.fixture
def stage(root: Path) -> Stage:
    """The program, so that this process is the harness."""
    return Stage(root)


def ask(root: Path) -> str:
    """Who somebody is taken for who has no ticket, below a shell of this process."""
    command = [sys.executable, "-c", ASK, str(root), str(time.time_ns() // 1_000_000)]
    clean = {name: value for name, value in os.environ.items() if not name.startswith("REMIT_")}
    script = "eval '\"$@\"'"
    done = subprocess.run(["sh", "-c", script, "sh", *command], capture_output=True, text=True, check=True, env=clean)
    return done.stdout.strip()


def test_a_process_is_known_by_number_and_start() -> None:
    above = list_above()
    assert above[0].startswith(f"{os.getppid()}.")
    assert find_harness() in above
    assert list_above(above[0]) == above[1:]


@pytest.mark.slow
def test_it_is_the_agent_that_the_harness_waits_for(stage: Stage, root: Path) -> None:
    assert ask(root) == "None"
    child = stage.call("planner")
    assert ask(root) == child.session_id
    child.start()
    below = stage.call("reviewer", by=child)
    assert ask(root) == below.session_id
    below.start()
    below.stop(below.report(status="partial", next_steps="Go on."))
    below.respond(below.report(status="partial", next_steps="Go on."))
    assert ask(root) == child.session_id


@pytest.mark.slow
def test_of_several_nobody_can_tell_which(stage: Stage, root: Path) -> None:
    stage.call("planner")
    stage.call("reviewer")
    assert ask(root).startswith("refused one of 2 agents of a harness is the caller")


@pytest.mark.slow
def test_beside_agents_in_the_background_it_is_a_person(stage: Stage, root: Path) -> None:
    stage.call("planner", run_in_background=True)
    assert ask(root) == "None"


@pytest.mark.slow
def test_a_harness_in_a_harness_is_that_agents(stage: Stage) -> None:
    """`claude -p` in a subagent's shell: whom it starts is one below, and held to the agent's list."""
    child = stage.call("planner")
    nested = Stage(stage.root, session="00000000-0000-4000-8000-00000000000a")

    def start(agent: str) -> dict[str, Any]:
        call = {"tool_name": "Agent", "tool_input": {"subagent_type": agent, "prompt": "Go."}, "tool_use_id": agent}
        payload = json.dumps(nested.event("PreToolUse", **call))
        command = [sys.executable, "-c", HARNESS, *PROGRAM]
        done = subprocess.run(command, input=payload, capture_output=True, text=True, check=True, env=nested.env)
        said: dict[str, Any] = json.loads(done.stdout)["hookSpecificOutput"]
        return said

    assert start("tester")["permissionDecision"] == "deny"  # not on planner's list
    assert "depth 2 of 3" in start("reviewer")["updatedInput"]["prompt"]
    assert [row.parent_id for row in stage.rows()] == [None, child.session_id]


@pytest.mark.slow
def test_calls_of_the_session_itself_stay_its_own(stage: Stage) -> None:
    stage.call("planner")
    assert stage.call("reviewer").row.depth == 1


def test_another_process_of_the_same_number_is_none(stage: Stage, root: Path) -> None:
    quick = Stage(root, quick=True)
    quick.call("planner")
    home = Home(str(root))
    try:
        assert find_within(home) is not None
        stage.change("UPDATE hook_runs SET process = process || '1'")
        assert find_caller(home, {}, now_ms=0) is None
    finally:
        home.close()


def test_who_is_one_of_several_is_refused(root: Path) -> None:
    quick = Stage(root, quick=True)
    quick.call("planner")
    quick.call("planner")
    home = Home(str(root))
    try:
        with pytest.raises(RefusedError, match="one of 2"):
            find_caller(home, {}, now_ms=0)
    finally:
        home.close()
