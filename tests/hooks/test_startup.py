"""The hook loads no more than an event needs: it is started on every tool call of every agent.

What is loaded is what the real program tells of its imports, started as harnesses start it. How long it takes is
measured in `bench/hook.py`.
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
"""What no event of a subagent needs while its harness waits."""
HEAVY = SLOW | {"collections.abc", "contextlib", "datetime", "enum", "json", "re", "typing", "remit.errors"}
"""What an event does without that is only looked on."""


@pytest.fixture
def child(tmp_path: Path) -> Child:
    """An agent at work that has used a tool, so that the harness's id of it is known."""
    child = Stage(make_workspace(tmp_path / "project"), quick=True).call("planner")
    child.start()
    child.write("plan.md")
    return child


def send(stage: Stage, payload: dict[str, Any]) -> tuple[set[str], dict[str, Any]]:
    """Send an event to the program; the modules that it loaded, and its answer."""
    command = [*PROGRAM[:1], "-X", "importtime", *PROGRAM[1:]]
    done = subprocess.run(
        command, input=json.dumps(payload).encode(), capture_output=True, check=True, env=stage.env, cwd=stage.root
    )
    loaded = set(re.findall(r"^import time: .*\| +(\S+)$", done.stderr.decode(), re.MULTILINE))
    assert "remit.hooks.main" in loaded, "the imports are told"
    return loaded, json.loads(done.stdout or b"{}")


def pick(loaded: set[str], *rooms: str) -> set[str]:
    """The modules of some rooms."""
    return {name for name in loaded if name.startswith(rooms)}


def test_what_a_person_does_needs_next_to_nothing(child: Child) -> None:
    call = {"tool_name": "Write", "tool_input": {"file_path": "a.md", "content": "x"}, "tool_use_id": "toolu_9"}
    loaded, answer = send(child.stage, child.stage.event("PreToolUse", **call))
    assert answer == {}
    assert not loaded & (HEAVY | {"_sqlite3", "functools", "collections"})
    assert not pick(loaded, "remit.storage", "remit.ledger", "remit.hooks.tool_records")


def test_a_use_that_is_only_looked_on_loads_no_machinery(child: Child) -> None:
    file = child.stage.root / "notes.md"
    file.write_text("# Notes\n")
    call = {"tool_name": "Write", "tool_input": {"file_path": str(file), "content": "# Notes\n"}}
    loaded, answer = send(child.stage, child.event("PostToolUse", **call, tool_response={"type": "create"}))
    assert answer == {}
    paths = child.stage.ask("SELECT path FROM tool_uses WHERE session_id = ? ORDER BY number", child.session_id)
    assert paths[-1] == ("notes.md",), "it was written down"
    assert "_sqlite3" in loaded
    assert not loaded & HEAVY
    assert not pick(loaded, "remit.hooks.start_subagent", "remit.hooks.tool_guard", "remit.policy", "remit.returns")


@pytest.mark.parametrize(
    ("command", "is_refused", "is_read"),
    [("ls -l | wc -l", False, False), ("remit status", False, True), ("cd x && remit run a b", True, True)],
)
def test_a_command_is_read_only_if_it_may_be_refused(
    child: Child, command: str, is_refused: bool, is_read: bool,  # noqa: FBT001 - what happens
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
def test_a_return_is_checked_without_what_settles_it(child: Child, is_accepted: bool) -> None:  # noqa: FBT001
    said = child.report("plan.md") if is_accepted else "It is done."
    loaded, answer = send(child.stage, child.event("SubagentStop", last_assistant_message=said))
    assert (answer.get("decision") == "block") is not is_accepted
    assert child.row.state == ("finishing" if is_accepted else "running")
    assert "remit.returns" in loaded
    # A return that claims a file needs git, and so a process; nothing else does.
    assert loaded & SLOW <= ({"subprocess", "threading"} if is_accepted else set())
    assert not pick(loaded, "remit.config", "remit.agents")
    assert ("remit.git.process" in loaded) is is_accepted
    # The message to the agent is only for a return that is refused.
    assert ("remit.runs.instructions" in loaded) is not is_accepted


def test_an_envelope_is_handed_over_without_what_judges_it(child: Child) -> None:
    said = child.report("plan.md")
    child.stop(said)
    assert child.row.state == "finishing"
    child.stage.change("INSERT INTO notes (name, value) VALUES ('last gc', ?)", f"{time.time_ns() // 1_000_000}")
    response = {"status": "completed", "agentId": child.agent_id, "content": [{"type": "text", "text": said}]}
    loaded, answer = send(child.stage, child.make_call("PostToolUse", tool_response=response))
    assert answer["hookSpecificOutput"]["updatedToolOutput"], "the caller gets the result"
    assert child.row.state == "finished"
    assert "remit.runs.finish.steps" in loaded
    # Settings are read, and for the rest there is nothing to do: no task, no error, nothing to commit, no YAML.
    assert loaded & (SLOW | {"jiter", "splintr", "shutil"}) <= {"tomllib"}
    assert not pick(loaded, "remit.returns", "remit.agents", "remit.runners")
    kept = {"manifest", "tasks.store", "error_log.log", "git.process"}
    assert not loaded & {f"remit.storage.{name}" for name in kept}
