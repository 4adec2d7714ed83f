"""The hook runs on every tool call of every agent, so it loads only the modules that its event needs.

The real program, started as harnesses start it, reports its imports. `bench/hook.py` measures its time.
"""

import json
import re
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.support.hook_session import PROGRAM, Child, Stage, make_workspace

SLOW = {
    "asyncio",
    "click",
    "dataclasses",
    "inspect",
    "pathlib",
    "sqlite3",
    "subprocess",
    "threading",
    "tomllib",
    "yaml",
    "_hashlib",
}
"""Modules that no event of a subagent needs."""
HEAVY = SLOW | {"collections.abc", "contextlib", "datetime", "enum", "json", "re", "typing", "remit.errors"}
"""Modules that an event needs only for a decision, and not to be recorded."""


@pytest.fixture
def child(tmp_path: Path) -> Child:
    """A running agent that has used a tool, so that Remit knows the harness's id of the agent."""
    child = Stage(make_workspace(tmp_path / "project"), quick=True).call("planner")
    child.start()
    child.write("plan.md")
    return child


def send(stage: Stage, payload: dict[str, Any]) -> tuple[set[str], dict[str, Any]]:
    """Send an event to the program, and return the modules that it loaded and its answer."""
    command = [*PROGRAM[:1], "-X", "importtime", *PROGRAM[1:]]
    done = subprocess.run(
        command, input=json.dumps(payload).encode(), capture_output=True, check=True, env=stage.env, cwd=stage.root
    )
    loaded = set(re.findall(r"^import time: .*\| +(\S+)$", done.stderr.decode(), re.MULTILINE))
    assert "remit.hooks.main" in loaded, "the program reports its imports"
    return loaded, json.loads(done.stdout or b"{}")


def pick(loaded: set[str], *packages: str) -> set[str]:
    """Return the modules in some packages."""
    return {name for name in loaded if name.startswith(packages)}


def test_a_tool_of_the_user_needs_next_to_nothing(child: Child) -> None:
    call = {"tool_name": "Write", "tool_input": {"file_path": "a.md", "content": "x"}, "tool_use_id": "toolu_9"}
    loaded, answer = send(child.stage, child.stage.event("PreToolUse", **call))
    assert answer == {}
    assert not loaded & (HEAVY | {"_sqlite3", "functools", "collections"})
    assert not pick(loaded, "remit.storage", "remit.ledger", "remit.hooks.tool_records")


def test_an_observed_tool_use_loads_only_what_records_it(child: Child) -> None:
    file = child.stage.root / "notes.md"
    file.write_text("# Notes\n")
    call = {"tool_name": "Write", "tool_input": {"file_path": str(file), "content": "# Notes\n"}}
    loaded, answer = send(child.stage, child.event("PostToolUse", **call, tool_response={"type": "create"}))
    assert answer == {}
    paths = child.stage.ask("SELECT path FROM tool_uses WHERE session_id = ? ORDER BY number", child.session_id)
    assert paths[-1] == ("notes.md",), "it was recorded"
    assert "_sqlite3" in loaded
    assert not loaded & HEAVY
    assert not pick(loaded, "remit.hooks.start_subagent", "remit.hooks.tool_guard", "remit.policy", "remit.returns")


@pytest.mark.parametrize(
    ("command", "is_refused", "is_read"),
    [("ls -l | wc -l", False, False), ("remit status", False, True), ("cd x && remit run a b", True, True)],
)
def test_a_command_is_read_only_if_it_may_be_refused(
    child: Child, command: str, is_refused: bool, is_read: bool,  # noqa: FBT001 - the expected outcome
) -> None:  # fmt: skip
    """The agent's file has no rules for bash."""
    call = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": "toolu_9"}
    loaded, answer = send(child.stage, child.event("PreToolUse", **call))
    assert bool(answer) is is_refused
    assert ("tree_sitter" in loaded) is is_read
    assert not loaded & (SLOW | {"json", "datetime"})
    assert is_read or not loaded & {"re", "typing", "enum"}
    assert not pick(loaded, "remit.hooks.start_subagent", "remit.returns")


@pytest.mark.parametrize("is_accepted", [False, True])
def test_a_return_is_judged_without_the_finish_steps(child: Child, is_accepted: bool) -> None:  # noqa: FBT001
    said = child.report("plan.md") if is_accepted else "It is done."
    loaded, answer = send(child.stage, child.event("SubagentStop", last_assistant_message=said))
    assert (answer.get("decision") == "block") is not is_accepted
    assert child.row.state == ("finishing" if is_accepted else "running")
    assert "remit.returns" in loaded
    # A return that claims a file needs git, and so a process; nothing else does.
    assert loaded & SLOW <= ({"subprocess", "threading"} if is_accepted else set())
    assert not pick(loaded, "remit.config", "remit.agents")
    assert ("remit.git.process" in loaded) is is_accepted
    # Only a rejected return needs the message to the agent.
    assert ("remit.runs.instructions" in loaded) is not is_accepted


@pytest.mark.parametrize("kind", ["SubagentStop", "Stop"])
def test_without_acceptance_checks_nothing_of_them_is_loaded(child: Child, kind: str) -> None:
    event = child.event(kind, last_assistant_message=child.report("plan.md"), stop_hook_active=False)
    if kind == "Stop":
        event = Stage(child.stage.root, session="another").event(kind, stop_hook_active=False)
    loaded, answer = send(child.stage, event)
    assert answer == {}
    assert not pick(loaded, "remit.runs.checks", "remit.hooks.acceptance_checks", "remit.hooks.check_time")
    assert not pick(loaded, "remit.hooks.session_checks", "remit.attempts", "asyncio")


def test_a_result_is_delivered_without_judging_again(child: Child) -> None:
    said = child.report("plan.md")
    child.stop(said)
    assert child.row.state == "finishing"
    child.stage.change("INSERT INTO notes (name, value) VALUES ('last gc', ?)", f"{time.time_ns() // 1_000_000}")
    response = {"status": "completed", "agentId": child.agent_id, "content": [{"type": "text", "text": said}]}
    loaded, answer = send(child.stage, child.make_call("PostToolUse", tool_response=response))
    assert answer["hookSpecificOutput"]["updatedToolOutput"], "the caller gets the result"
    assert child.row.state == "finished"
    assert "remit.runs.finish.finish_steps" in loaded
    # It reads the settings, but there is no task, no error, nothing to commit, and no YAML.
    assert loaded & (SLOW | {"jiter", "splintr", "shutil"}) <= {"tomllib"}
    assert not pick(loaded, "remit.returns", "remit.agents", "remit.runners")
    kept = {"manifest", "tasks.store", "error_log.log", "git.process"}
    assert not loaded & {f"remit.storage.{name}" for name in kept}
